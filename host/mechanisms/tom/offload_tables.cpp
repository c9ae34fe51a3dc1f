// TOM's side tables of a recorded program.
#include "host/mechanisms/tom/offload_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "host/core/error.h"
#include "host/mechanisms/tom/settings.h"

namespace nearwarp::tom {

namespace {

using compiler::Kernel;
using compiler::OffloadCandidate;
using sim::ImageTables;

/// A candidate's instructions in the image; none if only dropped moves are left of it.
struct Places {
  std::vector<uint32_t> all;
  uint32_t begin = ImageTables::kNotIssued;
  bool together = true;  ///< in each of its blocks nothing else stands between them
};

Places places_of(const Kernel& kernel, const OffloadCandidate& c, const std::vector<uint32_t>& at) {
  Places places;
  for (const compiler::BlockId b : c.blocks) {
    const compiler::Block& block = kernel.blocks[b];
    const size_t before = places.all.size();
    for (uint32_t i = block.first; i < block.first + block.count; ++i) {
      if (i < c.first_instruction && b == c.entry) continue;
      if (i > c.last_instruction) break;
      if (at[i] != ImageTables::kNotIssued) places.all.push_back(at[i]);
    }
    if (places.all.size() == before) continue;
    const auto [first, last] = std::minmax_element(
        places.all.begin() + static_cast<std::ptrdiff_t>(before), places.all.end());
    places.together &= *last - *first + 1 == places.all.size() - before;
    if (b == c.entry) places.begin = *first;
  }
  return places;
}

/// `outer`: the entry that it is a block of, or kNoCandidate.
void add_candidate(const Kernel& kernel, uint32_t index, uint32_t first_block,
                   const OffloadCandidate& c, uint16_t outer, const std::vector<uint32_t>& at,
                   OffloadTables& out) {
  Candidate entry;
  entry.kernel = static_cast<uint16_t>(index);
  entry.live_in_bytes = static_cast<uint16_t>(c.live_in_bytes);
  entry.live_out_bytes = static_cast<uint16_t>(c.live_out_bytes);
  entry.saves_tx = c.saves_tx ? 1 : 0;
  entry.saves_rx = c.saves_rx ? 1 : 0;
  entry.shared = c.shared.kind;
  entry.shared_bytes = c.shared.bytes;
  entry.shared_rows = static_cast<uint16_t>((c.shared.bytes + out.row_bytes - 1) / out.row_bytes);
  if (c.trip == compiler::TripKind::kConditional) {
    entry.threshold = static_cast<uint32_t>(c.condition.threshold_iterations);
    for (const compiler::CountBlock& n : c.condition.count_blocks)
      out.weight[first_block + n.block] = static_cast<uint16_t>(n.iterations_per_execution);
  }
  entry.outer = outer;
  if (outer != kNoCandidate && out.inner_of.empty())
    out.inner_of.assign(out.candidate_of.size(), kNoCandidate);
  const Places places = places_of(kernel, c, at);
  // Another mechanism's pass may have moved instructions over its ends.
  if (places.begin == ImageTables::kNotIssued || !places.together) return;
  entry.begin = places.begin;
  std::vector<uint16_t>& of = outer == kNoCandidate ? out.candidate_of : out.inner_of;
  for (const uint32_t i : places.all) of[i] = static_cast<uint16_t>(out.candidates.size());
  out.candidates.push_back(entry);
  out.info.push_back(c);
}

/// Does every launch of the kernel have blocks in which the lanes of a warp follow one another in
/// x?
bool has_flat_blocks(const runtime::Recording& recording, uint32_t kernel, uint32_t warp_size) {
  return std::all_of(recording.launches.begin(), recording.launches.end(),
                     [&](const runtime::LaunchRecord& l) {
                       return l.kernel != kernel || l.block.x % warp_size == 0 ||
                              (l.block.y == 1 && l.block.z == 1);
                     });
}

/// An annotation of an array that no kernel has is a mistake.
void check_annotations(const runtime::Recording& recording, const std::string& policy,
                       const compiler::SharedModel& model) {
  for (const compiler::SharedAnnotation& a : model.annotations) {
    std::set<std::string> names;
    const auto has_it = [&](const auto& kernel) {
      for (const std::string& name : compiler::shared_arrays_of(*kernel)) names.insert(name);
      return compiler::has_shared_array(*kernel, a.array);
    };
    if (std::any_of(recording.kernels.begin(), recording.kernels.end(), has_it)) continue;
    std::string there;
    for (const std::string& name : names) there += (there.empty() ? "" : ", ") + name;
    throw Error(
        fmt::format("policy {}: tuning.shared_arrays names '{}', and no kernel of '{}' has a "
                    "shared array of that name - there {}",
                    policy, a.array, recording.name, there.empty() ? "are none" : "are " + there));
  }
}

}  // namespace

uint32_t stack_shared_bytes(const config::MachineConfig& machine) {
  return machine.stack_sm.shared_memory_bytes != 0 ? machine.stack_sm.shared_memory_bytes
                                                   : machine.sm.shared_memory_bytes;
}

compiler::OffloadModel offload_model(const config::MachineConfig& machine,
                                     const config::PolicyConfig& policy) {
  compiler::OffloadModel model;
  model.miss_ld_percent = policy.table<OffloadSettings>().load_miss_percent;
  model.coal_ld_percent = policy.table<OffloadSettings>().load_coalescing_percent;
  model.coal_st_percent = policy.table<OffloadSettings>().store_coalescing_percent;
  model.line_to_address_ratio = machine.l1.line_bytes / 4;
  using compiler::Granularity;
  model.granularity = policy.table<OffloadSettings>().granularity == "region" ? Granularity::kRegion
                      : policy.table<OffloadSettings>().granularity == "loop" ? Granularity::kLoop
                      : policy.table<OffloadSettings>().granularity == "innermost"
                          ? Granularity::kInnermost
                          : Granularity::kBlock;
  model.inner_blocks =
      config::has_mechanism(policy, "tom") && policy.table<OffloadSettings>().inner_blocks;
  model.max_candidates = machine.table<OffloadParts>().metadata_entries;
  const SharedSettings& settings = policy.table<SharedSettings>();
  compiler::SharedModel& shared = model.shared;
  shared.on = config::has_mechanism(policy, "tuning") && settings.shared != "none";
  shared.proves = settings.shared == "proved";
  const uint32_t row_bytes = machine.lsu.shared_banks * tuning::kBankBytes;
  shared.capacity = stack_shared_bytes(machine) / row_bytes * row_bytes;
  shared.annotations = compiler::parse_annotations(
      settings.shared_arrays, fmt::format("policy {}: tuning.shared_arrays", policy.name));
  return model;
}

OffloadTables build_offload_tables(const runtime::Recording& recording,
                                   const config::MachineConfig& machine,
                                   const config::PolicyConfig& policy, const ImageTables& image) {
  if (!recording.no_offloading.empty())
    throw Error(
        fmt::format("'{}' cannot be run under policy {}: {} - take a policy without "
                    "offloading, such as baseline",
                    recording.name, policy.name, recording.no_offloading));
  OffloadTables out;
  out.candidate_of.assign(image.instrs.size(), kNoCandidate);
  out.weight.assign(image.blocks.size(), 0);
  out.home_warps.assign(image.kernels.size(), 0);
  for (const sm::LaunchInfo& launch : image.launches) {
    const uint64_t held = uint64_t{machine.gpu.sms_with_ndp} *
                          sim::blocks_per_sm(sim::sm_capacity(machine), launch.needs);
    uint64_t& warps = out.home_warps[launch.kernel];
    warps = std::max(warps, std::min<uint64_t>(held, launch.num_blocks) * launch.warps_per_block);
  }
  compiler::OffloadModel model = offload_model(machine, policy);
  if (model.shared.on) check_annotations(recording, policy.name, model.shared);
  out.row_bytes = machine.lsu.shared_banks * tuning::kBankBytes;
  for (uint32_t k = 0; k < recording.kernels.size(); ++k) {
    const Kernel& kernel = *recording.kernels[k];
    model.shared.flat_blocks = has_flat_blocks(recording, k, model.warp_size);
    std::map<uint32_t, uint16_t> entry_of;  // by the compiler's number
    for (const OffloadCandidate& c : compiler::select_candidates(kernel, model)) {
      const auto outer = entry_of.find(c.within);
      if (c.within != compiler::kNone && outer == entry_of.end()) continue;  // dropped with it
      const size_t entries = out.candidates.size();
      add_candidate(kernel, k, image.kernels[k].first_block, c,
                    outer == entry_of.end() ? kNoCandidate : outer->second, image.index_of[k], out);
      if (out.candidates.size() != entries) entry_of[c.id] = static_cast<uint16_t>(entries);
    }
  }
  return out;
}

void mark_candidates(const OffloadTables& tables, uint8_t mark, ImageTables& image) {
  const auto set = [&](uint8_t& bits) { bits = static_cast<uint8_t>(bits | mark); };
  for (const Candidate& c : tables.candidates) set(image.instrs[c.begin].marks);
  // Between two instructions of a block a warp leaves a candidate where the next is none of it;
  // from a block's end it may come to any block, since lanes that parted take turns.
  for (const sm::ImageBlock& b : image.blocks)
    for (uint32_t pc = b.first; pc < b.first + b.count; ++pc)
      if (pc == b.first || tables.candidate_of[pc] != tables.candidate_of[pc - 1] ||
          (!tables.inner_of.empty() && tables.inner_of[pc] != tables.inner_of[pc - 1]) ||
          image.instrs[pc].accesses_data())
        set(image.instrs[pc].edges);
}

}  // namespace nearwarp::tom
