// The study of fixed offsets: it reads traces instance by instance.
#include "host/mechanisms/tom/offset_study.h"

#include <algorithm>
#include <utility>

#include "device/sm/coalescer.h"
#include "host/core/error.h"
#include "host/mechanisms/tom/trace_tables.h"

namespace nearwarp::sim {

namespace {

using analytics::TraceSpan;

/// Offsets of executions of an instruction j from the last execution of an instruction i.
struct Pair {
  int64_t expected = 0;  // the first offset; valid if compared != 0
  uint64_t compared = 0, fixed = 0;
};

/// A candidate's memory instructions, and the most recent address of each in the current instance.
/// Every pass through the traces compares the executions of some of the instructions, its rows.
struct Candidate {
  std::vector<uint32_t> pcs;
  uint32_t first_row = 0, num_rows = 0;  // of this pass
  std::vector<Pair> pairs;               // [(j - first_row) * size + i]
  std::vector<uint64_t> executions, not_first;
  std::vector<uint64_t> last;  // most recent address, by instruction
  std::vector<uint32_t> seen;  // instructions that have been executed in this instance
  std::vector<bool> has_last;  // by instruction: is it among `seen`?
  uint64_t instances = 0;

  void begin_pass(uint32_t first, uint32_t rows) {
    const size_t n = pcs.size();
    first_row = first;
    num_rows = rows;
    pairs.assign(rows * n, {});
    executions.assign(n, 0);
    not_first.assign(n, 0);
    last.resize(n);
    has_last.assign(n, false);
    seen.clear();
    instances = 0;
  }
  void begin_instance() {
    instances += 1;
    for (const uint32_t i : seen) has_last[i] = false;
    seen.clear();
  }
  void access(uint32_t j, uint64_t address) {
    executions[j] += 1;
    not_first[j] += seen.empty() ? 0 : 1;
    if (j - first_row < num_rows) compare(&pairs[(j - first_row) * pcs.size()], address);
    last[j] = address;
    if (has_last[j]) return;
    has_last[j] = true;
    seen.push_back(j);
  }

  /// Adds what this pass has found.
  void add_to(CandidateOffsets& out) const {
    out.instances = instances;
    for (uint32_t j = first_row; j < first_row + num_rows; ++j) {
      InstructionOffsets row;
      row.pc = pcs[j];
      row.executions = executions[j];
      row.not_first = not_first[j];
      for (uint32_t i = 0; i < pcs.size(); ++i) {
        const Pair& pair = pairs[(j - first_row) * pcs.size() + i];
        if (pair.compared == 0 || !better(pair, row)) continue;
        row.predecessor_pc = pcs[i];
        row.compared = pair.compared;
        row.fixed = pair.fixed;
      }
      out.instructions.push_back(row);
    }
  }

 private:
  __extension__ using Product = unsigned __int128;

  void compare(Pair* row, uint64_t address) {
    for (const uint32_t i : seen) {
      Pair& pair = row[i];
      const auto offset = static_cast<int64_t>(address - last[i]);
      if (pair.compared == 0) pair.expected = offset;
      pair.compared += 1;
      pair.fixed += offset == pair.expected ? 1 : 0;
    }
  }
  static bool better(const Pair& pair, const InstructionOffsets& than) {
    if (than.compared == 0) return true;
    // Compare the quotients fixed / compared exactly.
    const auto a = static_cast<Product>(pair.fixed) * than.compared;
    const auto b = static_cast<Product>(than.fixed) * pair.compared;
    return a != b ? a > b : pair.compared > than.compared;
  }
};

class Study {
 public:
  Study(const ImageTables& image, const tom::OffloadTables& offload, uint64_t bytes_of_pairs)
      : candidates_(offload.candidates.size()), result_(offload.candidates.size()) {
    add_accesses(image, offload.candidate_of, index_);
    if (!offload.inner_of.empty()) add_accesses(image, offload.inner_of, inner_index_);
    plan(bytes_of_pairs / sizeof(Pair));
  }

  size_t num_passes() const { return passes_.size(); }
  void begin_pass(size_t pass) {
    for (Candidate& c : candidates_) c.begin_pass(0, 0);
    for (const Rows& r : passes_[pass]) candidates_[r.candidate].begin_pass(r.first, r.count);
  }

  void read(const TraceSpan& traces) {
    InstanceReader reader{*this, traces};
    for (uint32_t warp = 0; warp < traces.num_warps; ++warp)
      analytics::each_instance(traces, warp, reader);
  }

  void end_pass() {
    for (size_t c = 0; c < candidates_.size(); ++c) candidates_[c].add_to(result_[c]);
  }

  std::vector<CandidateOffsets> result() { return std::move(result_); }

