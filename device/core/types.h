// Quantities of the models: ticks, sizes, references into the arena.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/core/macros.h"

namespace nearwarp {

/// A point in simulated time, in ticks of the machine's base clock (one tick: 1 / base frequency,
/// the least common multiple of the clock domains' frequencies, so that every period is exact).
using Tick = uint64_t;
/// "Never": later than every reachable tick, with room to add latencies without overflow.
inline constexpr Tick kNever = Tick{1} << 62;

/// A cache line: (device address - kDeviceBase) / line size. 32 bits keep tag comparisons narrow.
using LineAddr = uint32_t;
inline constexpr LineAddr kNoLine = 0xffffffffu;

/// A node of a machine, as packets name it: where they come from and go to. Numbers of SMs, slices
/// and stacks are other numbers: tables lead from one to the other.
enum class Endpoint : uint16_t {};
NW_HD constexpr Endpoint endpoint_of(uint32_t node) { return static_cast<Endpoint>(node); }
/// Its number among the machine's nodes, for tables and events.
NW_HD constexpr uint32_t node_of(Endpoint e) { return static_cast<uint32_t>(e); }

/// An SM with thread blocks, as the front end counts them: no node, and no number of a stack.
enum class SmId : uint16_t {};
NW_HD constexpr SmId sm_id(uint32_t number) { return static_cast<SmId>(number); }
/// Its number, for tables.
NW_HD constexpr uint32_t number_of(SmId sm) { return static_cast<uint32_t>(sm); }

/// A memory stack: no node, and no number of an SM.
enum class StackId : uint16_t {};
NW_HD constexpr StackId stack_id(uint32_t number) { return static_cast<StackId>(number); }
/// Its number, for tables and bits of masks.
NW_HD constexpr uint32_t number_of(StackId stack) { return static_cast<uint32_t>(stack); }

/// Mappings among which one is chosen for the data of offloaded code: mapping m takes consecutive
/// bits of the line address, from bit m on, as the stack. With lines of 128 bytes and four stacks
/// these are address bits 7:8 to 16:17 (TOM, section 3.2.1).
inline constexpr uint32_t kNumMappings = 10;
/// Memory stacks that tables by stack have room for.
inline constexpr uint32_t kMaxStacks = 16;

NW_HD constexpr Tick min_tick(Tick a, Tick b) { return a < b ? a : b; }
NW_HD constexpr Tick max_tick(Tick a, Tick b) { return a > b ? a : b; }
/// First cycle of a clock with `period` ticks that does not lie before `t`.
NW_HD constexpr uint64_t cycle_at_or_after(Tick t, uint32_t period) {
  return (t + period - 1) / period;
}

/// Ticks from `from` to `t` as a key for a group's minimum(): 0 if `t` is not later, kNoKey for
/// kNever. Beyond 2^32 - 2 ticks the key is too small: one wakes too early, and looks again.
inline constexpr uint32_t kNoKey = 0xffffffffu;
NW_HD constexpr uint32_t ticks_ahead(Tick t, Tick from) {
  if (t >= kNever) return kNoKey;
  if (t <= from) return 0;
  return t - from < kNoKey ? static_cast<uint32_t>(t - from) : kNoKey - 1;
}
/// The tick that a key stands for.
NW_HD constexpr Tick tick_of_key(uint32_t key, Tick from) {
  return key == kNoKey ? kNever : from + key;
}

/// `count` objects of type T at `offset` bytes into the arena. Offsets, not pointers, so that an
/// arena can be copied to a GPU, written to disk and hashed as it is.
template <class T>
struct Ref {
  uint32_t offset = 0;
  uint32_t count = 0;
  NW_HD T* in(std::byte* base) const { return reinterpret_cast<T*>(base + offset); }
  NW_HD const T* in(const std::byte* base) const {
    return reinterpret_cast<const T*>(base + offset);
  }
};

}  // namespace nearwarp
