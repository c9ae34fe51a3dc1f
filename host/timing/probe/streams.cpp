// Programs of many warps, which reach the bandwidth of a part of a machine.
#include "host/timing/probe/streams.h"

#include <algorithm>
#include <bit>
#include <map>

#include "host/config/shape.h"
#include "host/core/error.h"
#include "host/timing/probe/chases.h"

namespace nearwarp::probe {
namespace {

using Machine = config::MachineConfig;

constexpr uint32_t kChunkBytes = kRound * kUnitBytes;
constexpr uint32_t kMostBlockWarps = 8;
/// As many warps as registers of 32 each let an SM have, on small register files.
constexpr uint32_t kMostWarps = 32;
/// Loads on their way that warps have, for each that an L1 can miss at a time.
constexpr uint32_t kLoadsPerMshr = 2;
constexpr uint64_t kSectorsSpan = uint64_t{16} << 20;
constexpr uint32_t kMostListed = 128;
constexpr uint32_t kChunksOfWarp = 16;
constexpr uint32_t kRoundsAlone = 16;
/// Groups that a dispatch policy may have.
constexpr uint32_t kMostGroups = 256;

uint32_t l2_of_sm(const Machine& m) {
  if (!config::shape_of(m).slices) return 0;
  return config::shape_of(m).sms_in_stacks() ? m.l2.bytes / m.stack.count : m.l2.bytes;
}

bool keeps_writes(const Machine& m) { return m.l2.write_policy == "back"; }

Program program_of(const Machine& m, auto what) {
  Program p{std::move(what), m.l1.line_bytes, 0};
  if (m.l2.begins_with_data) p.ballast_bytes = 2 * uint64_t{m.l2.bytes};
  return p;
}
template <class T>
StreamPair pair_of(const Machine& m, T what, uint32_t rounds, uint32_t more) {
  what.rounds = rounds;
  StreamPair pair;
  pair.shorter = program_of(m, what);
  what.rounds = rounds + more;
  pair.longer = program_of(m, what);
  return pair;
}

uint32_t most_blocks(const Machine& m) {
  const uint32_t warps = std::min({kMostWarps, m.sm.warps, m.sm.threads / 32});
  return std::min(m.sm.blocks, warps / block_warps(m));
}

}  // namespace

uint32_t block_warps(const Machine& m) {
  return std::min({kMostBlockWarps, m.sm.warps, m.sm.threads / 32});
}
uint32_t blocks_on_sm(const Machine& m) {
  const uint32_t loads = kRound * block_warps(m);
  return std::clamp((kLoadsPerMshr * m.l1.mshr_entries + loads - 1) / loads, 1u, most_blocks(m));
}

StreamPair stream_memory(const Machine& m, uint32_t sms, Flow flow) {
  Stream s;
  s.kind = flow == Flow::kRead    ? Stream::Kind::kRead
           : flow == Flow::kWrite ? Stream::Kind::kWrite
                                  : Stream::Kind::kCopy;
  s.block_warps = block_warps(m);
  s.blocks = sms * blocks_on_sm(m);
  s.sms = sms;
  s.sm_offset = s.block_warps;
  s.block_offset = s.block_warps * sms;
  s.stride = s.blocks * s.block_warps;
  // Writes that an L2 keeps are as many in both runs.
  const uint64_t round_bytes = uint64_t{s.stride} * kChunkBytes;
  const uint64_t fills = keeps_writes(m) && flow != Flow::kRead ? m.l2.bytes + m.l2.bytes / 2 : 0;
  uint32_t rounds = static_cast<uint32_t>(std::max<uint64_t>(2, fills / round_bytes + 1));
  uint32_t more = sms == 1 ? kRoundsAlone : 2 * rounds;
  if (config::shape_of(m).in_banks() && sms != 1) rounds = more = 1;  // many cores, and slow ways
  s.chunks = std::bit_ceil(s.stride * (rounds + more));
  return pair_of(m, s, rounds, more);
}

std::optional<StreamPair> stream_l2(const Machine& m, uint32_t sms) {
  Stream s;
  // A block for each SM, whose warps go around once before they all go on.
  s.block_warps = block_warps(m) * blocks_on_sm(m);
  s.blocks = s.sms = sms;
  s.stride = s.block_warps;
  // One warp touches more than it finds again in the L1, even if it runs ahead.
  const uint64_t set = std::bit_ceil(
      std::max(uint64_t{4} * m.l1.bytes, uint64_t{kChunksOfWarp} * s.stride * kChunkBytes));
  if (set > l2_of_sm(m) / 2) return std::nullopt;
  s.chunks = static_cast<uint32_t>(set / kChunkBytes);
  s.sm_offset = std::max(1u, s.chunks / sms);  // SMs begin at different places
  s.first_rounds = (s.chunks + s.stride - 1) / s.stride;
  return pair_of(m, s, 4, 8);
}

StreamPair read_l1(const Machine& m, uint32_t sms) {
  Resident r;
  // All begin when the lines are there.
  r.block_warps = block_warps(m) * most_blocks(m);
  r.blocks = sms;
  return pair_of(m, r, 4, 4);
}

StreamPair read_sectors(const Machine& m) {
  RandomSectors r;
  r.block_warps = std::min(2u, block_warps(m));
  r.blocks = m.gpu.sms;
  r.sectors = static_cast<uint32_t>(
      std::bit_ceil(std::max<uint64_t>(kSectorsSpan, 4 * uint64_t{m.l2.bytes})) / kSectorBytes);
  return pair_of(m, r, 1, config::shape_of(m).in_banks() ? 1 : 2);
}

bool has_near_banks(const Machine& m) {
  const uint32_t warps = m.near_bank.interleave_bytes / kUnitBytes;
  const uint32_t run = m.near_bank.unit_interleave_bytes;
  return config::shape_of(m).in_banks() && m.l1.line_bytes == kUnitBytes && m.tlb.entries == 0 &&
         (run == 0 || run == kUnitBytes) && warps % m.near_bank.units == 0 &&
         warps <= std::min({kMostWarps, m.sm.warps, m.sm.threads / 32}) && m.gpu.sms <= kMostGroups;
}

StreamPair near_banks(const Machine& m, Near::Kind kind, uint32_t sms) {
  Near n;
  n.kind = kind;
  n.block_warps = m.near_bank.interleave_bytes / kUnitBytes;
  n.blocks = sms * std::max(1u, std::min(m.sm.blocks, kMostWarps / n.block_warps));
  return pair_of(m, n, 4, 8);
}
StreamPair near_banks_alone(const Machine& m, Near::Kind kind) {
  Near n;
  n.kind = kind;
  n.again = true;
  return pair_of(m, n, kRoundsAlone, kRoundsAlone);
}

StreamPair listed(const Machine& m, const std::vector<Group>& groups, uint32_t blocks_each,
                  uint32_t block_warps, bool write) {
  const uint32_t warps_each = blocks_each * block_warps;
  const auto warps = static_cast<uint32_t>(groups.size() * warps_each);
  Listed l;
  l.write = write;
  l.block_warps = block_warps;
  l.blocks = warps / block_warps;
  l.each = std::min(kMostListed, kMaxListed / warps / kRound * kRound);
  if (l.each < 2 * kRound)
    throw Error("too many stack SMs for a probe program: they have " + std::to_string(warps) +
                " warps - at most " + std::to_string(kMaxListed / (2 * kRound)) + " fit");
  const Chases chases(m);
  std::map<uint32_t, std::vector<LineAddr>> lines;  // of a stack
  const auto of = [&](uint32_t stack) -> const std::vector<LineAddr>& {
    auto& found = lines[stack];
    if (found.empty()) found = chases.lines_of(stack, size_t{warps_each} * l.each + warps_each);
    return found;
  };
  for (const Group& g : groups)
    for (uint32_t w = 0; w < warps_each; ++w)
      for (uint32_t k = 0; k < l.each; ++k) {
        // A round's lines lie side by side, as those of warps side by side do: on all channels. The
        // first one is the own stack's, and tells a mechanism where the warp belongs.
        const bool first = k == 0 && g.own != g.wanted;
        const size_t chunk = size_t{k / kRound} * warps_each + w;
        l.lines.push_back(first ? of(g.own)[size_t{warps_each} * l.each + w]
                                : of(g.wanted)[chunk * kRound + k % kRound]);
      }
  const uint32_t rounds = l.each / kRound, shorter = rounds / 2;
  return pair_of(m, l, shorter, rounds - shorter);
}

}  // namespace nearwarp::probe
