// Reserves the range of host addresses at which the simulated GPU's memory has to lie.
#include "host/functional/cudart/memory/address_range.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "host/functional/cudart/device_spec.h"
#include "host/functional/instructions/decoded.h"

namespace nearwarp::cudart {

namespace {

constexpr const char* kTriesVariable = "NEARWARP_CUDART_TRIES";
constexpr int kMaxTries = 20;

void* reserved = nullptr;
uint64_t reserved_bytes = 0;

bool reserve(uint64_t bytes) {
  void* const wanted = reinterpret_cast<void*>(exec::kDeviceBase);
  void* const p = mmap(wanted, bytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (p == MAP_FAILED) return false;
  if (p != wanted) {  // kernels before 4.17 take the address as a hint only
    munmap(p, bytes);
    return false;
  }
  reserved = p;
  reserved_bytes = bytes;
  return true;
}

/// Does the program itself need this library, or libcuda.so.1, which needs it? Then the library is
/// loaded before the program's main(), and nothing of the program has run yet but constructors of
/// libraries.
bool needed_by_program() {
  bool needed = false;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* result) {
        const ElfW(Dyn)* dynamic = nullptr;
        for (int i = 0; i < info->dlpi_phnum; ++i)
          if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic =
                reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        const char* strings = nullptr;
        for (const ElfW(Dyn)* d = dynamic; d != nullptr && d->d_tag != DT_NULL; ++d)
          if (d->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(d->d_un.d_ptr);
        for (const ElfW(Dyn)* d = dynamic; strings != nullptr && d->d_tag != DT_NULL; ++d)
          if (d->d_tag == DT_NEEDED)
            for (const char* const name : {"libcudart.so.13", "libcudart.so.12", "libcuda.so.1"})
              if (std::strcmp(strings + d->d_un.d_val, name) == 0)
                *static_cast<bool*>(result) = true;
        return 1;  // the first one is the program
      },
      &needed);
  return needed;
}

}  // namespace

void release_address_range() {
  if (reserved != nullptr) munmap(reserved, reserved_bytes);
  reserved = nullptr;
}

void keep_address_range_free(char** argv) {
  const uint64_t memory = DeviceSpec{}.memory_bytes;
  if (reserve(memory + kMappedBytes)) return;
  // From here on a reservation may fail. The first use of the device, or of addresses for mappings,
  // then reports why there is no room.
  if (!needed_by_program()) {
    reserve(memory);
    return;
  }
  const char* tries = std::getenv(kTriesVariable);
  const int number = tries == nullptr ? 0 : std::atoi(tries);
  if (number >= kMaxTries) {
    reserve(memory);
    return;
  }
  setenv(kTriesVariable, std::to_string(number + 1).c_str(), 1);
  execv("/proc/self/exe", argv);
  unsetenv(kTriesVariable);  // execv() has failed: go on
  reserve(memory);
}

}  // namespace nearwarp::cudart
