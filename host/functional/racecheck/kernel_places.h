// Places in a kernel's code for reports of races: an instruction's source line, and which
// instructions come after a barrier.
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
  /// The first instruction of the same source line, so that unrolled copies are one place. Without
  /// line information lines of PTX are used.
  uint32_t line(uint32_t instruction) const {
    return instruction < first_.size() ? first_[instruction] : instruction;
  }
  /// Does `instruction` come after `barrier` for good? It does if its block postdominates the
  /// barrier's (every thread that leaves the barrier and does not end reaches it), and no path
  /// leads from it back to the barrier.
  bool past(uint32_t barrier, uint32_t instruction);
  /// Does the basic block, with those that it goes on to, only end its threads?
  bool only_ends(uint32_t block) const;

 private:
  uint32_t block_of(uint32_t instruction) const;
  bool reaches(uint32_t from, uint32_t to) const;

  const compiler::Kernel& kernel_;
  std::vector<uint32_t> first_;                         // by instruction: line()'s result
  std::map<std::pair<uint32_t, uint32_t>, bool> past_;  // past()'s results, by pairs of blocks
};

}  // namespace nearwarp::racecheck
