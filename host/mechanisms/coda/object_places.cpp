// Studies the placement of a program's memory objects under several rules.
#include "host/mechanisms/coda/object_places.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "host/config/shape.h"
#include "host/core/error.h"
#include "host/mechanisms/coda/accesses.h"
#include "host/mechanisms/coda/placement.h"
#include "host/mechanisms/coda/rules.h"
#include "host/mechanisms/coda/settings.h"
#include "host/mechanisms/coda/study_progress.h"

namespace nearwarp::coda {

namespace {

/// The accesses of lanes to an object in all launches, and how many of them would be to the stack
/// of their thread block if the object were placed by Eq. (2) and (3).
struct Count {
  uint64_t all = 0, local = 0;
};

void count_launch(const runtime::Recording& recording, uint32_t launch, const PlacementRules& rules,
                  const std::vector<ObjectUse>& uses, AllocationsByAddress& objects,
                  std::vector<Count>& counts, const std::function<void()>& pause) {
  const uint32_t stacks = rules.stacks_of(recording.launches[launch].application);
  const auto note = [&](uint64_t block, uint64_t address) {
    const uint32_t object = objects.of(address);
    if (object == kNoObject) return;
    Count& count = counts[object];
    count.all += 1;
    const ObjectUse& use = uses[object];
    const uint64_t chunk = chunk_bytes(use.block_bytes, rules.blocks_per_stack[use.launch],
                                       rules.page_bytes, rules.chunk);
    const uint64_t begin = recording.allocations[object].address;
    const uint64_t page = address / rules.page_bytes * rules.page_bytes;
    const uint32_t stack = stack_of(page > begin ? page - begin : 0, chunk, stacks);
    count.local += stack == affinity(block, rules.blocks_per_stack[launch], stacks) ? 1 : 0;
  };
  each_access_of_launch(recording, launch, note, pause);
}

}  // namespace

ObjectPlaces study_places(const sim::RunSubject& subject,
                          const std::function<bool(uint64_t, uint64_t)>& progress) {
  const runtime::Recording& recording = subject.recording;
  if (!config::shape_of(subject.machine).sms_in_stacks())
    throw Error(
        fmt::format("machine '{}' has no SMs in memory stacks alone (machine.shape = "
                    "\"{}\") - objects are placed for those of machine 'coda', say",
                    subject.machine.name, subject.machine.shape));
  const PlacementRules rules = rules_of(subject, sim::build_image(recording, subject.machine));
  StudyProgress studied(progress, recording.launches.size());
  const std::function<void()> pause = studied.pause();
  const std::vector<ObjectUse> uses = study_objects(recording, rules, pause);
  std::vector<Count> counts(uses.size());
  std::map<uint32_t, AllocationsByAddress> objects;  // by application
  for (uint32_t i = 0; i < recording.launches.size(); ++i) {
    const uint32_t application = recording.launches[i].application;
    auto& own = objects.try_emplace(application, recording.allocations, application).first->second;
    count_launch(recording, i, rules, uses, own, counts, pause);
    studied.done(i + 1);
  }
  ObjectPlaces out;
  out.workload = recording.name;
  out.machine = subject.machine.name;
  out.policy = subject.policy.name;
  out.stacks = rules.stacks;
  out.local_percent = subject.policy.table<PageSettings>().local_percent;
  for (const ObjectUse& use : uses) {
    const Count& count = counts[use.allocation];
    if (count.all == 0) continue;
    const runtime::Allocation& a = recording.allocations[use.allocation];
    ObjectPlace& o = out.objects.emplace_back();
    o.name = a.label;
    o.address = a.address;
    o.bytes = a.bytes;
    o.accesses = count.all;
    o.block_bytes = use.block_bytes;
    o.constant = use.constant;
    o.from_code = use.from_code;
    o.local = use.block_bytes == 0 ? 0 : count.local;
    o.by_distance = is_localised(recording, use, rules, 0);
    o.by_share =
        is_localised(recording, use, rules, subject.policy.table<PageSettings>().local_percent);
  }
  return out;
}

}  // namespace nearwarp::coda
