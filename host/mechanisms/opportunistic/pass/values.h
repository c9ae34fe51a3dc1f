// The values of a kernel's registers, as far as chains need them.
#pragma once

#include <vector>

#include "host/functional/compiler/kernel.h"

namespace nearwarp::opportunistic {

/// Definitions and uses of registers of a kernel.
class Values {
 public:
  explicit Values(const compiler::Kernel& kernel);

  /// The only instruction that reads the register, if it is written once and read by one
  /// instruction; kNone otherwise.
  compiler::InstrId only_use(compiler::RegId reg) const {
    return defs_[reg] == 1 && uses_[reg] == 1 ? use_[reg] : compiler::kNone;
  }
  /// Instructions that read it.
  uint32_t uses(compiler::RegId reg) const { return uses_[reg]; }
  /// The instruction that writes it, if it is written once; kNone otherwise.
  compiler::InstrId only_def(compiler::RegId reg) const {
    return defs_[reg] == 1 ? def_[reg] : compiler::kNone;
  }
  /// Is it the same for all threads, and known without an access to global memory?
  bool is_uniform(compiler::RegId reg) const { return uniform_[reg]; }

 private:
  std::vector<uint32_t> defs_, uses_;
  std::vector<compiler::InstrId> def_, use_;
  std::vector<bool> uniform_;
};

}  // namespace nearwarp::opportunistic
