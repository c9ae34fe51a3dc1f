// Keeps the traces of the thread blocks that may be dispatched next in memory, and no others.
#include "host/timing/program/trace_feed.h"

#include <algorithm>

namespace nearwarp::sim {

TraceFeed::TraceFeed(const runtime::Recording& recording, const ImageTables& image, uint32_t margin)
    : recording_(recording), image_(image), margin_(margin) {}

void TraceFeed::serve(frontend::FrontEndState& front_end, kernels::RunState& run) {
  const uint32_t* done = front_end.dispatch.done_log.in(run.view.arena);
  for (uint32_t i = 0; i < front_end.dispatch.num_done; ++i)
    block_done(done[i] - image_.launches[launch_].first_block);
  front_end.dispatch.num_done = 0;
  if (front_end.dispatch.launch != launch_ && front_end.dispatch.launch < image_.launches.size())
    begin_launch(front_end);
  ensure((front_end.dispatch.running ? front_end.dispatch.next_block : 0) + margin_);
  run.view.traces = table_.data();
  run.view.first_traced =
      launch_ < image_.launches.size() ? image_.launches[launch_].first_block : 0;
  run.ready = {launch_, ready_, margin_};
}

bool TraceFeed::has_ended(uint32_t block) const {
  if (block >= dispatched_) return false;
  const uint32_t number = image_.launches[launch_].first_block + block;
  return std::find(on_machine_.begin(), on_machine_.end(), number) == on_machine_.end();
}

void TraceFeed::begin_launch(const frontend::FrontEndState& front_end) {
  const uint32_t launch = front_end.dispatch.launch;
  // Nothing of a launch has been dispatched when the feed hears of it, but for the first one after
  // a checkpoint.
  dispatched_ = front_end.dispatch.running ? front_end.dispatch.next_block : 0;
  launch_ = launch;
  const runtime::LaunchRecord& record = recording_.launches[image_.recorded_launch[launch]];
  loaded_.clear();
  table_.assign(image_.launches[launch].num_blocks, sm::TraceBlock{});
  chunk_of_.assign(table_.size(), 0);
  first_chunk_ = record.first_chunk;
  ready_ = 0;
}

void TraceFeed::ensure(uint32_t end) {
  end = std::min<uint32_t>(end, static_cast<uint32_t>(table_.size()));
  while (ready_ < end) {
    const auto index = static_cast<uint32_t>(loaded_.size());
    Loaded l;
    l.chunk = recording_.traces.chunk(first_chunk_ + index);
    for (uint32_t i = 0; i < l.chunk->num_blocks; ++i) {
      sm::TraceBlock& b = table_[ready_ + i];
      b.words = l.chunk->words.data();
      b.warp_offset = l.chunk->warp_offset.data() + size_t{i} * l.chunk->warps_per_block;
      chunk_of_[ready_ + i] = index;
      l.left += has_ended(ready_ + i) ? 0 : 1;
    }
    ready_ += l.chunk->num_blocks;
    if (l.left == 0) l.chunk.reset();
    loaded_.push_back(std::move(l));
  }
}

void TraceFeed::block_done(uint32_t block) {
  table_[block] = sm::TraceBlock{};
  Loaded& l = loaded_[chunk_of_[block]];
  if (--l.left == 0) l.chunk.reset();
}

}  // namespace nearwarp::sim
