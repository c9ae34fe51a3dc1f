// Generators of random numbers, and cuRAND's entry points.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>

#include "host/functional/cudalibs/call.h"
#include "host/functional/cudalibs/curand_states.h"
#include "host/functional/cudalibs/kernels.h"
#include "host/functional/cudalibs/kernels/curand_args.h"
#include "host/functional/cudalibs/not_supported.h"
#include "host/functional/cudalibs/own_ptx.h"

namespace nearwarp::curand {
extern const char* const kernels_ptx;
}
const char* nearwarp::cudalibs::own_ptx() { return curand::kernels_ptx; }

#define NW_CURAND extern "C" __attribute__((visibility("default"))) nearwarp::curand::Status

namespace nearwarp::curand {

/// curandStatus
enum Status : int {
  kSuccess = 0,
  kNotInitialized = 101,
  kAllocationFailed = 102,
  kTypeError = 103,
  kOutOfRange = 104,
  kLengthNotMultiple = 105,
  kLaunchFailure = 201,
  kInternalError = 999,
};

namespace {

/// curandRngType
enum Type : int {
  kDefault = 100,
  kXorwow = 101,
  kMrg32k3a = 121,
  kMtgp32 = 141,
  kMt19937 = 142,
  kPhilox = 161,
  kQuasiDefault = 200,
  kSobol32 = 201,
  kScrambledSobol32 = 202,
  kSobol64 = 203,
  kScrambledSobol64 = 204,
};

struct Failure {
  Status status;
};
void require(bool holds, Status otherwise = kOutOfRange) {
  if (!holds) throw Failure{otherwise};
}

/// How a distribution takes words: those of a number, of pairs of numbers, or two as the key of a
/// number's own stream.
enum class Draw { kSingle, kPairs, kKeys };

/// A generator: sequences of words, of which each number takes as many as it needs from the next.
class Generator {
 public:
  Generator(int type, bool is_host) : type_(type), is_host_(is_host) {}

  bool is_quasi() const { return type_ == kSobol32 || type_ == kSobol64; }
  bool is_long() const { return type_ == kSobol64; }  ///< words of 64 bits
  void seed(uint64_t seed) {
    require(!is_quasi(), kTypeError);
    seed_ = seed;
    // As NVIDIA's do: what was given before counts as given of the new seed's numbers, and of
    // Philox a group of four as one number.
    if (is_ready_ && type_ == kPhilox) position_ = offset_ + (position_ / 4 - offset_ / 4);
    if (type_ == kXorwow || type_ == kMrg32k3a || type_ == kPhilox) begin_at_position();
    is_ready_ = false;
  }
  void offset(uint64_t offset) {
    offset_ = offset;
    is_ready_ = false;
  }
  void dimensions(uint32_t dimensions) {
    require(is_quasi(), kTypeError);
    require(dimensions >= 1 && dimensions <= 20000);
    if (dimensions > kMostDimensions) {
      cudalibs::say_not_supported("curandSetQuasiRandomGeneratorDimensions",
                                  "with more than 10 dimensions", "cuRAND",
                                  "CURAND_STATUS_OUT_OF_RANGE");
      throw Failure{kOutOfRange};
    }
    dimensions_ = dimensions;
    is_ready_ = false;
  }
  /// Orders that NVIDIA's generators take. There is one order of each, but of MRG32k3a.
  void ordering(int ordering) {
    constexpr int kBest = 100, kDefault = 101, kSeeded = 102, kLegacy = 103, kDynamic = 104,
                  kQuasi = 201;
    require(is_quasi()             ? ordering == kQuasi
            : ordering == kSeeded  ? type_ == kXorwow
            : ordering == kDynamic ? !is_host_ && type_ != kMt19937
            : ordering == kBest    ? !is_host_ || type_ != kMt19937
                                   : ordering == kDefault || ordering == kLegacy);
    const int sequences = ordering == kLegacy ? kLegacyMrgSequences : kMrgSequences;
    if (type_ != kMrg32k3a || sequences == sequences_) return;
    begin_at_position();
    sequences_ = sequences;
  }
  void stream(cudalibs::Stream stream) { stream_ = stream; }

