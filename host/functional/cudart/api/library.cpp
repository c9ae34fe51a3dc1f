// Entry points that load code while the application runs: PTX, as a compiler of its own makes it,
// or fat binaries.
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>

#include "host/functional/cudart/runtime.h"

using namespace nearwarp::cudart;

namespace {

constexpr uint32_t kContainer = 0xba55ed50, kWrapper = 0x466243b1, kElf = 0x464c457f;

uint32_t first_word(const void* code) {
  uint32_t word = 0;
  std::memcpy(&word, code, sizeof(word));
  return word;
}

/// How long what begins at `code` is, it says itself: a container by its header, text by a zero at
/// its end. Both lie within `limit` bytes (four of them at least), or else are no such thing.
std::string contents_of(const void* code, size_t limit) {
  struct Header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
  };
  const char* const text = static_cast<const char*>(code);
  const uint32_t magic = first_word(code);
  if (magic == kElf) {
    say_once("a library of machine code (cubin) cannot be loaded - load its PTX");
    throw Failure{kErrorNoKernelImageForDevice};
  }
  if (magic != kContainer) return {text, strnlen(text, limit)};
  require(limit >= sizeof(Header), kErrorInvalidKernelImage);
  Header head;
  std::memcpy(&head, code, sizeof(head));
  require(head.header_bytes <= limit && head.bytes <= limit - head.header_bytes &&
              head.bytes < uint64_t{1} << 32,
          kErrorInvalidKernelImage);
  return {text, head.header_bytes + head.bytes};
}

Status load(void** library, std::string contents) {
  return api([&](Runtime& r) {
    require(library != nullptr);
    Module& module = r.modules.add_library(std::move(contents));
    try {
      r.modules.load(r, module);
    } catch (const Failure&) {
      r.modules.remove(module);
      throw;
    }
    *library = &module;
    return kSuccess;
  });
}

/// A variable of a library, managed or not: the host reaches all device memory.
Status get_variable(void** pointer, size_t* bytes, void* library, const char* name) {
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

/// Options are those of the compiler from PTX to machine code, which is not needed.
NW_API cudaLibraryLoadData(void** library, const void* code, const int*, void**, unsigned,
                           const int*, void**, unsigned) {
  std::string contents;
  const Status status = api([&](Runtime&) {
    require(code != nullptr);
    const void* container = code;
    if (first_word(code) == kWrapper)
      std::memcpy(&container, static_cast<const char*>(code) + 8, sizeof(container));
    require(container != nullptr, kErrorInvalidKernelImage);
    contents = contents_of(container, SIZE_MAX);
    return kSuccess;
  });
  return status == kSuccess ? load(library, std::move(contents)) : status;
}
NW_API cudaLibraryLoadFromFile(void** library, const char* path, const int*, void**, unsigned,
                               const int*, void**, unsigned) {
  std::string contents;
  const Status status = api([&](Runtime&) {
    require(path != nullptr);
    std::ifstream file(path, std::ios::binary);
    require(file.good(), kErrorFileNotFound);
    const std::string whole((std::istreambuf_iterator<char>(file)), {});
    require(whole.size() >= sizeof(uint32_t), kErrorInvalidKernelImage);
    contents = contents_of(whole.data(), whole.size());
    return kSuccess;
  });
  return status == kSuccess ? load(library, std::move(contents)) : status;
}
NW_API cudaLibraryUnload(void* library) {
  return api([&](Runtime& r) {
    Module& module = r.modules.library(library);
    r.modules.remove(module);
    r.device().unload_module(module.handle);
    r.order.host_waited();  // its kernels are no longer under way
    return kSuccess;
  });
}
NW_API cudaLibraryGetKernel(void** kernel, void* library, const char* name) {
  return api([&](Runtime& r) {
    require(kernel != nullptr && name != nullptr);
    Module& module = r.modules.library(library);
    require(module.program->find(name) != nullptr, kErrorSymbolNotFound);
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

/// Functions of the driver: none is there.
NW_API cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long,
                               int* found) {
  return api([&](Runtime&) {
    constexpr int kNotFound = 1;
    require(symbol != nullptr && function != nullptr);
    *function = nullptr;
    if (found != nullptr) *found = kNotFound;
    return found != nullptr ? kSuccess : kErrorSymbolNotFound;
  });
}
NW_API cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                        unsigned long long flags, int* found) {
  return cudaGetDriverEntryPoint(symbol, function, flags, found);
}
