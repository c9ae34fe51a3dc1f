#include "bench/workloads/common/check.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace nearwarp::workloads {
namespace {

/// Compares element by element with `same(a, b)`.
template <class T, class Same>
CheckResult compare(const std::string& what, const std::vector<T>& device,
                    const std::vector<T>& reference, const char* how, Same same) {
  CheckResult result;
  if (device.size() != reference.size()) {
    result.detail =
        fmt::format("{}: {} values instead of {}", what, device.size(), reference.size());
    return result;
  }
  size_t different = 0, first = 0;
  for (size_t i = 0; i < device.size(); ++i) {
    if (same(device[i], reference[i])) continue;
    if (different++ == 0) first = i;
  }
  if (different != 0) {
    result.detail = fmt::format("{}: {} of {} values differ, first [{}]: {} instead of {}", what,
                                different, device.size(), first, device[first], reference[first]);
    return result;
  }
  result.passed = true;
  result.detail = fmt::format("{}: {} values {}", what, device.size(), how);
  return result;
}

}  // namespace

CheckResult skipped_by_limit() {
  return {.passed = false,
          .skipped = true,
          .detail = "the instruction limit ended the program before its result"};
}

CheckResult check_equal(const std::string& what, const std::vector<int32_t>& device,
                        const std::vector<int32_t>& reference) {
  return compare(what, device, reference, "equal the reference",
                 [](int32_t a, int32_t b) { return a == b; });
}

CheckResult check_bits(const std::string& what, const std::vector<float>& device,
                       const std::vector<float>& reference) {
  return compare(what, device, reference, "equal the reference bit by bit", [](float a, float b) {
    return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
  });
}

CheckResult check_close(const std::string& what, const std::vector<float>& device,
                        const std::vector<float>& reference, double tolerance, double scale) {
  return compare(what, device, reference,
                 fmt::format("within {} of the reference", tolerance).c_str(),
                 [&](float a, float b) {
                   const double limit = tolerance * std::fmax(std::fabs(double{b}), scale);
                   return std::fabs(double{a} - double{b}) <= limit;  // false for NaN
                 });
}

CheckResult both(const CheckResult& a, const CheckResult& b) {
  return {.passed = a.passed && b.passed,
          .skipped = a.skipped || b.skipped,
          .detail = a.detail + "; " + b.detail};
}

}  // namespace nearwarp::workloads
