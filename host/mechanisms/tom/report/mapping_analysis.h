// Mappings of lines to stacks judged by a program's traces, without timing: the numbers
// that `nearwarp analyze --mappings` prints and writes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nearwarp::tom {

/// All instances of the program under one mapping.
struct MappingQuality {
  uint32_t first_bit = 0;        ///< of the address, consecutive bits from there; 0: the baseline
  uint64_t at_destination = 0;   ///< accesses to their instance's destination stack
  uint64_t one_stack = 0;        ///< instances all of whose accesses go to one stack
  std::vector<uint64_t> stacks;  ///< [n - 1]: instances that touch n stacks
};

/// A mapping chosen from the first instances only.
struct MappingChoice {
  uint32_t permille = 0;   ///< of all instances
  uint64_t instances = 0;  ///< that number, rounded up
  uint32_t first_bit = 0;  ///< of the mapping chosen
  uint64_t one_stack = 0;  ///< what it does for all instances, as in MappingQuality
  uint64_t at_destination = 0;
};

/// Offsets of a static memory instruction to the one that predicts its addresses best.
struct OffsetRow {
  uint32_t ptx_line = 0;
  uint64_t executions = 0;            ///< by warps
  uint64_t not_first = 0;             ///< of these, not the first access of their instance
  uint32_t predecessor_ptx_line = 0;  ///< 0: there is nothing to compare with
  uint64_t compared = 0;              ///< executions that come after the predecessor
  uint64_t fixed = 0;                 ///< of these, at the expected offset
};

struct CandidatePattern {
  std::string kernel;
  uint32_t id = 0;           ///< position in the kernel's list, as `nearwarp analyze` prints it
  std::string source_lines;  ///< e.g. "libor.cu:41-57"; empty without line information
  uint64_t instances = 0;
  double fixed_share = 0;  ///< of the accesses that have a predecessor, 0 to 1
  std::string category;    ///< empty if there are no instances
  std::vector<OffsetRow> instructions;
};

struct CategoryRow {
  std::string name;
  uint64_t candidates = 0;  ///< with instances
  uint64_t instances = 0;   ///< of these
};

struct AllocationRow {
  std::string label;
  uint64_t address = 0, bytes = 0;
  bool touched = false;  ///< by a candidate instance
};

struct MappingAnalysis {
  std::string version, workload, size, machine, policy;
  std::vector<std::string> overrides;
  uint64_t warp_instructions = 0, launches = 0;
  uint32_t stacks = 0, line_bytes = 0;
  uint64_t instances = 0, accesses = 0;
  MappingQuality baseline;
  std::vector<MappingQuality> mappings;  ///< by first bit
  uint32_t best = 0;                     ///< index into `mappings`
  std::vector<MappingChoice> choices;    ///< empty if there are no instances
  std::vector<CandidatePattern> candidates;
  std::vector<CategoryRow> categories;  ///< all of them, in the order of Figure 5
  std::vector<AllocationRow> allocations;
};

inline constexpr const char* kMappingSchema = "nearwarp.mappings/1";

/// Tables of at most 80 columns.
std::string format_mapping_analysis(const MappingAnalysis& analysis);
/// The document of docs/json.md, indented by two, with a newline at its end.
std::string mapping_analysis_json(const MappingAnalysis& analysis);

}  // namespace nearwarp::tom
