// Drives libcudart.so.13 as nvcc's host code does, without a CUDA toolkit: a fat binary made by
// hand around checked-in PTX, and the library's entry points by name.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "host/functional/cudart/abi.h"

namespace nearwarp::cudart {

enum class Packing { kPlain, kLz4, kZstd };

/// An entry of a container.
struct EntryOf {
  std::string contents;
  uint32_t architecture = 0;
  char variant = '\0';  ///< 'a' or 'f', as in sm_90a
};

/// A container with one PTX entry per text, and then one of machine code for each of the others.
std::vector<char> make_container(const std::vector<EntryOf>& ptx, Packing packing,
                                 const std::vector<EntryOf>& machine_code = {});

/// The wrapper that host code registers.
struct FatWrapper {
  uint32_t magic = 0x466243b1, version = 1;
  const void* container = nullptr;
  const void* const* more = nullptr;
};

/// The text of a file below tests/cudart/ptx.
std::string read_ptx(const std::string& name);
/// The bytes of a file below tests/cudart/cubins.
std::string read_cubin_file(const std::string& name);

/// The library, loaded once per process. Entry points are called by name, with the types of the
/// arguments given: pointers, integers and structures must be exactly those of the interface.
class Library {
 public:
  static Library& get();
  void* symbol(const std::string& name) const;

  template <class Result = int, class... Args>
  Result call(const std::string& name, Args... args) {
    return reinterpret_cast<Result (*)(Args...)>(symbol(name))(args...);
  }

  /// Registers kernels.ptx with host functions `stub(name)`.
  void register_kernels(Packing packing = Packing::kZstd,
                        const std::vector<EntryOf>& machine_code = {});
  void** module() const { return module_; }
  int* managed() const { return static_cast<int*>(managed_); }
  /// The stub of a kernel's host function, or a host variable, of the latest registration.
  const void* stub(const std::string& name);

 private:
  Library();
  void* handle_ = nullptr;
  void** module_ = nullptr;
  void* managed_ = nullptr;
};

}  // namespace nearwarp::cudart
