// Fat binaries that the application registered, and the kernels and variables in them. Registration
// happens before main() and only notes pointers; a module is read and compiled at its first use.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/functional/cudart/abi.h"
#include "host/functional/cudart/memory/memory.h"
#include "host/functional/cudart/process.h"
#include "host/functional/device/virtual_device.h"

namespace nearwarp::cudart {

struct FatBinary;

/// A __managed__ variable, to be allocated when its module is loaded.
struct ManagedVariable {
  void** host_pointer = nullptr;  ///< receives its address
  std::string name;
};

/// A module. Its code is in one of `wrapper`, `ptx` and `container`.
struct Module {
  uint32_t number = 0;
  const void* wrapper = nullptr;  ///< a fat binary's in the application's executable
  std::string ptx;                ///< text that the application has passed
  std::string container;          ///< bytes of a fat binary that the application has passed
  bool tried = false;             ///< load() was called, and may have failed with `problem`
  Status problem = kSuccess;
  std::string problem_text;
  uint32_t handle = 0;  ///< the virtual device's number of the module
  uint32_t architecture = 0;
  std::shared_ptr<const compiler::Program> program;
  std::vector<ManagedVariable> managed;
};

/// A kernel as cudaKernel_t and cudaFunction_t refer to it.
struct KernelHandle {
  Module* module = nullptr;
  std::string name;
  const void* host_function = nullptr;       ///< the stub that host code launches it by, if any
  const compiler::Kernel* kernel = nullptr;  ///< once the module is loaded
  int max_dynamic_shared = 0;                ///< 0: not set
  int carveout = -1;
  int required_cluster[3] = {};  ///< set by cudaFuncSetAttribute; 0: not set
  bool non_portable_cluster = false;
  int cluster_policy = 0;
  /// Was the user told that SMs have fewer registers or less shared memory than it needs?
  bool told_registers = false, told_shared = false;
};

struct VariableHandle {
  Module* module = nullptr;
  std::string name;
  size_t bytes = 0;
};

class Modules {
 public:
  /// `memory` allocates managed variables.
  explicit Modules(Memory& memory) : memory_(memory) {}
  Module& add(const void* wrapper);
  /// Adds a module that the application passes at run time: PTX text or a fat binary's container.
  Module& add_library(std::string contents);
  /// The module that add_library() returned. Throws Failure if it is none, or was removed.
  Module& library(const void* handle);
  void remove(Module& module);
  void add_kernel(Module& module, const void* host_function, const char* name);
  void add_variable(Module& module, const void* host_variable, const char* name, size_t bytes);

  /// The kernel of a host function's address or of a handle. Throws Failure for other pointers.
  KernelHandle& kernel(const void* function);
  /// A handle for a kernel of a module by its name.
  KernelHandle& kernel(Module& module, const std::string& name);
  /// The registered kernel `name` of the loaded module with Module::handle `device_module`; nullptr
  /// if host code has registered none.
  KernelHandle* find(uint32_t device_module, const std::string& name);
  VariableHandle& variable(const void* host_variable);

  /// Read, compile and load a module. Throws Failure, after saying why, if it cannot be used.
  void load(Process& process, Module& module);
  /// Load the kernel's module. Throws Failure if the module lacks it.
  const compiler::Kernel& load(Process& process, KernelHandle& kernel);
  runtime::DevicePtr address(Process& process, const VariableHandle& variable);

 private:
  void read(Process& process, Module& module);
  static FatBinary contents(Process& process, const Module& module);

  Memory& memory_;
  std::deque<Module> modules_;
  std::deque<KernelHandle> handles_;
  std::unordered_set<const void*> handle_set_, libraries_;
  std::unordered_map<const void*, KernelHandle*> kernels_;
  std::unordered_map<const void*, VariableHandle> variables_;
};

}  // namespace nearwarp::cudart
