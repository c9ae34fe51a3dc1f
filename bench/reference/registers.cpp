// The registers per thread that kernels had in the reference's runs: GPGPU-Sim asks ptxas. Here
// they are data, so that the comparison needs no toolkit.
#include "bench/reference/registers.h"

#include <map>
#include <string>

#include "host/core/error.h"

namespace nearwarp::reference {

namespace {

/// "Used N registers", by kernel, of: ptxas -arch=sm_75 -v kernels/NAME.ptx (CUDA 13.0).
const std::map<std::string, uint32_t>& by_ptxas() {
  static const std::map<std::string, uint32_t> all = {
      // alu
      {"_Z8fma_ilp4Pfffi", 11},
      {"_Z7int_addPjji", 10},
      {"_Z7int_mulPjji", 10},
      {"_Z7int_divPjji", 12},
      {"_Z3sfuPffi", 13},
      // one kernel each
      {"_Z7atomicsPjS_ij", 10},
      {"_Z8branchesPffi", 8},
      {"_Z5chasePPviS0_", 21},
      {"_Z9constantsPiii", 23},
      {"_Z7divergePji", 14},
      {"_Z9fma_chainPfffi", 10},
      {"_Z11local_arrayPji", 22},
      {"_Z5saxpyPKfPffii", 10},
      {"_Z12shared_chainPiii", 14},
      {"_Z4spmvPKiS0_PKfS2_Pfi", 55},
      {"_Z7stencilPKfPfii", 16},
      {"_Z6vecaddPKfS0_Pfi", 12},
      // transpose
      {"_Z15transpose_tiledPKfPfi", 26},
      {"_Z15transpose_naivePKfPfi", 20},
  };
  return all;
}

}  // namespace

void set_registers(compiler::Program& program) {
  for (compiler::Kernel& kernel : program.kernels) {
    const auto it = by_ptxas().find(kernel.name);
    if (it == by_ptxas().end())
      throw Error("registers of kernel " + kernel.name +
                  " are not known - add what ptxas says to bench/reference/registers.cpp");
    kernel.machine_code = {compiler::RegisterSource::kPtxas, 75, it->second};
  }
}

}  // namespace nearwarp::reference