  /// States as the seed and the offset say.
  void prepare() {
    if (is_ready_) return;
    std::vector<uint32_t> words;
    switch (type_) {
      case kXorwow:
        words = xorwow_states(seed_, offset_);
        break;
      case kMrg32k3a:
        words = mrg32k3a_states(seed_, offset_, sequences_);
        break;
      case kMt19937:
        words = mt19937_state(static_cast<uint32_t>(seed_), offset_);
        break;
      case kMtgp32:
        words = mtgp32_states(seed_, offset_);
        break;
      case kSobol32:
        words = sobol_directions<uint32_t>(dimensions_);
        break;
      case kSobol64: {
        const auto directions = sobol_directions<uint64_t>(dimensions_);
        words.resize(2 * directions.size());
        std::memcpy(words.data(), directions.data(), words.size() * sizeof(uint32_t));
        break;
      }
      default:
        words.resize(kPhiloxSequences);
    }
    states_ = cudalibs::Memory(words.size() * sizeof(uint32_t));
    if (!words.empty() &&
        (cudalibs::cudaMemcpyAsync(states_.get(), words.data(), words.size() * sizeof(uint32_t),
                                   cudalibs::kCopyDefault, stream_) != 0 ||
         cudalibs::cudaStreamSynchronize(stream_) != 0))
      throw cudalibs::Problem::kLaunch;
    position_ = offset_;
    is_ready_ = true;
  }

  /// Words themselves.
  void generate(void* to, size_t n) {
    check_count(n);
    with_output(to, n * word_bytes(), [&](void* out) {
      words(static_cast<unsigned*>(out), static_cast<int64_t>(n), 1, false);
    });
  }
  /// Numbers of `bytes` bytes that `kernel` makes.
  void generate(const char* kernel, void* to, size_t n, size_t bytes, Draw draw, NumberArgs args) {
    check_count(n);
    with_output(to, n * bytes, [&](void* out) {
      const bool as_steps = type_ == kMrg32k3a && draw != Draw::kKeys;
      args.kind = is_long()    ? kLongSobolWords
                  : is_quasi() ? kSobolWords
                  : as_steps   ? kMrgSteps
                               : kRandomWords;
      const bool two = draw == Draw::kKeys || bytes == sizeof(double);
      const size_t words_each = two && args.kind == kRandomWords ? 2 : 1;
      // Both numbers of a pair are of one sequence, but for Philox, whose groups have them.
      const bool has_sequences = type_ == kXorwow || type_ == kMrg32k3a;
      const size_t together = has_sequences && draw == Draw::kPairs ? 2 : 1;
      const size_t count = n * words_each;
      void* own = nullptr;
      // Words of numbers of their size can lie where these come to.
      const bool in_place = bytes == word_bytes() && words_each == 1;
      if (!in_place && cudalibs::cudaMallocAsync(&own, count * word_bytes(), stream_) != 0)
        throw cudalibs::Problem::kMemory;
      auto* const from = static_cast<unsigned*>(in_place ? out : own);
      words(from, static_cast<int64_t>(n / together), static_cast<int>(words_each * together),
            as_steps);
      args.words = from;
      args.numbers = out;
      args.n = static_cast<int64_t>(n);
      cudalibs::launch(kernel, args.n, &args, stream_);
      if (own != nullptr) cudalibs::cudaFreeAsync(own, stream_);
    });
  }

 private:
  /// No memory has as many numbers, and their bytes could not be counted.
  static void check_count(size_t n) {
    constexpr size_t kMostWords = 2;
    if (n > SIZE_MAX / (kMostWords * sizeof(uint64_t))) throw cudalibs::Problem::kMemory;
  }
  /// States are to be made anew, for the number that comes next.
  void begin_at_position() {
    if (is_ready_) offset_ = position_;
    is_ready_ = false;
  }

  size_t word_bytes() const { return is_long() ? sizeof(uint64_t) : sizeof(uint32_t); }

  /// `body(memory)` of the device; a generator for the host brings it there.
  template <class Body>
  void with_output(void* to, size_t bytes, Body&& body) {
    if (bytes == 0) return;
    require(to != nullptr);
    prepare();
    if (!is_host_) return body(to);
    const cudalibs::Memory between(bytes);
    body(between.get());
    if (cudalibs::cudaMemcpyAsync(to, between.get(), bytes, cudalibs::kCopyDefault, stream_) != 0 ||
        cudalibs::cudaStreamSynchronize(stream_) != 0)
      throw cudalibs::Problem::kLaunch;
  }

