// The state of the memory map analyzer (TOM, sections 4.1, 4.3 and 6.6): per SM an entry for each
// warp's candidate instance, and centrally, at the front end, the sums over instances.
#pragma once

#include "device/core/translation.h"
#include "device/core/types.h"
#include "device/mechanisms/tom/packets.h"

namespace nearwarp::tom {

/// Lines [first, end) of one entry of the memory allocation table.
struct LineRange {
  LineAddr first = 0, end = 0;
};

/// An SM during and after the learning phase.
enum class SmMode : uint8_t {
  kNormal,    ///< candidates may be offloaded; data is in the GPU's memory
  kLearning,  ///< everything runs at home, over PCI-E; instances are analysed
  kStopping,  ///< no instruction is issued any more; memory operations come to their ends
  kStopped,
};

enum class InstanceState : uint8_t {
  kIdle,
  kOpen,       ///< the warp is inside the candidate
  kClosing,    ///< it has left, the load-store unit still holds accesses of it
  kReporting,  ///< complete; the report has not left yet
};

/// One warp's instance: under every mapping, how many of its accesses go to the stack that the
/// first one goes to. (The hardware keeps the stacks touched, 40 bits.)
struct AnalyzerEntry {
  uint32_t accesses = 0;
  uint32_t pending = 0;  ///< memory instructions issued whose lines are not all known
  uint32_t at_destination[kNumMappings] = {};
  uint64_t destinations = 0;  ///< 4 bits per mapping
  InstanceState state = InstanceState::kIdle;
  bool begun = false;  ///< it has issued a memory instruction
};

struct AnalyzerState {
  SmMode mode = SmMode::kNormal;
  uint8_t gathered = 0;        ///< stopping: open instances have been put among those that report
  uint16_t begun = 0;          ///< instances of whose beginning the front end has not been told
  uint64_t reporting = 0;      ///< mask over warp slots: state kReporting
  uint32_t last_range = 0;     ///< the range found last
  Ref<AnalyzerEntry> entries;  ///< by warp slot; count 0: no learning phase
  Ref<LineRange> ranges;       ///< of the memory allocation table, by address; shared by all SMs
  Ref<uint8_t> touched;        ///< by range: a candidate instance accessed it
};

/// Sums over the instances seen, at the front end.
struct AnalyzerTotals {
  uint64_t instances = 0;
  uint64_t accesses = 0;
  uint64_t at_destination[kNumMappings] = {};
  uint64_t one_stack[kNumMappings] = {};  ///< instances all of whose accesses went to one stack
};

/// Weights of a report fit 16 bits; longer instances are scaled down.
inline constexpr uint32_t kMaxReportedAccesses = 0xffff;

/// A complete instance as a control packet: payload, line, tag and sectors hold ten counts of 16
/// bits, extra the accesses.
NW_HD inline Packet pack_report(const AnalyzerEntry& e) {
  uint32_t shift = 0;
  while (e.accesses >> shift > kMaxReportedAccesses) ++shift;
  uint32_t n[kNumMappings];
  for (uint32_t m = 0; m < kNumMappings; ++m) {
    n[m] = e.at_destination[m] >> shift;
    // Scaled down, accesses to two stacks must not look like accesses to one.
    if (e.at_destination[m] != e.accesses && n[m] == e.accesses >> shift) n[m] -= 1;
  }
  static_assert(kNumMappings == 10);
  Packet p;
  p.kind = kInstanceSeen;
  p.payload = n[0] | uint64_t{n[1]} << 16 | uint64_t{n[2]} << 32 | uint64_t{n[3]} << 48;
  p.line = n[4] | n[5] << 16;
  p.tag = n[6] | n[7] << 16;
  p.sectors = n[8] | n[9] << 16;
  p.extra = e.accesses >> shift;
  return p;
}

NW_HD inline void add_report(AnalyzerTotals& t, const Packet& p) {
  NW_ASSERT(p.kind == kInstanceSeen);
  const uint32_t n[kNumMappings] = {static_cast<uint32_t>(p.payload & 0xffff),
                                    static_cast<uint32_t>(p.payload >> 16 & 0xffff),
                                    static_cast<uint32_t>(p.payload >> 32 & 0xffff),
                                    static_cast<uint32_t>(p.payload >> 48),
                                    p.line & 0xffff,
                                    p.line >> 16,
                                    p.tag & 0xffff,
                                    p.tag >> 16,
                                    p.sectors & 0xffff,
                                    p.sectors >> 16};
  t.instances += 1;
  t.accesses += p.extra;
  for (uint32_t m = 0; m < kNumMappings; ++m) {
    t.at_destination[m] += n[m];
    t.one_stack[m] += n[m] == p.extra ? 1 : 0;
  }
}

/// The mapping with most accesses at the destination (TOM, section 4.3, step 4); of equals the one
/// that spreads consecutive lines most finely.
NW_HD inline uint32_t best_mapping(const uint64_t* at_destination) {
  uint32_t best = 0;
  for (uint32_t m = 1; m < kNumMappings; ++m)
    if (at_destination[m] > at_destination[best]) best = m;
  return best;
}

}  // namespace nearwarp::tom
