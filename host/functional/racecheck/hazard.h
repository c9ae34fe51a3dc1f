// Findings: accesses that nothing orders, barriers and masks that are misused, reads of memory that
// was never written. One entry per source line, or pair of lines.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace nearwarp::racecheck {

enum class HazardKind : uint8_t {
  kReadAfterWrite,
  kWriteAfterRead,
  kWriteAfterWrite,
  kUnfenced  ///< a read by the asynchronous proxy, without a fence to it behind a plain write
};
/// How far apart the two threads are: the nearest of them all.
enum class Distance : uint8_t { kLanes, kWarps, kBlocks };

/// One of the two accesses.
struct Access {
  std::string kind;    ///< "read", "write", "atomic", "asynchronous copy"; "barrier", "exchange"
  std::string text;    ///< the instruction, in PTX
  std::string source;  ///< "reduce.cu:12"; empty without line information
  std::string caller;  ///< the same where the outermost function calls what is inlined; or empty
  std::string ptx;     ///< "reduce.ptx:34"
  uint32_t block[3] = {};
  uint32_t thread[3] = {};
};

struct Hazard {
  HazardKind kind = HazardKind::kReadAfterWrite;
  Distance distance = Distance::kLanes;
  bool shared = false;  ///< in shared memory, otherwise in device memory
  std::string kernel;   ///< demangled
  // The first occurrence:
  Access earlier, later;   ///< in the order of this execution
  uint64_t address = 0;    ///< device address, or offset in shared memory
  std::string place;       ///< the same in words
  uint64_t count = 0;      ///< threads whose access was the later one
  uint64_t unchanged = 0;  ///< of them, those that wrote the value that was there
};

enum class MisuseKind : uint8_t {
  kApart,        ///< a barrier to which part of a warp does not come
  kDifferent,    ///< warps of a block wait at different barriers
  kPassedBy,     ///< a barrier that a warp of the block has passed by
  kNotInMask,    ///< a lane executes what its own mask does not name it for
  kMissing,      ///< a mask with lanes that do not come
  kOutside,      ///< a shuffle from a lane outside the mask
  kNobodyThere,  ///< a shuffle from a lane that has exited, or never was
  kInProduct,    ///< a register of a warp group's product that has not been waited for
  kNoFence       ///< a product of registers, or the first one, without a fence before it
};

/// A barrier or a mask that is not used as CUDA asks for.
struct Misuse {
  MisuseKind kind = MisuseKind::kApart;
  std::string kernel;  ///< demangled
  // The first occurrence:
  Access at;
  std::string detail;  ///< which lanes, which others
  uint64_t count = 0;  ///< threads
};

/// A read of memory of which no byte was ever written.
struct UnwrittenRead {
  bool shared = false;  ///< in shared memory, otherwise in device memory
  std::string kernel;   ///< demangled
  // The first occurrence:
  Access at;
  uint64_t address = 0;  ///< device address, or offset in shared memory
  std::string place;     ///< the same in words
  uint64_t count = 0;    ///< threads
};

/// Words for reports.
const char* name_of(HazardKind kind);
const char* name_of(Distance distance);
const char* name_of(MisuseKind kind);

/// All findings in one program.
struct Findings {
  std::string program;
  uint64_t launches = 0;    ///< that were looked at
  uint64_t accesses = 0;    ///< of warps, to shared and device memory
  uint64_t same_value = 0;  ///< writes of what an unordered write had put there: no hazards
  uint64_t forgotten = 0;   ///< parts of the shadow memory, for lack of room
  uint64_t left_out = 0;    ///< occurrences of entries beyond the most that are kept
  std::vector<Hazard> hazards;
  std::vector<Misuse> misuses;
  std::vector<UnwrittenRead> unwritten;
  std::vector<std::string> errors;  ///< faults of kernels, in words
  size_t entries() const { return hazards.size() + misuses.size() + unwritten.size(); }
  bool clean() const { return entries() == 0 && errors.empty(); }
};

/// The hazards in the order in which to look at them: those in shared memory first, those that
/// changed no value last; else in the order of their first occurrence.
std::vector<Hazard> in_order(std::vector<Hazard> hazards);

/// Which of the findings' entries a line, or pair of lines, has.
class FindingTable {
 public:
  static constexpr size_t kMost = 1000;  ///< entries of each kind that are kept of one program
  /// A key: kernel, pair of lines (KernelPlaces::line()), kind, distance, space.
  using Key = std::tuple<const void*, uint32_t, uint32_t, HazardKind, Distance, bool>;
  /// Count an occurrence; `unchanged`: the later access wrote what was there. Returns the new
  /// hazard if it is the first, for the caller to describe.
  Hazard* add(Findings& findings, const Key& key, bool unchanged);
  /// Counts `threads` threads that misuse a barrier or a mask in a line; new ones as for hazards.
  Misuse* add(Findings& findings, const void* kernel, uint32_t line, MisuseKind kind,
              uint32_t threads);
  /// Counts a read of memory that was never written; new ones as for hazards.
  UnwrittenRead* add(Findings& findings, const void* kernel, uint32_t line, bool shared);

 private:
  template <class Entry, class Index>
  Entry* count(Findings& findings, std::vector<Entry>& entries, Index& index,
               const typename Index::key_type& key, uint64_t threads);

  std::map<Key, size_t> hazards_;
  std::map<std::tuple<const void*, uint32_t, MisuseKind>, size_t> misuses_;
  std::map<std::tuple<const void*, uint32_t, bool>, size_t> unwritten_;
};

}  // namespace nearwarp::racecheck
