// A hand-made program (tests/support/program.h) as a recording and its image, for tests of code
// that reads recordings.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "host/mechanisms/tom/offload_tables.h"
#include "host/recording/recording.h"
#include "host/timing/program/image_builder.h"
#include "tests/support/program.h"

namespace nearwarp::testing {

struct RecordedProgram {
  runtime::Recording recording;
  sim::ImageTables image;
  tom::OffloadTables offload;

  /// `traces` holds one launch after the other, as many thread blocks as the program's launches
  /// say; a chunk gets `chunk_blocks` of them at most.
  RecordedProgram(const Program& program, const Traces& traces, uint32_t chunk_blocks = 1000) {
    image.instrs = program.instrs;
    image.blocks = program.blocks;
    image.kernels = program.kernels;
    image.launches = program.launches;
    image.waiting = program.waiting;
    offload.candidates = program.candidates;
    offload.candidate_of = program.candidate_of;
    offload.inner_of = program.inner_of;
    offload.weight = program.weight;
    uint32_t block = 0;
    for (uint32_t i = 0; i < program.launches.size(); ++i) {
      const sm::LaunchInfo& launch = program.launches[i];
      image.recorded_launch.push_back(i);
      runtime::LaunchRecord record;
      record.kernel = launch.kernel;
      record.grid = {launch.num_blocks};
      record.block = {launch.warps_per_block * 32u};
      record.blocks_recorded = launch.num_blocks;
      record.first_chunk = recording.traces.size();
      for (uint32_t b = 0; b < launch.num_blocks; b += chunk_blocks) {
        const uint32_t n = std::min(chunk_blocks, launch.num_blocks - b);
        recording.traces.append(chunk(traces, launch.warps_per_block, block + b, b, n));
        record.num_chunks += 1;
      }
      block += launch.num_blocks;
      recording.launches.push_back(record);
    }
  }

 private:
  static runtime::TraceChunk chunk(const Traces& traces, uint32_t warps, uint32_t block,
                                   uint32_t first_block, uint32_t n) {
    runtime::TraceChunk c;
    c.first_block = first_block;
    c.num_blocks = n;
    c.warps_per_block = warps;
    const uint32_t first = traces.first_warp[block], end = first + n * warps;
    const auto offset = [&](uint32_t w) {
      return w < traces.offsets.size() ? traces.offsets[w]
                                       : static_cast<uint32_t>(traces.words.size());
    };
    for (uint32_t w = first; w <= end; ++w) c.warp_offset.push_back(offset(w) - offset(first));
    c.words.assign(traces.words.begin() + offset(first), traces.words.begin() + offset(end));
    return c;
  }
};

}  // namespace nearwarp::testing
