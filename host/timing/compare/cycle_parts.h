// The causes of the cycles in which SMs waited: parts of one use of them.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace nearwarp::compare {

/// Parts by what they are called, in cycles: they add up to what was divided.
using CycleParts = std::map<std::string, double>;

/// Cycles of a kernel in which warps waited for what was executed elsewhere, by what the SMs that
/// executed it did; empty if that is not known.
CycleParts parts_of_offload(const nlohmann::ordered_json& run, const std::string& kernel,
                            double cycles);

/// Cycles of a kernel in which warps waited for the mechanism: those of phases in which all stand
/// still, and the rest; empty if there are no such phases.
CycleParts parts_of_mechanism(const nlohmann::ordered_json& run, const std::string& kernel,
                              double cycles);

/// Cycles of all kernels in which SMs waited for memory, by where packets were on their way there
/// and back; empty if that is not known.
CycleParts parts_of_memory(const nlohmann::ordered_json& run, double cycles);

/// Whole numbers near `values` whose sum is `sum`, which that of the values is near: those with the
/// largest remainders are rounded up.
std::vector<int64_t> whole(const std::vector<double>& values, int64_t sum);

/// The share of other stacks' lines among those of a kernel that SMs in stacks asked for, 0 to 1; 0
/// if there were none.
double remote_share(const nlohmann::ordered_json& run, const std::string& kernel);

/// The name in results of the SMs that every machine has.
inline constexpr const char* kMainSms = "sm";
/// The part of waiting for a mechanism in which not all stands still.
inline constexpr const char* kDecisions = "decisions and registers";

}  // namespace nearwarp::compare
