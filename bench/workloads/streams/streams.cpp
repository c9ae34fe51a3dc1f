#include <fmt/format.h>

#include <functional>
#include <numeric>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlock = 256;
/// Elements that a thread counts.
constexpr int kPerThread = 16;
/// "The applications and their inputs are large enough to fill the workgroup slots" (section 5): 56
/// cores of 1536 threads (table 2).
constexpr int kSlots = 56 * 1536;

/// Elements of an array. `per_thread`: those that a thread takes.
int elements(Size size, int per_thread) {
  switch (size) {
    case Size::kSmall:
      return 1 << 19;
    case Size::kMedium:
      return 1 << 22;
    case Size::kLarge:
      return 1 << 25;
    case Size::kPaper:
      return kSlots * per_thread;
  }
  return 0;
}

/// Arrays of n words in one allocation, so far apart that one index of any two lies in the same
/// partition of memory, if chunks of 128 bytes go to 8 partitions in turn; or `skew` partitions
/// further from array to array.
class Arrays {
 public:
  Arrays(runtime::VirtualDevice& device, int n, uint32_t skew)
      : device_(device), n_(n), skew_(skew) {
    base_ = device.allocate(3 * step() + kTurn, "arrays");
    base_ = (base_ + kTurn - 1) / kTurn * kTurn;
  }
  runtime::DevicePtr at(uint32_t k) const { return base_ + k * (step() + skew_ * kChunk); }

  template <class T>
  void fill(uint32_t k, const std::vector<T>& values) {
    device_.copy_to_device(at(k), values.data(), values.size() * sizeof(T));
  }

 private:
  static constexpr uint64_t kChunk = 128, kTurn = 8 * kChunk;
  uint64_t step() const { return (uint64_t(n_) * 4 + kTurn - 1) / kTurn * kTurn + kTurn; }

  runtime::VirtualDevice& device_;
  int n_;
  uint32_t skew_;
  runtime::DevicePtr base_ = 0;
};

/// Partitions from one array to the next in the strided programs; the paper does not say how many.
constexpr uint32_t kSkew = 3;

/// The base of the micro-benchmarks.
class Stream : public Workload {
 public:
  std::string source() const override { return "micro-benchmark of Pattnaik et al., ISCA 2019"; }
  std::string ptx_name() const override { return "streams.ptx"; }
};

/// c[i] = f(a[i], b[i]), an element per thread.
class ElementWise final : public Stream {
 public:
  using Combine = std::function<float(float, float)>;

  ElementWise(std::string name, std::string description, std::string kernel, uint32_t inputs,
              bool scaled, uint32_t skew, Combine combine, std::string variant_of)
      : name_(std::move(name)),
        description_(std::move(description)),
        kernel_(std::move(kernel)),
        inputs_(inputs),
        scaled_(scaled),
        skew_(skew),
        combine_(std::move(combine)),
        variant_of_(std::move(variant_of)) {}

  std::string name() const override { return name_; }
  std::string description() const override { return description_; }
  std::string source() const override { return kernel_ == "triad" ? "SHOC" : Stream::source(); }
  std::string variant_of() const override { return variant_of_; }
  bool other_input() const override { return !variant_of_.empty(); }

  static constexpr float kScale = 1.75f;

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int n = elements(size, 1);
    std::vector<float> a(n), b(n);
    for (int i = 0; i < n; ++i) {
      a[i] = random_unit(1, i);
      b[i] = random_unit(2, i);
    }
    Arrays arrays(device, n, skew_);
    arrays.fill(0, a);
    if (inputs_ == 2) arrays.fill(1, b);
    const runtime::DevicePtr d_a = arrays.at(0), d_b = arrays.at(1), d_c = arrays.at(inputs_);
    const runtime::Dim3 grid = blocks_for(n, kBlock);
    const auto launch = [&](const auto&... arguments) {
      device.launch(module, kernel_, grid, {kBlock}, 0, runtime::KernelArgs(arguments...));
    };
    if (inputs_ == 2 && scaled_) {
      launch(d_a, d_b, d_c, kScale, n);
    } else if (inputs_ == 2) {
      launch(d_a, d_b, d_c, n);
    } else if (scaled_) {
      launch(d_a, d_c, kScale, n);
    } else {
      launch(d_a, d_c, n);
    }
    if (device.limit_reached()) return skipped_by_limit();
    for (int i = 0; i < n; ++i) a[i] = combine_(a[i], b[i]);
    return check_bits("c", device.download<float>(d_c, n), a);
  }

 private:
  std::string name_, description_, kernel_;
  uint32_t inputs_;
  bool scaled_;
  uint32_t skew_;
  Combine combine_;
  std::string variant_of_;
};

