// Samples of a launch's warps: what they do one thing after the other, as their traces tell.
#include "host/api/launch_sample.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "host/recording/chunk_touches.h"
#include "host/recording/chunk_walk.h"
#include "host/recording/launch_features.h"
#include "host/recording/record_lines.h"

namespace nearwarp {
namespace {

using runtime::kFeatureLineShift;

constexpr uint64_t kSampledWarps = 64;
/// A warp's accesses that an L1 is tried with, at most.
constexpr size_t kTriedAccesses = 256;
constexpr double kSectorBytes = 1u << runtime::kSectorShift;
constexpr uint32_t kSectorsOfLine = 1u << (kFeatureLineShift - runtime::kSectorShift);

/// Walks the launch's thread block.
template <class Visitor>
void walk_block(const runtime::Recording& recording, const runtime::LaunchRecord& launch,
                uint64_t block, Visitor& visitor) {
  const runtime::ChunkWalk walk(*recording.kernels[launch.kernel]);
  // Chunks follow each other.
  uint32_t begin = launch.first_chunk, end = launch.first_chunk + launch.num_chunks;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    const auto chunk = recording.traces.chunk(middle);
    if (block < chunk->first_block) {
      end = middle;
    } else if (block >= uint64_t{chunk->first_block} + chunk->num_blocks) {
      begin = middle + 1;
    } else {
      walk.walk(*chunk, static_cast<uint32_t>(block), static_cast<uint32_t>(block + 1), visitor);
      return;
    }
  }
}

struct CurveVisit {
  const compiler::Kernel& kernel;
  std::vector<WarpCurve>& warps;

  void warp(uint64_t, uint32_t) { warps.emplace_back(); }
  void run(uint32_t, uint32_t count, uint32_t) { warps.back().run(count); }
  void record(uint32_t instruction, uint32_t lanes, const uint64_t* words) {
    if (!runtime::is_of_device(kernel.instructions[instruction].mod.space)) return;
    uint32_t lines = 0;
    runtime::each_line(words, lanes, kFeatureLineShift, [&](uint64_t, uint32_t) { lines += 1; });
    warps.back().access(lines);
  }
};

struct Transaction {
  uint64_t line = 0;
  uint32_t sectors = 0;
  bool store = false;
};
/// By access of a warp.
using Accesses = std::vector<std::vector<Transaction>>;

struct AccessVisit {
  const compiler::Kernel& kernel;
  std::vector<Accesses>& warps;

  void warp(uint64_t, uint32_t) { warps.emplace_back(); }
  void run(uint32_t, uint32_t, uint32_t) {}
  void record(uint32_t instruction, uint32_t lanes, const uint64_t* words) {
    const auto& in = kernel.instructions[instruction];
    Accesses& accesses = warps.back();
    if (!runtime::is_of_device(in.mod.space) || accesses.size() >= kTriedAccesses) return;
    std::vector<Transaction>& lines = accesses.emplace_back();
    runtime::each_line(words, lanes, kFeatureLineShift, [&](uint64_t line, uint32_t sectors) {
      lines.push_back({line, sectors, in.op == ptx::Opcode::kSt});
    });
  }
};

/// The lines of a cache of these bytes, the least recently used one replaced; any ways and sets
/// will do for a share of hits.
class Tags {
 public:
  explicit Tags(uint64_t bytes)
      : sets_(std::max<uint64_t>((bytes >> kFeatureLineShift) / kWays, 1)), ways_(sets_ * kWays) {}
  /// The sectors of these that were not there, and are now.
  uint32_t load(uint64_t line, uint32_t sectors) {
    Way* const set = &ways_[(line ^ line / sets_) % sets_ * kWays];
    Way* way = std::find_if(set, set + kWays, [&](const Way& w) { return w.line == line; });
    if (way == set + kWays) {
      way = std::min_element(set, set + kWays,
                             [](const Way& a, const Way& b) { return a.used < b.used; });
      *way = {.line = line};
    }
    way->used = ++now_;
    return sectors & ~std::exchange(way->sectors, way->sectors | sectors);
  }

