// The race detector: follows the accesses and the synchronisation of one launch after the other.
// It also finds barriers and masks that are misused, and reads of memory that was never written.
//
// Two accesses to one byte, one of them a write and not both strong (volatile, ordered, atomic),
// are a hazard unless one is ordered before the other: by barriers, by what lanes of a warp wait
// for together, or by a fence and a strong write whose value a strong read has seen.
// docs/check.md says what is modelled and what is not.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/functional/instructions/codes.h"
#include "host/functional/instructions/decoded.h"
#include "host/functional/instructions/tensor_ops.h"
#include "host/functional/racecheck/clocks.h"
#include "host/functional/racecheck/hazard.h"
#include "host/functional/racecheck/kernel_places.h"
#include "host/functional/racecheck/late_reads.h"
#include "host/functional/racecheck/proxy_fences.h"
#include "host/functional/racecheck/rules.h"
#include "host/functional/racecheck/shadow.h"
#include "host/functional/racecheck/warp_order.h"
#include "host/functional/racecheck/written.h"

namespace nearwarp::racecheck {

/// A launch as the detector needs it.
struct LaunchFacts {
  const compiler::Kernel* kernel = nullptr;
  std::string path;                    ///< of its PTX, for messages
  const AccessRules* rules = nullptr;  ///< by memory descriptor
  const SyncRules* syncs = nullptr;    ///< by kCheckedSync::imm
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  /// Bytes of a block: all of them, and without what the system keeps for itself at its end.
  uint32_t shared_bytes = 0, own_shared_bytes = 0;
  /// Which device memory has been written, from exec::kDeviceBase on; nullptr: unknown.
  WrittenBytes* written = nullptr;
  /// Describes a device address, e.g. "byte 16 of 'partial' (400 bytes at 0x7f...)".
  std::function<std::string(uint64_t)> describe;
};

class Checker {
 public:
  struct Options {
    std::string kernels;  ///< regular expression: only those with a match in their name; empty: all
    uint64_t most_bytes = uint64_t{4} << 30;  ///< of shadow memory for device memory
    bool misuse = true;                       ///< look for barriers and masks that are misused
    bool unwritten = true;                    ///< look for reads of memory that was never written
  };
  /// Throws nearwarp::Error for a pattern that is none.
  explicit Checker(const Options& options);
  Checker() : Checker(Options{}) {}
  ~Checker();

  /// Is a kernel of this (mangled) name to be looked at?
  bool wants(const std::string& kernel) const;
  /// Has the device to remember which memory was written?
  bool wants_writes() const { return options_.unwritten; }
  const Findings& findings() const { return findings_; }
  Findings& findings() { return findings_; }

  // Events that the executor tells. Launches are ordered: nothing of an earlier one is kept.
  void begin_launch(LaunchFacts facts);
  void end_launch();
  void begin_block(uint64_t block, uint64_t cluster);
  void end_block(uint64_t block);
  /// The block whose warps run from now on.
  void enter(uint64_t block);
  /// Lanes of a warp have come to a barrier of the running block; they wait there, or go on.
  void arrive(const exec::Warp& warp, const BarrierRules& barrier);
  /// Warps among `warps` that wait at the barrier go on.
  void release(uint32_t barrier, uint32_t warps);
  void exit(const exec::Warp& warp);
  /// Lanes of a warp of the running block have come to the barrier of their cluster; what they did
  /// before is ordered before what follows it if the arrival `releases`.
  void arrive_at_cluster(const exec::Warp& warp, bool releases);
  /// All of the cluster have come; those who wait, or will wait, go on.
  void complete_cluster(uint64_t cluster);
  /// A warp of a block, that has waited, goes on.
  void leave_cluster(uint64_t block, const exec::Warp& warp);
  /// Device memory that the kernel has just been given.
  void fresh(uint64_t address, uint64_t bytes) { device_.forget(address, bytes); }
  /// The system has read or written bytes for the running block, by their host address.
  void written_by_system(const exec::Context& ctx, const uint8_t* host, uint64_t bytes);

