// Entry points that load code at run time: PTX, often made by a compiler of the application's own,
// or fat binaries.
#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <utility>

#include "host/functional/cudart/code/compiler_logs.h"
#include "host/functional/cudart/modules/code_image.h"
#include "host/functional/cudart/runtime/runtime.h"

using namespace nearwarp::cudart;

namespace {

Status load(Runtime& r, void** library, std::string contents, const CompilerLogs& logs) {
  require(library != nullptr);
  require(logs.count == 0 || (logs.options != nullptr && logs.values != nullptr));
  Module& module = r.modules.add_library(std::move(contents));
  logs.write(CompilerLogs::kInfo, "");
  try {
    r.modules.load(r, module);
    logs.write(CompilerLogs::kError, "");
  } catch (const Failure&) {
    logs.write(CompilerLogs::kError, module.problem_text);
    r.modules.remove(module);
    throw;
  }
  *library = &module;
  return kSuccess;
}

/// Tells the user the names of a module's kernels, since the status does not. (C++ mangles names
/// that are not extern "C".)
void say_lack(const Module& module, const char* name) {
  constexpr size_t kMost = 8;
  std::string names;
  const auto& kernels = module.program->kernels;
  for (size_t i = 0; i < kernels.size() && i < kMost; ++i)
    names += (i == 0 ? "" : ", ") + kernels[i].name;
  if (kernels.size() > kMost) names += ", ...";
  say_once(fmt::format("module {} of the application has no kernel '{}' - its kernels are {}",
                       module.number, name, names.empty() ? "none" : names));
}

/// Finds a variable of a library. Managed ones are no different, since the host can access all
/// device memory.
Status get_variable(void** pointer, size_t* bytes, void* library, const char* name, NW_CALL_SITE) {
  const OuterCall outer(site);
  return api([&](Runtime& r) {
    require(name != nullptr);
    const Module& module = r.modules.library(library);
    for (const nearwarp::compiler::Variable& v : module.program->variables) {
      if (v.name != name) continue;
      if (pointer != nullptr)
        *pointer = reinterpret_cast<void*>(r.device().symbol(module.handle, v.name));
      if (bytes != nullptr) *bytes = v.size;
      return kSuccess;
    }
    return kErrorSymbolNotFound;
  });
}

}  // namespace

/// All options but those for messages are ignored, since they concern machine code.
NW_API cudaLibraryLoadData(void** library, const void* code, const int* options, void** values,
                           unsigned num_options, const int*, void**, unsigned) {
  return api([&](Runtime& r) {
    return load(r, library, code_at(code), {options, values, num_options});
  });
}
NW_API cudaLibraryLoadFromFile(void** library, const char* path, const int* options, void** values,
                               unsigned num_options, const int*, void**, unsigned) {
  return api([&](Runtime& r) {
    require(path != nullptr);
    std::ifstream file(path, std::ios::binary);
    if (!file.good()) {
      say_once(fmt::format("there is no '{}' to load code from, or it cannot be read", path));
      throw Failure{kErrorFileNotFound};
    }
    std::ostringstream whole;  // stays empty for a folder
    whole << file.rdbuf();
    return load(r, library, code_of_file(whole.str()), {options, values, num_options});
  });
}
NW_API cudaLibraryUnload(void* library) {
  return api([&](Runtime& r) {
    Module& module = r.modules.library(library);
    r.modules.remove(module);
    r.device().unload_module(module.handle);
    r.order.host_waited();  // its kernels have ended
    return kSuccess;
  });
}
NW_API cudaLibraryGetKernel(void** kernel, void* library, const char* name) {
  return api([&](Runtime& r) {
    require(kernel != nullptr && name != nullptr);
    Module& module = r.modules.library(library);
    if (module.program->find(name) == nullptr) {
      say_lack(module, name);
      throw Failure{kErrorSymbolNotFound};
    }
    KernelHandle* known = r.modules.find(module.handle, name);
    *kernel = known != nullptr ? known : &r.modules.kernel(module, name);
    return kSuccess;
  });
}
NW_API cudaLibraryGetKernelCount(unsigned* count, void* library) {
  return api([&](Runtime& r) {
    require(count != nullptr);
    *count = static_cast<unsigned>(r.modules.library(library).program->kernels.size());
    return kSuccess;
  });
}
NW_API cudaLibraryEnumerateKernels(void** kernels, unsigned room, void* library) {
  return api([&](Runtime& r) {
    require(kernels != nullptr);
    Module& module = r.modules.library(library);
    unsigned i = 0;
    for (const auto& k : module.program->kernels) {
      if (i == room) break;
      KernelHandle* known = r.modules.find(module.handle, k.name);
      kernels[i++] = known != nullptr ? known : &r.modules.kernel(module, k.name);
    }
    return kSuccess;
  });
}
NW_API cudaLibraryGetGlobal(void** pointer, size_t* bytes, void* library, const char* name) {
  return get_variable(pointer, bytes, library, name);
}
NW_API cudaLibraryGetManaged(void** pointer, size_t* bytes, void* library, const char* name) {
  return get_variable(pointer, bytes, library, name);
}
NW_API cudaLibraryGetUnifiedFunction(void**, void* library, const char*) {
  return api([&](Runtime& r) {
    r.modules.library(library);
    return kErrorSymbolNotFound;
  });
}
