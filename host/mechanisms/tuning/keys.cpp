// Tuned offloading's keys: the table [tuning] of a policy, beside TOM's.
#include <array>

#include "host/config/mechanism.h"
#include "host/mechanisms/tom/settings.h"
#include "host/mechanisms/tuning/settings.h"

namespace nearwarp::tuning {
namespace {

using config::Member;
using P = config::PolicyConfig;

constexpr bool kOptional = true;

#define NW_TUNING(member) \
  "tuning." #member, [](P& p) -> Member { return &p.table<Settings>().member; }
#define NW_SHARED(member) \
  "tuning." #member, [](P& p) -> Member { return &p.table<tom::SharedSettings>().member; }

constexpr std::array<config::Key<P>, 11> kKeys = {{
    {NW_TUNING(pimbegin), "", 0, 0, false, "before inside",
     "Where a loop is offered. before: once, before it is entered, as TOM does; inside: at its "
     "first instruction, in every round.",
     kOptional},
    {NW_TUNING(rounds), "", 0, 0, false, "outermost innermost",
     "Which of a candidate's loops have rounds: those that no other one of it encloses, or those "
     "without loops inside.",
     kOptional},
    {NW_TUNING(after_refusal), "", 0, 0, false, "round entry loop",
     "A warp that a full stack SM or a busy channel has refused is offered again in the next "
     "round, when it comes to the loop again, or never for this loop.",
     kOptional},
    {NW_TUNING(pimbegin_cycles), "core cycles", 1, 1000, false, "",
     "What a PIMBEGIN at a loop's first instruction takes a warp, on SMs of either kind.",
     kOptional},
    {NW_TUNING(adaptation), "", 0, 0, false, "",
     "Stack SMs send a warp back to the main GPU, from the beginning of a round, whose requests "
     "go too often to other stacks.",
     kOptional},
    {NW_TUNING(history_rounds), "rounds", 1, 16, false, "",
     "Rounds that a warp's entry in the traffic history buffer holds.", kOptional},
    {NW_TUNING(full_history), "", 0, 0, false, "",
     "Look at the ratio only when the history is full; false: from the first round on.", kOptional},
    {NW_TUNING(threshold_percent), "%", 0, 1000000, false, "",
     "Ratio of inter-stack to intra-stack requests in the history above which a warp is sent "
     "back.",
     kOptional},
    {NW_TUNING(after_return), "", 0, 0, false, "entry loop never",
     "A warp that was sent back is offered again when it comes to the loop again, never for this "
     "loop, or never for any.",
     kOptional},
    {NW_SHARED(shared), "", 0, 0, false, "none annotated proved",
     "Code that accesses a shared array may be offloaded, and the array goes along. none: no; "
     "annotated: arrays that tuning.shared_arrays names; proved: those, and arrays that the code "
     "only reads, or to which it only adds.",
     kOptional},
    {NW_SHARED(shared_arrays), "", 0, 0, false, "",
     "Shared arrays and what a warp does with them: NAME:accumulator:BYTES or NAME:table:BYTES, "
     "several joined by +.",
     kOptional},
}};

void check(const P& policy, const config::Rules& rules) {
  rules.require(policy.table<tom::OffloadSettings>().overhead, "offload.overhead", "is false",
                "with policy.mechanism = \"tuning\" it must be true");
  const auto& t = policy.table<Settings>();
  rules.require(t.after_refusal != "round" || t.pimbegin == "inside", "tuning.after_refusal",
                "is \"round\"",
                "with tuning.pimbegin = \"before\" there is no trial in a round: it must be "
                "\"entry\" or \"loop\"");
}

}  // namespace

const config::MechanismDeclaration& declaration() {
  static constexpr config::MechanismDeclaration kDeclaration = {
      .name = "tuning",
      .doc = "offloading of loops after Y. Wu et al. (ICS 2020)",
      .runs_on = "tom",
      .keys = kKeys,
      .check = check,
  };
  return kDeclaration;
}

}  // namespace nearwarp::tuning
