// How well each mapping of lines to stacks keeps the accesses of offloading candidates' instances
// together (TOM, sections 3.2.1, 3.2.2 and 4.3), found from the traces alone, without timing.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "device/core/address_map.h"
#include "host/mechanisms/tom/offload_tables.h"
#include "host/recording/recording.h"

namespace nearwarp::sim {

/// An instance of a candidate is one execution of it by one warp. It counts if the candidate's
/// condition holds and it makes at least one access to global memory. Its accesses are the lines
/// that each of its memory instructions touches, after coalescing and before any cache; its
/// destination is the stack of the first active lane of its first memory instruction. Instances
/// are ordered by launch, thread block, warp, and position in the warp's trace (deviation 45 in
/// tests/validation/DEVIATIONS.md).
inline constexpr uint64_t kAllInstances = std::numeric_limits<uint64_t>::max();

struct StudyOptions {
  unsigned threads = 0;       ///< 0: one per processor; results do not depend on it
  int cuda_device = -1;       ///< the bulk passes run there; -1: on the CPU
  uint32_t line_bytes = 128;  ///< a power of two
  /// Called now and then, by one thread at a time, with the warp-instructions whose traces have
  /// been read; return false to stop: the function then throws Interrupted.
  std::function<bool(uint64_t done, uint64_t total)> progress;
};

/// Instances of the whole program that count.
uint64_t count_instances(const runtime::Recording& recording, const ImageTables& image,
                         const tom::OffloadTables& offload, const StudyOptions& options = {});

/// Counts of accesses and instances under one mapping.
struct MappingCounts {
  uint64_t at_destination = 0;  ///< accesses to their instance's destination stack
  uint64_t one_stack = 0;       ///< instances all of whose accesses go to one stack
  /// [n - 1]: instances that touch n stacks.
  std::array<uint64_t, 16> stacks_touched = {};
  bool operator==(const MappingCounts&) const = default;
};

struct MappingStudy {
  uint64_t instances = 0;
  uint64_t accesses = 0;
  /// By mapping: consecutive bits of the line address, from bit m on.
  std::array<MappingCounts, kNumMappings> mapping;
  MappingCounts baseline;
  /// By entry of Recording::allocations: some instance accessed it. Entries whose addresses
  /// overlap, because memory was freed and used again, are all set.
  std::vector<bool> touched;

  /// The mapping with the most accesses at the destination (TOM, section 4.3, step 4), of equals
  /// the lowest bit position.
  uint32_t best() const;
  bool operator==(const MappingStudy&) const = default;
};

/// Study the first `first_instances` instances. `baseline` gives the number of stacks, too.
MappingStudy study_mappings(const runtime::Recording& recording, const ImageTables& image,
                            const tom::OffloadTables& offload, const AddressMap& baseline,
                            uint64_t first_instances = kAllInstances,
                            const StudyOptions& options = {});

/// The instances of the whole program, and the study of all of them: found out once of a recording,
/// for all runs to which the same is asked (Recording::studies).
uint64_t known_instances(const runtime::Recording& recording, const ImageTables& image,
                         const tom::OffloadTables& offload, const StudyOptions& options);
MappingStudy known_study(const runtime::Recording& recording, const ImageTables& image,
                         const tom::OffloadTables& offload, const AddressMap& baseline,
                         const StudyOptions& options);

}  // namespace nearwarp::sim
