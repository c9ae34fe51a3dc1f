// Looks into executables before they are run.
#pragma once

#include <string>
#include <vector>

namespace nearwarp::programs {

/// Path of the program that `name` means: itself if it has a slash, else from $PATH. Throws
/// UsageError if there is none, or it cannot be executed.
std::string find_executable(const std::string& name);

inline constexpr const char* kRuntimeName = "libcudart.so.13";
inline constexpr const char* kDriverName = "libcuda.so.1";
/// The runtime library of CUDA 12: it hands calls on to that of 13.
inline constexpr const char* kOlderRuntimeName = "libcudart.so.12";
/// Other libraries of CUDA's that nearwarp stands in for; they lie beside the runtime library.
inline constexpr const char* kOwnLibraries[] = {
    "libcublas.so.13", "libcublasLt.so.13", "libcublas.so.12",  "libcublasLt.so.12",
    "libcufft.so.12",  "libcurand.so.10",   "libcusparse.so.12"};

struct ExecutableFacts {
  bool is_program = false;                 ///< machine code; else it is a script
  bool has_kernels = false;                ///< a fat binary is registered
  bool shared_runtime = false;             ///< needs some libcudart.so
  std::string runtime;                     ///< its name, e.g. "libcudart.so.13"
  bool needs_driver = false;               ///< linked with libcuda.so
  std::vector<std::string> own_libraries;  ///< of kOwnLibraries, those that it is linked with
  /// CUDA libraries that it needs whose kernels are machine code alone, e.g. "libcublas.so.13".
  std::vector<std::string> without_ptx;
  bool overrides_search = false;  ///< DT_RPATH: libraries are looked for there first
};

/// Reads the facts of a 64-bit ELF file; nothing is set for other files (scripts).
ExecutableFacts inspect_executable(const std::string& path);

/// Throws UsageError for an application that cannot run on the simulated GPU, whose driver API may
/// not be there.
void check_executable(const std::string& path, const ExecutableFacts& facts, bool offers_driver);

}  // namespace nearwarp::programs