  /// `draws` words for each of n numbers.
  void words(unsigned* to, int64_t n, int draws, bool as_steps) {
    constexpr uint32_t kThreads = 256;
    require(!is_quasi() || n % dimensions_ == 0, kLengthNotMultiple);
    auto* const states = static_cast<unsigned*>(states_.get());
    if (type_ == kMt19937 || type_ == kMtgp32) n *= std::exchange(draws, 1);
    const int64_t points = is_quasi() ? n / dimensions_ : 0;
    const WordArgs args = {to,     n,      position_, states,          seed_,
                           states, points, draws,     as_steps ? 1 : 0};
    const auto sequences = [&](const char* kernel, int64_t all) {
      cudalibs::launch(kernel, std::min(n, all), &args, stream_);
    };
    switch (type_) {
      case kXorwow:
        sequences("curand_xorwow", kXorwowSequences);
        break;
      case kMrg32k3a:
        sequences(sequences_ == kMrgSequences ? "curand_mrg32k3a" : "curand_mrg32k3a_legacy",
                  sequences_);
        break;
      case kMt19937:
        cudalibs::launch_blocks("curand_mt19937", {1, 1, 1}, kThreads, &args, stream_);
        break;
      case kMtgp32:
        cudalibs::launch_blocks("curand_mtgp32", {kMtgpGenerators, 1, 1}, kMtgpWords, &args,
                                stream_);
        break;
      case kSobol32:
        cudalibs::launch("curand_sobol32", n, &args, stream_);
        break;
      case kSobol64:
        cudalibs::launch("curand_sobol64", n, &args, stream_);
        break;
      default:
        cudalibs::launch("curand_philox4_32_10", std::min<int64_t>(n / 4 + 2, kPhiloxSequences),
                         &args, stream_);
    }
    position_ += static_cast<uint64_t>(is_quasi() ? points : n);
  }

