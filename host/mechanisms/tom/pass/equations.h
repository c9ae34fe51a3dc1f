// TOM's estimate of what offloading a piece of code saves on the off-chip links: Eq. (3) and (4).
//
// Source: Hsieh et al., "Transparent Offloading and Mapping", ISCA 2016, section 3.1.1. All values
// are in units of one address (which is also the size of a register and of a datum), computed as
// exact integers in ten-thousandths of that unit.
#pragma once

#include <cstdint>
#include <string>

#include "host/mechanisms/tuning/shared/shared_use.h"

namespace nearwarp::compiler {

/// Which pieces of code the compiler considers, beside runs of instructions inside a basic block.
/// All but kRegion leave out a piece that begins with the kernel and ends with it.
enum class Granularity : uint8_t {
  kRegion,     ///< every single-entry single-exit region of one structure, loops among them
  kLoop,       ///< loop nests, and the code around one that accesses no memory: guards, counters
  kInnermost,  ///< the same of loops without loops inside
  kBlock,      ///< nothing else
};

/// The compiler's assumptions. Defaults are the paper's (section 3.1.1).
struct OffloadModel {
  uint32_t miss_ld_percent = 50;        ///< Miss_LD
  uint32_t coal_ld_percent = 100;       ///< Coal_LD: cache lines per warp load
  uint32_t coal_st_percent = 100;       ///< Coal_ST: cache lines per warp store
  uint32_t warp_size = 32;              ///< S_W
  uint32_t line_to_address_ratio = 32;  ///< S_C: 128 B lines, 4 B addresses
  uint32_t max_candidates = 40;         ///< entries of the offloading metadata table (section 6.6)
  Granularity granularity = Granularity::kRegion;
  /// Blocks that save by themselves are candidates inside of conditional loops, too: for warps of
  /// which the loop's condition does not hold.
  bool inner_blocks = false;
  SharedModel shared;  ///< of tuned offloading: shared arrays that may go along
};

/// A bandwidth change in ten-thousandths of an address; negative values are savings.
class Bandwidth {
 public:
  static constexpr int64_t kOne = 10'000;

  constexpr Bandwidth() = default;
  static constexpr Bandwidth from_raw(int64_t ten_thousandths) {
    Bandwidth b;
    b.raw_ = ten_thousandths;
    return b;
  }
  constexpr int64_t raw() const { return raw_; }
  constexpr double value() const { return static_cast<double>(raw_) / kOne; }
  constexpr bool saves() const { return raw_ < 0; }
  std::string text() const;  ///< exact decimal with sign, e.g. "+110.25", "-39"

  constexpr bool operator==(const Bandwidth&) const = default;
  constexpr auto operator<=>(const Bandwidth&) const = default;
  constexpr Bandwidth operator+(Bandwidth o) const { return from_raw(raw_ + o.raw_); }
  constexpr Bandwidth operator-(Bandwidth o) const { return from_raw(raw_ - o.raw_); }

 private:
  int64_t raw_ = 0;
};

/// The terms of Eq. (3) and (4) for one piece of code.
struct OffloadTerms {
  int64_t reg_tx = 0;  ///< live-in registers
  int64_t reg_rx = 0;  ///< live-out registers
  int64_t n_ld = 0;    ///< loads executed in the block
  int64_t n_st = 0;    ///< stores executed in the block
  // Bytes of a shared array that a warp takes along, and brings back.
  int64_t shared_tx = 0, shared_rx = 0;
};

/// Eq. (3): change of the traffic from the GPU to the memory stacks.
Bandwidth bw_tx(const OffloadModel& model, const OffloadTerms& terms);
/// Eq. (4): change of the traffic from the memory stacks to the GPU.
Bandwidth bw_rx(const OffloadModel& model, const OffloadTerms& terms);
/// The sum of bw_tx() and bw_rx().
Bandwidth bw_total(const OffloadModel& model, const OffloadTerms& terms);

/// `base` plus `iterations` times the loads and stores of `per_iteration`.
OffloadTerms with_iterations(const OffloadTerms& base, const OffloadTerms& per_iteration,
                             int64_t iterations);

/// The least number of iterations for which BW_TX + BW_RX is negative; 0 if it is without any,
/// -1 if iterations save nothing.
int64_t break_even_iterations(const OffloadModel& model, const OffloadTerms& base,
                              const OffloadTerms& per_iteration);

}  // namespace nearwarp::compiler
