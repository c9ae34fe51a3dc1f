// What launches before a moment of a program used.
#include "host/timing/run/warm_uses.h"

#include <algorithm>
#include <unordered_set>

#include "device/cache/l2_look_up.h"
#include "device/frontend/block_queues.h"
#include "host/recording/chunk_walk.h"
#include "host/recording/launch_chunks.h"
#include "host/recording/record_lines.h"

namespace nearwarp::sim {
namespace {

/// Has a store's line a place in the slice?
bool keeps_stores(const L2SliceParams& p) { return p.write_back != 0; }

}  // namespace

Uses::Uses(const runtime::Recording& recording, const ImageTables& image, System& system)
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
  knows_chunks_ = groups_ > 1 || same_slices();
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

void Uses::use_page(Order order, uint32_t page, uint32_t asker) {
  Order& last = pages_[uint64_t{asker} << 32 | page];
  if (last >> kWalkShift <= order >> kWalkShift) last = order;
}

/// A launch's traces, warp by warp.
struct Uses::Visit {
  Uses& uses;
  const compiler::Kernel& kernel;
  uint32_t kernel_index;
  frontend::BlockQueues queues;
  uint32_t at;  ///< the SM that gets the first thread block
  Order order;
  Known* known = nullptr;  ///< of the chunk that is walked, if it is kept
  Order begin = 0;         ///< of that chunk
  uint32_t asker = 0, block_now = 0;

  uint32_t asker_of(uint32_t block) const {
    return uses.groups_ > 1
               ? uses.first_of_group_[queues.group_of(block)]
               : static_cast<uint32_t>((at + uint64_t{block}) % uses.system_.num_sms());
  }
  void again(const Known& chunk) {
    for (const Known::PageUse& use : chunk.pages)
      uses.use_page(order + use.after, use.page, asker_of(use.block));
    order += chunk.records;
  }

  void warp(uint64_t block, uint32_t) {
    block_now = static_cast<uint32_t>(block);
    asker = asker_of(block_now);
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
      if (known != nullptr) note_page(static_cast<uint32_t>(line >> uses.page_shift_));
    });
  }

 private:
  void note_page(uint32_t page) {
    // Of a warp's accesses most are to one of two pages.
    for (size_t back = 1; back <= 2 && back <= known->pages.size(); ++back) {
      Known::PageUse& last = known->pages[known->pages.size() - back];
      if (last.block != block_now || last.page != page) continue;
      last.after = order - begin;
      return;
    }
    known->pages.push_back({block_now, page, order - begin});
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
  runtime::each_chunk(recording_, launch, begin, end,
                      [&](uint32_t chunk, uint32_t first, uint32_t behind) {
                        Known* known = nullptr;
                        if (knows_chunks_ && begin <= first && behind <= end) {
                          const ChunkKey key{recording_.traces.identity(chunk), record.kernel,
                                             info.num_blocks, info.row};
                          const auto [place, is_new] = known_.try_emplace(key);
                          if (!is_new) return visit.again(place->second);
                          known = &place->second;
                        }
                        visit.known = page_shift_ != 0 ? known : nullptr;
                        visit.begin = visit.order;
                        walk.walk(*recording_.traces.chunk(chunk), begin, end, visit);
                        if (known != nullptr) known->records = visit.order - visit.begin;
                      });
}

}  // namespace nearwarp::sim
