// The virtual device's memory: a reserved arena at a fixed device address range, its allocations.
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

/// First device address that allocate() gives out; the parameter bank lies below.
inline constexpr uint64_t kHeapBase = exec::kDeviceBase + (uint64_t{2} << 20);
inline constexpr uint64_t kParamBank = exec::kDeviceBase;
inline constexpr uint64_t kParamBankBytes = uint64_t{64} << 10;

class DeviceMemory {
 public:
  /// Reserve `bytes` of address space; pages are taken when touched. With `same_addresses`, host
  /// addresses of the memory equal device addresses. Throws nearwarp::Error.
  /// `mapped_bytes` more, for files (map_file()), are taken where nothing else lies there.
  explicit DeviceMemory(uint64_t bytes, bool same_addresses = false, uint64_t mapped_bytes = 0);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  uint64_t allocate(uint64_t bytes, std::string label);
  void free(uint64_t address);
  /// Host address of [address, address + bytes); throws nearwarp::Error unless it lies inside one
  /// allocation. `what` names the operation.
  uint8_t* host(uint64_t address, uint64_t bytes, const char* what) const;
  /// The live allocation that `address` lies in; nullptr if there is none.
  const Allocation* find(uint64_t address) const;
  uint8_t* parameter_bank() const { return arena_; }

  /// From now on, remember which bytes of allocations somebody has written. Throws nearwarp::Error.
  void track_writes();
  /// By offsets from kDeviceBase; nullptr: nobody wants to know.
  racecheck::WrittenBytes* written() const { return written_.get(); }
  /// Without track_writes(), these do nothing. Contents have come from outside, or from elsewhere
  /// in device memory; are unknown again; or may be written by somebody who does not tell.
  void note_written(uint64_t address, uint64_t bytes);
  void note_copied(uint64_t to, uint64_t from, uint64_t bytes);
  void note_unwritten(uint64_t address, uint64_t bytes);
  void note_all_written();

  uint8_t* arena() const { return arena_; }
  uint64_t memory_bytes() const { return bytes_; }
  /// Bytes with the addresses for files, whether they could be had or not.
  uint64_t arena_bytes() const { return bytes_ + mapped_bytes_; }

  /// Addresses behind the memory at which files may be mapped; none, if something else lies there.
  exec::Range mapped_addresses() const {
    return {exec::kDeviceBase + bytes_, has_mapped_ ? mapped_bytes_ : 0};
  }
  /// Contents of [address, address + bytes) there are the file's from `offset` on; all are
  /// multiples of pages. Throws nearwarp::Error.
  void map_file(uint64_t address, uint64_t bytes, int file, uint64_t offset);
  void unmap_file(uint64_t address, uint64_t bytes);
  /// Programs may use [address, address + bytes) of what is mapped, as if it were an allocation.
  void add_mapped(uint64_t address, uint64_t bytes, std::string label);
  void remove_mapped(uint64_t address);
  /// From now on the memory is a file that other processes can map, whose bytes lie as they do from
  /// kDeviceBase on; returns its descriptor. Throws nearwarp::Error.
  int share();
  /// Live ranges sorted by address, the parameter bank first.
  const std::vector<exec::Range>& ranges() const { return ranges_; }
  /// Pages of 2 MiB in which allocations lie, as ranges sorted by address that do not touch. These
  /// are what a GPU maps: accesses beside an allocation, but in its page, go unnoticed there.
  const std::vector<exec::Range>& pages();
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
  int file_ = -1;  // of share()
  uint64_t used_bytes_ = 0;
  uint64_t next_ = kHeapBase;          // first never-used address
  std::map<uint64_t, uint64_t> free_;  // address -> bytes (rounded), coalesced
  std::map<uint64_t, Allocation> live_;
  std::vector<exec::Range> ranges_, pages_;
  bool pages_current_ = false;
  std::unique_ptr<racecheck::WrittenBytes> written_;
  bool all_written_ = false;  // note_all_written(), and nothing since
  std::vector<Allocation> table_;
};

}  // namespace nearwarp::runtime
