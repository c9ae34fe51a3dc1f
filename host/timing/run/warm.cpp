// What a machine's caches hold at a launch of a program.
#include "host/timing/run/warm.h"

#include <algorithm>
#include <bit>
#include <compare>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "device/cache/l2_launches.h"
#include "device/cache/l2_look_up.h"
#include "device/frontend/block_queues.h"
#include "host/recording/chunk_walk.h"
#include "host/recording/record_lines.h"

namespace nearwarp::sim {

namespace {

/// When something was used last: a walk of some thread blocks, later ones of which were before
/// and have lower numbers, and a count within it.
using Order = uint64_t;
constexpr uint32_t kWalkShift = 40;
constexpr uint64_t kFirstWalk = (uint64_t{1} << (64 - kWalkShift)) - 1;

/// A walk of several launches ends beyond this part of what it may be, if its second half has found
/// next to nothing, one in so many lines and pages, that its first had not: launches then go on
/// using the same.
constexpr uint64_t kRepeatsOf = 64, kFewOf = 100;
constexpr uint32_t kSeveral = 4;
/// Of a launch that has begun a piece that is walked is one of so many parts of what a walk may be.
constexpr uint64_t kPiecesOf = 32;

/// A line in an L2 slice.
struct Use {
  Order order = 0;
  uint32_t sectors = 0;
  bool loaded = false;  ///< so that it is there; else it has only been written past the slice
};

uint64_t key_of(uint16_t slice, LineAddr line) { return uint64_t{slice} << 32 | line; }
uint16_t slice_of_key(uint64_t key) { return static_cast<uint16_t>(key >> 32); }
LineAddr line_of_key(uint64_t key) { return static_cast<LineAddr>(key); }

/// Has a store's line a place in the slice?
bool keeps_stores(const L2SliceParams& p) { return p.write_back != 0; }

/// What launches used, from the last one on.
class Uses {
 public:
  Uses(const runtime::Recording& recording, const ImageTables& image, System& system)
      : recording_(recording), image_(image), system_(system), base_(system.arena.base()) {
    const sm::SmParams& p = system.params<sm::SmParams>(system.sms.at(0));
    line_shift_ = p.line_shift;
    page_shift_ = p.tlb.entries != 0 ? p.tlb.page_shift : 0;
    code_shift_ = p.fetch.cached ? p.fetch.line_shift : 0;
    const auto& d = system.front_end().dispatch;
    groups_ = system.front_end_params().dispatch.groups;
    first_of_group_.resize(groups_);
    for (uint32_t i = system.num_sms(); i-- > 0;)
      first_of_group_[std::min(groups_ - 1, d.rooms.in(base_)[i].group)] = i;
    for (const uint16_t slice : system.of_kind(kernels::ComponentKind::kL2Slice))
      room_ += uint64_t{system.params<L2SliceParams>(slice).ways} *
               system.state<L2SliceState>(slice).valid.count;
  }

  /// The slice that answers an SM for a physical line.
  uint16_t slice_of(uint32_t asker, LineAddr line) const {
    const auto& p = system_.params<sm::SmParams>(system_.sms[asker]);
    return p.homes.of(system_.map.of(line, base_), line, base_);
  }

  /// Thread blocks [begin, end) of a launch, before all that is known so far; it gets its first
  /// thread block at SM `at`.
  void add_blocks(uint32_t launch, uint32_t begin, uint32_t end, uint32_t at);
  /// Of launches before those known so far, [0, end), the code: all of each kernel's, for without
  /// traces it is not known which of it was run.
  void add_code(uint32_t end);
  /// Have all sets as many lines as ways?
  bool is_full() const { return filled_ >= room_; }

  const std::unordered_map<uint64_t, Use>& lines() const { return lines_; }
  /// Pages that anybody used.
  std::unordered_map<uint32_t, Order> pages() const {
    std::unordered_map<uint32_t, Order> all;
    for (const auto& [key, order] : pages_) {
      Order& last = all[static_cast<uint32_t>(key)];
      last = std::max(last, order);
    }
    return all;
  }
  /// Those that an SM used, or the SMs of its group.
  std::unordered_map<uint32_t, Order> pages_of(uint32_t sm) const {
    const uint32_t group =
        std::min(groups_ - 1, system_.front_end().dispatch.rooms.in(base_)[sm].group);
    const uint32_t asker = groups_ > 1 ? first_of_group_[group] : sm;
    std::unordered_map<uint32_t, Order> own;
    for (const auto& [key, order] : pages_)
      if (key >> 32 == asker) own[static_cast<uint32_t>(key)] = order;
    return own;
  }
  /// Lines and pages that have been found so far.
  uint64_t found() const { return lines_.size() + pages_.size(); }
  const std::unordered_map<LineAddr, Order>& code() const { return code_; }
  /// The kernel whose code a line of code() is.
  uint32_t kernel_of(LineAddr line) const { return kernel_of_.at(line); }

