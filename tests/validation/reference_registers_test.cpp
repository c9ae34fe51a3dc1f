// Do the reference programs have the registers that ptxas gives them?
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "bench/reference/programs.h"
#include "bench/reference/registers.h"
#include "host/config/config.h"
#include "host/core/error.h"
#include "host/functional/cudart/code/ptxas.h"
#include "host/functional/cudart/code/register_choice.h"
#include "host/timing/program/image_builder.h"

namespace nearwarp::reference {
namespace {

runtime::Recording recorded(const std::string& program, const std::vector<int>& arguments) {
  runtime::VirtualDevice device;
  EXPECT_TRUE(run_program(device, program, arguments));
  return device.take_recording(program);
}

/// Thread blocks of the first launch that fit on an SM.
uint32_t blocks(const runtime::Recording& recording, const std::string& machine) {
  const config::MachineConfig m = config::load_machine(machine, {});
  const runtime::LaunchRecord& launch = recording.launches.at(0);
  return sim::blocks_per_sm(sim::sm_capacity(m),
                            sim::block_needs(m, *recording.kernels.at(launch.kernel), launch));
}

/// docs/gpgpu-sim.md has these numbers.
TEST(ReferenceRegisters, BlocksOnAnSmAreTheReferences) {
  const runtime::Recording spmv = recorded("spmv", {4096});
  EXPECT_EQ(compiler::source_text(spmv.kernels.at(0)->machine_code), "ptxas sm_75");
  EXPECT_EQ(blocks(spmv, "gtx480"), 4u);
  EXPECT_EQ(blocks(spmv, "qv100"), 9u);
}

TEST(ReferenceRegisters, EveryKernelHasSome) {
  for (const Program& p : programs()) {
    compiler::Program program = compiler::compile_ptx(p.ptx, p.name);
    EXPECT_NO_THROW(set_registers(program)) << p.name;
  }
  compiler::Program other = compiler::compile_ptx(programs().front().ptx, "other");
  other.kernels.at(0).name = "new";
  EXPECT_THROW(set_registers(other), Error);
}

std::string version_of(const std::string& ptxas) {
  std::string text;
  FILE* pipe = popen((ptxas + " --version").c_str(), "r");
  if (pipe == nullptr) return text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  pclose(pipe);
  return text;
}

TEST(ReferenceRegisters, PtxasSaysTheSame) {
  const std::string ptxas = cudart::find_ptxas();
  if (ptxas.empty()) GTEST_SKIP() << "there is no ptxas";
  if (version_of(ptxas).find("release 13.0") == std::string::npos)
    GTEST_SKIP() << "ptxas is of another version than the numbers";
  for (const Program& p : programs()) {
    const auto counts = cudart::ptxas_registers({ptxas, ""}, p.ptx, "sm_75");
    compiler::Program program = compiler::compile_ptx(p.ptx, p.name);
    set_registers(program);
    for (const compiler::Kernel& kernel : program.kernels)
      EXPECT_EQ(kernel.machine_code.per_thread, counts.at(kernel.name)) << kernel.name;
  }
}

}  // namespace
}  // namespace nearwarp::reference
