// Claims: resources that a mechanism has for itself while a program runs. Two mechanisms of one
// policy go together if they claim nothing in common, whichever they are.
#pragma once

#include <string_view>

#include "host/config/policy.h"

namespace nearwarp::config {

struct Claim {
  std::string_view what;  ///< one of those below
  std::string_view why;   ///< a predicate that follows "which it" in error messages
  /// Whether the mechanism makes this claim under the policy. Null: always.
  bool (*made)(const PolicyConfig&) = nullptr;
};

namespace claims {

/// Which SM executes a block of code: a warp is held at the block's beginning, and perhaps sent
/// away.
inline constexpr std::string_view kBlocks = "the warps at the beginnings of blocks of code";
/// The maps of pages.
inline constexpr std::string_view kPages = "where pages lie";
/// How an SM's accesses get to memory. A mechanism that sends them past the load-store unit must
/// leave them to the unit while another mechanism counts them all
/// (sm::SmStateOf::counts_accesses), or must claim kEveryAccess, too.
inline constexpr std::string_view kAccesses = "the accesses of an SM's warps";
/// Every access of an SM's warps passes the load-store unit.
inline constexpr std::string_view kEveryAccess = "every access in the load-store unit";
/// When a store counts as done.
inline constexpr std::string_view kStoreAcks = "the acknowledgements of stores";

}  // namespace claims
}  // namespace nearwarp::config