 private:
  void touch(Order order, LineAddr virtual_line, uint32_t sectors, uint32_t asker, bool store);
  void used_code(uint32_t kernel, uint32_t block, Order order);
  struct Visit;

  /// An access, and what it changes: most are to lines that were used shortly before.
  struct Recent {
    uint64_t key = ~uint64_t{0};
    Use* use = nullptr;
    Order* page = nullptr;
    bool is_kept = false;  ///< the line stays in the slice
  };
  static constexpr uint32_t kRecent = 1024;
  Recent looked_up(uint64_t key, LineAddr virtual_line, uint32_t asker, bool store);

  const runtime::Recording& recording_;
  const ImageTables& image_;
  System& system_;
  std::byte* base_;
  uint32_t line_shift_ = 0, page_shift_ = 0, code_shift_ = 0, groups_ = 1;
  std::vector<uint32_t> first_of_group_;
  std::unordered_map<uint64_t, Use> lines_;
  std::unordered_map<uint64_t, Order> pages_;  // by asker and page
  std::vector<Recent> recent_{kRecent};
  std::unordered_map<LineAddr, Order> code_;
  std::unordered_map<LineAddr, uint32_t> kernel_of_;
  Order next_walk_ = kFirstWalk;
  std::unordered_map<uint64_t, uint32_t> in_set_;  // lines, by slice and set
  uint64_t filled_ = 0, room_ = 0;                 // ways
};

void Uses::touch(Order order, LineAddr virtual_line, uint32_t sectors, uint32_t asker, bool store) {
  const uint64_t key = uint64_t{asker} << 33 | uint64_t{virtual_line} << 1 | (store ? 1 : 0);
  Recent& recent = recent_[(virtual_line ^ asker << 4) % kRecent];
  if (recent.key != key) recent = looked_up(key, virtual_line, asker, store);
  // What is walked later came before: it changes no order.
  const auto note = [&](Order* last) {
    if (last != nullptr && *last >> kWalkShift <= order >> kWalkShift) *last = order;
  };
  note(recent.page);
  if (recent.use == nullptr) return;
  note(&recent.use->order);
  if (recent.is_kept) recent.use->sectors |= sectors;
}

Uses::Recent Uses::looked_up(uint64_t key, LineAddr virtual_line, uint32_t asker, bool store) {
  Recent found{.key = key};
  if (page_shift_ != 0) found.page = &pages_[uint64_t{asker} << 32 | virtual_line >> page_shift_];
  const LineAddr line = translate(system_.page_tables.translation, base_, 0, virtual_line);
  const uint16_t slice = slice_of(asker, line);
  if (system_.component(slice).kind != kernels::ComponentKind::kL2Slice) return found;
  const auto& p = system_.params<L2SliceParams>(slice);
  found.use = &lines_[key_of(slice, line)];
  found.is_kept = !store || keeps_stores(p);
  if (!found.is_kept || found.use->loaded) return found;
  found.use->loaded = true;
  uint32_t& lines = in_set_[key_of(slice, l2_detail::set_of(p, base_, line))];
  if (++lines <= p.ways) ++filled_;
  return found;
}

void Uses::used_code(uint32_t kernel, uint32_t block, Order order) {
  const sm::ImageBlock& b = image_.blocks[image_.kernels[kernel].first_block + block];
  for (uint32_t line = b.first >> code_shift_; line <= (b.first + b.count) >> code_shift_; ++line) {
    kernel_of_[sm::kCodeBase + line] = kernel;
    Order& last = code_[sm::kCodeBase + line];
    if (last >> kWalkShift <= order >> kWalkShift) last = order;
  }
}

void Uses::add_code(uint32_t end) {
  if (code_shift_ == 0) return;
  const Order before = next_walk_ << kWalkShift;
  std::unordered_set<uint32_t> seen;
  for (uint32_t i = end; i-- > 0;) {
    const uint32_t kernel = recording_.launches[i].kernel;
    if (!seen.insert(kernel).second) continue;
    const auto blocks = static_cast<uint32_t>(recording_.kernels[kernel]->blocks.size());
    for (uint32_t b = 0; b < blocks; ++b) used_code(kernel, b, before + i);
  }
}

/// A launch's traces, warp by warp.
struct Uses::Visit {
  Uses& uses;
  const compiler::Kernel& kernel;
  uint32_t kernel_index;
  frontend::BlockQueues queues;
  uint32_t at;  ///< the SM that gets the first thread block
  Order order;
  uint32_t asker = 0;

