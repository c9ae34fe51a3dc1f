// How well each mapping of lines to stacks keeps the accesses of candidates' instances together.
#include "host/mechanisms/tom/mapping_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <type_traits>

#include "host/core/error.h"
#include "host/core/hash.h"
#include "host/core/workers.h"
#include "host/functional/instructions/decoded.h"
#include "host/mechanisms/tom/trace_tables.h"
#include "kernels/device.h"

namespace nearwarp::sim {

namespace {

using analytics::LineRange;
using analytics::MappingTotals;
using analytics::StudyPasses;
using analytics::TraceSpan;

/// The allocation table as disjoint ranges of lines.
class Ranges {
 public:
  Ranges(const std::vector<runtime::Allocation>& allocations, uint32_t line_shift)
      : lines_(allocations.size()) {
    std::vector<LineAddr> bounds;
    for (size_t i = 0; i < allocations.size(); ++i) {
      const runtime::Allocation& a = allocations[i];
      if (a.bytes == 0) continue;
      const uint64_t at = a.address - exec::kDeviceBase;
      lines_[i] = {static_cast<LineAddr>(at >> line_shift),
                   static_cast<LineAddr>((at + a.bytes - 1) >> line_shift) + 1};
      bounds.push_back(lines_[i].first);
      bounds.push_back(lines_[i].end);
    }
    std::sort(bounds.begin(), bounds.end());
    bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    for (size_t i = 0; i + 1 < bounds.size(); ++i) ranges_.push_back({bounds[i], bounds[i + 1]});
  }

  const std::vector<LineRange>& ranges() const { return ranges_; }

  /// By allocation, from `touched` by range.
  std::vector<bool> allocations(const std::vector<uint8_t>& touched) const {
    std::vector<bool> result(lines_.size(), false);
    for (size_t r = 0; r < ranges_.size(); ++r) {
      if (touched[r] == 0) continue;
      for (size_t i = 0; i < lines_.size(); ++i) {
        if (lines_[i].first <= ranges_[r].first && ranges_[r].end <= lines_[i].end)
          result[i] = true;
      }
    }
    return result;
  }

 private:
  std::vector<LineRange> lines_;   // by allocation
  std::vector<LineRange> ranges_;  // by address; gaps between allocations are among them
};

/// Hands out the parts of a recording to threads.
class PartWalk {
 public:
  PartWalk(const runtime::Recording& recording, const ImageTables& image,
           const tom::OffloadTables& offload, const StudyOptions& options)
      : recording_(recording),
        image_(image),
        options_(options),
        tables_(image, offload),
        parts_(parts_with_candidates(recording, image, tables_)) {
    for (const TracePart& p : parts_) total_ += warp_instructions(recording, image, p);
  }

  /// Passes for one thread, on what the options say.
  std::unique_ptr<StudyPasses> passes(const std::vector<LineRange>& ranges = {}) const {
    analytics::StudyTables tables = tables_.study_tables();
    tables.ranges = ranges.data();
    tables.num_ranges = ranges.size();
    return options_.cuda_device < 0 ? analytics::make_host_passes(tables)
                                    : analytics::make_cuda_passes(options_.cuda_device, tables);
  }

  /// work(state, span, words) for each part, in any order, with a state per thread; at the end, in
  /// turn, finish(state). Stops when work returns false.
  template <class MakeState, class Work, class Finish>
  void run(unsigned threads, MakeState make_state, Work work, Finish finish) {
    Workers workers(parts_.size(), options_.cuda_device < 0 ? threads : 1);
    std::vector<std::optional<decltype(make_state())>> states(workers.threads());
    try {
      workers.run([&](size_t i, unsigned thread) {
        auto& state = states[thread];
        if (!state.has_value()) state.emplace(make_state());
        const TracePart& part = parts_[i];
        const auto chunk = recording_.traces.chunk(part.chunk);
        if (!work(*state, tables_.span(*chunk, part.launch), chunk->words.size())) workers.stop();
        if (!goes_on(warp_instructions(recording_, image_, part))) workers.stop();
      });
      for (const auto& state : states)
        if (state.has_value()) finish(*state);
    } catch (const kernels::DeviceError& error) {
      throw Error(std::string("the CUDA device failed: ") + error.what());
    }
    if (interrupted_) throw Interrupted("interrupted while traces were studied");
  }

 private:
  bool goes_on(uint64_t instructions) {
    if (!options_.progress) return true;
    const std::lock_guard lock(reporting_);
    done_ += instructions;
    if (!interrupted_) interrupted_ = !options_.progress(done_, total_);
    return !interrupted_;
  }

