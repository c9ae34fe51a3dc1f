// Generators of random words, and the distributions that are made of them.
#include "host/functional/cudalibs/kernels/curand_args.h"

using namespace nearwarp::curand;

namespace {

/// f(i) for all of n elements.
template <class F>
__device__ void each(long long n, F&& f) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
       i += (long long)gridDim.x * blockDim.x)
    f(i);
}

/// A thread for each of kSequences that has something to give; next(s) steps its state and gives a word.
template <int kSequences, class Next>
__device__ void sequences(const WordArgs& a, Next&& next) {
  each(a.n < kSequences ? a.n : kSequences, [&](long long first) {
    const int sequence = int((a.position + first) % kSequences);
    unsigned s[kStateWords];
    for (int w = 0; w < kStateWords; ++w) s[w] = a.states[w * kSequences + sequence];
    for (long long i = first; i < a.n; i += kSequences)
      for (int draw = 0; draw < a.draws; ++draw) a.words[i * a.draws + draw] = next(s);
    for (int w = 0; w < kStateWords; ++w) a.states[w * kSequences + sequence] = s[w];
  });
}

/// Marsaglia, "Xorshift RNGs" (2003), section 3.1: five words and a sum.
__device__ unsigned xorwow(unsigned* s) {
  const unsigned t = s[0] ^ (s[0] >> 2);
  for (int i = 0; i < 4; ++i) s[i] = s[i + 1];
  s[4] = (s[4] ^ (s[4] << 4)) ^ (t ^ (t << 1));
  s[5] += 362437;
  return s[4] + s[5];
}

/// L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number generators" (1999):
/// 1 to m1.
__device__ unsigned mrg32k3a(unsigned* s) {
  const unsigned long long m1 = 4294967087ull, m2 = 4294944443ull;
  const unsigned p1 = (1403580ull * s[1] + 810728ull * (m1 - s[0])) % m1;
  const unsigned p2 = (527612ull * s[5] + 1370589ull * (m2 - s[3])) % m2;
  s[0] = s[1], s[1] = s[2], s[2] = p1;
  s[3] = s[4], s[4] = s[5], s[5] = p2;
  return p1 > p2 ? p1 - p2 : p1 + unsigned(m1 - p2);
}

template <int kSequences>
__device__ void mrg32k3a_sequences(const WordArgs& a) {
  sequences<kSequences>(a, [&](unsigned* s) {
    const unsigned step = mrg32k3a(s);
    return a.as_steps ? step : (unsigned)(step * 1.000000048662);  // to all 32 bits
  });
}

struct Words4 {
  unsigned w[4];
};
/// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011): ten rounds.
__device__ Words4 philox(unsigned long long counter, unsigned long long high, unsigned long long key) {
  unsigned c[4] = {(unsigned)counter, (unsigned)(counter >> 32), (unsigned)high, (unsigned)(high >> 32)};
  unsigned k0 = (unsigned)key, k1 = (unsigned)(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
    const unsigned c1 = c[1], c3 = c[3];
    c[0] = (unsigned)(b >> 32) ^ c1 ^ k0;
    c[1] = (unsigned)b;
    c[2] = (unsigned)(a >> 32) ^ c3 ^ k1;
    c[3] = (unsigned)a;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c[0], c[1], c[2], c[3]}};
}

