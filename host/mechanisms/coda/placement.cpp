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

/// Where a virtual page is to be.
struct Wanted {
  uint32_t stack = kAnyStack;  ///< kAnyStack: spread over all
  uint32_t run_lines = 0;      ///< as PlacedPage
  std::optional<uint8_t> unit;
};

}  // namespace

bool is_localised(const runtime::Recording& recording, const ObjectUse& use,
                  const PlacementRules& rules, uint32_t local_percent) {
  if (!use.touched) return false;
  if (rules.stacks_of(recording.allocations[use.allocation].application) == 1) return true;
  if (use.block_bytes == 0) return false;
  return (use.from_code && rules.source == StrideSource::kCode) ||
         (use.accesses != 0 && use.local * 100 >= use.accesses * local_percent);
}

namespace {

/// The places wanted for an application's virtual pages, by page.
std::vector<Wanted> wanted_places(const runtime::Recording& recording,
                                  const std::vector<ObjectUse>& uses, const PlacementRules& rules,
                                  const Placement& chosen, uint32_t application, uint64_t pages) {
  std::vector<Wanted> wanted(pages);
  const uint32_t stacks = rules.stacks_of(application);
  for (const ObjectUse& use : uses) {
    const runtime::Allocation& a = recording.allocations[use.allocation];
    if (a.application != application || !chosen.localised[use.allocation] || a.bytes == 0) continue;
    const ObjectUnits* units = chosen.units.empty() ? nullptr : &chosen.units[use.allocation];
    const uint64_t begin = a.address - exec::kDeviceBase;
    const uint64_t chunk = chunk_bytes(use.block_bytes, rules.blocks_per_stack[use.launch],
                                       rules.page_bytes, rules.chunk);
    for (uint64_t page = begin / rules.page_bytes; page <= (begin + a.bytes - 1) / rules.page_bytes;
         ++page) {
      const uint64_t at = page * rules.page_bytes;
      Wanted& w = wanted[page];
      w.stack = rules.stack(application, stack_of(at > begin ? at - begin : 0, chunk, stacks));
      if (units == nullptr) continue;
      w.run_lines = units->run_lines;
      const uint64_t number = page - begin / rules.page_bytes;
      if (number < units->of_page.size()) w.unit = units->of_page[number];
    }
  }
  return wanted;
}

}  // namespace

Placement place_pages(const runtime::Recording& recording, const std::vector<ObjectUse>& uses,
                      const PlacementRules& rules, bool cgp, uint32_t local_percent,
                      uint32_t groups, const std::optional<UnitRules>& units) {
  Placement out;
  const std::vector<uint64_t> pages_of = pages_by_application(recording, rules.page_bytes);
  for (const ObjectUse& use : uses)
    out.localised.push_back(is_localised(recording, use, rules, local_percent));
  if (cgp) out.localised.assign(recording.allocations.size(), true);
  if (units) out.units = study_units(recording, uses, out.localised, *units);
  PageGroups physical(rules.stacks, groups, units ? units->units : 1);
  for (uint32_t application = 0; application < pages_of.size(); ++application) {
    const uint64_t pages = pages_of[application];
    std::vector<Wanted> wanted;
    if (cgp) {
      const uint32_t stacks = rules.stacks_of(application);
      for (uint64_t i = 0; i < pages; ++i)
        wanted.push_back({rules.stack(application, static_cast<uint32_t>(i % stacks)), 0, {}});
    } else {
      wanted = wanted_places(recording, uses, rules, out, application, pages);
    }
    std::vector<PlacedPage>& placed = out.pages.emplace_back();
    for (const Wanted& w : wanted) {
      const bool fgp = w.stack == kAnyStack;
      const auto frame = fgp      ? physical.take_fgp()
                         : w.unit ? physical.take_unit(w.stack, *w.unit)
                                  : physical.take_cgp(w.stack);
      if (!frame)
        throw Error(fmt::format(
            "the program's pages of {} bytes do not find room in {} groups of {} physical pages - "
            "with policy.mapping = \"cgp\", or all pages spread, they need fewer",
            rules.page_bytes, groups, physical.pages_of_group()));
      placed.push_back({*frame, physical.mode(*frame), w.run_lines});
      (fgp ? out.pages_fgp : out.pages_cgp) += 1;
    }
  }
  out.pages_held = physical.pages_held();
  return out;
}

}  // namespace nearwarp::coda