  const runtime::Recording& recording_;
  const ImageTables& image_;
  const StudyOptions& options_;
  TraceTables tables_;
  std::vector<TracePart> parts_;
  uint64_t total_ = 0;
  std::mutex reporting_;
  uint64_t done_ = 0;
  bool interrupted_ = false;
};

unsigned wanted_threads(const StudyOptions& options) {
  return options.threads != 0 ? options.threads : processors();
}

/// The findings of one thread.
struct StudyState {
  std::unique_ptr<StudyPasses> passes;
  MappingTotals totals;
};

MappingCounts counts_of(const MappingTotals& totals, uint32_t m) {
  MappingCounts counts;
  counts.at_destination = totals.at_destination[m];
  std::copy_n(totals.stacks_touched[m], counts.stacks_touched.size(),
              counts.stacks_touched.begin());
  counts.one_stack = counts.stacks_touched[0];
  return counts;
}

}  // namespace

uint64_t count_instances(const runtime::Recording& recording, const ImageTables& image,
                         const tom::OffloadTables& offload, const StudyOptions& options) {
  struct State {
    std::unique_ptr<StudyPasses> passes;
    uint64_t count = 0;
  };
  uint64_t count = 0;
  PartWalk walk(recording, image, offload, options);
  walk.run(
      wanted_threads(options), [&] { return State{walk.passes()}; },
      [](State& s, const TraceSpan& traces, size_t num_words) {
        s.count += s.passes->count(traces, num_words);
        return true;
      },
      [&](const State& s) { count += s.count; });
  return count;
}

MappingStudy study_mappings(const runtime::Recording& recording, const ImageTables& image,
                            const tom::OffloadTables& offload, const AddressMap& baseline,
                            uint64_t first_instances, const StudyOptions& options) {
  analytics::MappingParams params;
  params.grid.device_base = exec::kDeviceBase;
  params.grid.line_shift = static_cast<uint32_t>(std::countr_zero(options.line_bytes));
  params.baseline = baseline;
  const Ranges ranges(recording.allocations, params.grid.line_shift);
  MappingTotals totals;
  std::vector<uint8_t> touched(ranges.ranges().size(), 0);
  uint64_t left = first_instances;
  // A limit is counted in the order of the program, so one thread goes through it.
  const bool all = first_instances == kAllInstances;
  PartWalk walk(recording, image, offload, options);
  walk.run(
      all ? wanted_threads(options) : 1,
      [&] {
        return StudyState{walk.passes(ranges.ranges()), {}};
      },
      [&](StudyState& s, const TraceSpan& traces, size_t num_words) {
        const uint64_t limit = all ? kAllInstances : left;
        const uint64_t n = s.passes->study(traces, num_words, params, limit, s.totals);
        if (!all) left -= n;
        return all || left != 0;
      },
      [&](const StudyState& s) {
        totals += s.totals;
        s.passes->add_touched(touched.data());
      });
  MappingStudy study;
  study.instances = totals.instances;
  study.accesses = totals.accesses;
  for (uint32_t m = 0; m < kNumMappings; ++m) study.mapping[m] = counts_of(totals, m);
  study.baseline = counts_of(totals, analytics::kBaseline);
  study.touched = ranges.allocations(touched);
  return study;
}

uint64_t known_instances(const runtime::Recording& recording, const ImageTables& image,
                         const tom::OffloadTables& offload, const StudyOptions& options) {
  const std::string key =
      fmt::format("tom: instances by tables {}", TraceTables(image, offload).identity());
  return *recording.studies->of<uint64_t>(
      key, [&] { return count_instances(recording, image, offload, options); });
}

MappingStudy known_study(const runtime::Recording& recording, const ImageTables& image,
                         const tom::OffloadTables& offload, const AddressMap& baseline,
                         const StudyOptions& options) {
  static_assert(std::has_unique_object_representations_v<AddressMap>);
  const std::string_view map(reinterpret_cast<const char*>(&baseline), sizeof baseline);
  const std::string key = fmt::format("tom: mappings by tables {}, map {}, line {}",
                                      TraceTables(image, offload).identity(),
                                      content_hash(map).hex(), options.line_bytes);
  return *recording.studies->of<MappingStudy>(key, [&] {
    return study_mappings(recording, image, offload, baseline, kAllInstances, options);
  });
}

uint32_t MappingStudy::best() const {
  uint32_t best = 0;
  for (uint32_t m = 1; m < kNumMappings; ++m)
    if (mapping[m].at_destination > mapping[best].at_destination) best = m;
  return best;
}

}  // namespace nearwarp::sim
