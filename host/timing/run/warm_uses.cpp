// Uses of memory by launches before a moment of a program.
#include "host/timing/run/warm_uses.h"

#include <algorithm>
#include <unordered_set>

#include "device/cache/l2_look_up.h"
#include "device/frontend/block_queues.h"
#include "host/recording/launch_chunks.h"

namespace nearwarp::sim {
namespace {

/// Lines that room is made for beforehand, at most: 512 KiB of a table.
constexpr uint64_t kMostReserved = uint64_t{1} << 16;

/// Has a store's line a place in the slice?
bool keeps_stores(const L2SliceParams& p) { return p.write_back != 0; }

}  // namespace

Uses::Uses(const runtime::Recording& recording, const ImageTables& image, System& system)
    : recording_(recording), image_(image), system_(system), base_(system.arena.base()) {
  const sm::SmParams& p = system.params<sm::SmParams>(system.sms.at(0));
  line_shift_ = p.grid.line_shift;
  page_shift_ = p.tlb.entries != 0 ? p.tlb.page_shift : 0;
  code_shift_ = p.fetch.cached ? p.fetch.line_shift : 0;
  const auto& d = system.front_end().dispatch;
  groups_ = system.front_end_params().dispatch.groups;
  first_of_group_.resize(groups_);
  for (uint32_t i = system.num_sms(); i-- > 0;)
    first_of_group_[std::min(groups_ - 1, d.rooms.in(base_)[i].group)] = i;
  in_set_.resize(system.table.count);
  for (const uint16_t slice : system.of_kind(kernels::ComponentKind::kL2Slice)) {
    const auto& l2 = system.params<L2SliceParams>(slice);
    in_set_[slice].resize(l2.index.sets);
    room_ += uint64_t{l2.ways} * l2.index.sets;
  }
  knows_chunks_ = groups_ > 1 || same_slices();
  touches_ = runtime::touches_of(recording, line_shift_);
  // Beyond that the walk ends, but for lines that have only been written past the slices.
  lines_.reserve(std::min(room_, kMostReserved));
}

/// Do all SMs ask the same slices?
bool Uses::same_slices() const {
  const HomeTable& first = system_.params<sm::SmParams>(system_.sms.at(0)).homes;
  return std::ranges::all_of(system_.sms, [&](uint16_t sm) {
    const HomeTable& own = system_.params<sm::SmParams>(sm).homes;
    return own.per_stack == first.per_stack && own.endpoints.in(base_) == first.endpoints.in(base_);
  });
}

std::unordered_map<uint32_t, Order> Uses::pages() const {
  std::unordered_map<uint32_t, Order> all;
  for (const auto& [key, order] : pages_) {
    Order& last = all[static_cast<uint32_t>(key)];
    last = std::max(last, order);
  }
  return all;
}

std::unordered_map<uint32_t, Order> Uses::pages_of(uint32_t sm) const {
  const uint32_t group =
      std::min(groups_ - 1, system_.front_end().dispatch.rooms.in(base_)[sm].group);
  const uint32_t asker = groups_ > 1 ? first_of_group_[group] : sm;
  std::unordered_map<uint32_t, Order> own;
  for (const auto& [key, order] : pages_)
    if (key >> 32 == asker) own[static_cast<uint32_t>(key)] = order;
  return own;
}

void Uses::touch(Order order, LineAddr virtual_line, uint32_t sectors, uint32_t asker, bool store) {
  const uint64_t key = uint64_t{asker} << 33 | uint64_t{virtual_line} << 1 | (store ? 1 : 0);
  Recent& recent = recent_[(virtual_line ^ asker << 4) % kRecent];
  if (recent.key != key) recent = looked_up(key, virtual_line, asker, store);
  // A use that is walked later came before: it changes no order.
  const auto note = [&](Order* last) {
    if (last != nullptr && *last >> kWalkShift <= order >> kWalkShift)
      *last = std::max(*last, order);
  };
  note(recent.page);
  if (recent.use == nullptr) return;
  note(&recent.use->order);
  if (!store) recent.use->loaded_first = std::min(recent.use->loaded_first, order);
  if (recent.is_kept) {
    recent.use->sectors |= sectors;
  } else {
    recent.use->stored_last = std::max(recent.use->stored_last, order);
  }
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
  found.use->set = l2_detail::set_of(p, base_, line);
  uint32_t& lines = in_set_[slice][found.use->set];
  if (++lines <= p.ways) ++filled_;
  return found;
}

void Uses::used_code(uint32_t kernel, uint32_t block, Order order) {
  const sm::ImageBlock& b = image_.blocks[image_.kernels[kernel].first_block + block];
  for (uint32_t line = b.first >> code_shift_; line <= (b.first + b.count) >> code_shift_; ++line) {
    kernel_of_[sm::kCodeBase + line] = kernel;
    Order& last = code_[sm::kCodeBase + line];
    if (last >> kWalkShift <= order >> kWalkShift) last = std::max(last, order);
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

void Uses::add_blocks(uint32_t launch, uint32_t begin, uint32_t end, uint32_t at) {
  Order order = next_walk_-- << kWalkShift;
  const runtime::LaunchRecord& record = recording_.launches[launch];
  const auto found =
      std::lower_bound(image_.recorded_launch.begin(), image_.recorded_launch.end(), launch);
  if (found == image_.recorded_launch.end() || *found != launch) return;
  const sm::LaunchInfo& info =
      image_.launches[static_cast<size_t>(found - image_.recorded_launch.begin())];
  const frontend::BlockQueues queues{info.num_blocks, info.row, groups_};
  const auto asker_of = [&](uint32_t block) {
    return groups_ > 1 ? first_of_group_[queues.group_of(block)]
                       : static_cast<uint32_t>((at + uint64_t{block}) % system_.num_sms());
  };
  runtime::each_chunk(recording_, launch, begin, end,
                      [&](uint32_t chunk, uint32_t first, uint32_t behind) {
                        const auto touches = touches_->of(recording_, chunk, record.kernel);
                        const bool whole = begin <= first && behind <= end;
                        const bool again = whole && knows_chunks_ &&
                                           !seen_
                                                .insert({recording_.traces.identity(chunk),
                                                         record.kernel, info.num_blocks, info.row})
                                                .second;
                        if (again) {
                          use_pages(*touches, order, asker_of);
                        } else {
                          for (const runtime::ChunkTouches::Touch& t : touches->touches)
                            if (!t.local && t.block >= begin && t.block < end)
                              touch(order + t.after, t.line, t.sectors, asker_of(t.block), t.store);
                          if (code_shift_ != 0)
                            for (const runtime::ChunkTouches::Code& c : touches->code)
                              used_code(record.kernel, c.block, order + c.after);
                        }
                        order += touches->records;
                      });
}

/// Adds the pages of a chunk that a later launch had, too, for other SMs: all else is as it was.
template <class AskerOf>
void Uses::use_pages(const runtime::ChunkTouches& chunk, Order order, const AskerOf& asker_of) {
  if (page_shift_ == 0) return;
  uint64_t last_key = ~uint64_t{0};
  Order* last = nullptr;
  for (const runtime::ChunkTouches::Touch& t : chunk.touches) {
    if (t.local) continue;
    const uint64_t key = uint64_t{asker_of(t.block)} << 32 | t.line >> page_shift_;
    if (key != last_key) last = &pages_[last_key = key];
    if (*last >> kWalkShift <= order >> kWalkShift) *last = std::max(*last, order + t.after);
  }
}

}  // namespace nearwarp::sim