/// Counts elements that differ, or are zero; each thread counts its own.
class Count final : public Stream {
 public:
  explicit Count(bool compares) : compares_(compares) {}

  std::string name() const override { return compares_ ? "compare" : "density"; }
  std::string description() const override {
    return compares_ ? "counts the elements that differ between two strings"
                     : "counts the zeros of an array";
  }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int n = elements(size, kPerThread);
    std::vector<uint32_t> a(n), b(n);
    for (int i = 0; i < n; ++i) {
      a[i] = static_cast<uint32_t>(random_below(1, i, 4));
      b[i] = static_cast<uint32_t>(random_below(2, i, 4));
    }
    Arrays arrays(device, n, 0);
    arrays.fill(0, a);
    arrays.fill(1, b);
    const int threads = n / kPerThread;
    const auto counts = device.allocate(uint64_t(threads) * sizeof(uint32_t), "counts");
    const runtime::Dim3 grid = blocks_for(threads, kBlock);
    if (compares_) {
      device.launch(module, "compare_strings", grid, {kBlock}, 0,
                    runtime::KernelArgs(arrays.at(0), arrays.at(1), counts, n));
    } else {
      device.launch(module, "count_zeros", grid, {kBlock}, 0,
                    runtime::KernelArgs(arrays.at(0), counts, n));
    }
    if (device.limit_reached()) return skipped_by_limit();
    std::vector<int32_t> expected(threads, 0);
    for (int i = 0; i < n; ++i)
      expected[i % threads] += compares_ ? (a[i] != b[i] ? 1 : 0) : (a[i] == 0 ? 1 : 0);
    return check_equal("counts", device.download<int32_t>(counts, threads), expected);
  }

 private:
  bool compares_;
};

float first(float a, float) { return a; }
float sum(float a, float b) { return a + b; }
float scaled(float a, float) { return a * ElementWise::kScale; }
float scaled_sum(float a, float b) { return a + ElementWise::kScale * b; }

}  // namespace

Workloads make_streams() {
  Workloads list;
  const auto add = [&](const char* name, const char* text, const char* kernel, uint32_t inputs,
                       bool scaled, uint32_t skew, ElementWise::Combine combine,
                       const char* variant_of = "") {
    list.push_back(std::make_unique<ElementWise>(name, text, kernel, inputs, scaled, skew, combine,
                                                 variant_of));
  };
  add("copy-aligned", "copies an array; both in the same partitions of memory", "copy_array", 1,
      false, 0, first);
  add("copy-strided", "copies an array; partitions of memory differ", "copy_array", 1, false, kSkew,
      first);
  add("vecadd-aligned", "c = a + b; all in the same partitions of memory", "add_arrays", 2, false,
      0, sum);
  add("vecadd-strided", "c = a + b; partitions of memory differ", "add_arrays", 2, false, kSkew,
      sum);
  add("norm", "multiplies an array by a number", "normalize", 1, true, 0, scaled);
  add("triad", "c = a + s b", "triad", 2, true, 0, scaled_sum);
  add("triad-skewed", "triad; partitions of memory differ", "triad", 2, true, kSkew, scaled_sum,
      "triad");
  for (const uint32_t skew : {1u, 2u, 4u}) {
    const auto vary = [&](const char* of, const char* kernel, uint32_t inputs, bool scale,
                          ElementWise::Combine combine) {
      add(fmt::format("{}-{}", of, skew).c_str(),
          fmt::format("{}; arrays are {} partitions apart, not {}", of, skew, kSkew).c_str(),
          kernel, inputs, scale, skew, combine, of);
    };
    vary("copy-strided", "copy_array", 1, false, first);
    vary("vecadd-strided", "add_arrays", 2, false, sum);
    vary("triad-skewed", "triad", 2, true, scaled_sum);
  }
  list.push_back(std::make_unique<Count>(true));
  list.push_back(std::make_unique<Count>(false));
  return list;
}

}  // namespace nearwarp::workloads
