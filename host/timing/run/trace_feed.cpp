// Keeps the traces of the thread blocks that may be dispatched next in memory, and no others.
#include "host/timing/run/trace_feed.h"

#include <fmt/format.h>

#include <algorithm>

#include "device/trace/reader.h"
#include "host/core/error.h"
#include "host/recording/chunk_walk.h"

namespace nearwarp::sim {

namespace {

size_t thread_blocks(const ImageTables& image) {
  if (image.launches.empty()) return 0;
  return size_t{image.launches.back().first_block} + image.launches.back().num_blocks;
}

/// Refuses arrivals at mbarriers of thread blocks that the cluster does not have, since their ranks
/// index networks and tables of the simulated machine.
struct RankCheck {
  const compiler::Kernel& kernel;
  uint64_t blocks_of_cluster;
  uint64_t thread_block = 0;

  void warp(uint64_t block, uint32_t) { thread_block = block; }
  void run(uint32_t, uint32_t, uint32_t) {}
  void record(uint32_t instruction, uint32_t lanes, const uint64_t* words) {
    const compiler::Instruction& in = kernel.instructions[instruction];
    if (in.op != ptx::Opcode::kAtom || in.mod.atomic != ptx::AtomicOp::kArrive) return;
    for (uint32_t i = 0, n = population_count(lanes); i < n; ++i) {
      const uint32_t block = trace::phase_event(words[1 + i]).block;
      if (block > blocks_of_cluster)
        throw Error(
            fmt::format("the traces of kernel '{}' are malformed: thread block {} tells an "
                        "mbarrier of rank {} in a cluster of {} - record the program again",
                        kernel.name, thread_block, block - 1, blocks_of_cluster));
    }
  }
};

}  // namespace

TraceFeed::TraceFeed(const runtime::Recording& recording, const ImageTables& image, uint32_t margin,
                     uint32_t window_cycles)
    : recording_(recording),
      image_(image),
      margin_(margin),
      window_cycles_(window_cycles),
      table_(thread_blocks(image)) {}

void TraceFeed::serve(System& system, kernels::RunState& run) {
  frontend::DispatchState& d = system.front_end().dispatch;
  std::byte* base = system.arena.base();
  const uint32_t groups = system.front_end_params().dispatch.groups;
  const uint32_t most = system.front_end_params().dispatch.max_running;
  const uint32_t* done = d.done_log.in(base);
  for (uint32_t i = 0; i < d.num_done; ++i) block_done(done[i]);
  d.num_done = 0;
  std::erase_if(launches_, [&](const auto& known) {
    if (d.launches.in(base)[known.first].end == kNever) return false;
    const sm::LaunchInfo& info = image_.launches[known.first];
    table_.release(info.first_block, info.num_blocks);
    return true;
  });
  for (uint32_t k = 0; k < d.num_running; ++k) {
    const uint32_t launch = d.running.in(base)[k];
    const uint32_t* taken = d.taken.in(base) + size_t{k} * groups;
    Launch& l = known(system, launch, groups, taken);
    uint32_t left = image_.launches[launch].num_blocks;
    for (uint32_t q = 0; q < groups; ++q) {
      ensure(launch, l, q, taken[q] + margin_);
      d.ready.in(base)[k * groups + q] = l.ready[q];
      left -= taken[q];
    }
    // The launch may end in this window if only so many blocks are left: those that the window can
    // dispatch, and those on the machine, which may be as many.
    if (left <= 2 * margin_) ensure_followers(system, launch, 0, groups);
  }
  // In a window at most `most` launches can end and as many begin. Launches that can both begin and
  // end in it make room for others: `free_at` has, for each place in flight, the earliest cycle
  // in which it is free.
  uint32_t launch = d.line_head;
  std::vector<uint32_t> free_at(most, 0);
  for (uint32_t k = 0; launch != frontend::kNoLaunch; ++k) {
    uint32_t& first = *std::min_element(free_at.begin(), free_at.end());
    if (k >= most && first >= window_cycles_) break;
    ensure_first(system, launch, groups);
    first += shortest(system, launch);
    ensure_followers(system, launch, first, groups);
    launch = d.launches.in(base)[launch].next;
  }
  followers_.clear();
  d.margin = margin_;
  d.host_wanted = false;
  run.view.traces = table_.data();
}

TraceFeed::Launch& TraceFeed::known(System& system, uint32_t launch, uint32_t groups,
                                    const uint32_t* taken) {
  const auto [it, is_new] = launches_.try_emplace(launch);
  Launch& l = it->second;
  if (!is_new) return l;
  const sm::LaunchInfo& info = image_.launches[launch];
  const runtime::LaunchRecord& record = recording_.launches[image_.recorded_launch[launch]];
  l.queues = {info.num_blocks, info.row, groups, info.stacks};
  frontend::BlockQueues left_out = l.queues;
  left_out.num_blocks =
      system.front_end().dispatch.launches.in(system.arena.base())[launch].left_out;
  for (uint32_t q = 0; q < groups; ++q) l.left_out.push_back(left_out.length(q));
  l.ready = l.dispatched = l.left_out;
  // A launch that is new here has dispatched blocks only after a checkpoint.
  if (taken != nullptr) l.dispatched.assign(taken, taken + groups);
  l.chunks.resize(record.num_chunks);
  uint32_t first = 0;
  for (uint32_t i = 0; i < record.num_chunks; ++i) {
    l.chunks[i].first_block = first;
    l.chunks[i].num_blocks = recording_.traces.blocks(record.first_chunk + i);
    first += l.chunks[i].num_blocks;
  }
  return l;
}

void TraceFeed::ensure_first(System& system, uint32_t launch, uint32_t groups) {
  Launch& l = known(system, launch, groups, nullptr);
  for (uint32_t q = 0; q < groups; ++q) ensure(launch, l, q, l.left_out[q] + margin_);
}

/// An SM gets one thread block per cycle. The last block takes one cycle to arrive and one to be
/// reported (its warps may have no instructions).
uint32_t TraceFeed::shortest(System& system, uint32_t launch) const {
  const uint32_t left_out =
      system.front_end().dispatch.launches.in(system.arena.base())[launch].left_out;
  return 2 + (image_.launches[launch].num_blocks - left_out - 1) /
                 static_cast<uint32_t>(system.sms.size());
}

void TraceFeed::ensure_followers(System& system, uint32_t launch, uint32_t cycle, uint32_t groups) {
  const sm::LaunchInfo& info = image_.launches[launch];
  for (uint32_t i = 0; i < info.num_waiting && cycle < window_cycles_; ++i) {
    const uint32_t next = image_.waiting[info.first_waiting + i];
    const auto [at, is_new] = followers_.try_emplace(next, cycle);
    if (!is_new && at->second <= cycle) continue;
    at->second = cycle;
    ensure_first(system, next, groups);
    ensure_followers(system, next, cycle + shortest(system, next), groups);
  }
}

bool TraceFeed::has_ended(uint32_t launch, const Launch& l, uint32_t block) const {
  if (l.queues.place_of(block) >= l.dispatched[l.queues.group_of(block)]) return false;
  return !on_machine_.contains(image_.launches[launch].first_block + block);
}

TraceFeed::Chunk& TraceFeed::chunk_of(Launch& l, uint32_t block) {
  return *std::prev(std::upper_bound(l.chunks.begin(), l.chunks.end(), block,
                                     [](uint32_t b, const Chunk& c) { return b < c.first_block; }));
}

void TraceFeed::ensure(uint32_t launch, Launch& l, uint32_t queue, uint32_t end) {
  end = std::min(end, l.queues.length(queue));
  uint32_t& ready = l.ready[queue];
  while (ready < end) {
    const uint32_t block = l.queues.at(queue, ready);
    const Chunk& chunk = chunk_of(l, block);
    if (!chunk.loaded) load(launch, l, static_cast<uint32_t>(&chunk - l.chunks.data()));
    // The blocks of the rest of the chunk that follow one another in this queue are ready as well.
    const uint32_t in_chunk = chunk.first_block + chunk.num_blocks - block;
    const uint32_t in_row = l.queues.groups == 1 ? in_chunk : l.queues.row - ready % l.queues.row;
    ready = std::min(ready + std::min(in_chunk, in_row), l.queues.length(queue));
  }
}

void TraceFeed::load(uint32_t launch, Launch& l, uint32_t index) {
  Chunk& chunk = l.chunks[index];
  const runtime::LaunchRecord& record = recording_.launches[image_.recorded_launch[launch]];
  chunk.words = recording_.traces.chunk(record.first_chunk + index);
  chunk.loaded = true;
  const runtime::TraceChunk& c = *chunk.words;
  if (record.cluster.count() > 1) {
    const compiler::Kernel& kernel = *recording_.kernels[record.kernel];
    RankCheck check{kernel, record.cluster.count()};
    runtime::ChunkWalk(kernel).walk(c, check);
  }
  sm::TraceBlock* table = table_.data() + image_.launches[launch].first_block + chunk.first_block;
  for (uint32_t i = 0; i < chunk.num_blocks; ++i) {
    table[i].words = c.words.data();
    table[i].warp_offset = c.warp_offset.data() + size_t{i} * c.warps_per_block;
    chunk.left += has_ended(launch, l, chunk.first_block + i) ? 0 : 1;
  }
  if (chunk.left == 0) chunk.words.reset();
}

void TraceFeed::block_done(uint32_t number) {
  const auto after =
      std::upper_bound(image_.launches.begin(), image_.launches.end(), number,
                       [](uint32_t n, const sm::LaunchInfo& l) { return n < l.first_block; });
  const auto launch = static_cast<uint32_t>(after - image_.launches.begin()) - 1;
  const sm::LaunchInfo& info = image_.launches[launch];
  Launch& l = launches_.at(launch);
  const uint32_t block = number - info.first_block;
  table_.data()[number] = sm::TraceBlock{};
  Chunk& chunk = chunk_of(l, block);
  if (--chunk.left == 0) chunk.words.reset();
}

}  // namespace nearwarp::sim