/// One thread block. `states` has the words, and how many of them have been given.
__device__ void twister(const WordArgs& a) {
  constexpr int kFar = 397, kStep = kTwisterWords - kFar;  // new words after so many depend on new ones
  __shared__ unsigned s[kTwisterWords];
  const int t = threadIdx.x;
  for (int i = t; i < kTwisterWords; i += blockDim.x) s[i] = a.states[i];
  int given = a.states[kTwisterWords];
  __syncthreads();
  for (long long done = 0; done < a.n;) {
    if (given == kTwisterWords) {
      for (int first = 0; first < kTwisterWords; first += kStep) {
        const int i = first + t;
        const bool mine = t < kStep && i < kTwisterWords;
        unsigned fresh = 0;
        if (mine) {
          const unsigned y = (s[i] & 0x80000000u) | (s[(i + 1) % kTwisterWords] & 0x7fffffffu);
          fresh = s[(i + kFar) % kTwisterWords] ^ (y >> 1) ^ ((y & 1) != 0 ? 0x9908b0dfu : 0);
        }
        __syncthreads();
        if (mine) s[i] = fresh;
        __syncthreads();
      }
      given = 0;
    }
    const long long left = a.n - done;
    const int now = left < kTwisterWords - given ? (int)left : kTwisterWords - given;
    for (int i = t; i < now; i += blockDim.x) {
      unsigned y = s[given + i];
      y ^= y >> 11;
      y ^= (y << 7) & 0x9d2c5680u;
      y ^= (y << 15) & 0xefc60000u;
      a.words[done + i] = y ^ (y >> 18);
    }
    done += now;
    given += now;
    __syncthreads();
  }
  for (int i = t; i < kTwisterWords; i += blockDim.x) a.states[i] = s[i];
  if (t == 0) a.states[kTwisterWords] = given;
}

/// The sum of those entries of a linear table whose bits are set.
__device__ unsigned of_table(const unsigned* table, unsigned bits) {
  unsigned sum = 0;
  for (int i = 0; i < 4; ++i) sum ^= (bits >> i & 1) != 0 ? table[i] : 0;
  return sum;
}

/// Saito and Matsumoto, "Variants of Mersenne Twister suitable for graphic processors" (2013): a thread block for each
/// generator. A state is as it was when the generator's turn began that is not over.
__device__ void group_twister(const WordArgs& a) {
  constexpr unsigned kMask = 0xfff80000u;
  constexpr long long kRound = (long long)kMtgpGenerators * kMtgpWords;
  __shared__ unsigned s[kMtgpState], p[kMtgpAll - kMtgpState];
  unsigned* const own = a.states + blockIdx.x * kMtgpAll;
  const int t = threadIdx.x;
  for (int i = t; i < kMtgpAll; i += kMtgpWords) (i < kMtgpState ? s[i] : p[i - kMtgpState]) = own[i];
  __syncthreads();
  const long long end = a.position + a.n;
  // Where the turn begins that is not over.
  long long at = (long long)a.position / kRound * kRound + blockIdx.x * kMtgpWords;
  if (at + kMtgpWords <= (long long)a.position) at += kRound;
  for (; at < end; at += kRound) {
    unsigned x = (s[t] & kMask) ^ s[t + 1];
    x ^= x << p[1];
    const unsigned y = x ^ (s[t + p[0]] >> p[2]);
    const unsigned fresh = y ^ of_table(p + 3, y);
    unsigned temper = s[t + p[0] - 1];
    temper ^= temper >> 16;
    temper ^= temper >> 8;
    const long long i = at + t - (long long)a.position;
    if (i >= 0 && i < a.n) a.words[i] = fresh ^ of_table(p + 7, temper);
    if (at + kMtgpWords > end) break;
    const unsigned kept = t < kMtgpState - kMtgpWords ? s[t + kMtgpWords] : 0;
    __syncthreads();
    if (t < kMtgpState - kMtgpWords) s[t] = kept;
    s[kMtgpState - kMtgpWords + t] = fresh;
    __syncthreads();
  }
  for (int i = t; i < kMtgpState; i += kMtgpWords) own[i] = s[i];
}

/// In (0, 1].
__device__ float uniform(unsigned x) { return x * 0x1p-32f + 0x1p-33f; }
__device__ double uniform(unsigned x, unsigned y) {
  return (x ^ ((unsigned long long)y << 21)) * 0x1p-53 + 0x1p-54;
}

constexpr double kMrgUnit = 2.3283065498378288e-10;  // of cuRAND's device interface: MRG32k3a's steps to (0, 1]