  int type_;
  bool is_host_, is_ready_ = false;
  uint64_t seed_ = 0, offset_ = 0, position_ = 0;
  uint32_t dimensions_ = 1;
  int sequences_ = kMrgSequences;  ///< of MRG32k3a
  cudalibs::Stream stream_ = nullptr;
  cudalibs::Memory states_;
};

std::mutex& mutex() {
  static auto* const all = new std::mutex;
  return *all;
}
std::unordered_set<Generator*>& generators() {
  static auto* const all = new std::unordered_set<Generator*>;
  return *all;
}

/// Runs a call: f(), whose Failure is what it returns.
template <class F>
Status call(F&& f) noexcept {
  return cudalibs::status_of<Failure, Status>(
      {kSuccess, kAllocationFailed, kLaunchFailure, kInternalError}, f);
}
/// Makes a call that needs a generator.
template <class F>
Status call(Generator* generator, F&& f) noexcept {
  return call([&] {
    {
      const std::lock_guard lock(mutex());
      require(generators().contains(generator), kNotInitialized);
    }
    f(*generator);
  });
}

Status create(Generator** generator, int type, bool is_host) {
  return call([&] {
    require(generator != nullptr);
    if (type == kDefault) type = kXorwow;
    if (type == kQuasiDefault) type = kSobol32;
    constexpr int kAll[] = {kXorwow, kMrg32k3a, kMtgp32, kMt19937, kPhilox, kSobol32, kSobol64};
    if (std::find(std::begin(kAll), std::end(kAll), type) == std::end(kAll)) {
      const std::string what =
          type == kScrambledSobol32 ? "with scrambled Sobol (its constants are not public)"
          : type == kScrambledSobol64
              ? "with scrambled Sobol of 64 bits (its constants are not public)"
              : "with generator " + std::to_string(type);
      cudalibs::say_not_supported("curandCreateGenerator", what.c_str(), "cuRAND",
                                  "CURAND_STATUS_TYPE_ERROR");
      throw Failure{kTypeError};
    }
    auto made = std::make_unique<Generator>(type, is_host);
    const std::lock_guard lock(mutex());
    generators().insert(made.get());
    *generator = made.release();
  });
}

Status normal(Generator* generator, const char* kernel, void* to, size_t n, size_t bytes,
              double mean, double deviation, bool logarithmic) {
  return call(generator, [&](Generator& g) {
    require(g.is_quasi() || n % 2 == 0, kLengthNotMultiple);
    NumberArgs args{};
    args.mean = mean;
    args.deviation = deviation;
    args.logarithmic = logarithmic ? 1 : 0;
    g.generate(kernel, to, n, bytes, Draw::kPairs, args);
  });
}

}  // namespace

NW_CURAND curandCreateGenerator(Generator** generator, int type) {
  return create(generator, type, false);
}
NW_CURAND curandCreateGeneratorHost(Generator** generator, int type) {
  return create(generator, type, true);
}
NW_CURAND curandDestroyGenerator(Generator* generator) {
  return call(generator, [&](Generator& g) {
    const std::lock_guard lock(mutex());
    generators().erase(&g);
    delete &g;
  });
}
NW_CURAND curandSetPseudoRandomGeneratorSeed(Generator* generator, unsigned long long seed) {
  return call(generator, [&](Generator& g) { g.seed(seed); });
}
NW_CURAND curandSetGeneratorOffset(Generator* generator, unsigned long long offset) {
  return call(generator, [&](Generator& g) { g.offset(offset); });
}
NW_CURAND curandSetGeneratorOrdering(Generator* generator, int ordering) {
  return call(generator, [&](Generator& g) { g.ordering(ordering); });
}
NW_CURAND curandSetQuasiRandomGeneratorDimensions(Generator* generator, unsigned dimensions) {
  return call(generator, [&](Generator& g) { g.dimensions(dimensions); });
}
NW_CURAND curandSetStream(Generator* generator, cudalibs::Stream stream) {
  return call(generator, [&](Generator& g) { g.stream(stream); });
}
NW_CURAND curandGenerateSeeds(Generator* generator) {
  return call(generator, [](Generator& g) { g.prepare(); });
}
NW_CURAND curandGetVersion(int* version) {
  return call([&] {
    require(version != nullptr);
    *version = 10400;
  });
}
NW_CURAND curandGetProperty(int which, int* value) {
  return call([&] {  // major, minor, patch
    require(value != nullptr && which >= 0 && which <= 2);
    *value = which == 0 ? 10 : which == 1 ? 4 : 0;
  });
}

NW_CURAND curandGenerate(Generator* generator, unsigned* to, size_t n) {
  return call(generator, [&](Generator& g) {
    require(!g.is_long(), kTypeError);
    g.generate(to, n);
  });
}
/// For generators of 64 bits.
NW_CURAND curandGenerateLongLong(Generator* generator, unsigned long long* to, size_t n) {
  return call(generator, [&](Generator& g) {
    require(g.is_long(), kTypeError);
    g.generate(to, n);
  });
}
NW_CURAND curandGenerateUniform(Generator* generator, float* to, size_t n) {
  return call(generator, [&](Generator& g) {
    g.generate("curand_uniform_f32", to, n, sizeof(*to), Draw::kSingle, {});
  });
}
NW_CURAND curandGenerateUniformDouble(Generator* generator, double* to, size_t n) {
  return call(generator, [&](Generator& g) {
    g.generate("curand_uniform_f64", to, n, sizeof(*to), Draw::kSingle, {});
  });
}
NW_CURAND curandGenerateNormal(Generator* generator, float* to, size_t n, float mean,
                               float deviation) {
  return normal(generator, "curand_normal_f32", to, n, sizeof(*to), mean, deviation, false);
}
NW_CURAND curandGenerateNormalDouble(Generator* generator, double* to, size_t n, double mean,
                                     double deviation) {
  return normal(generator, "curand_normal_f64", to, n, sizeof(*to), mean, deviation, false);
}
NW_CURAND curandGenerateLogNormal(Generator* generator, float* to, size_t n, float mean,
                                  float deviation) {
  return normal(generator, "curand_normal_f32", to, n, sizeof(*to), mean, deviation, true);
}
NW_CURAND curandGenerateLogNormalDouble(Generator* generator, double* to, size_t n, double mean,
                                        double deviation) {
  return normal(generator, "curand_normal_f64", to, n, sizeof(*to), mean, deviation, true);
}
NW_CURAND curandGeneratePoisson(Generator* generator, unsigned* to, size_t n, double lambda) {
  return call(generator, [&](Generator& g) {
    require(lambda > 0 && lambda <= 1e9);
    NumberArgs args{};
    args.mean = lambda;
    g.generate("curand_poisson", to, n, sizeof(*to), Draw::kKeys, args);
  });
}

}  // namespace nearwarp::curand

/// Where entry points end that the library does not implement.
extern "C" int nw_curand_not_supported(const char* name) {
  nearwarp::cudalibs::say_not_supported(name, "", "cuRAND", "CURAND_STATUS_INTERNAL_ERROR");
  return nearwarp::curand::kInternalError;
}
