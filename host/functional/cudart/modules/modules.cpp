// Chooses, compiles and loads the code of registered modules.
#include "host/functional/cudart/modules/modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "host/core/demangle.h"
#include "host/core/error.h"
#include "host/functional/cudart/code/fat_binary.h"
#include "host/functional/cudart/code/linked_ptx.h"
#include "host/functional/cudart/code/ptxas.h"
#include "host/functional/cudart/code/register_counts.h"
#include "host/functional/cudart/launches/recorder.h"
#include "host/functional/cudart/say.h"
#include "host/functional/cudart/status/failure.h"

namespace nearwarp::cudart {

Module& Modules::add(const void* wrapper) {
  Module& m = modules_.emplace_back();
  m.number = static_cast<uint32_t>(modules_.size());
  m.wrapper = wrapper;
  return m;
}

Module& Modules::add_library(std::string contents) {
  constexpr char kContainerMagic[] = "\x50\xed\x55\xba";
  Module& m = add(nullptr);
  (contents.starts_with(kContainerMagic) ? m.container : m.ptx) = std::move(contents);
  libraries_.insert(&m);
  return m;
}

Module& Modules::library(const void* handle) {
  require(libraries_.contains(handle), kErrorInvalidResourceHandle);
  return *const_cast<Module*>(static_cast<const Module*>(handle));
}

void Modules::remove(Module& module) {
  libraries_.erase(&module);
  std::erase_if(kernels_, [&](const auto& entry) { return entry.second->module == &module; });
  std::erase_if(handle_set_, [&](const void* handle) {
    return static_cast<const KernelHandle*>(handle)->module == &module;
  });
  std::erase_if(variables_, [&](const auto& entry) { return entry.second.module == &module; });
  module.wrapper = nullptr;
  module.ptx.clear();
  module.container.clear();
}

void Modules::add_kernel(Module& module, const void* host_function, const char* name) {
  // Several translation units may register the same instance of a template.
  if (kernels_.contains(host_function)) return;
  KernelHandle& handle = kernel(module, name);
  handle.host_function = host_function;
  kernels_[host_function] = &handle;
}

void Modules::add_variable(Module& module, const void* host_variable, const char* name,
                           size_t bytes) {
  variables_.try_emplace(host_variable, VariableHandle{&module, name, bytes});
}

KernelHandle& Modules::kernel(const void* function) {
  const auto it = kernels_.find(function);
  if (it != kernels_.end()) return *it->second;
  if (!handle_set_.contains(function)) throw Failure{kErrorInvalidDeviceFunction};
  return *const_cast<KernelHandle*>(static_cast<const KernelHandle*>(function));
}

KernelHandle& Modules::kernel(Module& module, const std::string& name) {
  KernelHandle& handle = handles_.emplace_back();
  handle.module = &module;
  handle.name = name;
  handle_set_.insert(&handle);
  return handle;
}

KernelHandle* Modules::find(uint32_t device_module, const std::string& name) {
  for (KernelHandle& handle : handles_)
    if (handle.module->program != nullptr && handle.module->handle == device_module &&
        handle.name == name)
      return &handle;
  return nullptr;
}

VariableHandle& Modules::variable(const void* host_variable) {
  const auto it = variables_.find(host_variable);
  if (it == variables_.end()) throw Failure{kErrorInvalidSymbol};
  return it->second;
}

namespace {

/// libcudadevrt, whose functions are built in here (runtime/device_runtime.h): it defines this.
bool is_device_runtime(const std::string& ptx) {
  return ptx.find(".visible .global .align 4 .u32 __CNPRT_VERSION_NUMBER__") != std::string::npos;
}

/// Several images are those of translation units that were linked.
compiler::Program compiled(FatBinary& fat, const std::string& name) {
  std::vector<compiler::PtxSource> units;
  for (PtxImage& image : fat.images) {
    const size_t number = units.size() + 1;
    units.push_back({std::move(image.text), fat.images.size() == 1
                                                ? fmt::format("{}.ptx", name)
                                                : fmt::format("{}.{}.ptx", name, number)});
  }
  return units.size() == 1 ? compiler::compile_ptx(units[0].text, units[0].path)
                           : compiler::link_ptx(units);
}

/// The targets in words, as in "sm_75, sm_90 and sm_90a".
std::string names_of(const std::vector<CodeTarget>& targets) {
  std::string text;
  for (size_t i = 0; i < targets.size(); ++i)
    text += (i == 0 ? "" : i + 1 == targets.size() ? " and " : ", ") + targets[i].name();
  return text;
}

/// The message for a module whose code does not run on the device.
std::string not_for_device(const Module& m, const PtxImage& image, uint32_t capability) {
  return fmt::format(
      "module {} of the application has code for {} alone, which a device of compute capability "
      "{}.{} does not run - build it for that or an earlier one (nvcc -arch=compute_75), or take "
      "another machine, or set gpu.compute_capability={}",
      m.number, names_of(image.offered), capability / 10, capability % 10,
      image.target.architecture);
}

/// Tells the user which PTX is executed, if the binary has code for several architectures: other
/// devices execute other code then, which is easily overlooked.
void say_which_code(const FatBinary& fat, uint32_t capability) {
  std::vector<CodeTarget> offered;
  for (const PtxImage& image : fat.images)
    for (const CodeTarget& target : image.offered)
      if (std::find(offered.begin(), offered.end(), target) == offered.end())
        offered.push_back(target);
  const CodeTarget& taken = fat.images.front().target;
  const bool native_differs = fat.native.has_value() && *fat.native != taken;
  if (offered.size() < 2 && !native_differs) return;
  std::sort(offered.begin(), offered.end(),
            [](const CodeTarget& a, const CodeTarget& b) { return nearer(b, a); });
  say_once(fmt::format(
      "the application has PTX for {}: that for {} is executed on this device of compute "
      "capability {}.{} (gpu.compute_capability of the machine){}",
      names_of(offered), taken.name(), capability / 10, capability % 10,
      native_differs ? fmt::format("; a GPU would execute its machine code for {}, beside which "
                                   "there is no PTX",
                                   fat.native->name())
                     : std::string()));
}

}  // namespace

FatBinary Modules::contents(Process& process, const Module& m) {
  const uint32_t capability = process.spec().capability;
  if (m.wrapper != nullptr) return read_fat_wrapper(m.wrapper, capability);
  if (!m.container.empty())
    return read_fat_container(m.container.data(), m.container.size(), capability);
  if (m.ptx.empty()) throw Failure{kErrorInvalidResourceHandle};  // it was unloaded
  FatBinary fat;
  for (std::string& unit : split_ptx(m.ptx)) {
    const CodeTarget target = parse_target(target_of(unit)).value_or(CodeTarget{capability});
    if (ptx_runs_on(target, capability))
      fat.images.push_back({std::move(unit), target, {target}});
    else
      fat.unsuitable.push_back({std::move(unit), target, {target}});
  }
  return fat;
}

void Modules::read(Process& process, Module& m) {
  const std::string name = fmt::format("{}.{}", program_name(), m.number);
  const uint32_t capability = process.spec().capability;
  FatBinary fat;
  try {
    fat = contents(process, m);
  } catch (const Error& error) {
    m.problem = kErrorInvalidKernelImage;
    m.problem_text = fmt::format("{} (module {} of the application)", error.what(), m.number);
    return;
  }
  for (std::vector<PtxImage>* images : {&fat.images, &fat.unsuitable})
    std::erase_if(*images, [](const PtxImage& image) { return is_device_runtime(image.text); });
  if (fat.native.has_value()) {
    // A GPU would execute the machine code, so the PTX beside it is taken even if it is for a later
    // device.
    std::move(fat.unsuitable.begin(), fat.unsuitable.end(), std::back_inserter(fat.images));
    fat.unsuitable.clear();
  }
  if (!fat.unsuitable.empty()) {
    // The statuses are the driver's: one for code of an executable, one for a text to be compiled.
    m.problem = m.ptx.empty() ? kErrorNoKernelImageForDevice : kErrorInvalidPtx;
    m.problem_text = not_for_device(m, fat.unsuitable.front(), capability);
    return;
  }
  if (fat.images.empty()) {
    m.problem = kErrorNoKernelImageForDevice;
    m.problem_text = fmt::format(
        "module {} of the application has no PTX, only machine code - build it with PTX, e.g. "
        "nvcc -gencode arch=compute_75,code=compute_75 (or -arch=compute_75)",
        m.number);
    return;
  }
  say_which_code(fat, capability);
  try {
    m.architecture = fat.images.front().target.architecture;
    const Settings& settings = process.settings();
    const RegisterCounts counts = count_registers(settings.registers, fat, settings.ptxas_cache);
    if (!counts.problem.empty())
      say(
          fmt::format("module {} of the application: {}; its kernels have the registers that "
                      "nearwarp's own allocation gives them",
                      m.number, counts.problem));
    compiler::Program program = compiled(fat, name);
    set_registers(counts, program);
    const auto loaded = std::make_shared<const compiler::Program>(std::move(program));
    m.handle = process.device().load_module(loaded);
    m.program = loaded;
  } catch (const Error& error) {
    m.problem = kErrorInvalidPtx;
    m.problem_text = error.what();
  }
}

void Modules::load(Process& process, Module& m) {
  if (!m.tried) {
    m.tried = true;
    read(process, m);
    if (m.problem != kSuccess) say(m.problem_text);
    if (m.problem == kSuccess)
      for (const ManagedVariable& v : m.managed) {
        const runtime::DevicePtr address = process.device().symbol(m.handle, v.name);
        *v.host_pointer = reinterpret_cast<void*>(address);
        memory_.add_managed_variable(address);
      }
  }
  if (m.problem != kSuccess) throw Failure{m.problem};
}

const compiler::Kernel& Modules::load(Process& process, KernelHandle& k) {
  load(process, *k.module);
  if (k.kernel == nullptr) k.kernel = k.module->program->find(k.name);
  if (k.kernel == nullptr) {
    say_once(fmt::format("module {} of the application has no kernel {}", k.module->number,
                         demangled(k.name)));
    throw Failure{kErrorInvalidDeviceFunction};
  }
  return *k.kernel;
}

runtime::DevicePtr Modules::address(Process& process, const VariableHandle& v) {
  load(process, *v.module);
  try {
    return process.device().symbol(v.module->handle, v.name);
  } catch (const Error&) {
    throw Failure{kErrorInvalidSymbol};  // the PTX lacks variables that no kernel uses
  }
}

}  // namespace nearwarp::cudart
