// A simulated GPU on which programs of one's own launch kernels of PTX.
#pragma once

#include <nearwarp/failure.h>
#include <nearwarp/program.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace nearwarp {

/// x, y, z of a grid (thread blocks) or a block (threads).
struct Extent {
  uint32_t x = 1, y = 1, z = 1;
};

struct DeviceOptions {
  /// Asked some times a second while a kernel runs; returns false to stop. launch() fails then, and
  /// of the kernel's thread blocks those are in the program that had come to their end.
  std::function<bool(const Activity&)> progress = {};
  /// Told what kernels print, thread block after thread block; empty: it is lost.
  std::function<void(const std::string&)> print = {};
};

/// A simulated GPU's functional part: runs kernels of PTX, and keeps what they did as a program.
///
/// While a kernel runs, its options' functions may read() and write() memory; all else fails until
/// it has ended, and in other threads everything does.
class NEARWARP_API Device {
 public:
  explicit Device(DeviceOptions options = {});
  ~Device();
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;

  /// Loads PTX text; `name` stands in messages. Returns a number for launch().
  Expected<uint32_t> load(const std::string& ptx, const std::string& name = "text");
  /// Device memory: addresses are those that a kernel gets as its arguments.
  Expected<uint64_t> allocate(uint64_t bytes, const std::string& name = {});
  Expected<Done> free(uint64_t address);
  Expected<Done> write(uint64_t address, std::span<const std::byte> bytes);
  Expected<Done> read(uint64_t address, std::span<std::byte> bytes) const;
  /// Runs a kernel to its end. `arguments`: its parameters' bytes, each aligned to its own size.
  Expected<Done> launch(uint32_t module, const std::string& kernel, Extent grid, Extent block,
                        std::span<const std::byte> arguments, uint32_t dynamic_shared_bytes = 0);
  /// All that has been launched. The device begins anew: what it has loaded and allocated is gone.
  Expected<Program> take_program(const std::string& name);

  struct State;

 private:
  State& state() const;
  std::unique_ptr<State> state_;
};

}  // namespace nearwarp
