// Computes the features of a program's launches from their traces.
#include "host/recording/launch_features.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <unordered_map>

#include "host/recording/chunk_touches.h"
#include "host/recording/chunk_walk.h"
#include "host/recording/record_lines.h"

namespace nearwarp::runtime {
namespace {

/// Lines in a row.
struct LineRange {
  uint64_t begin = 0, end = 0;
};

/// The memory that a chunk touches.
struct ChunkUse {
  uint64_t transactions = 0, sectors = 0;
  std::vector<LineRange> ranges;  ///< once they are sorted: by address, disjoint

  void touch(uint64_t line) {
    // Most accesses go on where one of the last few was.
    for (size_t back = 1; back <= 4 && back <= ranges.size(); ++back) {
      LineRange& r = ranges[ranges.size() - back];
      if (line >= r.begin && line < r.end) return;
      if (line == r.end) {
        r.end += 1;
        return;
      }
    }
    ranges.push_back({line, line + 1});
  }
  void sort() {
    std::sort(ranges.begin(), ranges.end(),
              [](const LineRange& a, const LineRange& b) { return a.begin < b.begin; });
    size_t n = 0;
    for (const LineRange& r : ranges) {
      if (n != 0 && r.begin <= ranges[n - 1].end)
        ranges[n - 1].end = std::max(ranges[n - 1].end, r.end);
      else
        ranges[n++] = r;
    }
    ranges.resize(n);
  }
};

/// The most ranges that are kept of chunks that come again, some 256 MB.
constexpr size_t kMostKeptRanges = size_t{1} << 24;

/// Calls touch(line, sectors) for each transaction.
template <class Touch>
struct Visit {
  const compiler::Kernel& kernel;
  Touch touch;

  void warp(uint64_t, uint32_t) {}
  void run(uint32_t, uint32_t, uint32_t) {}
  void record(uint32_t instruction, uint32_t lanes, const uint64_t* words) {
    if (!is_of_device(kernel.instructions[instruction].mod.space)) return;
    each_line(words, lanes, kFeatureLineShift, touch);
  }
};
template <class Touch>
Visit(const compiler::Kernel&, Touch) -> Visit<Touch>;

/// The last use of each line of device memory: the number, from 1 on, of the piece of a launch that
/// used it. Pages of the table are made when they are first asked for.
class LastUses {
 public:
  uint32_t& of(uint64_t line) { return (*page_of(line))[line & ((1u << kPageShift) - 1)]; }
  /// f(their last uses, how many) for lines in a row, of one page each.
  template <class F>
  void each(LineRange lines, F&& f) {
    while (lines.begin < lines.end) {
      const uint64_t end = std::min(lines.end, ((lines.begin >> kPageShift) + 1) << kPageShift);
      f(&of(lines.begin), end - lines.begin);
      lines.begin = end;
    }
  }

 private:
  static constexpr uint32_t kPageShift = 12;
  using Page = std::array<uint32_t, 1u << kPageShift>;

  Page* page_of(uint64_t line) {
    const uint64_t page = line >> kPageShift;
    if (page != last_page_) {
      std::unique_ptr<Page>& there = pages_[page];
      if (there == nullptr) there = std::make_unique<Page>();
      last_page_ = page;
      last_ = there.get();
    }
    return last_;
  }

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  uint64_t last_page_ = ~uint64_t{0};
  Page* last_ = nullptr;
};

class Features {
 public:
  explicit Features(const Recording& recording) : recording_(recording) {
    for (uint32_t i = 0; i < recording.traces.size(); ++i)
      times_[recording.traces.identity(i)] += 1;
  }

  std::vector<std::vector<LaunchFeatures>> all(const std::vector<std::vector<uint32_t>>& bounds) {
    std::vector<std::vector<LaunchFeatures>> found;
    for (uint32_t i = 0; i < recording_.launches.size(); ++i) {
      if (i < bounds.size() && !bounds[i].empty())
        found.push_back(of_pieces(i, bounds[i]));
      else
        found.push_back({of(i)});
    }
    return found;
  }

 private:
  LaunchFeatures of(uint32_t launch) {
    const LaunchRecord& l = recording_.launches[launch];
    LaunchFeatures f;
    f.warp_instructions = l.warp_instructions;
    f.thread_instructions = l.thread_instructions;
    f.thread_blocks = l.blocks_recorded;
    f.warps = l.blocks_recorded * ((l.block.count() + 31) / 32);
    const compiler::Kernel& kernel = *recording_.kernels[l.kernel];
    std::optional<ChunkWalk> walk;  // launches that repeat others need none
    begin_piece();
    for (uint32_t c = l.first_chunk; c < l.first_chunk + l.num_chunks; ++c) {
      const uint32_t identity = recording_.traces.identity(c);
      if (const auto known = known_.find(identity); known != known_.end()) {
        add(known->second, f);
      } else if (times_[identity] == 1 || kept_ > kMostKeptRanges) {
        Visit visit{kernel, [&](uint64_t line, uint32_t sectors) { touch(line, sectors, f); }};
        if (!walk.has_value()) walk.emplace(kernel);
        walk->walk(*recording_.traces.chunk(c), visit);
      } else {
        const auto touches = touches_->of(recording_, c, l.kernel);
        ChunkUse use{touches->transactions, touches->transacted_sectors, {}};
        for (const ChunkTouches::Touch& t : touches->touches) use.touch(t.line);
        use.sort();
        add(use, f);
        kept_ += use.ranges.size();
        known_.emplace(identity, std::move(use));
      }
    }
    used_ += f.lines;
    return f;
  }

