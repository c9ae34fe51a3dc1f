// Steps that the workloads' drivers share: covering threads by blocks, comparing results with the
// reference.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/workloads/workload.h"

namespace nearwarp::workloads {

/// Thread blocks of `block` threads that cover `n` threads, in one dimension.
inline runtime::Dim3 blocks_for(uint64_t n, uint32_t block) {
  return {static_cast<uint32_t>((n + block - 1) / block), 1, 1};
}

/// Result of a run that the instruction limit ended before its end.
CheckResult skipped_by_limit();

/// Equal in every element; `what` names the data in the message.
CheckResult check_equal(const std::string& what, const std::vector<int32_t>& device,
                        const std::vector<int32_t>& reference);
/// Equal bit by bit, for device code that does the reference's operations in the same order.
CheckResult check_bits(const std::string& what, const std::vector<float>& device,
                       const std::vector<float>& reference);
/// |device - reference| <= tolerance * max(|reference|, scale) in every element.
CheckResult check_close(const std::string& what, const std::vector<float>& device,
                        const std::vector<float>& reference, double tolerance, double scale);

/// Passed if both did; details are joined.
CheckResult both(const CheckResult& a, const CheckResult& b);

}  // namespace nearwarp::workloads
