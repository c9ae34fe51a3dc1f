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

struct ManagedVariable {
  void** host_pointer = nullptr;
  std::string name;
};

struct Module {
  uint32_t number = 0;
  const void* wrapper = nullptr;  ///< of the host's code; else one of these:
  std::string ptx;                ///< text
  std::string container;          ///< a fat binary's
  bool tried = false;             ///< to load it
  Status problem = kSuccess;
  std::string problem_text;
  uint32_t handle = 0;  ///< of the virtual device
  uint32_t architecture = 0;
  std::shared_ptr<const compiler::Program> program;
  std::vector<ManagedVariable> managed;
};

/// A kernel as cudaKernel_t and cudaFunction_t refer to it.
struct KernelHandle {
  Module* module = nullptr;
  std::string name;
  const void* host_function = nullptr;       ///< that stands for it, if one does
  const compiler::Kernel* kernel = nullptr;  ///< once the module is loaded
  int max_dynamic_shared = 0;                ///< 0: not set
  int carveout = -1;
  int required_cluster[3] = {};  ///< by cudaFuncSetAttribute; 0: not set
  bool non_portable_cluster = false;
  int cluster_policy = 0;
  bool told_registers = false, told_shared = false;  ///< that SMs have less than it needs
};

struct VariableHandle {
  Module* module = nullptr;
  std::string name;
  size_t bytes = 0;
};

class Modules {
 public:
  /// Managed variables are told to `memory`.
  explicit Modules(Memory& memory) : memory_(memory) {}
  Module& add(const void* wrapper);
  /// A module that the application brings while it runs: PTX text or a fat binary's container.
  Module& add_library(std::string contents);
  /// Throws Failure for what is no module of add_library(), or not any more.
  Module& library(const void* handle);
  void remove(Module& module);
  void add_kernel(Module& module, const void* host_function, const char* name);
  void add_variable(Module& module, const void* host_variable, const char* name, size_t bytes);

  /// A host function or a handle. Throws Failure for one that is neither.
  KernelHandle& kernel(const void* function);
  /// A handle for a kernel of a module by its name.
  KernelHandle& kernel(Module& module, const std::string& name);
  /// The registered kernel of this name, of a loaded module by the virtual device's number for it;
  /// nullptr if the host's code has none.
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
