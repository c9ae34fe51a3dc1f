// Claims: resources that a mechanism has for itself while a program runs. Two mechanisms of one
// policy go together if they claim nothing in common, whichever they are.
#pragma once

#include <string_view>

#include "host/config/policy.h"

namespace nearwarp::config {

struct Claim {
  std::string_view what;  ///< one of those below
  std::string_view why;   ///< goes on behind "which it ..."
  /// Does a policy's mechanism make it? Null: always.
  bool (*made)(const PolicyConfig&) = nullptr;
};

namespace claims {

/// Which SM executes a block of code: a warp at its beginning is held, and perhaps sent away.
inline constexpr std::string_view kBlocks = "the warps at the beginnings of blocks of code";
/// The maps of pages.
inline constexpr std::string_view kPages = "where pages lie";
/// How an SM's accesses get to memory. Whoever sends them past the load-store unit leaves them to
/// it while somebody counts them all (sm::SmStateOf::counts_accesses), or claims kEveryAccess, too.
inline constexpr std::string_view kAccesses = "the accesses of an SM's warps";
/// The load-store unit sees each of them.
inline constexpr std::string_view kEveryAccess = "every access in the load-store unit";
/// When a store counts as done.
inline constexpr std::string_view kStoreAcks = "the acknowledgements of stores";

}  // namespace claims
}  // namespace nearwarp::config
