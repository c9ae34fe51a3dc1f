// Chooses the near-bank units that an object's pages lie behind, by votes of its accesses.
#include "host/mechanisms/coda/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <string>

#include "host/functional/compiler/lane_bytes.h"
#include "host/mechanisms/coda/accesses.h"

namespace nearwarp::coda {

namespace {

constexpr uint32_t kMaxRuns = 8;  ///< run lengths that are tried: 1, 2, 4, .. lines

/// The accesses to an object, and how many of them would be near their warp's unit.
struct Votes {
  uint64_t accesses = 0;
  std::array<uint64_t, kMaxRuns> near{};       ///< [k]: near accesses with runs of 2^k lines
  std::vector<std::vector<uint64_t>> of_page;  ///< [page][unit]: accesses of the unit's warps
};

/// The consecutive bytes that a warp accesses; 0 unless all lanes take part, in ascending order.
uint64_t run_of(const runtime::MemoryAccess& a, uint32_t lane_bytes) {
  if (a.mask != ~0u) return 0;
  for (uint32_t lane = 1; lane < 32; ++lane)
    if (a.address[lane] != a.address[0] + uint64_t{lane} * lane_bytes) return 0;
  return uint64_t{32} * lane_bytes;
}

class Study {
 public:
  Study(const runtime::Recording& recording, const std::vector<ObjectUse>& uses,
        const std::vector<bool>& localised, const UnitRules& rules)
      : recording_(recording),
        uses_(uses),
        localised_(localised),
        rules_(rules),
        votes_(uses.size()) {
    // A turn of all units must fit a page, so that a line's unit does not depend on its page's
    // frame.
    const uint32_t page_lines = rules.page_bytes / rules.line_bytes;
    while (runs_ < kMaxRuns && (rules.units << runs_) <= page_lines) ++runs_;
  }

  std::vector<ObjectUnits> choose() {
    std::set<uint32_t> first;
    for (const ObjectUse& use : uses_)
      if (localised_[use.allocation] && use.touched) first.insert(use.launch);
    for (const uint32_t launch : first) look_at(launch);
    std::vector<ObjectUnits> all;
    for (uint32_t i = 0; i < uses_.size(); ++i) all.push_back(choice(i));
    return all;
  }

 private:
  void look_at(uint32_t first) {
    const runtime::LaunchRecord& f = recording_.launches[first];
    const compiler::Kernel& kernel = *recording_.kernels[f.kernel];
    AllocationsByAddress objects(recording_.allocations, f.application);
    for (uint32_t i = 0; i < recording_.launches.size(); ++i) {
      const runtime::LaunchRecord& l = recording_.launches[i];
      if (l.kernel != f.kernel || l.application != f.application) continue;
      each_warp_access(recording_, i, [&](uint64_t, uint32_t warp, const runtime::MemoryAccess& a) {
        const uint64_t bytes = run_of(a, compiler::lane_bytes(kernel.instructions[a.instruction]));
        if (bytes == 0 || (a.address[0] & trace::kSharedWindow) != 0) return;
        const uint32_t object = objects.of(a.address[0]);
        if (object == kNoObject || !localised_[object] || uses_[object].launch != first) return;
        vote(object, warp % rules_.units, a.address[0], bytes);
      });
    }
  }

  void vote(uint32_t object, uint32_t unit, uint64_t address, uint64_t bytes) {
    Votes& v = votes_[object];
    v.accesses += 1;
    const uint64_t first = address / rules_.line_bytes,
                   last = (address + bytes - 1) / rules_.line_bytes;
    for (uint32_t k = 0; k < runs_; ++k) {
      bool near = true;
      for (uint64_t line = first; line <= last; ++line) near &= (line >> k) % rules_.units == unit;
      v.near[k] += near ? 1 : 0;
    }
    const uint64_t page = address / rules_.page_bytes;
    if ((address + bytes - 1) / rules_.page_bytes != page) return;
    const runtime::Allocation& a = recording_.allocations[object];
    const uint64_t begin = a.address / rules_.page_bytes;
    if (v.of_page.empty())
      v.of_page.resize((a.address + a.bytes - 1) / rules_.page_bytes - begin + 1,
                       std::vector<uint64_t>(rules_.units));
    if (page - begin < v.of_page.size()) v.of_page[page - begin][unit] += 1;
  }

  ObjectUnits choice(uint32_t object) const {
    const Votes& v = votes_[object];
    ObjectUnits out;
    out.run_lines = rules_.default_run;
    out.accesses = v.accesses;
    const auto standard = static_cast<uint32_t>(std::countr_zero(rules_.default_run));
    if (v.accesses == 0) return out;
    // The machine's run length is kept unless another one is better.
    uint32_t best = std::min(standard, runs_ - 1);
    for (uint32_t k = 0; k < runs_; ++k)
      if (v.near[k] > v.near[best]) best = k;
    out.run_lines = 1u << best;
    out.near = v.near[best];
    uint64_t by_page = 0;
    for (const std::vector<uint64_t>& page : v.of_page)
      by_page += *std::max_element(page.begin(), page.end());
    if (by_page <= out.near) return out;
    out.run_lines = rules_.page_bytes / rules_.line_bytes;
    out.near = by_page;
    for (const std::vector<uint64_t>& page : v.of_page)
      out.of_page.push_back(
          static_cast<uint8_t>(std::max_element(page.begin(), page.end()) - page.begin()));
    return out;
  }

  const runtime::Recording& recording_;
  const std::vector<ObjectUse>& uses_;
  const std::vector<bool>& localised_;
  const UnitRules& rules_;
  std::vector<Votes> votes_;
  uint32_t runs_ = 1;
};

/// The key under which the study's result is kept: everything that it depends on.
std::string key_of(const std::vector<ObjectUse>& uses, const std::vector<bool>& localised,
                   const UnitRules& rules) {
  std::string key = fmt::format("coda: units {}, run {}, line {}, page {}, objects of launches",
                                rules.units, rules.default_run, rules.line_bytes, rules.page_bytes);
  for (const ObjectUse& use : uses)
    key += localised[use.allocation] && use.touched ? fmt::format(" {}", use.launch) : " -";
  return key;
}

}  // namespace

std::vector<ObjectUnits> study_units(const runtime::Recording& recording,
                                     const std::vector<ObjectUse>& uses,
                                     const std::vector<bool>& localised, const UnitRules& rules) {
  return *recording.studies->of<std::vector<ObjectUnits>>(key_of(uses, localised, rules), [&] {
    return Study(recording, uses, localised, rules).choose();
  });
}

}  // namespace nearwarp::coda