 private:
  /// Number the accesses of each candidate in `candidate_of`.
  void add_accesses(const ImageTables& image, const std::vector<uint16_t>& candidate_of,
                    std::vector<uint32_t>& index) {
    index.assign(image.instrs.size(), 0);
    for (uint32_t pc = 0; pc < image.instrs.size(); ++pc) {
      const uint16_t id = candidate_of[pc];
      if (id == tom::kNoCandidate || !image.instrs[pc].accesses_data()) continue;
      index[pc] = static_cast<uint32_t>(candidates_[id].pcs.size());
      candidates_[id].pcs.push_back(pc);
    }
  }

  /// Rows of a candidate that one pass deals with.
  struct Rows {
    size_t candidate = 0;
    uint32_t first = 0, count = 0;
  };

  /// Divide the candidates' rows, in their order, into passes of at most so many pairs, but of one
  /// row at least.
  void plan(uint64_t pairs) {
    passes_.emplace_back();
    uint64_t left = pairs;
    for (size_t c = 0; c < candidates_.size(); ++c) {
      const auto n = static_cast<uint32_t>(candidates_[c].pcs.size());
      for (uint32_t first = 0; first < n;) {
        auto count = static_cast<uint32_t>(std::min<uint64_t>(left / n, n - first));
        if (count == 0 && !passes_.back().empty()) {
          passes_.emplace_back();
          left = pairs;
          continue;
        }
        count = std::max(count, 1u);
        passes_.back().push_back({c, first, count});
        first += count;
        left -= std::min(left, uint64_t{count} * n);
      }
    }
  }

  struct AccessReader {
    const std::vector<uint32_t>& index;
    const TraceSpan& traces;
    Candidate& candidate;
    void operator()(uint32_t pc, const sm::Access& a) {
      const uint32_t lane = count_trailing_zeros(a.mask);
      candidate.access(index[pc], sm::lane_address(a.in(traces.words), lane));
    }
  };
  struct InstanceReader {
    Study& study;
    const TraceSpan& traces;
    void operator()(const sm::Cursor& begin) {
      const uint16_t id = analytics::candidate_of_instance(traces, begin);
      const bool inner = id != traces.program.candidate_at(begin.pc);
      AccessReader access{inner ? study.inner_index_ : study.index_, traces, study.candidates_[id]};
      access.candidate.begin_instance();
      sm::Cursor c = begin;
      analytics::pass_instance(traces, c, id, access);
    }
  };

  std::vector<Candidate> candidates_;
  std::vector<CandidateOffsets> result_;
  std::vector<std::vector<Rows>> passes_;
  std::vector<uint32_t> index_;        // by pc: position among the candidate's instructions
  std::vector<uint32_t> inner_index_;  // likewise, of candidates within others
};

}  // namespace

double CandidateOffsets::share() const {
  double fixed = 0, all = 0;
  for (const InstructionOffsets& i : instructions) {
    if (i.compared == 0) continue;
    all += static_cast<double>(i.not_first);
    fixed += static_cast<double>(i.not_first) * static_cast<double>(i.fixed) /
             static_cast<double>(i.compared);
  }
  return all == 0 ? 0 : fixed / all;
}

OffsetCategory CandidateOffsets::category() const {
  bool compared = false, always = true, never = true;
  for (const InstructionOffsets& i : instructions) {
    compared |= i.compared != 0;
    always &= i.fixed == i.compared;
    never &= i.fixed <= 1;  // the execution that set the expected offset is counted
  }
  if (!compared) return OffsetCategory::kSingleAccess;
  if (always) return OffsetCategory::kAll;
  if (never) return OffsetCategory::kNone;
  const double s = share();
  return s >= 0.75   ? OffsetCategory::kFrom75
         : s >= 0.5  ? OffsetCategory::kFrom50
         : s >= 0.25 ? OffsetCategory::kFrom25
                     : OffsetCategory::kBelow25;
}

const char* category_text(OffsetCategory category) {
  static constexpr const char* kText[kNumOffsetCategories] = {
      "all", "75-100 %", "50-75 %", "25-50 %", "0-25 %", "none", "single access"};
  return kText[static_cast<uint32_t>(category)];
}

std::vector<CandidateOffsets> study_offsets(
    const runtime::Recording& recording, const ImageTables& image,
    const tom::OffloadTables& offload,
    const std::function<bool(uint64_t done, uint64_t total)>& progress, uint64_t bytes_of_pairs) {
  const TraceTables tables(image, offload);
  Study study(image, offload, bytes_of_pairs);
  const std::vector<TracePart> parts = parts_with_candidates(recording, image, tables);
  uint64_t total = 0, done = 0;
  for (const TracePart& part : parts) total += warp_instructions(recording, image, part);
  total *= study.num_passes();
  for (size_t pass = 0; pass < study.num_passes(); ++pass) {
    study.begin_pass(pass);
    for (const TracePart& part : parts) {
      const auto chunk = recording.traces.chunk(part.chunk);
      study.read(tables.span(*chunk, part.launch));
      done += warp_instructions(recording, image, part);
      if (progress && !progress(done, total))
        throw Interrupted("interrupted while traces were studied");
    }
    study.end_pass();
  }
  return study.result();
}

}  // namespace nearwarp::sim
