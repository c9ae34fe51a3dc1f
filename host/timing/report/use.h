// Where a run's time went: what cycles of SMs were spent on, and how busy everything else was.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nearwarp::report {

struct CycleUse {
  const char* name;   ///< in counters and JSON
  const char* label;  ///< for people: what SMs do
  const char* text;   ///< one sentence
};

/// Uses of a cycle of an SM, in the order of sm::CycleUse.
inline constexpr std::array<CycleUse, 12> kCycleUses = {{
    {"issued", "issue", "Something was issued"},
    {"lsu", "have a full load-store unit",
     "Warps were ready; the load-store unit's queue was full, and it worked"},
    {"misses", "cannot begin more misses",
     "Warps were ready; the load-store unit waited for an MSHR, a way, a page or a load entry"},
    {"network", "cannot get into the network",
     "Warps were ready; the load-store unit waited for the network to take a packet"},
    {"ports", "have busy ports", "Warps were ready; the ports that they needed were busy"},
    {"memory", "wait for memory", "Most warps waited for their own loads and stores"},
    {"dependency", "wait for results",
     "Most warps waited for results of instructions under way, or for a branch"},
    {"barrier", "wait at barriers", "Most warps waited at a barrier"},
    {"fetch", "wait for instructions", "Most warps waited for instructions or constants"},
    {"offload", "wait for offloaded work", "Most warps waited for what was executed elsewhere"},
    {"mechanism", "wait for the mechanism",
     "Most warps waited for the mechanism: a decision, what precedes an offload, registers"},
    {"no_warp", "have no warp", "There was no warp"},
}};
inline constexpr size_t kIssued = 0, kNoWarp = kCycleUses.size() - 1;

/// Cycles of the SMs of a class, each counted once.
struct SmCycles {
  std::string sms;           ///< the class, as counters are named: "sm", "stack_sm"
  std::string kernel;        ///< that they are of; empty: all
  uint64_t count = 0;        ///< SMs
  uint64_t capacity = 0;     ///< warps that one can hold
  uint64_t warp_cycles = 0;  ///< warps that were there, summed over cycles; not by kernel
  std::array<uint64_t, kCycleUses.size()> uses = {};

  uint64_t total() const {
    uint64_t all = 0;
    for (const uint64_t cycles : uses) all += cycles;
    return all;
  }
  /// The share of a use in all cycles, 0 to 1.
  double share(size_t use) const {
    const uint64_t all = total();
    return all == 0 ? 0 : static_cast<double>(uses[use]) / static_cast<double>(all);
  }
  /// Warps that an SM had on average.
  double resident() const {
    const uint64_t all = total();
    return all == 0 ? 0 : static_cast<double>(warp_cycles) / static_cast<double>(all);
  }
};

/// PCI-E's name among `Utilisation`: only the learning phase uses it.
inline constexpr char kPcieName[] = "pcie";

/// How busy components of a kind were.
struct Utilisation {
  std::string name;  ///< e.g. "link.memory_to_gpu"
  std::string text;  ///< e.g. "RX links"
  uint64_t components = 0;
  uint64_t available_ticks = 0;  ///< of each: the run's time
  uint64_t busy_ticks = 0;       ///< summed over components
  uint64_t most_ticks = 0;       ///< of the one that was busy most
  std::string busiest;           ///< its name
  /// Busy time and name of each component. For differences and sums of runs (parts.h).
  std::vector<std::pair<uint64_t, std::string>> each = {};

  /// 0 to 1: on average, and of the busiest one.
  double mean() const { return share(busy_ticks, components); }
  double most() const { return share(most_ticks, 1); }
  /// Another component has been busy for so long.
  void add(uint64_t busy, const std::string& component) {
    components += 1;
    busy_ticks += busy;
    each.emplace_back(busy, component);
    if (busiest.empty() || busy > most_ticks) {
      most_ticks = busy;
      busiest = component;
    }
  }

 private:
  double share(uint64_t busy, uint64_t of) const {
    const double all = static_cast<double>(available_ticks) * static_cast<double>(of);
    return all == 0 ? 0 : static_cast<double>(busy) / all;
  }
};

/// Where packets were on their way to the memory and back, summed over packets.
struct WayTime {
  std::string name;  ///< e.g. "link.memory_to_gpu"
  std::string text;  ///< e.g. "RX links"
  uint64_t ticks = 0;
  bool between_stacks = false;  ///< SMs beside the stacks do not come there
};

/// A wire between two routers, one way.
struct RouterWire {
  uint32_t from = 0, to = 0;  ///< routers, by number
  uint64_t flits = 0;
};

/// A network of routers, wire by wire.
struct RouterNetwork {
  std::string name;
  uint32_t routers = 0;
  uint32_t width = 0, height = 0;  ///< of a grid, router y * width + x; 0: it is none
  uint64_t cycles = 0;             ///< of its clock: a wire carries a flit in each at most
  std::vector<RouterWire> wires;
};

}  // namespace nearwarp::report
