#include "bench/reference/programs.h"

#include <algorithm>
#include <memory>

#include "bench/reference/embedded.h"
#include "bench/reference/host.h"
#include "bench/reference/registers.h"
#include "host/core/error.h"
#include "host/functional/compiler/kernel.h"

namespace nearwarp::reference {

const std::vector<Program>& programs() {
  static const std::vector<Program> all = {
      {"alu", embedded::alu_ptx, run_alu},
      {"atomics", embedded::atomics_ptx, run_atomics},
      {"branch", embedded::branch_ptx, run_branch},
      {"chase", embedded::chase_ptx, run_chase},
      {"constant", embedded::constant_ptx, run_constant},
      {"diverge", embedded::diverge_ptx, run_diverge},
      {"fma", embedded::fma_ptx, run_fma},
      {"local", embedded::local_ptx, run_local},
      {"saxpy", embedded::saxpy_ptx, run_saxpy},
      {"shared", embedded::shared_ptx, run_shared},
      {"spmv", embedded::spmv_ptx, run_spmv},
      {"stencil", embedded::stencil_ptx, run_stencil},
      {"transpose", embedded::transpose_ptx, run_transpose},
      {"vecadd", embedded::vecadd_ptx, run_vecadd},
  };
  return all;
}

bool run_program(runtime::VirtualDevice& device, const std::string& name,
                 const std::vector<int>& arguments) {
  const auto at = std::find_if(programs().begin(), programs().end(),
                               [&](const Program& p) { return p.name == name; });
  if (at == programs().end())
    throw Error("no reference program '" + name + "' - they are the sources in bench/reference");
  auto program = std::make_shared<compiler::Program>(compiler::compile_ptx(at->ptx, name + ".ptx"));
  set_registers(*program);
  const uint32_t module = device.load_module(std::move(program));
  Host host(device, module, arguments);
  return at->run(host);
}

}  // namespace nearwarp::reference