__device__ unsigned long long long_word(const NumberArgs& a, long long i) {
  return reinterpret_cast<const unsigned long long*>(a.words)[i];
}
__device__ float number(const NumberArgs& a, long long i, float) {
  if (a.kind == kMrgSteps) return float(a.words[i] * kMrgUnit);
  return uniform(a.kind == kLongSobolWords ? (unsigned)(long_word(a, i) >> 32) : a.words[i]);
}
__device__ double number(const NumberArgs& a, long long i, double) {
  switch (a.kind) {
    case kMrgSteps: return a.words[i] * kMrgUnit;
    case kSobolWords: return a.words[i] * 0x1p-32 + 0x1p-32;
    case kLongSobolWords: return (long_word(a, i) >> 11) * 0x1p-53 + 0x1p-54;
    default: return uniform(a.words[2 * i], a.words[2 * i + 1]);
  }
}
/// For the inverses of distribution functions: never 0 nor 1, points of 32 bits in the middles of their intervals.
template <class T>
__device__ double inner_number(const NumberArgs& a, long long i) {
  if (a.kind == kSobolWords && sizeof(T) == sizeof(double)) return a.words[i] * 0x1p-32 + 0x1p-33;
  return number(a, i, T());
}
__device__ bool is_quasi(const NumberArgs& a) { return a.kind == kSobolWords || a.kind == kLongSobolWords; }

/// Sobol's points: `points` of each dimension, one dimension behind the other, digit by digit of the point's Gray code.
template <class Word>
__device__ void sobol(const WordArgs& a) {
  constexpr int kDigits = 8 * sizeof(Word);
  each(a.n, [&](long long i) {
    const Word k = (Word)(a.position + i % a.points), gray = k ^ (k >> 1);
    const Word* const v = static_cast<const Word*>(a.directions) + i / a.points * kDigits;
    Word x = 0;
    for (int digit = 0; digit < kDigits; ++digit)
      if ((gray >> digit & 1) != 0) x ^= v[digit];
    reinterpret_cast<Word*>(a.words)[i] = x;
  });
}

template <class T>
__device__ void store_normal(const NumberArgs& a, long long i, T x) {
  x = T(a.mean) + T(a.deviation) * x;
  static_cast<T*>(a.numbers)[i] = a.logarithmic ? exp(x) : x;
}

/// Two normal numbers of two uniform ones (Box and Muller, 1958); one of one in a sequence without randomness, so
/// that it keeps its order.
template <class T>
__device__ void normal(const NumberArgs& a) {
  if (is_quasi(a)) {
    each(a.n, [&](long long i) {
      store_normal(a, i, T(normcdfinv(inner_number<T>(a, i))));
    });
    return;
  }
  each(a.n / 2, [&](long long pair) {
    const T u = number(a, 2 * pair, T()), v = number(a, 2 * pair + 1, T());
    const T radius = sqrt(T(-2) * log(u));
    T s, c;
    if (sizeof(T) == sizeof(float)) {
      float fs, fc;
      sincospif(2 * float(v), &fs, &fc);
      s = fs, c = fc;
    } else {
      double ds, dc;
      sincospi(2 * double(v), &ds, &dc);
      s = ds, c = dc;
    }
    store_normal(a, 2 * pair, radius * s);
    store_normal(a, 2 * pair + 1, radius * c);
  });
}

/// Uniform numbers of one result's own: of its two words as key.
class Stream {
 public:
  __device__ Stream(unsigned a, unsigned b) : key_(a | (unsigned long long)b << 32) {}
  __device__ double next() {
    if (at_ == 4) {
      words_ = philox(counter_++, 0, key_);
      at_ = 0;
    }
    const double u = uniform(words_.w[at_], words_.w[at_ + 1]);
    at_ += 2;
    return u;
  }

 private:
  unsigned long long key_, counter_ = 0;
  Words4 words_ = {};
  int at_ = 4;
};

/// Products of uniform numbers for few; else transformed rejection (Hormann, "The transformed rejection method for
/// generating Poisson random variables", 1993).
__device__ unsigned poisson(double lambda, Stream& stream) {
  if (lambda < 10) {
    const double least = exp(-lambda);
    unsigned k = 0;
    for (double product = stream.next(); product > least; product *= stream.next()) ++k;
    return k;
  }
  const double root = sqrt(lambda), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = stream.next() - 0.5, v = stream.next(), us = 0.5 - fabs(u);
    const double k = floor((2 * a / us + b) * u + lambda + 0.43);
    if (us >= 0.07 && v <= v_r) return (unsigned)k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log(v) + log(inverse_alpha) - log(a / (us * us) + b) <= k * log(lambda) - lambda - lgamma(k + 1))
      return (unsigned)k;
  }
}

