// Entry points by which processes share memory and events. Memory that one hands over becomes a
// file, which the other maps at an address of its own.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "host/functional/cudart/runtime/runtime.h"
#include "host/functional/memory/shared_memory.h"

using namespace nearwarp::cudart;

namespace {

constexpr uint64_t kMagic = 0x6370692d7077726e;  // "nrwp-ipc"
enum class What : uint32_t { kMemory = 1, kEvent = 2 };

/// The content of a handle; all else of it is 0.
struct Content {
  uint64_t magic;
  What what;
  int process;
  int file;  ///< of that process: its device memory
  unsigned flags;
  uint64_t offset, bytes;
};
static_assert(sizeof(Content) <= sizeof(IpcHandle));

IpcHandle handle_of(const Content& content) {
  IpcHandle handle{};
  std::memcpy(&handle, &content, sizeof(content));
  return handle;
}
/// Throws Failure for what is no handle of that kind.
Content content_of(const IpcHandle& handle, What what) {
  Content content;
  std::memcpy(&content, &handle, sizeof(content));
  require(content.magic == kMagic && content.what == what);
  return content;
}

}  // namespace

NW_API cudaIpcGetMemHandle(IpcHandle* handle, void* pointer) {
  return api([&](Runtime& r) {
    require(handle != nullptr);
    uint64_t start = 0;
    const Memory::Region* region = r.memory.find(r, pointer, &start);
    require(region != nullptr && region->kind == Memory::Kind::kDevice && !region->variable &&
            region->pool == nullptr);
    try {
      const int file = r.device().share_memory();
      *handle =
          handle_of({kMagic, What::kMemory, getpid(), file, 0, start - nearwarp::exec::kDeviceBase,
                     r.device().find_allocation(start)->bytes});
    } catch (const nearwarp::Error& error) {
      throw Failure{kErrorMemoryAllocation, error.what()};
    }
    return kSuccess;
  });
}
NW_API cudaIpcOpenMemHandle(void** pointer, IpcHandle handle, unsigned flags) {
  return api([&](Runtime& r) {
    constexpr unsigned kLazyEnablePeerAccess = 1;
    require(pointer != nullptr && flags == kLazyEnablePeerAccess);
    const Content content = content_of(handle, What::kMemory);
    require(content.process != getpid(), kErrorDeviceUninitialized);  // it has the memory itself
    r.device();
    const std::string path =
        "/proc/" + std::to_string(content.process) + "/fd/" + std::to_string(content.file);
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0)
      throw Failure{kErrorMapBufferObjectFailed,
                    "process " + std::to_string(content.process) +
                        ", whose memory it is, has ended or is another user's"};
    const struct Closing {
      int file;
      ~Closing() { close(file); }
    } closing{file};
    require(nearwarp::runtime::is_shared_memory(file), kErrorMapBufferObjectFailed);
    *pointer = reinterpret_cast<void*>(r.virtual_memory.open(r, file, content.offset, content.bytes,
                                                             VirtualMemory::Opened::kByHandle));
    return kSuccess;
  });
}
NW_API cudaIpcCloseMemHandle(void* pointer) {
  return api([&](Runtime& r) {
    r.virtual_memory.close(r, reinterpret_cast<uint64_t>(pointer),
                           VirtualMemory::Opened::kByHandle);
    r.order.host_waited();
    return kSuccess;
  });
}

/// All work is done in the calls that ask for it: what the event stands for in the other process is
/// complete.
NW_API cudaIpcGetEventHandle(IpcHandle* handle, void* event) {
  return api([&](Runtime& r) {
    constexpr unsigned kDisableTiming = 2, kInterprocess = 4;
    require(handle != nullptr);
    const unsigned flags = r.streams.event(event).flags;
    require((flags & kInterprocess) != 0 && (flags & kDisableTiming) != 0,
            kErrorInvalidResourceHandle);
    *handle = handle_of({kMagic, What::kEvent, getpid(), 0, flags, 0, 0});
    return kSuccess;
  });
}
NW_API cudaIpcOpenEventHandle(void** event, IpcHandle handle) {
  return api([&](Runtime& r) {
    require(event != nullptr);
    const Content content = content_of(handle, What::kEvent);
    require(content.process != getpid(), kErrorDeviceUninitialized);
    *event = r.streams.create_event(content.flags);
    return kSuccess;
  });
}
