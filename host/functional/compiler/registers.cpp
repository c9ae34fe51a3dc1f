// Registers per thread as occupancy counts them.
#include "host/functional/compiler/registers.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/functional/compiler/kernel.h"

namespace nearwarp::compiler {

std::string source_text(const RegisterCount& count) {
  const auto of = [&](const char* who) {
    return count.architecture == 0 ? std::string(who)
                                   : fmt::format("{} sm_{}", who, count.architecture);
  };
  switch (count.source) {
    case RegisterSource::kCubin:
      return of("cubin");
    case RegisterSource::kPtxas:
      return of("ptxas");
    case RegisterSource::kTrace:
      return of("trace");
    default:
      return "own allocation";
  }
}

uint32_t occupancy_registers(const Kernel& kernel, uint32_t sm_registers, uint64_t block_threads) {
  constexpr uint32_t kMost = 255, kLeast = 16, kStep = 8;
  uint32_t limit = kMost;
  const auto fit = [&](uint64_t threads, uint64_t blocks) {
    const uint64_t whole = (threads + 31) / 32 * 32 * blocks;
    limit = std::min(limit, static_cast<uint32_t>(sm_registers / whole) / kStep * kStep);
  };
  if (kernel.bounds.max_threads != 0)
    fit(kernel.bounds.max_threads, std::max(kernel.bounds.min_blocks, 1u));
  if (block_threads != 0) fit(block_threads, 1);
  if (kernel.bounds.max_registers != 0) limit = std::min(limit, kernel.bounds.max_registers);
  const uint32_t counted = kernel.machine_code.source == RegisterSource::kOwn
                               ? kernel.num_physical
                               : kernel.machine_code.per_thread;
  return std::min(counted, std::max(limit, kLeast));
}

}  // namespace nearwarp::compiler
