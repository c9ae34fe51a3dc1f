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
  /// Asked some times a second while a kernel runs; returns false to stop it. launch() fails then,
  /// and the program has only those of the kernel's thread blocks that had ended.
  std::function<bool(const Activity&)> progress = {};
  /// Called with the text that kernels print, thread block after thread block; empty: it is lost.
  std::function<void(const std::string&)> print = {};
};

/// The functional part of a simulated GPU: executes kernels of PTX, and keeps what they did as a
/// program.
///
/// While a kernel runs, the functions of DeviceOptions may call read() and write(). Their other
/// calls, and all calls by other threads, fail until it has ended.
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
  /// A program of all kernels that have been launched; a failure if there were none. The device
  /// begins anew: modules and allocations are gone.
  Expected<Program> take_program(const std::string& name);

  struct State;

 private:
  State& state() const;
  std::unique_ptr<State> state_;
};

}  // namespace nearwarp
