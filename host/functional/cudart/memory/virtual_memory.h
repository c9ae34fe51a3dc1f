// Memory that programs map by hand: addresses that they reserve, memory that has none of its own,
// and which of it lies where.
//
// Such memory is a file, so that it can lie at several addresses, and in several processes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "host/functional/cudart/abi.h"
#include "host/functional/cudart/process.h"

namespace nearwarp::cudart {

/// Bytes of a file.
class PhysicalMemory {
 public:
  PhysicalMemory(int file, uint64_t bytes, const PhysicalProps& properties, bool is_foreign)
      : file_(file), bytes_(bytes), properties_(properties), is_foreign_(is_foreign) {}
  ~PhysicalMemory();
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  int file() const { return file_; }
  uint64_t bytes() const { return bytes_; }
  const PhysicalProps& properties() const { return properties_; }
  bool is_foreign() const { return is_foreign_; }  ///< of another process, which pays for it

 private:
  int file_;
  uint64_t bytes_;
  PhysicalProps properties_;
  bool is_foreign_;
};

class VirtualMemory {
 public:
  using Handle = unsigned long long;
  static constexpr uint64_t kGranularity = uint64_t{2} << 20;

  // All throw Failure for what CUDA's reference calls invalid.
  uint64_t reserve(Process& process, uint64_t bytes, uint64_t alignment, uint64_t wanted);
  void release(uint64_t address, uint64_t bytes);

  Handle create(Process& process, uint64_t bytes, const PhysicalProps& properties);
  /// One of another process; takes the descriptor.
  Handle import(int file);
  /// A reference to the memory behind an address.
  Handle retain(uint64_t address);
  /// The memory goes with the last reference and the last mapping.
  void release(Handle handle);
  const PhysicalMemory& memory(Handle handle) const;

  void map(Process& process, uint64_t address, uint64_t bytes, Handle handle);
  /// Removes whole mappings.
  void unmap(Process& process, uint64_t address, uint64_t bytes);
  void set_access(Process& process, uint64_t address, uint64_t bytes, int flags);
  /// 0 where nothing may be accessed.
  int access(uint64_t address) const;

  /// How memory of another process was handed over.
  enum class Opened : uint8_t { kByHandle, kFromPool };
  /// Part of a file of another process, at an address of its own; `offset` need not begin a page.
  /// Memory that a handle has opened stays where it is, and is closed as often as it was opened.
  uint64_t open(Process& process, int file, uint64_t offset, uint64_t bytes, Opened how);
  /// Closes memory that open() gave, handed over in this way.
  void close(Process& process, uint64_t address, Opened how);
  bool is_open(uint64_t address, Opened how) const;

  /// Bytes of all memory that was made here.
  uint64_t bytes() const;
  /// The device was reset: everything is gone.
  void forget(Process& process);

 private:
  struct Mapping {
    uint64_t bytes = 0;
    std::shared_ptr<const PhysicalMemory> memory;
    int access = 0;
  };
  struct Entry {
    std::shared_ptr<const PhysicalMemory> memory;
    uint64_t references = 0;
  };

  /// Mappings that lie exactly in the range, without gaps.
  std::map<uint64_t, Mapping>::iterator whole_mappings(uint64_t address, uint64_t bytes);
  Handle add(std::shared_ptr<const PhysicalMemory> memory);
  /// Tells the device what may be accessed in the reservation that `address` lies in.
  void publish(Process& process, uint64_t address);

  std::map<uint64_t, uint64_t> reservations_;  ///< address -> bytes
  std::map<uint64_t, Mapping> mappings_;       ///< by address
  std::map<Handle, Entry> handles_;
  struct Foreign {
    uint64_t reservation;
    Opened how;
    std::array<uint64_t, 4> place;  ///< device and number of the file, offset, bytes
    uint64_t count;                 ///< that it was opened
  };
  std::set<uint64_t> published_;        ///< starts of ranges that the device knows
  std::map<uint64_t, Foreign> opened_;  ///< by address
  Handle next_ = 0x100;
};

}  // namespace nearwarp::cudart
