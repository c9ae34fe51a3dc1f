// Fills a system's caches with what launches before it used.
#include "host/timing/run/warm_fill.h"

#include <algorithm>
#include <compare>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "device/cache/l2_halves.h"
#include "device/cache/l2_launches.h"
#include "device/cache/l2_look_up.h"
#include "host/timing/run/warm_rows.h"

namespace nearwarp::sim {
namespace {

/// The keys of a map to Order, by order, the oldest first.
template <class Key>
std::vector<Key> by_age(const std::unordered_map<Key, Order>& last) {
  std::vector<std::pair<Order, Key>> sorted;
  for (const auto& [key, order] : last) sorted.emplace_back(order, key);
  std::sort(sorted.begin(), sorted.end());
  std::vector<Key> keys;
  for (const auto& [order, key] : sorted) keys.push_back(key);
  return keys;
}

/// The TLB of a main SM has the pages used last by its SM (or its group), one near memory those
/// used last by any: which code is executed there is not known.
void fill_tlbs(const Uses& uses, System& system) {
  std::byte* base = system.arena.base();
  const auto fill = [&](uint32_t endpoint, const std::unordered_map<uint32_t, Order>& last) {
    const auto& p = system.params<sm::SmParams>(endpoint).tlb;
    const std::vector<uint32_t> pages = by_age(last);
    const size_t n = std::min<size_t>(pages.size(), p.entries);
    with_sm(system, endpoint, [&](auto& sm) {
      for (size_t k = 0; k < n; ++k) {
        const uint32_t page = pages[pages.size() - n + k];
        cache::put(sm::tlb_store(p), sm.tlb.pages, base, static_cast<uint32_t>(k), page);
        sm.tlb.entries.in(base)[k] = sm::tlb_walked(p, system.page_tables.translation, base, page);
      }
    });
  };
  for (uint32_t i = 0; i < system.num_sms(); ++i) fill(system.sms[i], uses.pages_of(i));
  const std::unordered_map<uint32_t, Order> all = uses.pages();
  for (uint32_t i = 0; i < system.table.count; ++i)
    if (kernels::is_sm(system.component(i).kind) &&
        std::find(system.sms.begin(), system.sms.end(), i) == system.sms.end())
      fill(i, all);
}

/// `has_run`: has this SM (by its number among the main ones) had a thread block of this kernel?
template <class HasRun>
void fill_instruction_caches(const Uses& uses, const HasRun& has_run, System& system) {
  const std::vector<LineAddr> lines = by_age(uses.code());
  std::byte* base = system.arena.base();
  std::unordered_map<uint32_t, uint32_t> number;
  for (uint32_t i = 0; i < system.num_sms(); ++i) number[system.sms[i]] = i;
  for (uint32_t i = 0; i < system.table.count; ++i) {
    if (!kernels::is_sm(system.component(i).kind)) continue;
    const auto& p = system.params<sm::SmParams>(i).fetch;
    if (!p.cached || !p.cache.plain) continue;
    const auto main = number.find(i);
    with_sm(system, i, [&](auto& sm) {
      cache::L1State& s = sm.fetch.cache;
      for (const LineAddr line : lines) {
        if (main != number.end() && !has_run(main->second, uses.kernel_of(line))) continue;
        const uint32_t first = cache::first_way(p.cache, line);
        const uint32_t way = cache::l1_way_to_fill(p.cache, s, base, first);
        cache::put(p.cache, s, base, first + way, line);
      }
    });
  }
}

/// Fills the L2, the oldest line first. Entries of page tables go into the slices of all SMs that
/// may walk for the page.
class L2Fill {
 public:
  L2Fill(const Uses& uses, System& system) : uses_(uses), system_(system) {
    std::unordered_set<uint16_t> slices;
    for (uint32_t i = 0; i < system.num_sms(); ++i)
      if (slices.insert(uses.slice_of(i, 0)).second) walkers_.push_back(i);
  }

