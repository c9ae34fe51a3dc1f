// Finds the memory and the code that a chunk's thread blocks touch.
#include "host/recording/chunk_touches.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "host/recording/chunk_walk.h"
#include "host/recording/record_lines.h"

namespace nearwarp::runtime {
namespace {

/// Takes a chunk's traces warp by warp.
class Taker {
 public:
  Taker(const compiler::Kernel& kernel, uint32_t line_shift)
      : kernel_(kernel), line_shift_(line_shift), code_of_(kernel.blocks.size(), kNone) {}

  void warp(uint64_t block, uint32_t) { block_ = static_cast<uint32_t>(block); }
  void run(uint32_t block, uint32_t, uint32_t) {
    uint32_t& at = code_of_[block];
    if (at == kNone) {
      at = static_cast<uint32_t>(found.code.size());
      found.code.push_back({block, 0});
    }
    found.code[at].after = found.records;
  }
  void record(uint32_t instruction, uint32_t lanes, const uint64_t* words) {
    found.records += 1;
    const compiler::Instruction& in = kernel_.instructions[instruction];
    if (!is_of_device(in.mod.space)) return;
    const bool local = in.mod.space != ptx::Space::kGlobal && in.mod.space != ptx::Space::kGeneric;
    const ChunkTouches::Touch kind{.store = in.op == ptx::Opcode::kSt, .local = local};
    each_line(words, lanes, line_shift_, [&](uint64_t line, uint32_t sectors) {
      found.transactions += 1;
      found.transacted_sectors += static_cast<uint32_t>(std::popcount(sectors));
      touch(static_cast<uint32_t>(line), sectors, kind);
    });
  }

  ChunkTouches found;

 private:
  static constexpr uint32_t kNone = ~0u, kRecent = 1024;

  void touch(uint32_t line, uint32_t sectors, const ChunkTouches::Touch& kind) {
    uint32_t& at = recent_[(line << 1 | (kind.store ? 1 : 0)) % kRecent];
    if (at < found.touches.size()) {
      ChunkTouches::Touch& t = found.touches[at];
      if (t.line == line && t.block == block_ && t.store == kind.store && t.local == kind.local) {
        t.after = found.records;
        t.sectors |= sectors;
        return;
      }
    }
    at = static_cast<uint32_t>(found.touches.size());
    found.touches.push_back({line, block_, found.records, sectors, kind.store, kind.local});
  }

  const compiler::Kernel& kernel_;
  uint32_t line_shift_, block_ = 0;
  std::vector<uint32_t> code_of_;  // by basic block: in found.code
  std::vector<uint32_t> recent_ = std::vector<uint32_t>(kRecent, kNone);
};

}  // namespace

std::shared_ptr<const ChunkTouches> TouchesOfChunks::of(const Recording& recording, uint32_t chunk,
                                                        uint32_t kernel) {
  const std::pair key{recording.traces.identity(chunk), kernel};
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
  }
  const compiler::Kernel& code = *recording.kernels[kernel];
  Taker taker(code, line_shift_);
  ChunkWalk(code).walk(*recording.traces.chunk(chunk), taker);
  taker.found.touches.shrink_to_fit();
  auto made = std::make_shared<const ChunkTouches>(std::move(taker.found));
  const std::lock_guard lock(mutex_);
  if (kept_ + made->touches.size() > kMostKept) {
    known_.clear();
    kept_ = 0;
  }
  if (known_.try_emplace(key, made).second) kept_ += made->touches.size();
  return made;
}

std::shared_ptr<TouchesOfChunks> touches_of(const Recording& recording, uint32_t line_shift) {
  return *recording.studies->of<std::shared_ptr<TouchesOfChunks>>(
      fmt::format("touches of lines of {} bytes", 1u << line_shift),
      [&] { return std::make_shared<TouchesOfChunks>(line_shift); });
}

}  // namespace nearwarp::runtime
