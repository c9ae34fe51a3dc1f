// Profiles of a program, kernel by kernel and line by line, without timing: the numbers that
// `nearwarp run --profile` prints and writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nearwarp::report {

inline constexpr uint32_t kSectorBytes = 32;  ///< aligned pieces of memory that a profile counts

/// Memory instructions as warps execute them. One without a lane whose guard holds counts nothing.
struct AccessCounts {
  uint64_t accesses = 0;  ///< warp-instructions
  uint64_t lanes = 0;     ///< of these, in all
  // Counts for device memory alone; not counted for shared memory and constants:
  uint64_t sectors = 0;  ///< different ones that an access touches, in all
  uint64_t lines = 0;    ///< likewise, of Profile::line_bytes
  uint64_t bytes = 0;    ///< different ones that an access reads or writes, in all

  void add(const AccessCounts& other, uint64_t times = 1);
};

struct ProfileCounts {
  uint64_t warp_instructions = 0;
  uint64_t thread_instructions = 0;     ///< times active lanes, those included whose guard is off
  AccessCounts loads, stores, atomics;  ///< of global memory, textures and surfaces
  AccessCounts local;                   ///< loads and stores of .local
  AccessCounts shared;                  ///< of any kind, generic ones that went there included
  AccessCounts constant;                ///< loads, but those of parameters from a fixed place

  void add(const ProfileCounts& other);
  /// All that go to device memory: global and local.
  AccessCounts memory() const;
};

struct ProfileKernel {
  std::string name;  ///< mangled
  uint64_t launches = 0;
  ProfileCounts counts;
};

/// The instructions of a kernel from one line of the source; without line information from one line
/// of the PTX; in traces, which have neither, one instruction.
struct ProfileLine {
  uint32_t kernel = 0;       ///< index into Profile::kernels
  std::string file;          ///< as the compiler was told; may be empty
  uint32_t line = 0;         ///< of the source; 0: not known
  uint32_t ptx_line = 0;     ///< only if `line` is 0; 0: not known
  uint32_t instruction = 0;  ///< index in the kernel, only if both are 0
  ProfileCounts counts;
};

struct Profile {
  std::string workload, size;  ///< size: empty if it has none
  uint32_t line_bytes = 0;
  bool truncated = false;  ///< an instruction limit ended the recording
  uint64_t launches = 0;
  ProfileCounts all;
  std::vector<ProfileKernel> kernels;  ///< in the order of first launches
  /// Lines that were executed; most warp-instructions first, then most sectors.
  std::vector<ProfileLine> lines;
};

inline constexpr const char* kProfileSchema = "nearwarp.profile/1";

/// Tables of at most 80 columns, with the first `most_lines` lines.
std::string format_profile(const Profile& profile, size_t most_lines);

/// Facts that the profiles of a document have in common.
struct ProfileContext {
  std::string version, machine;
  std::vector<std::string> overrides;  ///< key=value
};
/// The document of docs/profile.md, indented by two, with a newline at its end.
std::string profile_json(const std::vector<Profile>& profiles, const ProfileContext& context);

}  // namespace nearwarp::report
