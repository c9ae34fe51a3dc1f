// The places that reports name in a kernel's code, each a source line, and which code comes after a
// barrier.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "host/functional/compiler/kernel.h"

namespace nearwarp::racecheck {

class KernelPlaces {
 public:
  explicit KernelPlaces(const compiler::Kernel& kernel);
  /// The first instruction of the source line that `instruction` is of, so that unrolled copies are
  /// one place. Without line information it is the line of PTX.
  uint32_t line(uint32_t instruction) const {
    return instruction < first_.size() ? first_[instruction] : instruction;
  }
  /// Does `instruction` come after `barrier` for good: do all threads that leave the barrier come
  /// to the instruction or end, and does none of them come to the barrier again after it?
  bool past(uint32_t barrier, uint32_t instruction);
  /// Does the basic block do nothing but end its threads?
  bool only_ends(uint32_t block) const;

 private:
  uint32_t block_of(uint32_t instruction) const;
  bool reaches(uint32_t from, uint32_t to) const;

  const compiler::Kernel& kernel_;
  std::vector<uint32_t> first_;
  std::map<std::pair<uint32_t, uint32_t>, bool> past_;  // by blocks
};

}  // namespace nearwarp::racecheck