  void warp(uint64_t block, uint32_t) {
    asker = uses.groups_ > 1 ? uses.first_of_group_[queues.group_of(static_cast<uint32_t>(block))]
                             : static_cast<uint32_t>((at + block) % uses.system_.num_sms());
  }
  void run(uint32_t block, uint32_t, uint32_t) {
    if (uses.code_shift_ != 0) uses.used_code(kernel_index, block, order);
  }
  void record(uint32_t instruction, uint32_t lanes, const uint64_t* words) {
    ++order;
    const compiler::Instruction& in = kernel.instructions[instruction];
    if (in.mod.space != ptx::Space::kGlobal && in.mod.space != ptx::Space::kGeneric) return;
    const bool store = in.op == ptx::Opcode::kSt;
    runtime::each_line(words, lanes, uses.line_shift_, [&](uint64_t line, uint32_t sectors) {
      uses.touch(order, static_cast<LineAddr>(line), sectors, asker, store);
    });
  }
};

void Uses::add_blocks(uint32_t launch, uint32_t begin, uint32_t end, uint32_t at) {
  const Order order = next_walk_-- << kWalkShift;
  const runtime::LaunchRecord& record = recording_.launches[launch];
  const auto found =
      std::lower_bound(image_.recorded_launch.begin(), image_.recorded_launch.end(), launch);
  if (found == image_.recorded_launch.end() || *found != launch) return;
  const sm::LaunchInfo& info =
      image_.launches[static_cast<size_t>(found - image_.recorded_launch.begin())];
  const compiler::Kernel& kernel = *recording_.kernels[record.kernel];
  Visit visit{
      *this, kernel, record.kernel, frontend::BlockQueues{info.num_blocks, info.row, groups_},
      at,    order};
  const runtime::ChunkWalk walk(kernel);
  uint32_t first = 0;
  for (uint32_t c = record.first_chunk; c < record.first_chunk + record.num_chunks; ++c) {
    const uint32_t blocks = recording_.traces.blocks(c);
    if (first < end && first + blocks > begin)
      walk.walk(*recording_.traces.chunk(c), begin, end, visit);
    first += blocks;
  }
}

/// Of a map to Order, the keys by order, the oldest first.
template <class Key>
std::vector<Key> by_age(const std::unordered_map<Key, Order>& last) {
  std::vector<std::pair<Order, Key>> sorted;
  for (const auto& [key, order] : last) sorted.emplace_back(order, key);
  std::sort(sorted.begin(), sorted.end());
  std::vector<Key> keys;
  for (const auto& [order, key] : sorted) keys.push_back(key);
  return keys;
}

/// Every TLB has the pages used last by its SM, and where there is room those used last by others.
void fill_tlbs(const Uses& uses, System& system) {
  std::byte* base = system.arena.base();
  const std::unordered_map<uint32_t, Order> all = uses.pages();
  const auto fill = [&](uint32_t endpoint, const std::unordered_map<uint32_t, Order>& own) {
    std::vector<std::tuple<bool, Order, uint32_t>> sorted;
    for (const auto& [page, order] : all) {
      const auto of_own = own.find(page);
      const bool is_own = of_own != own.end();
      sorted.emplace_back(is_own, is_own ? of_own->second : order, page);
    }
    const auto& p = system.params<sm::SmParams>(endpoint).tlb;
    const size_t n = std::min<size_t>(sorted.size(), p.entries);
    std::sort(sorted.begin(), sorted.end());
    with_sm(system, endpoint, [&](auto& sm) {
      for (size_t k = 0; k < n; ++k) {
        const uint32_t page = std::get<uint32_t>(sorted[sorted.size() - n + k]);
        sm.tlb.pages.in(base)[k] = page;
        sm.tlb.entries.in(base)[k] = sm::tlb_walked(p, system.page_tables.translation, base, page);
        sm.tlb.last_use.in(base)[k] = ++sm.tlb.use_clock;
      }
    });
  };
  for (uint32_t i = 0; i < system.num_sms(); ++i) fill(system.sms[i], uses.pages_of(i));
  for (uint32_t i = 0; i < system.table.count; ++i)
    if (kernels::is_sm(system.component(i).kind) &&
        std::find(system.sms.begin(), system.sms.end(), i) == system.sms.end())
      fill(i, {});
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
        const uint32_t first = cache::l1_first_of(p.cache, line);
        LineAddr* tags = s.tags.in(base) + first;
        uint32_t* last_use = s.last_use.in(base) + first;
        const uint32_t way =
            cache::l1_way_to_fill(p.cache, tags, last_use, s.filling.in(base) + first);
        tags[way] = line;
        last_use[way] = ++s.use_clock;
      }
    });
  }
}

