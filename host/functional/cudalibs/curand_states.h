// States of cuRAND's generators: how they follow from seeds, and far ahead in their sequences.
#pragma once

#include <cstdint>
#include <vector>

namespace nearwarp::curand {

/// The states of k...Sequences sequences that are 2^67 numbers (XORWOW) or 2^76 (MRG32k3a) apart,
/// when `given` numbers of all have been given: as WordArgs::states has them.
std::vector<uint32_t> xorwow_states(uint64_t seed, uint64_t given);
std::vector<uint32_t> mrg32k3a_states(uint64_t seed, uint64_t given, int sequences);
/// The words of an MT19937 generator, and how many have been given.
std::vector<uint32_t> mt19937_state(uint32_t seed, uint64_t given);
/// kMtgpAll words of each generator, when `given` numbers of all have been given.
std::vector<uint32_t> mtgp32_states(uint64_t seed, uint64_t given);

inline constexpr uint32_t kMostDimensions = 10;
/// As many for each dimension as Word, of 32 or 64 bits, has digits.
template <class Word>
std::vector<Word> sobol_directions(uint32_t dimensions);

}  // namespace nearwarp::curand
