// A policy: which mechanism is in use and how it is set.
#pragma once

#include <cstdint>
#include <string>

namespace nearwarp::config {

struct PolicyConfig {
  std::string name;         ///< file name without ".toml"
  std::string path;         ///< where it was read from
  std::string description;  ///< [policy] description
  std::string
      mechanism;  ///< [policy] mechanism: "none", "tom", "tuning", "coda", "opportunistic", "mpu"
  std::string
      mapping;  ///< [policy] mapping: "bmap", "tmap", "oracle", "local", "cgp", "coda" or "fta"

  struct Dispatch {                 // [dispatch]
    uint32_t groups = 1;            ///< of SMs, each with its own queue of thread blocks
    uint32_t row_blocks = 0;        ///< blocks in a row for a group; 0: what its SMs hold at a time
    bool even_rows = false;         ///< every group has one row of a launch
    bool steal = false;             ///< a group without blocks takes from the longest queue
    std::string sms = "in-turn";    ///< "in-turn" or "fill"
    std::string first_sm = "next";  ///< in turn, of a launch: "next" to the last one's, or "first"
  } dispatch;

  struct Pages {                   // [pages]; CODA, section 4.3
    std::string chunk = "blocks";  ///< "blocks" or "page": whether Eq. (2) is bounded by a page
    std::string strides = "both";  ///< "both", "code" or "traces": where B comes from
    /// "known", "cgp" or "fgp": where a page lies before its first touch
    std::string before_touch = "known";
    std::string units =
        "machine";                ///< "machine" or "objects": near-bank units of an object's lines
    uint32_t local_percent = 50;  ///< of an object's accesses must be local for it to be localised
  } pages;

  struct Learning {                  // [mapping]; TOM, section 3.2
    uint32_t learning_permille = 0;  ///< of all candidate instances are seen before the choice
    std::string counts_at = "end";   ///< when an instance has been seen: "begin" or "end"
  } learning;

  struct Offload {                 // [offload]; TOM, section 3
    bool dynamic_control = false;  ///< pending limit and channel busy monitor (section 3.3)
    bool busy_refuses = true;      ///< with it: busy channels do, not full stack SMs alone
    bool room_known = true;        ///< main SMs know which stack SMs are full
    std::string decide = "round";  ///< mechanism tom: on a loop in each "round", or at its "entry"
    bool overhead = true;          ///< false: an idealised study (figure 2)
    bool even = false;     ///< without overhead: no stack SM gets more warps than main SMs have
    bool flush_l1 = true;  ///< of the stack SM, before a warp is spawned
    uint32_t busy_threshold_percent = 0;  ///< utilisation from which a channel counts as busy
    // Assumptions of Eq. (3) and (4).
    uint32_t load_miss_percent = 0;
    uint32_t load_coalescing_percent = 0;  ///< 100: one line per warp access
    uint32_t store_coalescing_percent = 0;
    std::string granularity = "innermost";  ///< "region", "loop", "innermost" or "block"
    bool inner_blocks = true;  ///< mechanism tom: blocks of loops that are not long enough
  } offload;

  /// [tuning]; Y. Wu et al., ICS 2020, sections 3.4 and 3.5
  struct Tuning {
    std::string pimbegin = "before";      ///< where loops are offered: "before" them or "inside"
    std::string rounds = "outermost";     ///< whose rounds count: "outermost" or "innermost" loops
    std::string after_refusal = "entry";  ///< next trial: "round", "entry", "loop"
    uint32_t pimbegin_cycles = 1;         ///< of one at a loop's head
    bool adaptation = false;              ///< the memory traffic monitor sends warps back
    uint32_t history_rounds = 3;
    bool full_history = false;           ///< not before so many rounds have been seen
    uint32_t threshold_percent = 100;    ///< of inter-stack over intra-stack requests
    std::string after_return = "entry";  ///< next trial: "entry", "loop" or "never"
    std::string shared = "none";         ///< arrays that go along: "none", "annotated", "proved"
    std::string shared_arrays;           ///< annotations: NAME:accumulator:BYTES, NAME:table:BYTES

    bool operator==(const Tuning&) const = default;
  } tuning;

  /// [chains]; A. Pattnaik et al., ISCA 2019
  struct Chains {
    uint32_t offload_entries = 48;  ///< of an SM's offload queue
    uint32_t service_entries = 96;  ///< of a service queue
    uint32_t buffer_entries = 4;    ///< chains whose data a service queue has read
    bool at_sms = false;            ///< SMs execute chains whose data meets there (Omni-Compute)
    std::string sm_alu = "idle";    ///< of their service queues: "idle" (the SM's) or "own"
    uint32_t alu_lanes = 32;        ///< of an ALU that a service queue has for itself
    uint32_t max_parts = 4;         ///< ComputePackets that a chain may be
    std::string ack = "stored";     ///< of a stored result: "stored" or "forwarded"
    std::string meet = "either";    ///< ways on which data meets: "either" or "route"
    std::string when_full = "ask";  ///< service queues of SMs: "ask" or "refuse"
  } chains;

  /// [mpu]; X. Xie et al., MPU, sections IV-B, IV-C and V-B
  struct Mpu {
    std::string locations = "annotated";  ///< "annotated", "hardware", "near" or "far"
    std::string shared_memory = "near";   ///< "near" or "far"
    bool offload_accesses = true;  ///< the load-store unit's test may find an access to be near
    bool scalar_moves = false;     ///< what all lanes have in common moves as one value
    /// Far-bank operation set: "simple" keeps divisions, special functions and operations across
    /// lanes out of near-bank units; "all": they have those, too
    std::string near_operations = "simple";
    bool both_spreads = true;         ///< location B goes on to sources, as N and F do
    bool hash_units = false;          ///< near-bank units (and banks) of lines are hashed
    uint32_t near_registers = 16384;  ///< of 32 bits, of a core's near-bank units
    uint32_t collectors = 4;          ///< operand collectors of a near-bank unit
    uint32_t near_instructions = 8;   ///< of a warp that are near the banks at a time
    uint32_t word_bytes = 8;          ///< instruction, commit, or name of a register, on the TSVs
    uint32_t access_bytes = 16;       ///< an offloaded access on the TSVs
  } mpu;
};

}  // namespace nearwarp::config
