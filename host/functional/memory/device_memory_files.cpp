// Files in the virtual device's address range: memory that programs map by hand, and memory that
// other processes see.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "host/core/error.h"
#include "host/functional/memory/device_memory.h"
#include "host/functional/memory/shared_memory.h"

namespace nearwarp::runtime {

void DeviceMemory::map_file(uint64_t address, uint64_t bytes, int file, uint64_t offset) {
  void* const at = arena_ + (address - exec::kDeviceBase);
  if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
           static_cast<off_t>(offset)) == MAP_FAILED)
    throw Error(
        fmt::format("cannot map {} bytes of memory at {:#x}: {} - too many mappings "
                    "(vm.max_map_count), or the file is too short",
                    bytes, address, std::strerror(errno)));
}

void DeviceMemory::unmap_file(uint64_t address, uint64_t bytes) {
  mmap(arena_ + (address - exec::kDeviceBase), bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void DeviceMemory::add_mapped(uint64_t address, uint64_t bytes, std::string label) {
  add_range(address, bytes, std::move(label));
}

void DeviceMemory::remove_mapped(uint64_t address) {
  live_.erase(address);
  std::erase_if(ranges_, [&](const exec::Range& r) { return r.lo == address; });
  pages_current_ = false;
}

int DeviceMemory::share() {
  if (file_ >= 0) return file_;
  const int file = memfd_create("nearwarp device memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes_)) != 0 ||
      fcntl(file, F_ADD_SEALS, kSharedMemorySeals) != 0) {
    const std::string why = std::strerror(errno);
    if (file >= 0) close(file);
    throw Error(
        fmt::format("cannot make a file of {} bytes for memory that processes share: {} - "
                    "memory for it must be allowed (memfd_create)",
                    bytes_, why));
  }
  for (const exec::Range& r : ranges_) {
    if (r.lo - exec::kDeviceBase >= bytes_) continue;  // mapped, as it stays
    for (uint64_t done = 0; done < r.bytes;) {
      const uint64_t at = r.lo - exec::kDeviceBase + done;
      const ssize_t n = pwrite(file, arena_ + at, r.bytes - done, static_cast<off_t>(at));
      if (n <= 0) {
        const std::string why = std::strerror(errno);
        close(file);
        throw Error(
            fmt::format("cannot write device memory to the file that processes share: {} - "
                        "more memory is needed",
                        why));
      }
      done += static_cast<uint64_t>(n);
    }
  }
  if (mmap(arena_, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file,
           0) == MAP_FAILED) {
    const std::string why = std::strerror(errno);
    close(file);
    throw Error(
        fmt::format("cannot map the file of device memory: {} - more memory is needed", why));
  }
  return file_ = file;
}

}  // namespace nearwarp::runtime
