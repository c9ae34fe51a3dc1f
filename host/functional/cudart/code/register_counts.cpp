// How many registers per thread the kernels of a module take.
#include "host/functional/cudart/code/register_counts.h"

#include <cstdlib>

#include "host/core/error.h"
#include "host/functional/cudart/code/cubin.h"
#include "host/functional/cudart/code/ptxas.h"

namespace nearwarp::cudart {

namespace {

using compiler::RegisterSource;
using From = RegisterChoice::From;

RegisterCounts of_machine_code(const MachineCode& code) {
  RegisterCounts counts;
  if (!code.problem.empty()) throw Error(code.problem);
  Cubin cubin = read_cubin(code.elf);
  if (!cubin.linked) return counts;  // kernels may call what is not in it
  counts.source = RegisterSource::kCubin;
  counts.architecture = code.architecture;
  counts.per_thread = std::move(cubin.registers);
  return counts;
}

RegisterCounts of_ptxas(const RegisterChoice& choice, const FatBinary& fat,
                        const std::string& cache) {
  if (fat.images.size() != 1)
    throw Error(
        "ptxas knows registers of one translation unit, not of several before they are linked - "
        "build the application with machine code (-gencode arch=compute_75,code=sm_75)");
  const Ptxas ptxas{find_ptxas(), cache};
  if (ptxas.path.empty())
    throw Error("there is no ptxas on $PATH - install the CUDA toolkit, or choose 'auto'");
  const std::string& text = fat.images.front().text;
  std::string architecture = choice.architecture;
  if (architecture.empty()) architecture = target_of(text);
  if (!architecture.starts_with("sm_"))
    throw Error("the PTX names no architecture as its .target - choose e.g. 'ptxas:sm_75'");
  RegisterCounts counts;
  counts.source = RegisterSource::kPtxas;
  counts.architecture = static_cast<uint32_t>(std::strtoul(architecture.c_str() + 3, nullptr, 10));
  counts.per_thread = ptxas_registers(ptxas, text, architecture);
  return counts;
}

}  // namespace

RegisterCounts count_registers(const RegisterChoice& choice, const FatBinary& fat,
                               const std::string& cache) {
  if (choice.from == From::kOwn) return {};
  std::string problem;
  const auto attempt = [&](auto&& make) -> RegisterCounts {
    try {
      return make();
    } catch (const Error& error) {
      problem = error.what();
      return {};
    }
  };
  RegisterCounts counts;
  if (fat.machine_code.has_value() && choice.architecture.empty())
    counts = attempt([&] { return of_machine_code(*fat.machine_code); });
  if (counts.source == RegisterSource::kOwn && choice.from == From::kPtxas)
    counts = attempt([&] { return of_ptxas(choice, fat, cache); });
  if (counts.source == RegisterSource::kOwn) counts.problem = problem;
  return counts;
}

void set_registers(const RegisterCounts& counts, compiler::Program& program) {
  if (counts.source == RegisterSource::kOwn) return;
  for (compiler::Kernel& kernel : program.kernels) {
    const auto it = counts.per_thread.find(kernel.name);
    if (it != counts.per_thread.end())
      kernel.machine_code = {counts.source, counts.architecture, it->second};
  }
}

}  // namespace nearwarp::cudart
