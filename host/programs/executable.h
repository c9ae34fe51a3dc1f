// Finds executables and reads from their ELF files which CUDA libraries they need.
#pragma once

#include <string>
#include <vector>

namespace nearwarp::programs {

/// The path of a program: `name` itself if it has a slash, else the first match in $PATH. Throws
/// UsageError if there is none, or if it cannot be executed.
std::string find_executable(const std::string& name);

inline constexpr const char* kRuntimeName = "libcudart.so.13";
inline constexpr const char* kDriverName = "libcuda.so.1";
/// The runtime library of CUDA 12, which passes calls on to that of CUDA 13.
inline constexpr const char* kOlderRuntimeName = "libcudart.so.12";
/// Other CUDA libraries that nearwarp replaces; they lie beside the runtime library.
inline constexpr const char* kOwnLibraries[] = {
    "libcublas.so.13", "libcublasLt.so.13", "libcublas.so.12",  "libcublasLt.so.12",
    "libcufft.so.12",  "libcurand.so.10",   "libcusparse.so.12"};

struct ExecutableFacts {
  bool is_program = false;                 ///< it is an ELF file; else a script
  bool has_kernels = false;                ///< it contains a fat binary
  bool shared_runtime = false;             ///< it is linked with a shared CUDA runtime
  std::string runtime;                     ///< name of that library, e.g. "libcudart.so.13"
  bool needs_driver = false;               ///< it is linked with kDriverName
  std::vector<std::string> own_libraries;  ///< libraries of kOwnLibraries that it is linked with
  /// CUDA libraries that it is linked with and that have kernels without PTX, e.g. "libcudnn.so.9".
  std::vector<std::string> without_ptx;
  bool overrides_search = false;  ///< it has DT_RPATH, which comes before LD_LIBRARY_PATH
};

/// Reads the facts of a 64-bit ELF file; for other files (scripts) nothing is set.
ExecutableFacts inspect_executable(const std::string& path);

/// Throws UsageError for an application that cannot run on the simulated GPU. `offers_driver` tells
/// whether nearwarp's driver library is installed.
void check_executable(const std::string& path, const ExecutableFacts& facts, bool offers_driver);

}  // namespace nearwarp::programs
