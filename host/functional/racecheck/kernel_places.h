// Places of a kernel's code in reports, each a source line, and the code that comes after barriers.
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
  /// The first instruction of the same source line, so that unrolled copies are one place; of the
  /// same line of PTX where there is no line information.
  uint32_t line(uint32_t instruction) const {
    return instruction < first_.size() ? first_[instruction] : instruction;
  }
  /// Does `instruction` come after `barrier` for good: do all threads that leave the barrier and do
  /// not end come to it, and none of those that have been there to the barrier?
  bool past(uint32_t barrier, uint32_t instruction);
  /// Has the basic block nothing but the end of its threads?
  bool only_ends(uint32_t block) const;

 private:
  uint32_t block_of(uint32_t instruction) const;
  bool reaches(uint32_t from, uint32_t to) const;

  const compiler::Kernel& kernel_;
  std::vector<uint32_t> first_;
  std::map<std::pair<uint32_t, uint32_t>, bool> past_;  // by blocks
};

}  // namespace nearwarp::racecheck
