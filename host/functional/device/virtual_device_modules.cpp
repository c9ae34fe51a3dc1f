// Modules of the virtual CUDA device: their variables, and kernels as they are wanted.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/functional/device/virtual_device_state.h"

namespace nearwarp::runtime {

void VirtualDevice::Impl::load_variables(Module& m) {
  const compiler::Program& program = *m.program;
  for (const compiler::Variable& v : program.variables) {
    if (m.variables.contains(v.name)) continue;
    m.variables[v.name] = allocate(v.size, v.name);
  }
  initialise(m);
}

void VirtualDevice::Impl::initialise(const Module& m) {
  const compiler::Program& program = *m.program;
  for (const compiler::Variable& v : program.variables) {
    if (v.size == 0) continue;
    uint8_t* p = memory.host(m.variables.at(v.name), v.size, "initialising a variable");
    memory.note_written(m.variables.at(v.name), v.size);
    if (v.init.size() < v.size) std::memset(p, 0, v.size);
    if (v.init.empty()) continue;
    std::memcpy(p, v.init.data(), std::min<uint64_t>(v.size, v.init.size()));
    for (const auto& r : v.relocations) {
      const auto target = m.variables.find(r.target);
      if (target == m.variables.end())
        throw Error(fmt::format("the initialiser of '{}' refers to '{}', which is no variable ({})",
                                v.name, r.target, program.path));
      const uint64_t address = target->second + static_cast<uint64_t>(r.addend);
      if (r.offset + 8 > v.size)
        throw Error(fmt::format("the initialiser of '{}' is too short for an address ({})", v.name,
                                program.path));
      std::memcpy(p + r.offset, &address, 8);
    }
  }
}

void VirtualDevice::reset_modules() {
  for (const Impl::Module& m : impl_->modules)
    if (!m.unloaded) impl_->initialise(m);
  if (impl_->heap) impl_->heap.emplace(impl_->heap_address, impl_->options.heap_bytes);
}
void VirtualDevice::set_stack_bytes(uint32_t bytes) { impl_->stack_bytes = bytes; }
bool VirtualDevice::set_heap_bytes(uint64_t bytes) {
  if (!impl_->heap) impl_->options.heap_bytes = bytes;
  return !impl_->heap;
}

uint32_t VirtualDevice::load_module(std::shared_ptr<const compiler::Program> program) {
  Impl::Module& m = impl_->modules.emplace_back();
  m.program = std::move(program);
  try {
    impl_->load_variables(m);
  } catch (const Error&) {
    for (const auto& [name, address] : m.variables) impl_->memory.free(address);
    impl_->modules.pop_back();
    throw;
  }
  for (const compiler::Kernel& k : m.program->kernels) {
    Impl::LoadedKernel loaded;
    loaded.kernel = &k;
    loaded.problem = k.unsupported;
    m.kernels.emplace(k.name, std::move(loaded));
  }
  return static_cast<uint32_t>(impl_->modules.size() - 1);
}

void VirtualDevice::unload_module(uint32_t module) {
  impl_->module(module);
  Impl::Module& m = impl_->modules[module];
  for (const auto& [name, address] : m.variables) impl_->memory.free(address);
  m.variables.clear();
  m.unloaded = true;
}

const VirtualDevice::Impl::Module& VirtualDevice::Impl::module(uint32_t handle) const {
  if (handle >= modules.size())
    throw Error(fmt::format("there is no module {} - {} are loaded", handle, modules.size()));
  return modules[handle];
}

DevicePtr VirtualDevice::symbol(uint32_t module, const std::string& name) const {
  const Impl::Module& m = impl_->module(module);
  const auto it = m.variables.find(name);
  if (it == m.variables.end())
    throw Error(fmt::format("module {} has no variable '{}'", m.program->path, name));
  return it->second;
}

VirtualDevice::Impl::LoadedKernel& VirtualDevice::Impl::kernel(uint32_t handle,
                                                               const std::string& name) {
  module(handle);
  Module& m = modules[handle];
  const auto it = m.kernels.find(name);
  if (it == m.kernels.end())
    throw Error(fmt::format("module {} has no kernel '{}'", m.program->path, name));
  LoadedKernel& loaded = it->second;
  if (loaded.problem.empty() && loaded.decoded.kernel == nullptr) {
    const auto address = [&m](const compiler::Symbol& s) -> uint64_t {
      if (s.space == ptx::Space::kParam) return kParamBank + s.offset;
      if (s.space != ptx::Space::kGlobal && s.space != ptx::Space::kConst) return s.offset;
      const auto variable = m.variables.find(s.name);
      if (variable == m.variables.end())
        throw Error(fmt::format("undefined variable '{}' ({})", s.name, m.program->path));
      return variable->second;
    };
    try {
      loaded.checked = options.checker != nullptr && options.checker->wants(loaded.kernel->name);
      loaded.decoded = decode(*loaded.kernel, m.program->path, address, loaded.checked);
    } catch (const Error& e) {
      loaded.problem = e.what();
    }
  }
  if (!loaded.problem.empty()) throw Error(loaded.problem);
  return loaded;
}

bool VirtualDevice::Impl::uses_heap(const DecodedKernel& k) {
  for (const SystemDesc& call : k.system_calls) {
    if (call.kind != exec::SystemKind::kMalloc && call.kind != exec::SystemKind::kFree &&
        call.call != ptx::DeviceCall::kMalloc && call.call != ptx::DeviceCall::kFree)
      continue;
    if (!heap) {
      heap_address = allocate(options.heap_bytes, "heap of device code");
      heap.emplace(heap_address, options.heap_bytes);
    }
    return true;
  }
  return false;
}

bool VirtualDevice::Impl::uses_runtime(const DecodedKernel& k) {
  const bool uses =
      std::any_of(k.system_calls.begin(), k.system_calls.end(),
                  [](const SystemDesc& call) { return call.kind == exec::SystemKind::kDevice; });
  if (uses && !runtime)
    runtime.emplace(memory,
                    allocate(DeviceRuntime::kBufferBytes, "parameters of kernels' launches"),
                    options.services);
  return uses;
}

}  // namespace nearwarp::runtime