  /// Execute a memory instruction; false on a fault.
  bool access(exec::Context& ctx, exec::Warp& warp, const exec::Op& op, uint32_t mask);
  /// Tell of what an asynchronous copy accesses.
  void copy_access(const exec::Context& ctx, const exec::Warp& warp, const exec::CopiedBytes& copy);
  /// A warp waits for the groups of its warp group's products, but for the last `pending`.
  void wait_for_products(const exec::Warp& warp, uint32_t pending);
  /// Execute what only orders.
  void sync(const exec::Warp& warp, const exec::Op& op, uint32_t mask);

 private:
  struct BlockState;
  /// Knowledge that was last published at a word that is used to synchronise.
  struct SyncPoint {
    Clocks device;   ///< to all
    Clocks cluster;  ///< to those of cluster `said_in_cluster`
    Clocks block;    ///< to threads of block `said_in`
    Clocks reads;    ///< to all, about reads alone
    uint64_t said_in = 0, said_in_cluster = 0;
  };
  using SyncPoints = std::unordered_map<uint64_t, SyncPoint>;  // by address / 4
  /// A copy of a lane that has been begun: a word of shared memory.
  struct Copy {
    uint64_t address = 0;
    uint32_t bytes = 0, lane = 0, group = 0;
  };
  /// A copy that is done, as an mbarrier says.
  struct ArrivedCopy {
    Copy copy;
    uint32_t warp = 0, time = 0;  ///< of the arrival
  };
  /// Lanes of a warp have come to where others of it must come too, that may still do so.
  struct Awaited {
    uint32_t instruction = 0;
    bool barrier = false;  ///< of the block; otherwise something with a mask
    uint32_t id = 0;       ///< number of the barrier, or the mask
    uint32_t came = 0, missing = 0;
  };
  struct WarpState {
    WarpOrder order;
    std::vector<Awaited> awaited;
    uint32_t last = ~0u;  ///< instruction that it was last seen at
    bool exited = false;
    uint32_t groups = 0;  ///< of copies, committed
    std::vector<Copy> copies;
    std::array<uint32_t, 32> stores_committed{};  ///< groups of bulk copies, by lane
    uint32_t products_committed = 0;              ///< groups of products
    /// A register of a product that has not been waited for: one of the factor a, or a result.
    struct InProduct {
      uint32_t group = 0, instruction = 0;
      bool result = false;
    };
    std::unordered_map<compiler::RegId, InProduct> in_products;
    bool products_fenced = false;  ///< has executed a wgmma.fence
    /// Registers that were computed since the last one, and by which instruction.
    std::unordered_map<compiler::RegId, uint32_t> computed;
  };
  /// Where a lane accesses memory: local memory is elsewhere.
  struct Place {
    enum Kind : uint8_t { kElsewhere, kShared, kDevice };
    Kind kind = kElsewhere;
    uint64_t address = 0;
    BlockState* owner = nullptr;  ///< of the shared memory
  };
  using Places = std::array<Place, 32>;
  /// State of a cluster's barrier: what those say who have come, and have said who came before.
  struct Meeting {
    Clocks coming, complete;
    std::vector<BlockState*> blocks;  ///< by rank; nullptr: has ended
  };
  /// The access that is being looked at.
  struct Now;

  /// The generation of a barrier that warps arrive at.
  struct Generation {
    uint32_t arrived = 0;  ///< warps
    BarrierRules first;    ///< of the one that waits longest
    uint32_t warp = 0, lane = 0;
    bool any = false;
    bool late = false;  ///< part of a warp comes, the rest of which has been there before
  };

  /// Lanes of a warp that do not run.
  struct Elsewhere {
    uint32_t gone = 0;     ///< they wait where their ways meet those of the others: they went on
    uint32_t pending = 0;  ///< they have not had their turn: they may still come
    uint32_t ending = 0;   ///< all that they have to do is to end
  };

