// The mechanism's keys: the table [loop_stall] of a policy.
#include <array>

#include "host/config/mechanism.h"
#include "loop_stall/settings.h"

namespace nearwarp::loop_stall {
namespace {

constexpr bool kOptional = true;

constexpr auto kKeys = std::to_array<config::Key<config::PolicyConfig>>({
    {"loop_stall.stall_cycles",
     [](config::PolicyConfig& p) -> config::Member { return &p.table<Settings>().stall_cycles; },
     "core cycles", 0, 1000000, false, "",
     "How long a warp waits before the first instruction of each outermost loop.", kOptional},
});

}  // namespace

const config::MechanismDeclaration& declaration() {
  static constexpr config::MechanismDeclaration kDeclaration = {
      .name = "loop_stall",
      .doc = "warps wait before loops, an example of a mechanism",
      .keys = kKeys,
  };
  return kDeclaration;
}

}  // namespace nearwarp::loop_stall
