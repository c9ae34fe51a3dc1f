// The virtual device's memory: an arena of reserved host addresses that stands for a fixed range of
// device addresses, and the allocations in it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/functional/instructions/decoded.h"
#include "host/functional/racecheck/written.h"
#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// The lowest device address that allocate() returns. The parameter bank, which holds kernels'
/// parameters, lies below.
inline constexpr uint64_t kHeapBase = exec::kDeviceBase + (uint64_t{2} << 20);
inline constexpr uint64_t kParamBank = exec::kDeviceBase;
inline constexpr uint64_t kParamBankBytes = uint64_t{64} << 10;

class DeviceMemory {
 public:
  /// Reserve `bytes` of address space; the host allocates pages when they are touched. With
  /// `same_addresses`, host addresses of the memory equal device addresses, and `mapped_bytes` more
  /// are reserved behind it for map_file(), if these addresses are free. Throws nearwarp::Error.
  explicit DeviceMemory(uint64_t bytes, bool same_addresses = false, uint64_t mapped_bytes = 0);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  uint64_t allocate(uint64_t bytes, std::string label);
  void free(uint64_t address);
  /// Host address of [address, address + bytes). Throws nearwarp::Error unless the range lies
  /// inside one allocation; `what` names the operation in the message.
  uint8_t* host(uint64_t address, uint64_t bytes, const char* what) const;
  /// The live allocation that contains `address` or ends there; nullptr if there is none.
  const Allocation* find(uint64_t address) const;
  uint8_t* parameter_bank() const { return arena_; }

  /// Begin to track which bytes of allocations have been written. Throws nearwarp::Error.
  void track_writes();
  /// The written bytes by their offsets from kDeviceBase; nullptr without track_writes().
  racecheck::WrittenBytes* written() const { return written_.get(); }
  /// Note that bytes were written by the host, were copied within device memory, or have no defined
  /// contents any more; note_all_written() is for writers that cannot be observed. Without
  /// track_writes(), these functions do nothing.
  void note_written(uint64_t address, uint64_t bytes);
  void note_copied(uint64_t to, uint64_t from, uint64_t bytes);
  void note_unwritten(uint64_t address, uint64_t bytes);
  void note_all_written();

  uint8_t* arena() const { return arena_; }
  uint64_t memory_bytes() const { return bytes_; }
  /// memory_bytes() and the addresses for files, whether these could be reserved or not.
  uint64_t arena_bytes() const { return bytes_ + mapped_bytes_; }

  /// Addresses behind the memory at which files may be mapped; an empty range if they were not
  /// free.
  exec::Range mapped_addresses() const {
    return {exec::kDeviceBase + bytes_, has_mapped_ ? mapped_bytes_ : 0};
  }
  /// Map the bytes of `file` from `offset` on at [address, address + bytes), which is a part of
  /// mapped_addresses(). All three are multiples of the page size. Throws nearwarp::Error.
  void map_file(uint64_t address, uint64_t bytes, int file, uint64_t offset);
  void unmap_file(uint64_t address, uint64_t bytes);
  /// Let programs use the mapped range [address, address + bytes) as if it were an allocation.
  void add_mapped(uint64_t address, uint64_t bytes, std::string label);
  void remove_mapped(uint64_t address);
  /// Turn the memory into a file that other processes can map, in which a byte's offset is its
  /// distance from kDeviceBase. Returns the file's descriptor. Throws nearwarp::Error.
  int share();
  /// Live ranges sorted by address, the parameter bank first.
  const std::vector<exec::Range>& ranges() const { return ranges_; }
  /// Pages of 2 MiB with allocations, as ranges sorted by address that do not touch. A GPU maps
  /// whole pages, so it does not notice accesses beside an allocation that hit one of its pages.
  const std::vector<exec::Range>& pages();
  /// All allocations since the beginning in their order, live or not.
  const std::vector<Allocation>& table() const { return table_; }
  /// Bytes of live allocations.
  uint64_t used_bytes() const { return used_bytes_; }
  /// "byte 16 of the allocation 'x' of 400 bytes at 0x7f..." for an address inside of one.
  std::string describe(uint64_t address) const;
  /// "4 bytes after the allocation 'x' of 400 bytes at 0x7f..." for an address outside of all.
  std::string describe_nearest(uint64_t address, uint64_t bytes) const;

 private:
  void add_range(uint64_t address, uint64_t bytes, std::string label);

  uint8_t* arena_ = nullptr;
  uint64_t bytes_ = 0, mapped_bytes_ = 0;
  bool has_mapped_ = false;
  int file_ = -1;  // descriptor that share() returned
  uint64_t used_bytes_ = 0;
  uint64_t next_ = kHeapBase;          // first never-used address
  std::map<uint64_t, uint64_t> free_;  // address -> bytes (rounded), coalesced
  std::map<uint64_t, Allocation> live_;
  std::vector<exec::Range> ranges_, pages_;
  bool pages_current_ = false;
  std::unique_ptr<racecheck::WrittenBytes> written_;
  bool all_written_ = false;  // nothing has become unwritten since note_all_written()
  std::vector<Allocation> table_;
};

}  // namespace nearwarp::runtime