/// The least number whose distribution function reaches u, so that points keep their order: sums for few, else Giles's
/// expansion ("Algorithm 955: approximation of the inverse Poisson cumulative distribution function", 2016).
__device__ unsigned inverse_poisson(double lambda, double u) {
  if (lambda < 500) {
    double term = exp(-lambda), sum = term;
    unsigned k = 0;
    const double most = lambda + 60 * sqrt(lambda) + 60;  // beyond it nothing is left to add
    while (sum < u && k < most) term *= lambda / ++k, sum += term;
    return k;
  }
  const double w = normcdfinv(u), w2 = w * w, root = sqrt(lambda);
  const double k = lambda + root * w + 1. / 3 + w2 / 6 - w * (1. / 36 + w2 / 72) / root +
                   (-8. / 405 + 7 * w2 / 810 + w2 * w2 / 270) / lambda;
  return k < 0 ? 0 : (unsigned)k;
}

}  // namespace

extern "C" __global__ void curand_xorwow(WordArgs a) {
  sequences<kXorwowSequences>(a, [](unsigned* s) { return xorwow(s); });
}
extern "C" __global__ void curand_mrg32k3a(WordArgs a) { mrg32k3a_sequences<kMrgSequences>(a); }
extern "C" __global__ void curand_mrg32k3a_legacy(WordArgs a) { mrg32k3a_sequences<kLegacyMrgSequences>(a); }
extern "C" __global__ void curand_mt19937(WordArgs a) { twister(a); }
extern "C" __global__ void curand_mtgp32(WordArgs a) { group_twister(a); }
/// Four numbers are a group, of as many counters as each of them takes words. A thread for each sequence.
extern "C" __global__ void curand_philox4_32_10(WordArgs a) {
  const unsigned long long begin = a.position * a.draws, end = (a.position + a.n) * a.draws;
  const unsigned long long first = a.position / 4, groups = (a.position + a.n - 1) / 4 - first + 1;
  each((long long)(groups < kPhiloxSequences ? groups : kPhiloxSequences), [&](long long i) {
    const unsigned sequence = (first + i) % kPhiloxSequences;
    unsigned beyond = a.states[sequence];
    for (unsigned long long group = first + i; group < first + groups; group += kPhiloxSequences) {
      for (int block = 0; block < a.draws; ++block) {
        const Words4 words = philox(group / kPhiloxSequences + beyond + block, sequence, a.seed);
        for (int w = 0; w < 4; ++w) {
          const unsigned long long at = 4 * (group * a.draws + block) + w;
          if (at >= begin && at < end) a.words[at - begin] = words.w[w];
        }
      }
      if (4 * (group + 1) * a.draws <= end) beyond += a.draws - 1;
    }
    a.states[sequence] = beyond;
  });
}
extern "C" __global__ void curand_sobol32(WordArgs a) { sobol<unsigned>(a); }
extern "C" __global__ void curand_sobol64(WordArgs a) { sobol<unsigned long long>(a); }

extern "C" __global__ void curand_uniform_f32(NumberArgs a) {
  each(a.n, [&](long long i) { static_cast<float*>(a.numbers)[i] = number(a, i, 0.f); });
}
extern "C" __global__ void curand_uniform_f64(NumberArgs a) {
  each(a.n, [&](long long i) { static_cast<double*>(a.numbers)[i] = number(a, i, 0.); });
}
extern "C" __global__ void curand_normal_f32(NumberArgs a) { normal<float>(a); }
extern "C" __global__ void curand_normal_f64(NumberArgs a) { normal<double>(a); }
extern "C" __global__ void curand_poisson(NumberArgs a) {
  each(a.n, [&](long long i) {
    if (is_quasi(a)) {
      static_cast<unsigned*>(a.numbers)[i] = inverse_poisson(a.mean, inner_number<double>(a, i));
      return;
    }
    Stream stream(a.words[2 * i], a.words[2 * i + 1]);
    static_cast<unsigned*>(a.numbers)[i] = poisson(a.mean, stream);
  });
}