 private:
  static constexpr size_t kWays = 8;
  struct Way {
    uint64_t line = ~uint64_t{0}, used = 0;
    uint32_t sectors = 0;
  };
  uint64_t sets_;
  std::vector<Way> ways_;
  uint64_t now_ = 0;
};

}  // namespace

void WarpCurve::run(uint32_t instructions) {
  instructions_ += instructions;
  for (; instructions_ > kParts * width_; width_ *= 2) {
    for (size_t i = 0; i < kParts / 2; ++i)
      parts_[i] = {parts_[2 * i].lines + parts_[2 * i + 1].lines,
                   parts_[2 * i].accesses + parts_[2 * i + 1].accesses};
    std::fill(parts_.begin() + kParts / 2, parts_.end(), Part{});
  }
}

void WarpCurve::access(uint32_t lines) {
  if (instructions_ == 0) return;
  Part& part = parts_[(instructions_ - 1) / width_];
  part.lines += lines;
  part.accesses += 1;
}

WarpCurve::Asked WarpCurve::between(uint64_t from, uint64_t to) const {
  Asked asked;
  to = std::min(to, instructions_);
  while (from < to) {
    const uint64_t end = std::min(to, (from / width_ + 1) * width_);
    const Part& part = parts_[from / width_];
    // The last part may be a shorter one.
    const uint64_t of = std::min(width_, instructions_ - from / width_ * width_);
    const double share = static_cast<double>(end - from) / static_cast<double>(of);
    asked.lines += share * part.lines;
    asked.accesses += share * part.accesses;
    from = end;
  }
  return asked;
}

std::vector<WarpCurve> sample_warps(const runtime::Recording& recording, size_t launch) {
  const runtime::LaunchRecord& l = recording.launches[launch];
  const uint64_t warps = std::max<uint64_t>((l.block.count() + 31) / 32, 1);
  const uint64_t blocks = std::min(l.blocks_recorded, std::max<uint64_t>(kSampledWarps / warps, 1));
  std::vector<WarpCurve> sample;
  CurveVisit visit{*recording.kernels[l.kernel], sample};
  for (uint64_t i = 0; i < blocks; ++i)
    walk_block(recording, l, (2 * i + 1) * l.blocks_recorded / (2 * blocks), visit);
  return sample;
}

double bytes_beyond_l1(const runtime::Recording& recording, size_t launch,
                       const config::MachineConfig& machine, uint64_t resident) {
  const runtime::LaunchRecord& l = recording.launches[launch];
  std::vector<Accesses> warps;
  AccessVisit visit{*recording.kernels[l.kernel], warps};
  for (uint64_t i = 0; i < resident && i * machine.gpu.sms < l.blocks_recorded; ++i)
    walk_block(recording, l, i * machine.gpu.sms, visit);
  const bool keeps = machine.l1.keep == "lines";
  const uint32_t whole = machine.l1.sectors ? 0 : (1u << kSectorsOfLine) - 1;
  Tags tags(machine.l1.bytes);
  uint64_t sectors = 0, transactions = 0;
  for (size_t turn = 0; turn < kTriedAccesses; ++turn)
    for (const Accesses& accesses : warps) {
      if (turn >= accesses.size()) continue;
      for (const Transaction& t : accesses[turn]) {
        transactions += 1;
        const uint32_t wanted = t.store ? t.sectors : t.sectors | whole;
        const uint32_t missing = t.store || !keeps ? wanted : tags.load(t.line, wanted);
        sectors += static_cast<uint32_t>(std::popcount(missing));
      }
    }
  return transactions == 0
             ? 0
             : kSectorBytes * static_cast<double>(sectors) / static_cast<double>(transactions);
}

}  // namespace nearwarp
