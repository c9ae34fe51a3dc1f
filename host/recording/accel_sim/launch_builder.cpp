// Makes the record and the traces of one kernel launch out of the lines of its warps.
#include "host/recording/accel_sim/launch_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/core/error.h"

namespace nearwarp::sass {
namespace {

constexpr uint64_t kWindowBytes = uint64_t{1} << 24;     // of the shared and the local window
constexpr uint64_t kChunkWords = uint64_t{1} << 18;      // 2 MiB
constexpr uint64_t kMostBlockWords = uint64_t{1} << 31;  // offsets in a chunk have 32 bits
constexpr size_t kMostHeld = 16;                         // instructions between two tries

bool in_window(uint64_t address, uint64_t base, uint64_t bytes) {
  return base != 0 && address >= base && address - base < bytes;
}
/// An address in a window, given as a generic address or as an offset.
uint64_t window_offset(uint64_t address, uint64_t base) {
  return (address >= base ? address - base : address) % kWindowBytes;
}

/// May it stand between two tries of a wait, and do nothing but lead to the next one?
bool is_filler(const MachineInstruction& in) {
  return in.async == AsyncKind::kFiller || in.opcode_class == OpcodeClass::kBranch ||
         (in.opcode_class == OpcodeClass::kControl && in.instruction.op == ptx::Opcode::kNop &&
          in.async == AsyncKind::kNone);
}

}  // namespace

LaunchBuilder::LaunchBuilder(const KernelHeader& header, MachineKernel& kernel,
                             AddressSpace& addresses, runtime::TraceStore& store)
    : header_(header),
      kernel_(kernel),
      addresses_(addresses),
      store_(store),
      warps_per_block_(static_cast<uint32_t>((header.block.count() + 31) / 32)),
      window_bytes_(kWindowBytes * header.cluster.count()),
      words_of_(warps_per_block_ * header.cluster.count()) {
  chunk_.warps_per_block = warps_per_block_;
  chunk_.warp_offset.push_back(0);
  record_.grid = header.grid;
  record_.block = header.block;
  record_.cluster = header.cluster;
  record_.shared_bytes = header.shared_bytes;
  record_.first_chunk = store.size();
  begin_cluster();
}

void LaunchBuilder::begin_cluster() {
  const auto blocks = static_cast<uint32_t>(header_.cluster.count());
  has_.assign(blocks, false);
  for (std::vector<uint64_t>& w : words_of_) w.assign(1, 0);  // a warp without instructions
  order_.begin_cluster(blocks, warps_per_block_);
}

LineProblem LaunchBuilder::begin_block(uint32_t rank) {
  LineProblem problem;
  if (has_[rank]) problem = end_cluster();
  rank_ = rank;
  has_[rank] = true;
  no_ranks_ = false;
  return problem;
}

void LaunchBuilder::begin_warp(uint32_t number) {
  warp_.in_cluster = rank_ * warps_per_block_ + number;
  std::vector<uint64_t>& words = words_of_[warp_.in_cluster];
  words.clear();
  warp_.in_launch = static_cast<uint32_t>(record_.blocks_recorded * warps_per_block_ + number);
  warp_.groups = CopyGroups::kNone;
  warp_.waits = false;
  warp_.held.clear();
  std::fill(std::begin(warp_.last_wait), std::end(warp_.last_wait), kNoStep);
  warp_.trace.emplace(kernel_, words);
}

void LaunchBuilder::end_warp() {
  release_held();
  WarpTrace& trace = *warp_.trace;
  trace.finish();
  for (MbarrierStep& step : order_.steps(warp_.in_cluster))
    if (step.place != MbarrierStep::kNoPlace) step.place = trace.places()[step.place];
  record_.warp_instructions += trace.warp_instructions();
  record_.thread_instructions += trace.thread_instructions();
}

LineProblem LaunchBuilder::end_block() {
  ++record_.blocks_recorded;
  return std::find(has_.begin(), has_.end(), false) == has_.end() ? end_cluster() : LineProblem{};
}

/// The blocks of the cluster that have come follow each other by their ranks.
LineProblem LaunchBuilder::end_cluster() {
  if (!order_.resolve(words_of_))
    return {"warps of a thread block wait at a barrier for others that never come",
            "check that the file is not damaged"};
  for (uint32_t rank = 0; rank < has_.size(); ++rank) {
    if (!has_[rank]) continue;
    const auto* const first = words_of_.data() + size_t{rank} * warps_per_block_;
    uint64_t words = 0;
    for (uint32_t w = 0; w < warps_per_block_; ++w) words += first[w].size();
    if (words > kMostBlockWords)
      return {"a thread block's trace is larger than a simulation has room for",
              "trace a smaller problem"};
    if (chunk_.words.size() + words > kMostBlockWords) flush();
    for (uint32_t w = 0; w < warps_per_block_; ++w) {
      chunk_.words.insert(chunk_.words.end(), first[w].begin(), first[w].end());
      chunk_.warp_offset.push_back(static_cast<uint32_t>(chunk_.words.size()));
    }
    ++chunk_.num_blocks;
    if (chunk_.words.size() >= kChunkWords) flush();
  }
  begin_cluster();
  return {};
}

runtime::LaunchRecord LaunchBuilder::finish(const std::string& path) {
  if (const LineProblem problem = end_cluster(); problem.what != nullptr)
    throw Error(fmt::format("{} ('{}') - {}", problem.what, path, problem.right));
  flush();
  record_.num_chunks = store_.size() - record_.first_chunk;
  if (record_.warp_instructions != lines_ - left_out_ + added_)
    throw Error(
        fmt::format("'{}' has {} instructions, and {} were kept - this is a defect of the "
                    "simulator",
                    path, lines_ - left_out_ + added_, record_.warp_instructions));
  return record_;
}

void LaunchBuilder::flush() {
  if (chunk_.num_blocks == 0) return;
  const uint32_t next = chunk_.first_block + chunk_.num_blocks;
  runtime::TraceChunk following;
  following.first_block = next;
  following.warps_per_block = warps_per_block_;
  following.warp_offset.push_back(0);
  store_.append(std::exchange(chunk_, std::move(following)));
}

LineProblem LaunchBuilder::line(std::string_view line) {
  DynamicPart d;
  size_t length = 0;
  uint32_t id = 0;
  LineProblem problem = parse_front(line, header_, &d);
  if (problem.what == nullptr)
    problem = kernel_.instruction(d.pc, d.rest, header_.tracer_version, &id, &length);
  if (problem.what != nullptr) return problem;
  ++lines_;
  const MachineInstruction& in = kernel_.at(id);
  if (warp_.waits && in.async != AsyncKind::kWait) {
    if (is_filler(in) && !in.has_record && warp_.held.size() < kMostHeld) {
      warp_.held.push_back({id, d.pc, d.mask});
      return {};
    }
    release_held();
  }
  if (in.async == AsyncKind::kNone || in.async == AsyncKind::kFiller)
    return plain(id, d, d.rest.substr(length));
  return async(id, in.async, d, d.rest.substr(length));
}

void LaunchBuilder::release_held() {
  for (const Held& h : warp_.held) warp_.trace->add(h.id, h.pc, h.mask, nullptr);
  warp_.held.clear();
  warp_.waits = false;
}

LineProblem LaunchBuilder::plain(uint32_t id, const DynamicPart& d, std::string_view rest) {
  const MachineInstruction& in = kernel_.at(id);
  if (in.has_record) {
    const LineProblem problem = parse_addresses(rest, d.mask, address_);
    if (problem.what != nullptr) return problem;
    move_addresses(in, d.mask);
  }
  warp_.trace->add(id, d.pc, d.mask, address_);
  return {};
}

void LaunchBuilder::move_addresses(const MachineInstruction& in, uint32_t mask) {
  if (mask == 0) return;
  OpcodeClass space = in.opcode_class;
  uint64_t window = trace::kSharedWindow;
  if (space == OpcodeClass::kShared) {
    window = 0;
  } else if (space != OpcodeClass::kLocal) {
    // All lanes access the memory that the first one does. Of LDGSTS, which has an address in
    // shared memory too, tracers may give either.
    const uint64_t first = address_[__builtin_ctz(mask)];
    space = in_window(first, header_.shared_base, window_bytes_) ? OpcodeClass::kShared
            : in_window(first, header_.local_base, kWindowBytes) ? OpcodeClass::kLocal
                                                                 : OpcodeClass::kGlobal;
  }
  uint64_t least = ~uint64_t{0}, most = 0;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(m));
    uint64_t& address = address_[lane];
    if (space == OpcodeClass::kShared) {
      address = window | shared_address(address);
    } else if (space == OpcodeClass::kLocal) {
      address = addresses_.local(window_offset(address, header_.local_base), warp_.in_launch, lane);
    } else {
      address = addresses_.global(address);
      least = std::min(least, address);
      most = std::max(most, address);
    }
  }
  if (most != 0) addresses_.touch(least, most + in.lane_bytes - 1);
}

uint64_t LaunchBuilder::shared_offset(uint64_t address) const {
  return window_offset(address, header_.shared_base == 0 ? ~uint64_t{0} : header_.shared_base);
}

/// In a recording, memory of other blocks lies behind the block's own, by their ranks.
uint64_t LaunchBuilder::shared_address(uint64_t address) const {
  const uint64_t offset = shared_offset(address), rank = rank_of(address);
  if (rank == rank_ || rank >= header_.cluster.count()) return offset;
  return offset + (rank + 1) * kWindowBytes;
}

/// An address in a block of a cluster has its rank in bits 24 and up.
uint64_t LaunchBuilder::rank_of(uint64_t address) const {
  const bool generic = header_.shared_base != 0 && address >= header_.shared_base;
  return (generic ? address - header_.shared_base : address) / kWindowBytes;
}

bool LaunchBuilder::mbarrier_at(uint64_t address, uint8_t* block, uint8_t* number) {
  uint64_t rank = rank_of(address);
  if (rank >= header_.cluster.count()) return false;
  if (no_ranks_ && rank == 0) rank = rank_;
  *block = static_cast<uint8_t>(rank);
  return order_.number_of(*block, shared_offset(address), number);
}

}  // namespace nearwarp::sass