  // checker_misuse.cpp
  void misused(const Now& now, MisuseKind kind, uint32_t lanes, uint32_t threads,
               const std::string& detail);
  void see(const Now& now, const exec::Warp& warp, uint32_t mask);
  Elsewhere elsewhere(const exec::Warp& warp, uint32_t mask, uint32_t missing) const;
  void check_members(Now& now, const exec::Warp& warp, const SyncRules& rules, uint32_t mask);
  void check_sources(Now& now, const exec::Warp& warp, const SyncRules& rules, uint32_t lanes,
                     uint32_t members);
  void check_arrival(Now& now, const exec::Warp& warp, const BarrierRules& barrier);
  void check_generation(const Generation& generation);
  std::string thread_text(uint32_t warp, uint32_t lane) const;
  std::string line_text(uint32_t instruction) const;
  // checker_access.cpp
  void look_whether_written(const Now& now, const Place& place, uint32_t bytes, uint32_t lane);
  Now now_of(const exec::Warp& warp, uint32_t instruction) const;
  /// ldmatrix: the lanes of `mask` that get some of a row each read that, whichever lane has its
  /// address.
  void look_at_row(Now& now, const Place& place, const exec::MemDesc& desc, uint32_t row,
                   uint32_t mask);
  void look(Now& now, Shadow& shadow, uint64_t address, uint32_t bytes, uint32_t lane,
            bool same_value);
  bool ordered(const Now& now, const Stamp& before, uint32_t lane) const;
  bool read_ordered(const Now& now, const Stamp& before, uint32_t lane) const;
  void remember(const Now& now, Stamp (&stamps)[2], Stamp stamp, uint32_t lane) const;
  // checker_late.cpp
  void read_late(const Now& now, const Place& place, uint32_t bytes, uint32_t lane, bool product);
  void look_at_late_reads(const Now& now, const Place& place, uint32_t bytes, uint32_t lane);
  void commit_stores(Now& now, uint32_t mask);
  void wait_for_stores(Now& now, uint32_t mask, uint32_t pending);
  void touch(const Now& now, uint32_t mask);
  void look_at_fence(const Now& now, uint32_t mask, const compiler::Instruction& product);
  // checker_proxy.cpp
  bool is_plain_write(const Stamp& stamp) const;
  void look_at_proxy(const Now& now, const Place& place, uint32_t bytes, uint32_t lane);
  // checker.cpp
  void found(const Now& now, HazardKind kind, const Stamp& before, uint64_t address, uint32_t lane,
             bool same_value);
  Access describe(const Stamp& stamp, bool write, uint32_t lane) const;
  std::string place_text(const Now& now, uint64_t address) const;
  // checker_order.cpp
  void synchronise(Now& now, const exec::Warp& warp, const Places& places, uint32_t mask,
                   uint32_t bytes);
  void hear(Now& now, const Clocks& clocks) const;
  void hear_reads(Now& now, const Clocks& clocks) const;
  Clocks all_before(const Now& now) const;
  Clocks reads_before(const Now& now) const;
  Place shared_place(const exec::Context& ctx, const uint8_t* host) const;
  void fence(Now& now, exec::CheckedSync scope);
  void finish_copies(Now& now, uint32_t mask, uint32_t groups);
  void copies_arrive(Now& now, const Places& places, uint32_t mask);
  void wait_for_copies(const Places& places, uint32_t mask);
  void gather(Knowledge& to, const Knowledge& from) const;
  void join(Knowledge& to, uint32_t warp, const WarpOrder& from) const;

  Options options_;
  std::optional<std::regex> kernels_;
  Findings findings_;
  FindingTable table_;
  std::map<const compiler::Kernel*, KernelPlaces> places_;
  KernelPlaces* lines_ = nullptr;  ///< of the running kernel
  LaunchFacts launch_;
  ClockSpace space_;
  Shadow device_;
  SyncPoints points_;
  uint32_t warps_ = 1;  ///< of a block
  std::map<uint64_t, std::unique_ptr<BlockState>> blocks_;
  std::vector<std::unique_ptr<BlockState>> spare_;
  std::unordered_map<uint64_t, Meeting> clusters_;
  BlockState* running_ = nullptr;
};

}  // namespace nearwarp::racecheck