  /// Visits a launch's traces, piece by piece.
  struct PieceVisit {
    Features& features;
    const compiler::Kernel& kernel;
    const std::vector<uint32_t>& bounds;
    std::vector<LaunchFeatures> pieces{1};
    uint64_t in_block = 0;

    void warp(uint64_t block, uint32_t warp) {
      if (pieces.size() <= bounds.size() && block == bounds[pieces.size() - 1] && warp == 0) {
        features.used_ += pieces.back().lines;
        features.begin_piece();
        pieces.emplace_back();
      }
      pieces.back().thread_blocks += warp == 0 ? 1 : 0;
      pieces.back().warps += 1;
      if (warp == 0) in_block = 0;
    }
    void run(uint32_t, uint32_t count, uint32_t mask) {
      LaunchFeatures& f = pieces.back();
      f.warp_instructions += count;
      f.thread_instructions += uint64_t{count} * static_cast<uint32_t>(std::popcount(mask));
      f.longest_block = std::max(f.longest_block, in_block += count);
    }
    void record(uint32_t instruction, uint32_t lanes, const uint64_t* words) {
      Visit visit{kernel, [&](uint64_t line, uint32_t sectors) {
                    features.touch(line, sectors, pieces.back());
                  }};
      visit.record(instruction, lanes, words);
    }
  };

  std::vector<LaunchFeatures> of_pieces(uint32_t launch, const std::vector<uint32_t>& bounds) {
    const LaunchRecord& l = recording_.launches[launch];
    const compiler::Kernel& kernel = *recording_.kernels[l.kernel];
    const ChunkWalk walk(kernel);
    begin_piece();
    PieceVisit visit{*this, kernel, bounds};
    for (uint32_t c = l.first_chunk; c < l.first_chunk + l.num_chunks; ++c)
      walk.walk(*recording_.traces.chunk(c), visit);
    used_ += visit.pieces.back().lines;
    return std::move(visit.pieces);
  }

  void begin_piece() {
    used_before_.push_back(used_);
    while (used_ - used_before_[old_] > kFreshAfterLines) ++old_;
  }

  void add(const ChunkUse& use, LaunchFeatures& f) {
    f.transactions += use.transactions;
    f.sectors += use.sectors;
    const auto piece = static_cast<uint32_t>(used_before_.size());
    const uint32_t old = old_;
    for (const LineRange& r : use.ranges)
      last_uses_.each(r, [&](uint32_t* last, uint64_t lines) {
        uint32_t others = 0, fresh = 0;
#pragma omp simd reduction(+ : others, fresh)
        for (uint64_t i = 0; i < lines; ++i) {
          others += last[i] != piece ? 1 : 0;
          fresh += last[i] <= old ? 1 : 0;
          last[i] = piece;
        }
        f.lines += others;
        f.fresh_lines += fresh;
      });
  }

  void touch(uint64_t line, uint32_t sectors, LaunchFeatures& f) {
    f.transactions += 1;
    f.sectors += static_cast<uint32_t>(std::popcount(sectors));
    touch(line, f);
  }
  void touch(uint64_t line, LaunchFeatures& f) {
    const auto piece = static_cast<uint32_t>(used_before_.size());
    uint32_t& last = last_uses_.of(line);
    if (last == piece) return;
    f.lines += 1;
    if (last <= old_) f.fresh_lines += 1;
    last = piece;
  }

  const Recording& recording_;
  std::shared_ptr<TouchesOfChunks> touches_ = touches_of(recording_, kFeatureLineShift);
  std::unordered_map<uint32_t, uint32_t> times_;  // by identity: chunks
  std::unordered_map<uint32_t, ChunkUse> known_;  // by identity
  size_t kept_ = 0;                               // ranges in known_
  LastUses last_uses_;
  std::vector<uint64_t> used_before_;  // [piece]: lines used by the pieces before it, summed
  uint64_t used_ = 0;                  // the same for the next one
  uint32_t old_ = 0;  // pieces so long ago that lines used last by them are read anew
};

}  // namespace

std::vector<LaunchFeatures> launch_features(const Recording& recording) {
  std::vector<LaunchFeatures> all;
  for (const auto& pieces : Features(recording).all({})) all.push_back(pieces.at(0));
  return all;
}

std::vector<std::vector<LaunchFeatures>> features_of_pieces(
    const Recording& recording, const std::vector<std::vector<uint32_t>>& bounds) {
  return Features(recording).all(bounds);
}

}  // namespace nearwarp::runtime
