// Parameters of cuRAND's kernels; the host fills them in (curand.cpp).
#pragma once

namespace nearwarp::curand {

/// Sequences that lie far apart in one: number n of all is the next one of sequence n % kSequences.
constexpr int kSequences = 4096;
constexpr int kStateWords = 6;  ///< of XORWOW and MRG32k3a
constexpr int kTwisterWords = 624;
/// MTGP32: generators with parameters of their own, each of which gives so many words in turn.
constexpr int kMtgpGenerators = 64, kMtgpWords = 256;
constexpr int kMtgpState = 351;  ///< words; behind them the three parameters, and two tables
constexpr int kMtgpAll = kMtgpState + 3 + 4 + 4;

/// `n` words from number `position` on.
struct WordArgs {
  unsigned* words;  ///< Sobol's of 64 bits are twice as large
  long long n;
  unsigned long long position;
  unsigned* states;  ///< word w of sequence s at w * kSequences + s; MT19937: its words, and the
                     ///< next; MTGP32: kMtgpAll words of each generator
  unsigned long long seed;  ///< of Philox
  const void* directions;   ///< of Sobol, as many for each dimension as words have digits
  long long points;         ///< of Sobol: for each dimension
};

/// Makes numbers of words.
struct NumberArgs {
  const unsigned* words;
  void* numbers;
  long long n;
  double mean, deviation;
  int logarithmic, quasi_digits;  ///< of quasirandom words, 32 or 64; 0: of random ones
};

}  // namespace nearwarp::curand
