// Counts the memory transactions of launches, for their costs.
#include "host/recording/launch_costs.h"

#include <map>
#include <utility>

#include "host/recording/chunk_touches.h"
#include "host/recording/chunk_walk.h"
#include "host/recording/launch_features.h"
#include "host/recording/record_lines.h"

namespace nearwarp::runtime {
namespace {

/// The traces of one thread block in eight are read.
constexpr uint32_t kBlocksRead = 8;

/// The estimated number of transactions of device memory in a chunk.
uint64_t transactions_of(const TraceChunk& chunk, const compiler::Kernel& kernel) {
  struct Visit {
    const compiler::Kernel& kernel;
    uint64_t transactions = 0;

    void warp(uint64_t, uint32_t) {}
    void run(uint32_t, uint32_t, uint32_t) {}
    void record(uint32_t instruction, uint32_t lanes, const uint64_t* words) {
      if (!is_of_device(kernel.instructions[instruction].mod.space)) return;
      each_line(words, lanes, kFeatureLineShift, [&](uint64_t, uint32_t) { ++transactions; });
    }
  };
  const ChunkWalk walk(kernel);
  Visit visit{kernel};
  uint64_t read = 0;
  for (uint32_t b = 0; b < chunk.num_blocks; b += kBlocksRead, ++read)
    walk.walk(chunk, chunk.first_block + b, chunk.first_block + b + 1, visit);
  return read == 0 ? 0 : visit.transactions * chunk.num_blocks / read;
}

/// The estimated number of transactions of device memory by launch.
std::vector<uint64_t> transactions_of(const Recording& recording) {
  std::vector<uint64_t> all;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> known;  // by chunk's identity and kernel
  for (const LaunchRecord& l : recording.launches) {
    uint64_t& transactions = all.emplace_back(0);
    for (uint32_t c = l.first_chunk; c < l.first_chunk + l.num_chunks; ++c) {
      const auto [of, is_new] = known.try_emplace({recording.traces.identity(c), l.kernel}, 0);
      if (is_new)
        of->second = transactions_of(*recording.traces.chunk(c), *recording.kernels[l.kernel]);
      transactions += of->second;
    }
  }
  return all;
}

}  // namespace

std::vector<uint64_t> launch_costs(const Recording& recording, double transaction_costs) {
  std::vector<uint64_t> costs = *recording.studies->of<std::vector<uint64_t>>(
      "transactions of launches", [&] { return transactions_of(recording); });
  for (size_t i = 0; i < costs.size(); ++i)
    costs[i] = recording.launches[i].warp_instructions +
               static_cast<uint64_t>(transaction_costs * static_cast<double>(costs[i]));
  return costs;
}

}  // namespace nearwarp::runtime
