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
/// All of an SM's accesses to memory, which the load-store unit sees one by one.
inline constexpr std::string_view kAccesses = "the accesses of an SM's warps";
/// When a store counts as done.
inline constexpr std::string_view kStoreAcks = "the acknowledgements of stores";

}  // namespace claims
}  // namespace nearwarp::config
