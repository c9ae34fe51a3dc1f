// Parameters of cuRAND's kernels; the host fills them in (curand.cpp).
#pragma once

namespace nearwarp::curand {

/// Sequences that lie far apart in one, of XORWOW, MRG32k3a and Philox (there of groups of four
/// words): number n of all is the next one of sequence n % k...Sequences.
constexpr int kXorwowSequences = 4096, kMrgSequences = 81920, kPhiloxSequences = 65536;
constexpr int kLegacyMrgSequences = 4096;
constexpr int kStateWords = 6;  ///< of XORWOW and MRG32k3a
constexpr int kTwisterWords = 624;
/// MTGP32: generators with parameters of their own, each of which gives so many words in turn.
constexpr int kMtgpGenerators = 64, kMtgpWords = 256;
constexpr int kMtgpState = 351;  ///< words; behind them the three parameters, and two tables
constexpr int kMtgpAll = kMtgpState + 3 + 4 + 4;

/// `draws` words for each of `n` numbers, from number `position` on. Words of one number follow
/// each other in its sequence.
struct WordArgs {
  unsigned* words;  ///< Sobol's of 64 bits are twice as large
  long long n;
  unsigned long long position;
  unsigned* states;  ///< word w of sequence s at w * sequences + s; Philox: how many counters of a
                     ///< sequence were taken beyond one for each group; MT19937: its words, and
                     ///< the next; MTGP32: kMtgpAll words of each generator
  unsigned long long seed;  ///< of Philox
  const void* directions;   ///< of Sobol, as many for each dimension as words have digits
  long long points;         ///< of Sobol: for each dimension
  int draws;
  int as_steps;  ///< MRG32k3a: what its recursion gives, not yet spread over all 32 bits
};

/// How a uniform number is made of words.
enum WordKind : int { kRandomWords, kMrgSteps, kSobolWords, kLongSobolWords };

/// Makes numbers of words.
struct NumberArgs {
  const unsigned* words;
  void* numbers;
  long long n;
  double mean, deviation;
  int logarithmic;
  WordKind kind;
};

}  // namespace nearwarp::curand