/// The L2, the oldest line first. A walk for a page that another one's lines lie between reads its
/// entries, through the slices of whoever walks.
class L2Fill {
 public:
  L2Fill(const Uses& uses, System& system) : uses_(uses), system_(system) {
    std::unordered_set<uint16_t> slices;
    for (uint32_t i = 0; i < system.num_sms(); ++i)
      if (slices.insert(uses.slice_of(i, 0)).second) walkers_.push_back(i);
  }

  void put(uint16_t slice, LineAddr line, uint32_t sectors) {
    if (system_.component(slice).kind != kernels::ComponentKind::kL2Slice) return;
    const auto& p = system_.params<L2SliceParams>(slice);
    std::byte* base = system_.arena.base();
    if (p.at_launch != L2AtLaunch::kKeep && l2_detail::goes_at_launch(p, base, line)) return;
    l2_detail::preload(p, system_.state<L2SliceState>(slice), base, line, sectors);
  }
  void put_page_table(const sm::TlbParams& p, uint32_t page) {
    for (uint32_t level = 0; level < p.walk_accesses; ++level) {
      const uint32_t entry = sm::tlb_page_number(page) >> (sm::kPageTableBits * level);
      put_for_all(sm::kPageTableBase + level * sm::kPageTableLines + (entry >> p.entry_shift));
    }
  }
  void put_for_all(LineAddr line) {
    for (const uint32_t i : walkers_) put(uses_.slice_of(i, line), line, 0xff);
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

uint32_t warm_caches(const runtime::Recording& recording, const ImageTables& image,
                     const Before& before, uint64_t most, System& system) {
  if (system.of_kind(kernels::ComponentKind::kL2Slice).empty()) return 0;
  Uses uses(recording, image, system);
  uint64_t blocks = 0;
  for (uint32_t i = 0; i < before.launch; ++i) blocks += recording.launches[i].blocks_recorded;
  std::vector<std::pair<uint64_t, uint64_t>> progress = {{0, 0}};  // walked, found
  size_t half = 0;  // where in it half of what has been walked had been
  // Is it worth while to walk so many more?
  const auto goes_on = [&](uint64_t instructions, bool several) {
    const auto [walked, found] = progress.back();
    if (uses.is_full() || (walked != 0 && walked + instructions > most)) return false;
    while (progress[half + 1 < progress.size() ? half + 1 : half].first < walked / 2) ++half;
    return !(several && walked > most / kRepeatsOf &&
             found - progress[half].second <= found / kFewOf);
  };
  const auto walk = [&](uint32_t launch, uint32_t begin, uint32_t end, uint64_t instructions) {
    uses.add_blocks(launch, begin, end, static_cast<uint32_t>(blocks % system.num_sms()));
    progress.emplace_back(progress.back().first + instructions, uses.found());
  };
  uint32_t at = before.launch;
  bool all = true;
  for (uint32_t end = before.block; end != 0 && all;) {
    const runtime::LaunchRecord& l = recording.launches[at];
    const uint64_t each = l.warp_instructions / l.blocks_recorded + 1;
    const auto piece = static_cast<uint32_t>(std::min<uint64_t>(end, most / kPiecesOf / each + 1));
    all = goes_on(piece * each, progress.size() > kSeveral);
    if (all) walk(at, end - piece, end, piece * each);
    end -= piece;
  }
  while (all && at > before.first) {
    const runtime::LaunchRecord& l = recording.launches[at - 1];
    if (!goes_on(l.warp_instructions, progress.size() > kSeveral)) break;
    blocks -= l.blocks_recorded;
    walk(--at, 0, static_cast<uint32_t>(l.blocks_recorded), l.warp_instructions);
  }
  uses.add_code(at);
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
    auto operator<=>(const Event&) const = default;
  };
  std::vector<Event> events;
  for (const auto& [line, order] : uses.code()) events.push_back({order, Event::kCode, line});
  for (const auto& [page, order] : uses.pages()) events.push_back({order, Event::kPage, page});
  for (const auto& [key, use] : uses.lines())
    if (use.loaded) events.push_back({use.order, Event::kLine, key});
  std::sort(events.begin(), events.end());
  L2Fill fill(uses, system);
  for (const Event& e : events) {
    if (e.what == Event::kCode) fill.put_for_all(static_cast<LineAddr>(e.key));
    if (e.what == Event::kPage) fill.put_page_table(tlb, static_cast<uint32_t>(e.key));
    if (e.what == Event::kLine)
      fill.put(slice_of_key(e.key), line_of_key(e.key), uses.lines().at(e.key).sectors);
  }
  return before.launch - at;
}

}  // namespace nearwarp::sim
