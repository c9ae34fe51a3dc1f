// Calls that libcuda.so.1 makes beyond the runtime's entry points.
#include "host/functional/cudart/api/driver_link.h"

#include <fmt/format.h>

#include <cstring>

#include "host/functional/compiler/kernel.h"
#include "host/functional/cudart/code/fat_binary.h"
#include "host/functional/cudart/code/linked_ptx.h"
#include "host/functional/cudart/runtime/graph_work.h"
#include "host/functional/cudart/runtime/runtime.h"

using namespace nearwarp::cudart;

#define NW_LINK(type) extern "C" __attribute__((visibility("default"))) type

NW_LINK(ThreadState*) nw_driver_thread() { return &thread_state(); }

NW_LINK(void*) nw_driver_primary_context(int device) { return primary_context(device); }

NW_LINK(bool) nw_driver_has_device() {
  Runtime& r = the_runtime();
  const std::lock_guard lock(r.mutex);
  return r.has_device();
}

NW_LINK(bool) nw_driver_runtime_used() {
  Runtime& r = the_runtime();
  const std::lock_guard lock(r.mutex);
  return r.primary_used;
}

NW_LINK(void) nw_driver_say_once(const char* message) {
  const std::lock_guard lock(the_runtime().mutex);
  say_once(message);
}

NW_LINK(Status) nw_driver_range(const void* pointer, void** start, size_t* bytes) {
  return api([&](Runtime& r) {
    uint64_t address = 0;
    if (r.memory.find(r, pointer, &address) != nullptr) {
      const auto* allocation = r.device().find_allocation(address);
      if (start != nullptr) *start = reinterpret_cast<void*>(address);
      if (bytes != nullptr) *bytes = allocation->bytes;
      return kSuccess;
    }
    const auto* registered = r.memory.registered(pointer);
    require(registered != nullptr);
    if (start != nullptr) *start = reinterpret_cast<void*>(registered->first);
    if (bytes != nullptr) *bytes = registered->second.bytes;
    return kSuccess;
  });
}

NW_LINK(Status) nw_driver_fill(const MemsetParams* fill, Stream stream) {
  return api([&](Runtime& r) {
    r.enqueue(stream, NodeType::kFill, fill_work(fill));
    return kSuccess;
  });
}

NW_LINK(Status) nw_driver_library_of(void** library, const void* kernel) {
  return api([&](Runtime& r) {
    require(library != nullptr);
    *library = r.modules.kernel(kernel).module;
    return kSuccess;
  });
}

NW_LINK(Status)
nw_driver_read_ptx(const void* code, size_t bytes, NwGiveText give, void* to) {
  return api([&](Runtime& r) {
    constexpr uint32_t kContainer = 0xba55ed50, kElf = 0x464c457f;
    uint32_t magic = 0;
    require(code != nullptr && bytes >= sizeof(magic), kErrorInvalidKernelImage);
    std::memcpy(&magic, code, sizeof(magic));
    if (magic == kElf) {
      say_once("machine code (cubin) cannot be linked - link its PTX");
      return kErrorNoKernelImageForDevice;
    }
    if (magic != kContainer) {
      const char* const text = static_cast<const char*>(code);
      give(to, text, strnlen(text, bytes));
      return kSuccess;
    }
    try {
      const FatBinary fat = read_fat_container(code, bytes, r.spec().capability);
      for (const PtxImage& image : fat.images) give(to, image.text.data(), image.text.size());
      return fat.images.empty() ? kErrorNoKernelImageForDevice : kSuccess;
    } catch (const nearwarp::Error& error) {
      say(error.what());
      return kErrorInvalidKernelImage;
    }
  });
}

NW_LINK(Status)
nw_driver_link_ptx(const char* const* units, size_t count, NwGiveText give, NwGiveText problem,
                   void* to) {
  return api([&](Runtime&) {
    require(count != 0);
    const std::vector<std::string> texts(units, units + count);
    std::vector<nearwarp::compiler::PtxSource> sources;
    for (const std::string& text : texts)
      sources.push_back({text, fmt::format("linked.{}.ptx", sources.size() + 1)});
    try {
      nearwarp::compiler::link_ptx(sources);
    } catch (const nearwarp::Error& error) {
      say(error.what());
      problem(to, error.what(), std::strlen(error.what()));
      return kErrorInvalidPtx;
    }
    const std::string all = join_ptx(texts);
    give(to, all.data(), all.size());
    return kSuccess;
  });
}

NW_LINK(Status)
nw_driver_launch(const LaunchConfig* config, const void* kernel, void** args, void** extra) {
  const OuterCall outer({"cudaLaunchKernel", nullptr});
  return api([&](Runtime& r) {
    const LaunchKind kind = kind_of(config);
    r.enqueue(config->stream, NodeType::kKernel,
              prepare_launch(r, r.modules.kernel(kernel), *config, args, kind, extra));
    return kSuccess;
  });
}