  void put(uint16_t slice, uint32_t set, LineAddr line, uint32_t sectors) {
    const auto& p = system_.params<L2SliceParams>(slice);
    std::byte* base = system_.arena.base();
    if (p.at_launch != L2AtLaunch::kKeep && l2_detail::goes_at_launch(p, base, line)) return;
    // Copies (device/cache/l2_halves.h) are left out: the line's home slice would have to list
    // them.
    if (p.halves.most != 0 && l2_detail::is_far(p, base, line)) return;
    l2_detail::preload(p, system_.state<L2SliceState>(slice), base, set, line, sectors);
  }
  void put_page_table(const sm::TlbParams& p, uint32_t page) {
    for (uint32_t level = 0; level < p.walk_accesses; ++level) {
      const uint32_t entry = sm::tlb_page_number(page) >> (sm::kPageTableBits * level);
      put_for_all(sm::kPageTableBase + level * sm::kPageTableLines + (entry >> p.entry_shift));
    }
  }
  void put_for_all(LineAddr line) {
    for (const uint32_t i : walkers_) {
      const uint16_t slice = uses_.slice_of(i, line);
      if (system_.component(slice).kind != kernels::ComponentKind::kL2Slice) continue;
      const auto& p = system_.params<L2SliceParams>(slice);
      put(slice, l2_detail::set_of(p, system_.arena.base(), line), line, 0xff);
    }
  }

 private:
  const Uses& uses_;
  System& system_;
  std::vector<uint32_t> walkers_;  // an SM for each way to the L2
};

/// Which SMs have had thread blocks of which kernels before, if each thread block went to
/// the SM after that of the one before; all of them where there are groups.
class KernelsOfSms {
 public:
  KernelsOfSms(const runtime::Recording& recording, const Before& before, uint32_t groups,
               uint32_t sms)
      : all_(groups > 1) {
    uint64_t at = 0;
    for (uint32_t i = 0; i < before.launch + (before.block != 0 ? 1 : 0) && !all_; ++i) {
      const runtime::LaunchRecord& l = recording.launches[i];
      std::vector<bool>& ran = ran_[l.kernel];
      ran.resize(sms);
      for (uint64_t b = 0; b < std::min<uint64_t>(l.blocks_recorded, sms); ++b)
        ran[(at + b) % sms] = true;
      at += l.blocks_recorded;
    }
  }
  bool operator()(uint32_t sm, uint32_t kernel) const {
    const auto ran = ran_.find(kernel);
    return all_ || (ran != ran_.end() && ran->second[sm]);
  }

 private:
  bool all_;
  std::unordered_map<uint32_t, std::vector<bool>> ran_;
};

}  // namespace

void fill_caches(const runtime::Recording& recording, const Before& before, const Uses& uses,
                 System& system) {
  const sm::TlbParams& tlb = system.params<sm::SmParams>(system.sms.at(0)).tlb;
  if (tlb.entries != 0) fill_tlbs(uses, system);
  if (!uses.code().empty())
    fill_instruction_caches(
        uses,
        KernelsOfSms(recording, before, system.front_end_params().dispatch.groups,
                     system.num_sms()),
        system);
  // In the order of their last uses; pages and code are few beside lines.
  struct Event {
    Order order;
    enum { kCode, kPage, kLine } what;
    uint64_t key;
    uint32_t sectors = 0, set = 0;
    auto operator<=>(const Event&) const = default;
  };
  std::vector<Event> events;
  events.reserve(uses.lines().size());
  for (const auto& [line, order] : uses.code()) events.push_back({order, Event::kCode, line});
  for (const auto& [page, order] : uses.pages()) events.push_back({order, Event::kPage, page});
  for (const auto& [key, use] : uses.lines())
    if (use.loaded) events.push_back({use.order, Event::kLine, key, use.sectors, use.set});
  std::sort(events.begin(), events.end());
  L2Fill fill(uses, system);
  for (const Event& e : events) {
    if (e.what == Event::kCode) fill.put_for_all(static_cast<LineAddr>(e.key));
    if (e.what == Event::kPage) fill.put_page_table(tlb, static_cast<uint32_t>(e.key));
    if (e.what == Event::kLine) fill.put(slice_of_key(e.key), e.set, line_of_key(e.key), e.sectors);
  }
  OpenRows rows(system);
  if (!rows.any()) return;
  // Lines of one access are asked for at the same time: those with the higher number come later.
  std::vector<std::pair<Order, uint64_t>> asked;
  for (const auto& [key, use] : uses.lines()) {
    const Order loaded = use.loaded_first == ~Order{0} ? 0 : use.loaded_first;
    const Order last = std::max(loaded, use.stored_last);
    if (last != 0) asked.emplace_back(last, key);
  }
  std::sort(asked.begin(), asked.end());
  for (const auto& [order, key] : asked) rows.use(order, slice_of_key(key), line_of_key(key));
}

}  // namespace nearwarp::sim
