// The study of how the thread blocks of a program use its memory objects.
#include "host/mechanisms/coda/objects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "host/mechanisms/coda/accesses.h"
#include "host/mechanisms/coda/code_strides.h"
#include "host/mechanisms/coda/equations.h"

namespace nearwarp::coda {

namespace {

/// The lowest address that each thread block accesses in an object: where it begins.
class Begins {
 public:
  void note(uint64_t block, uint64_t address) {
    if (last_ == nullptr || block != last_block_) {
      last_ = &of_.try_emplace(block, address).first->second;
      last_block_ = block;
    }
    *last_ = std::min(*last_, address);
  }
  const std::map<uint64_t, uint64_t>& blocks() const { return of_; }

 private:
  std::map<uint64_t, uint64_t> of_;
  uint64_t last_block_ = 0;
  uint64_t* last_ = nullptr;
};

/// Find B from the blocks' beginnings. It is the distance of consecutive blocks if nearly all have
/// the same one; else the mean distance, if blocks move through the object of `bytes` at all.
void find_stride(const std::map<uint64_t, uint64_t>& begins, uint64_t bytes, ObjectUse& use) {
  std::map<int64_t, uint64_t> distances;
  uint64_t pairs = 0, forward = 0;
  for (auto at = begins.begin(); at != begins.end(); ++at) {
    const auto next = std::next(at);
    if (next == begins.end() || next->first != at->first + 1) continue;
    const auto distance = static_cast<int64_t>(next->second - at->second);
    distances[distance] += 1;
    pairs += 1;
    forward += distance > 0 ? 1 : 0;
  }
  if (pairs == 0) return;
  const auto common =
      std::max_element(distances.begin(), distances.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  // Nine pairs of ten are enough: blocks at the edge of a row or of the grid may differ.
  use.constant = common->second * 10 >= pairs * 9;
  if (use.constant) {
    use.block_bytes = static_cast<uint64_t>(std::max<int64_t>(0, common->first));
  } else if (forward * 2 > pairs && begins.rbegin()->second > begins.begin()->second) {
    const uint64_t steps = begins.rbegin()->first - begins.begin()->first;
    use.block_bytes = (begins.rbegin()->second - begins.begin()->second) / steps;
    // Blocks that also read the row above their own begin there, but the first ones cannot. So the
    // mean is a little too small, and chunks would drift away from their blocks.
    const uint64_t even = bytes / (steps + 1);
    if (use.block_bytes < even && even - use.block_bytes <= even / 50) use.block_bytes = even;
  }
}

/// Take B from the kernel's code, where it gives one, for objects with blocks in `begins`. If the
/// code is the only source, the other objects lose theirs.
void take_strides_of_code(const runtime::Recording& recording, uint32_t launch,
                          AllocationsByAddress& objects, const PlacementRules& rules,
                          const std::vector<Begins>& begins, std::vector<ObjectUse>& uses) {
  if (rules.source == StrideSource::kCode)
    for (uint32_t i = 0; i < uses.size(); ++i)
      if (!begins[i].blocks().empty()) uses[i].block_bytes = 0;
  for (const auto& [pointer, bytes] : strides_by_code(recording, launch)) {
    const uint32_t object = objects.of(pointer);
    if (object == kNoObject || begins[object].blocks().empty()) continue;
    uses[object].block_bytes = bytes;
    uses[object].constant = true;
    uses[object].from_code = true;
  }
}

/// Study the objects that a kernel, whose first launch is `launch`, is the first to touch.
void study_kernel(const runtime::Recording& recording, uint32_t launch,
                  AllocationsByAddress& objects, const PlacementRules& rules,
                  std::vector<ObjectUse>& uses, const std::function<void()>& pause) {
  std::vector<Begins> begins(uses.size());
  const auto note = [&](uint64_t block, uint64_t address, uint64_t) {
    const uint32_t object = objects.of(address);
    if (object == kNoObject || uses[object].touched) return;
    begins[object].note(block, address);
  };
  each_access(recording, launch, note, pause);
  bool any = false;
  for (uint32_t i = 0; i < uses.size(); ++i) {
    if (begins[i].blocks().empty()) continue;
    any = true;
    uses[i].launch = launch;
    find_stride(begins[i].blocks(), recording.allocations[i].bytes, uses[i]);
  }
  if (!any) return;
  if (rules.source != StrideSource::kTraces)
    take_strides_of_code(recording, launch, objects, rules, begins, uses);
  const uint64_t per_stack = rules.blocks_per_stack[launch];
  const uint32_t stacks = rules.stacks_of(recording.launches[launch].application);
  // Consecutive accesses are mostly to the same page, for which the stack is computed once.
  uint64_t last_block = ~uint64_t{0}, last_page = ~uint64_t{0};
  uint32_t last_object = kNoObject;
  uint64_t local = 0;
  const auto count = [&](uint64_t block, uint64_t address, uint64_t times) {
    const uint32_t object = objects.of(address);
    if (object == kNoObject) return;
    const uint64_t page = address / rules.page_bytes * rules.page_bytes;
    ObjectUse& use = uses[object];
    if (object != last_object || page != last_page || block != last_block) {
      if (begins[object].blocks().empty()) return;
      last_object = object;
      last_page = page;
      last_block = block;
      const uint64_t chunk = chunk_bytes(use.block_bytes, per_stack, rules.page_bytes, rules.chunk);
      const uint64_t begin = recording.allocations[object].address;
      const uint32_t stack = stack_of(page > begin ? page - begin : 0, chunk, stacks);
      local = stack == affinity(block, per_stack, stacks) ? 1 : 0;
    }
    use.accesses += times;
    use.local += times * local;
  };
  each_access(recording, launch, count, pause);
  for (uint32_t i = 0; i < uses.size(); ++i)
    if (!begins[i].blocks().empty()) uses[i].touched = true;
}

/// The key under which the study's result is kept: all of the rules, since each changes it.
std::string key_of(const PlacementRules& rules) {
  std::string key =
      fmt::format("coda: objects of stacks {}, page {}, chunk {}, source {}, blocks {}",
                  rules.stacks, rules.page_bytes, static_cast<int>(rules.chunk),
                  static_cast<int>(rules.source), fmt::join(rules.blocks_per_stack, " "));
  for (const std::vector<uint32_t>& stacks : rules.bound)
    key += fmt::format(", bound {}", fmt::join(stacks, " "));
  return key;
}

std::vector<ObjectUse> study(const runtime::Recording& recording, const PlacementRules& rules,
                             const std::function<void()>& pause) {
  std::vector<ObjectUse> uses(recording.allocations.size());
  for (uint32_t i = 0; i < uses.size(); ++i) uses[i].allocation = i;
  std::set<std::pair<uint32_t, uint32_t>> studied;   // (application, kernel)
  std::map<uint32_t, AllocationsByAddress> objects;  // by application
  for (uint32_t i = 0; i < recording.launches.size(); ++i) {
    const runtime::LaunchRecord& launch = recording.launches[i];
    const uint32_t application = launch.application;
    const bool all_touched = std::all_of(uses.begin(), uses.end(), [&](const ObjectUse& u) {
      return u.touched || recording.allocations[u.allocation].application != application;
    });
    if (all_touched || !studied.emplace(application, launch.kernel).second) continue;
    const auto at = objects.try_emplace(application, recording.allocations, application).first;
    study_kernel(recording, i, at->second, rules, uses, pause);
  }
  return uses;
}

}  // namespace

std::vector<ObjectUse> study_objects(const runtime::Recording& recording,
                                     const PlacementRules& rules,
                                     const std::function<void()>& pause) {
  return *recording.studies->of<std::vector<ObjectUse>>(
      key_of(rules), [&] { return study(recording, rules, pause); });
}

}  // namespace nearwarp::coda
