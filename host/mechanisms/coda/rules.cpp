// The rules of Eq. (1) to (3) for a policy and a machine.
#include "host/mechanisms/coda/rules.h"

#include <algorithm>
#include <bit>
#include <string>

#include "host/mechanisms/coda/settings.h"
#include "host/timing/machine/baseline_map.h"
#include "host/timing/machine/dispatch_policy.h"

namespace nearwarp::coda {

namespace {

ChunkRule chunk_rule(const std::string& name) {
  return name == "blocks" ? ChunkRule::kBlocks
         : name == "page" ? ChunkRule::kPage
                          : ChunkRule::kRounded;
}

StrideSource stride_source(const std::string& name) {
  return name == "both"   ? StrideSource::kBoth
         : name == "code" ? StrideSource::kCode
                          : StrideSource::kTraces;
}

/// The stacks that programs are bound to, by application, in ascending order.
std::vector<std::vector<uint32_t>> stacks_by_application(const runtime::Recording& recording) {
  std::vector<std::vector<uint32_t>> of;
  for (uint32_t bits : recording.bound_stacks) {
    std::vector<uint32_t>& stacks = of.emplace_back();
    for (; bits != 0; bits &= bits - 1)
      stacks.push_back(static_cast<uint32_t>(std::countr_zero(bits)));
  }
  return of;
}

}  // namespace

PlacementRules rules_of(const sim::RunSubject& subject, const sim::ImageTables& image) {
  PlacementRules rules;
  rules.stacks = sim::mapped_stacks(subject.machine);
  rules.page_bytes = subject.machine.memory.page_bytes;
  rules.chunk = chunk_rule(subject.policy.table<PageSettings>().chunk);
  rules.source = stride_source(subject.policy.table<PageSettings>().strides);
  rules.bound = stacks_by_application(subject.recording);
  rules.blocks_per_stack.assign(subject.recording.launches.size(), 1);
  const uint32_t sms = std::max(1u, subject.machine.gpu.sms / rules.stacks);
  for (size_t i = 0; i < image.launches.size(); ++i)
    rules.blocks_per_stack[image.recorded_launch[i]] =
        sim::blocks_in_row(subject.policy.dispatch, rules.stacks, sms,
                           sim::sm_capacity(subject.machine), image.launches[i]);
  return rules;
}

}  // namespace nearwarp::coda
