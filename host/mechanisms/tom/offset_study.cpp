// The study of fixed offsets: it reads traces instance by instance.
#include "host/mechanisms/tom/offset_study.h"

#include <algorithm>

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
struct Candidate {
  std::vector<uint32_t> pcs;
  std::vector<Pair> pairs;  // [j * size + i]
  std::vector<uint64_t> executions, not_first;
  std::vector<uint64_t> last;  // most recent address, by instruction
  std::vector<uint32_t> seen;  // instructions that have been executed in this instance
  std::vector<bool> has_last;  // by instruction: is it among `seen`?
  uint64_t instances = 0;

  void finish_setup() {
    const size_t n = pcs.size();
    pairs.resize(n * n);
    executions.resize(n);
    not_first.resize(n);
    last.resize(n);
    has_last.resize(n);
  }
  void begin_instance() {
    instances += 1;
    for (const uint32_t i : seen) has_last[i] = false;
    seen.clear();
  }
  void access(uint32_t j, uint64_t address) {
    executions[j] += 1;
    not_first[j] += seen.empty() ? 0 : 1;
    for (const uint32_t i : seen) {
      Pair& pair = pairs[j * pcs.size() + i];
      const auto offset = static_cast<int64_t>(address - last[i]);
      if (pair.compared == 0) pair.expected = offset;
      pair.compared += 1;
      pair.fixed += offset == pair.expected ? 1 : 0;
    }
    last[j] = address;
    if (has_last[j]) return;
    has_last[j] = true;
    seen.push_back(j);
  }

  CandidateOffsets result() const {
    CandidateOffsets out;
    out.instances = instances;
    for (uint32_t j = 0; j < pcs.size(); ++j) {
      InstructionOffsets row;
      row.pc = pcs[j];
      row.executions = executions[j];
      row.not_first = not_first[j];
      for (uint32_t i = 0; i < pcs.size(); ++i) {
        const Pair& pair = pairs[j * pcs.size() + i];
        if (pair.compared == 0 || !better(pair, row)) continue;
        row.predecessor_pc = pcs[i];
        row.compared = pair.compared;
        row.fixed = pair.fixed;
      }
      out.instructions.push_back(row);
    }
    return out;
  }

 private:
  __extension__ using Product = unsigned __int128;

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
  Study(const ImageTables& image, const tom::OffloadTables& offload)
      : candidates_(offload.candidates.size()) {
    add_accesses(image, offload.candidate_of, index_);
    if (!offload.inner_of.empty()) add_accesses(image, offload.inner_of, inner_index_);
    for (Candidate& c : candidates_) c.finish_setup();
  }

  void read(const TraceSpan& traces) {
    InstanceReader reader{*this, traces};
    for (uint32_t warp = 0; warp < traces.num_warps; ++warp)
      analytics::each_instance(traces, warp, reader);
  }

  std::vector<CandidateOffsets> result() const {
    std::vector<CandidateOffsets> out;
    for (const Candidate& c : candidates_) out.push_back(c.result());
    return out;
  }

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
    const std::function<bool(uint64_t done, uint64_t total)>& progress) {
  const TraceTables tables(image, offload);
  Study study(image, offload);
  const std::vector<TracePart> parts = parts_with_candidates(recording, image, tables);
  uint64_t total = 0, done = 0;
  for (const TracePart& part : parts) total += warp_instructions(recording, image, part);
  for (const TracePart& part : parts) {
    const auto chunk = recording.traces.chunk(part.chunk);
    study.read(tables.span(*chunk, part.launch));
    done += warp_instructions(recording, image, part);
    if (progress && !progress(done, total))
      throw Interrupted("interrupted while traces were studied");
  }
  return study.result();
}

}  // namespace nearwarp::sim
