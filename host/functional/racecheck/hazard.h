// What was found: accesses that nothing orders, one entry per pair of instructions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace nearwarp::racecheck {

enum class HazardKind : uint8_t { kReadAfterWrite, kWriteAfterRead, kWriteAfterWrite };
/// How far apart the two threads are: the nearest of them all.
enum class Distance : uint8_t { kLanes, kWarps, kBlocks };

/// One of the two accesses.
struct Access {
  std::string kind;    ///< "read", "write", "atomic" or "asynchronous copy"
  std::string text;    ///< the instruction, in PTX
  std::string source;  ///< "reduce.cu:12"; empty without line information
  std::string ptx;     ///< "reduce.ptx:34"
  uint32_t block[3] = {};
  uint32_t thread[3] = {};
};

struct Hazard {
  HazardKind kind = HazardKind::kReadAfterWrite;
  Distance distance = Distance::kLanes;
  bool shared = false;  ///< in shared memory, otherwise in device memory
  std::string kernel;   ///< demangled
  // Of the first occurrence:
  Access earlier, later;   ///< in the order of this execution
  uint64_t address = 0;    ///< device address, or offset in shared memory
  std::string place;       ///< the same in words
  uint64_t count = 0;      ///< threads whose access was the later one
  uint64_t unchanged = 0;  ///< of them, those that wrote the value that was there
};

/// Words for reports.
const char* name_of(HazardKind kind);
const char* name_of(Distance distance);

/// What was found in one program.
struct Findings {
  std::string program;
  uint64_t launches = 0;    ///< that were looked at
  uint64_t accesses = 0;    ///< of warps, to shared and device memory
  uint64_t same_value = 0;  ///< writes of what an unordered write had put there: no hazards
  uint64_t forgotten = 0;   ///< parts of the shadow memory, for lack of room
  uint64_t left_out = 0;    ///< pairs beyond the most that are kept
  std::vector<Hazard> hazards;
  std::vector<std::string> errors;  ///< faults of kernels, in words
  bool clean() const { return hazards.empty() && errors.empty(); }
};

/// The hazards in the order in which to look at them: those in shared memory first, those that
/// changed no value last; else in the order of their first occurrence.
std::vector<Hazard> in_order(std::vector<Hazard> hazards);

/// Which of the findings' hazards a pair of instructions has.
class HazardTable {
 public:
  static constexpr size_t kMost = 1000;  ///< pairs that are kept of one program
  /// A key: kernel, pair of instructions, kind, distance, space.
  using Key = std::tuple<const void*, uint32_t, uint32_t, HazardKind, Distance, bool>;
  /// Count an occurrence; `unchanged`: the later access wrote what was there. Returns the new
  /// hazard if it is the first, for the caller to describe.
  Hazard* add(Findings& findings, const Key& key, bool unchanged);

 private:
  std::map<Key, size_t> index_;
};

}  // namespace nearwarp::racecheck
