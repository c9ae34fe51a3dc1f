// Programs are analysed here without simulating time: what of their code would be offloaded, and
// why the rest would not; where the data would best be that it touches.
#pragma once

#include <nearwarp/configuration.h>
#include <nearwarp/failure.h>
#include <nearwarp/program.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nearwarp {

// ---- Of code ------------------------------------------------------------------------------------
// A program is a workload, by name, or a file of PTX (with ".ptx" or a "/"). A failure if it has no
// kernel, or not the one that is asked for. Kernels' texts are those of `nearwarp analyze`.

struct CodeOptions {
  std::string kernel = {};  ///< analyse only this kernel; empty: all
  size_t width = 80;        ///< columns of texts
};

/// Lines of one source file that a piece of code comes from.
struct SourceLines {
  std::string file;  ///< as in the PTX's .file directive; empty: it has none
  uint32_t first = 0, last = 0;
};
/// Traffic through links of an offloaded warp's registers and accesses.
struct OffloadTraffic {
  int64_t registers_sent = 0, registers_returned = 0;
  int64_t loads = 0, stores = 0;
  int64_t shared_bytes_sent = 0, shared_bytes_returned = 0;
};
/// Code that would be offloaded.
struct CodeCandidate {
  uint32_t id = 0;
  std::optional<uint32_t> within;  ///< offered where the condition of this candidate does not hold
  std::string kind;                ///< "block", "region", "loop"
  std::string blocks;              ///< e.g. "3-7, 9"
  std::vector<SourceLines> source;
  uint32_t first_ptx_line = 0, last_ptx_line = 0;
  std::vector<std::string> live_ins, live_outs;    ///< registers
  uint32_t live_in_bytes = 0, live_out_bytes = 0;  ///< bytes of registers of a lane
  std::string trip;        ///< "no loop", "static", "conditional", "unknown"
  std::string condition;   ///< empty unless conditional
  int64_t iterations = 0;  ///< that the traffic is of
  OffloadTraffic traffic, per_iteration;
  double tx_addresses = 0, rx_addresses = 0;  ///< extra traffic of the links, in addresses
  bool saves_tx = false, saves_rx = false;
  std::string shared;  ///< the shared array that goes along; empty: none
};
/// Code that would not.
struct CodeRefusal {
  std::string kind;  ///< "block" or "loop"
  uint32_t block = 0;
  std::vector<SourceLines> source;
  uint32_t first_ptx_line = 0, last_ptx_line = 0;
  std::string reason;
  uint32_t ptx_line = 0;  ///< line of the instruction that prevents it; 0: none does
  std::string detail;     ///< the equations' numbers where they decided; else empty
};
struct CodeOfKernel {
  std::string kernel;
  std::string unsupported;  ///< why it cannot be run; empty: it can
  std::vector<CodeCandidate> candidates;
  std::vector<CodeRefusal> refusals;
};
struct CodeAnalysis {
  std::string program, machine, policy;
  std::vector<CodeOfKernel> kernels;
  std::string text;
  std::string document;  ///< as `nearwarp analyze --json` writes it
};
/// Which code a policy that offloads would offload on the machine.
NEARWARP_API Expected<CodeAnalysis> analyze_code(const std::string& program, const Machine& machine,
                                                 const Policy& policy,
                                                 const CodeOptions& options = {});
/// Analyses the kernels of a program that has been executed.
NEARWARP_API Expected<CodeAnalysis> analyze_code(const Program& program, const Machine& machine,
                                                 const Policy& policy,
                                                 const CodeOptions& options = {});

/// How far thread blocks lie apart in an object.
struct ObjectDistance {
  std::string object;   ///< the parameter or variable that it is known by
  std::string pattern;  ///< "regular", "shared", "irregular" or "unknown"
  std::string bytes;    ///< of a regular one: from a block's part to the next one's, an expression
  uint32_t accesses = 0;  ///< number of accesses in the code
};
/// A load that opportunistic computing has in no chain, or a chain.
struct CodeChain {
  uint32_t ptx_line = 0;        ///< line of its first instruction
  uint32_t pattern = 0;         ///< number in the paper's table 1; 0: it is no chain
  std::vector<uint32_t> lines;  ///< lines of all its instructions in PTX
  std::string why_not;          ///< empty: it is one
};
/// An instruction, and where MPU executes it.
struct CodePlace {
  uint32_t ptx_line = 0;
  std::string place;  ///< "N" near the banks, "F" far from them, "B" both, "" where values are
};
/// One of the three of a kernel, and the text.
struct CodeView {
  std::string kernel;
  std::string unsupported;
  std::vector<ObjectDistance> objects;
  std::vector<CodeChain> chains;
  std::vector<CodePlace> places;
  std::string text;
};
/// Distances of thread blocks in objects, by the code alone.
NEARWARP_API Expected<std::vector<CodeView>> analyze_strides(const std::string& program,
                                                             const CodeOptions& options = {});
/// Chains of loads, arithmetic and stores that opportunistic computing offloads.
NEARWARP_API Expected<std::vector<CodeView>> analyze_chains(const std::string& program,
                                                            const CodeOptions& options = {});
