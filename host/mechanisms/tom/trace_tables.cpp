// Makes the tables by which analyses walk a recording's traces.
#include "host/mechanisms/tom/trace_tables.h"

#include <fmt/format.h>

#include <limits>
#include <span>
#include <type_traits>

#include "host/core/error.h"
#include "host/core/hash.h"

namespace nearwarp::sim {

namespace {

/// Does the instruction access something else than lines of memory?
bool is_elsewhere(const sm::ImageInstr& in) {
  return in.action == sm::Action::kSharedLoad || in.action == sm::Action::kSharedStore ||
         in.action == sm::Action::kSharedAtomic || in.action == sm::Action::kConstant;
}

}  // namespace

TraceTables::TraceTables(const ImageTables& image, const tom::OffloadTables& offload)
    : image_(image), offload_(offload) {
  const tom::ProgramTables program = offload.view();
  for (const sm::ImageBlock& block : image.blocks) {
    analytics::BlockFacts facts;
    // One execution leaves as many records as the block has memory instructions.
    constexpr uint32_t kMost = std::numeric_limits<decltype(facts.num_memory)>::max();
    if (block.records > kMost) {
      throw Error(
          fmt::format("a basic block has {} memory instructions - traces are studied with "
                      "at most {}",
                      block.records, kMost));
    }
    facts.first_memory = static_cast<uint32_t>(memory_.size());
    facts.uniform = 1;
    for (uint32_t pc = block.first; pc < block.first + block.count; ++pc) {
      const sm::ImageInstr& in = image.instrs[pc];
      if (program.instance_begins(pc)) facts.has_begin = 1;
      if (program.candidate_at(pc) != program.candidate_at(block.first)) facts.uniform = 0;
      if (program.inner_of != nullptr && program.inner_of[pc] != program.inner_of[block.first])
        facts.uniform = 0;
      if ((in.flags & sm::kHasRecord) == 0) continue;
      memory_.push_back({pc, static_cast<uint8_t>((in.flags & sm::kGuarded) != 0 ? 1 : 0),
                         static_cast<uint8_t>(is_elsewhere(in) ? 1 : 0)});
      facts.num_memory = static_cast<uint16_t>(facts.num_memory + 1);
    }
    blocks_.push_back(facts);
  }
  has_candidates_.assign(image.kernels.size(), false);
  for (const tom::Candidate& c : offload.candidates) has_candidates_[c.kernel] = true;
}

analytics::TraceSpan TraceTables::span(const runtime::TraceChunk& chunk, uint32_t launch) const {
  analytics::TraceSpan t;
  t.words = chunk.words.data();
  t.warp_offset = chunk.warp_offset.data();
  t.num_warps = chunk.num_blocks * chunk.warps_per_block;
  t.first_block = image_.kernels[image_.launches[launch].kernel].first_block;
  t.image = image_.view();
  t.program = offload_.view();
  t.blocks = blocks_.data();
  t.memory = memory_.data();
  return t;
}

analytics::StudyTables TraceTables::study_tables() const {
  analytics::StudyTables t;
  t.instrs = image_.instrs.data();
  t.num_instrs = image_.instrs.size();
  t.blocks = image_.blocks.data();
  t.facts = blocks_.data();
  t.num_blocks = blocks_.size();
  t.memory = memory_.data();
  t.num_memory = memory_.size();
  t.candidates = offload_.candidates.data();
  t.num_candidates = offload_.candidates.size();
  t.candidate_of = offload_.candidate_of.data();
  t.weight = offload_.weight.data();
  t.inner_of = offload_.inner_of.empty() ? nullptr : offload_.inner_of.data();
  t.begins_round = offload_.begins_round.empty() ? nullptr : offload_.begins_round.data();
  return t;
}

std::string TraceTables::identity() const {
  Hasher hash;
  const auto add = [&]<class T>(const std::vector<T>& values) {
    static_assert(std::has_unique_object_representations_v<T>);
    const uint64_t n = values.size();
    hash.add(std::as_bytes(std::span(&n, 1)));
    hash.add(std::as_bytes(std::span(values)));
  };
  std::vector<uint32_t> facts;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const sm::ImageBlock& block = image_.blocks[i];
    const analytics::BlockFacts& f = blocks_[i];
    facts.insert(facts.end(), {block.first, block.count, f.num_memory, f.has_begin, f.uniform});
  }
  for (const analytics::MemoryInstr& m : memory_)
    facts.insert(facts.end(), {m.pc, m.guarded, m.elsewhere});
  for (const sm::KernelInfo& k : image_.kernels) facts.push_back(k.first_block);
  for (const tom::Candidate& c : offload_.candidates)
    facts.insert(facts.end(), {c.begin, c.threshold, c.kernel, c.has_heads, c.outer});
  add(facts);
  add(offload_.candidate_of);
  add(offload_.inner_of);
  add(offload_.begins_round);
  add(offload_.weight);
  return hash.result().hex();
}

std::vector<TracePart> parts_with_candidates(const runtime::Recording& recording,
                                             const ImageTables& image, const TraceTables& tables) {
  std::vector<TracePart> parts;
  for (uint32_t i = 0; i < image.launches.size(); ++i) {
    if (!tables.has_candidates(image.launches[i].kernel)) continue;
    const runtime::LaunchRecord& record = recording.launches[image.recorded_launch[i]];
    for (uint32_t c = 0; c < record.num_chunks; ++c) parts.push_back({record.first_chunk + c, i});
  }
  return parts;
}

uint64_t warp_instructions(const runtime::Recording& recording, const ImageTables& image,
                           const TracePart& part) {
  const runtime::LaunchRecord& record = recording.launches[image.recorded_launch[part.launch]];
  return record.warp_instructions / record.num_chunks;
}

}  // namespace nearwarp::sim
