// Which object goes where, and which physical page each virtual one gets.
#include "host/mechanisms/coda/placement.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/core/error.h"
#include "host/functional/instructions/decoded.h"
#include "host/mechanisms/coda/equations.h"
#include "host/mechanisms/coda/memory.h"

namespace nearwarp::coda {

namespace {

constexpr uint32_t kAnyStack = ~0u;

/// The stack that each of an application's virtual pages is to be in; kAnyStack: spread over all.
std::vector<uint32_t> wanted_stacks(const runtime::Recording& recording,
                                    const std::vector<ObjectUse>& uses, const PlacementRules& rules,
                                    const std::vector<bool>& localised, uint32_t application,
                                    uint64_t pages) {
  std::vector<uint32_t> wanted(pages, kAnyStack);
  for (const ObjectUse& use : uses) {
    const runtime::Allocation& a = recording.allocations[use.allocation];
    if (a.application != application || !localised[use.allocation] || a.bytes == 0) continue;
    const uint64_t begin = a.address - exec::kDeviceBase;
    const uint64_t chunk = chunk_bytes(use.block_bytes, rules.blocks_per_stack[use.launch],
                                       rules.page_bytes, rules.chunk);
    for (uint64_t page = begin / rules.page_bytes; page <= (begin + a.bytes - 1) / rules.page_bytes;
         ++page) {
      const uint64_t at = page * rules.page_bytes;
      wanted[page] = stack_of(at > begin ? at - begin : 0, chunk, rules.stacks);
    }
  }
  return wanted;
}

}  // namespace

Placement place_pages(const runtime::Recording& recording, const std::vector<ObjectUse>& uses,
                      const PlacementRules& rules, bool cgp, uint32_t local_percent,
                      uint32_t groups) {
  Placement out;
  const std::vector<uint64_t> pages_of = pages_by_application(recording, rules.page_bytes);
  for (const ObjectUse& use : uses)
    out.localised.push_back(
        use.touched && use.block_bytes != 0 &&
        ((use.from_code && rules.source == StrideSource::kCode) ||
         (use.accesses != 0 && use.local * 100 >= use.accesses * local_percent)));
  if (cgp) out.localised.assign(recording.allocations.size(), true);
  PageGroups physical(rules.stacks, groups);
  for (uint32_t application = 0; application < pages_of.size(); ++application) {
    const uint64_t pages = pages_of[application];
    std::vector<uint32_t> wanted;
    if (cgp) {
      for (uint64_t i = 0; i < pages; ++i)
        wanted.push_back(static_cast<uint32_t>(i % rules.stacks));
    } else {
      wanted = wanted_stacks(recording, uses, rules, out.localised, application, pages);
    }
    std::vector<PlacedPage>& placed = out.pages.emplace_back();
    for (const uint32_t stack : wanted) {
      const bool fgp = stack == kAnyStack;
      const auto frame = fgp ? physical.take_fgp() : physical.take_cgp(stack);
      if (!frame)
        throw Error(fmt::format(
            "the program's pages of {} bytes do not find room in {} groups of {} physical pages - "
            "with policy.mapping = \"cgp\", or all pages spread, they need fewer",
            rules.page_bytes, groups, rules.stacks));
      placed.push_back({*frame, fgp ? PageMode::kFgp : PageMode::kCgp});
      (fgp ? out.pages_fgp : out.pages_cgp) += 1;
    }
  }
  out.pages_held = physical.pages_held();
  return out;
}

}  // namespace nearwarp::coda