/// Where MPU's compiler has instructions; a failure for a policy of MPU's that does without.
NEARWARP_API Expected<std::vector<CodeView>> analyze_locations(const std::string& program,
                                                               const Policy& policy,
                                                               const CodeOptions& options = {});

struct RestructureOptions {
  std::string kernel = {};  ///< empty: the only one
  std::string parameter;    ///< parameter with the array's address: its name, or its number from 0
  bool of_block = false;    ///< the threads of a block share the array; else all of the grid
  bool no_alias = false;    ///< different parameters point to different memory
  bool any_thread = false;  ///< it does not matter which thread gathers which elements
};
/// PTX in which each warp takes consecutive elements of an array, where that is proved to change no
/// result; a failure says what stands in the way. `name` stands in it.
NEARWARP_API Expected<std::string> restructure(const std::string& ptx, const std::string& name,
                                               const RestructureOptions& options);

// ---- Of what programs access --------------------------------------------------------------------
// Programs have to be executed for these; Accel-Sim's traces have no code that they could be of.

struct AnalysisOptions {
  std::string backend = "cpu";  ///< or "cuda"; of mappings alone
  int device = 0;               ///< with "cuda"
  /// Asked some times a second; returns false to stop.
  std::function<bool(const Activity&)> progress = {};
};

/// Accesses of all instances of candidates under one mapping of lines to memory stacks.
struct MappingQuality {
  uint32_t first_bit = 0;        ///< of the address, consecutive bits from there; 0: the machine's
  uint64_t at_destination = 0;   ///< accesses to their instance's destination stack
  uint64_t one_stack = 0;        ///< instances all of whose accesses go to one stack
  std::vector<uint64_t> stacks;  ///< [n - 1]: instances that touch n stacks
};
/// How regularly a candidate's instances access memory.
struct CandidateAccesses {
  std::string kernel;
  uint32_t id = 0;           ///< CodeCandidate::id
  std::string source_lines;  ///< e.g. "libor.cu:41-57"; may be empty
  uint64_t instances = 0;
  double fixed_share = 0;  ///< share of accesses at a fixed offset from the one before
  std::string category;    ///< empty if there are no instances
};
struct MappingAnalysis {
  uint32_t stacks = 0;
  uint64_t instances = 0, accesses = 0;
  MappingQuality baseline;
  std::vector<MappingQuality> mappings;  ///< by first bit
  uint32_t best = 0;                     ///< index of the best of these
  std::vector<CandidateAccesses> candidates;
  std::string text;
  std::string document;  ///< as `nearwarp analyze --mappings --json` writes it
};
/// Which mapping of data to stacks would serve the offloading candidates of a program.
NEARWARP_API Expected<MappingAnalysis> analyze_mappings(const Program& program,
                                                        const Machine& machine,
                                                        const Policy& policy,
                                                        const AnalysisOptions& options = {});

struct NEARWARP_API SharingAnalysis {
  uint64_t page_bytes = 0;
  uint32_t stacks = 0;
  uint64_t pages = 0;                      ///< pages that kernels touch
  std::map<uint64_t, uint64_t> by_blocks;  ///< pages by how many thread blocks touch them
  std::map<uint64_t, uint64_t> by_stacks;  ///< and by how many stacks do
  std::string category;                    ///< CODA's class of the program
  std::string document;                    ///< as `nearwarp analyze --sharing --json` writes it

  Expected<std::string> text(size_t width = 80) const;
  struct Whole;
  std::shared_ptr<const Whole> whole = {};
};
/// How many thread blocks and stacks share a program's pages.
NEARWARP_API Expected<SharingAnalysis> analyze_sharing(const Program& program,
                                                       const Machine& machine,
                                                       const AnalysisOptions& options = {});

/// A memory object, and where rules put it.
struct ObjectPlace {
  std::string name;  ///< the program's; may be empty
  uint64_t address = 0, bytes = 0;
  uint64_t accesses = 0;     ///< accesses of lanes
  uint64_t block_bytes = 0;  ///< from one thread block's part to the next one's; 0: none
  bool constant = false;     ///< the same for nearly all pairs of blocks
  bool from_code = false;    ///< known from the kernel's code
  uint64_t local = 0;        ///< accesses to the block's stack, were it in stacks by that distance
  bool by_distance = false;  ///< put in stacks if the distance alone decides
  bool by_share = false;     ///< put in stacks if enough of its accesses are then local
};
struct NEARWARP_API ObjectAnalysis {
  uint32_t stacks = 0;
  std::vector<ObjectPlace> objects;
  double local_by_distance = 0, local_by_share = 0;  ///< shares of all accesses, 0 to 1
  std::string document;  ///< as `nearwarp analyze --objects --json` writes it

  Expected<std::string> text(size_t width = 80) const;
  struct Whole;
  std::shared_ptr<const Whole> whole = {};
};
/// Where CODA's rules put a program's memory objects; a failure for a policy that places none.
NEARWARP_API Expected<ObjectAnalysis> analyze_objects(const Program& program,
                                                      const Machine& machine, const Policy& policy,
                                                      const AnalysisOptions& options = {});

}  // namespace nearwarp
