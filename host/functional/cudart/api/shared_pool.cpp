// Entry points by which processes share pools: a pool goes over as the descriptor of the file that
// device memory is from then on, an allocation of it by its place there.
#include <fcntl.h>
#include <sys/stat.h>

#include <cstring>

#include "host/functional/cudart/api/pool.h"
#include "host/functional/cudart/runtime/runtime.h"
#include "host/functional/memory/shared_memory.h"

using namespace nearwarp::cudart;

namespace {

constexpr int kFileDescriptor = 1;               // cudaMemHandleTypePosixFileDescriptor
constexpr uint64_t kMagic = 0x6c6f702d7077726e;  // "nrwp-pol"

/// The content of what cudaMemPoolPtrExportData gives; all else of it is 0.
struct Place {
  uint64_t magic, offset, bytes;
};
static_assert(sizeof(Place) <= sizeof(PoolPointer));

}  // namespace

NW_API cudaMemPoolExportToShareableHandle(void* handle, Pool* pool, int type, unsigned flags) {
  return api([&](Runtime& r) {
    require(handle != nullptr && flags == 0);
    require(type == kFileDescriptor, kErrorNotSupported);
    require(checked_pool(pool).is_shareable);
    try {
      const int file = fcntl(r.device().share_memory(), F_DUPFD_CLOEXEC, 0);
      require(file >= 0, kErrorOperatingSystem);
      *static_cast<int*>(handle) = file;
    } catch (const nearwarp::Error& error) {
      throw Failure{kErrorMemoryAllocation, error.what()};
    }
    return kSuccess;
  });
}
/// The descriptor stays the caller's.
NW_API cudaMemPoolImportFromShareableHandle(Pool** pool, void* handle, int type, unsigned flags) {
  return api([&](Runtime& r) {
    require(pool != nullptr && flags == 0);
    require(type == kFileDescriptor, kErrorNotSupported);
    r.device();
    const auto file = static_cast<int>(reinterpret_cast<intptr_t>(handle));
    require(nearwarp::runtime::is_shared_memory(file));
    auto made = std::make_unique<Pool>();
    made->file = fcntl(file, F_DUPFD_CLOEXEC, 0);
    require(made->file >= 0, kErrorOperatingSystem);
    *pool = keep_pool(std::move(made));
    return kSuccess;
  });
}
NW_API cudaMemPoolExportPointer(PoolPointer* to, void* pointer) {
  return api([&](Runtime& r) {
    uint64_t start = 0;
    const Memory::Region* region = r.memory.find(r, pointer, &start);
    require(to != nullptr && region != nullptr && region->pool != nullptr);
    // The pool may be gone, though what was allocated from it is not.
    require(checked_pool(static_cast<Pool*>(const_cast<void*>(region->pool))).is_shareable);
    const Place place{kMagic, start - nearwarp::exec::kDeviceBase,
                      r.device().find_allocation(start)->bytes};
    *to = {};
    std::memcpy(to, &place, sizeof(place));
    return kSuccess;
  });
}
NW_API cudaMemPoolImportPointer(void** pointer, Pool* pool, const PoolPointer* from) {
  return api([&](Runtime& r) {
    require(pointer != nullptr && from != nullptr);
    const Pool& p = checked_pool(pool);
    Place place{};
    std::memcpy(&place, from, sizeof(place));
    struct stat about {};
    require(p.file >= 0 && place.magic == kMagic && fstat(p.file, &about) == 0);
    const auto size = static_cast<uint64_t>(about.st_size);
    require(place.bytes > 0 && place.bytes <= size && place.offset <= size - place.bytes);
    require(place.offset % nearwarp::runtime::kAllocationAlignment == 0);
    *pointer = reinterpret_cast<void*>(r.virtual_memory.open(r, p.file, place.offset, place.bytes,
                                                             VirtualMemory::Opened::kFromPool));
    return kSuccess;
  });
}
