// The programs of kernels/: what main() of each .cu does, on the virtual device.
#pragma once

#include <string>
#include <vector>

#include "host/functional/device/virtual_device.h"

namespace nearwarp::reference {

class Host;

struct Program {
  const char* name;  ///< the NAME of kernels/NAME.cu
  const char* ptx;
  bool (*run)(Host& host);  ///< runs the program; returns whether its result is right
};

/// All programs, by name.
const std::vector<Program>& programs();

/// Runs a program with the arguments of its command line; returns whether its result is right.
/// Throws nearwarp::Error for a name that no program has.
bool run_program(runtime::VirtualDevice& device, const std::string& name,
                 const std::vector<int>& arguments);

// The host sides, each named as its program.
bool run_alu(Host& host);
bool run_atomics(Host& host);
bool run_branch(Host& host);
bool run_chase(Host& host);
bool run_constant(Host& host);
bool run_diverge(Host& host);
bool run_fma(Host& host);
bool run_local(Host& host);
bool run_saxpy(Host& host);
bool run_shared(Host& host);
bool run_spmv(Host& host);
bool run_stencil(Host& host);
bool run_transpose(Host& host);
bool run_vecadd(Host& host);

}  // namespace nearwarp::reference
