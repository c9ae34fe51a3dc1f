// Counts what a recorded program executed: trace chunks are dealt to threads, each of which adds up
// by instruction; then instructions are added up by line and kernel.
#include "host/timing/profile/count.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "device/trace/format.h"
#include "host/core/error.h"
#include "host/core/workers.h"
#include "host/functional/compiler/lane_bytes.h"
#include "host/recording/trace_replay.h"
#include "host/timing/profile/access.h"

namespace nearwarp::profile {
namespace {

using compiler::Instruction;
using report::AccessCounts;
using report::ProfileCounts;

/// A chunk of a kernel's launches, and how often the program has it.
struct Piece {
  uint32_t kernel = 0;
  uint32_t chunk = 0;
  uint64_t times = 0;
};

std::vector<Piece> pieces_of(const runtime::Recording& recording) {
  std::vector<Piece> pieces;
  std::map<std::pair<uint32_t, uint32_t>, size_t> known;  // by kernel and identity of the chunk
  for (const runtime::LaunchRecord& launch : recording.launches) {
    for (uint32_t i = 0; i < launch.num_chunks; ++i) {
      const uint32_t chunk = launch.first_chunk + i;
      const auto [it, is_new] =
          known.try_emplace({launch.kernel, recording.traces.identity(chunk)}, pieces.size());
      if (is_new) pieces.push_back({launch.kernel, chunk, 0});
      pieces[it->second].times += launch.stands_for;
    }
  }
  return pieces;
}

/// Where accesses of the instruction to device memory belong.
AccessCounts& kind_of(const Instruction& in, ProfileCounts& counts) {
  using ptx::Opcode;
  using ptx::Space;
  if (in.mod.space == Space::kConst || in.mod.space == Space::kParam) return counts.constant;
  if (in.mod.space == Space::kLocal) return counts.local;
  switch (in.op) {
    case Opcode::kSt:
    case Opcode::kSust:
      return counts.stores;
    case Opcode::kAtom:
    case Opcode::kRed:
      return counts.atomics;
    default:
      return counts.loads;
  }
}

/// Sums by basic block and memory instruction of one kernel.
class KernelCounter {
 public:
  KernelCounter(const compiler::Kernel& kernel, uint32_t line_shift)
      : kernel_(kernel),
        line_shift_(line_shift),
        runs_(kernel.blocks.size()),
        lanes_(kernel.blocks.size()),
        device_(kernel.instructions.size()),
        shared_(kernel.instructions.size()),
        walk_(kernel, visitor_) {
    visitor_.run = [this](const runtime::BlockRun& run) {
      runs_[run.block] += times_;
      lanes_[run.block] += times_ * static_cast<uint32_t>(std::popcount(run.mask));
    };
    visitor_.access = [this](const runtime::MemoryAccess& a) { access(a); };
  }
  KernelCounter(const KernelCounter&) = delete;
  KernelCounter& operator=(const KernelCounter&) = delete;

  /// Returns the warp-instructions counted.
  uint64_t walk(const runtime::TraceChunk& chunk, uint64_t times) {
    times_ = times;
    const uint64_t before = walk_.counts().warp_instructions;
    walk_.walk(chunk);
    return times * (walk_.counts().warp_instructions - before);
  }

  /// Add what the instructions of a block count to `out`, by instruction of the kernel.
  void add_to(std::vector<ProfileCounts>& out) const {
    for (size_t b = 0; b < runs_.size(); ++b) {
      const compiler::Block& block = kernel_.blocks[b];
      for (uint32_t i = block.first; i < block.first + block.count; ++i) {
        ProfileCounts& counts = out[i];
        counts.warp_instructions += runs_[b];
        counts.thread_instructions += lanes_[b];
        kind_of(kernel_.instructions[i], counts).add(device_[i]);
        counts.shared.add(shared_[i]);
      }
    }
  }

 private:
  void access(const runtime::MemoryAccess& a) {
    const Instruction& in = kernel_.instructions[a.instruction];
    const bool constant = in.mod.space == ptx::Space::kConst || in.mod.space == ptx::Space::kParam;
    const bool shared =
        in.mod.space == ptx::Space::kShared ||
        (!constant && (a.address[std::countr_zero(a.mask)] & trace::kSharedWindow) != 0);
    if (!shared && !constant) {
      device_[a.instruction].add(
          count_access(a.address, a.mask, compiler::lane_bytes(in), line_shift_), times_);
      return;
    }
    AccessCounts& counts = shared ? shared_[a.instruction] : device_[a.instruction];
    counts.accesses += times_;
    counts.lanes += times_ * static_cast<uint32_t>(std::popcount(a.mask));
  }

  const compiler::Kernel& kernel_;
  uint32_t line_shift_;
  uint64_t times_ = 0;
  std::vector<uint64_t> runs_, lanes_;         // by block
  std::vector<AccessCounts> device_, shared_;  // by instruction
  runtime::TraceVisitor visitor_;
  runtime::ChunkReplay walk_;
};

/// The counts of one thread: by kernel, where it met the kernel.
using Counters = std::vector<std::unique_ptr<KernelCounter>>;

/// All pieces, dealt to threads.
class Work {
 public:
  Work(const runtime::Recording& recording, const Options& options)
      : recording_(recording),
        options_(options),
        pieces_(pieces_of(recording)),
        workers_(pieces_.size(), options.threads) {
    for (const runtime::LaunchRecord& l : recording.launches)
      total_ += l.warp_instructions * l.stands_for;
  }

  std::vector<Counters> run() {
    std::vector<Counters> counters(workers_.threads());
    for (Counters& c : counters) c.resize(recording_.kernels.size());
    workers_.run([&](size_t piece, unsigned thread) {
      done_ += count(counters[thread], pieces_[piece]);
      // The caller's thread tells how far all have come.
      if (thread == 0 && options_.progress && !options_.progress(done_, total_))
        throw Interrupted("interrupted while the profile was counted - there are no results");
    });
    return counters;
  }

 private:
  uint64_t count(Counters& counters, const Piece& piece) {
    std::unique_ptr<KernelCounter>& counter = counters[piece.kernel];
    if (counter == nullptr)
      counter = std::make_unique<KernelCounter>(
          *recording_.kernels.at(piece.kernel),
          static_cast<uint32_t>(std::countr_zero(options_.line_bytes)));
    return counter->walk(*recording_.traces.chunk(piece.chunk), piece.times);
  }

  const runtime::Recording& recording_;
  const Options& options_;
  const std::vector<Piece> pieces_;
  uint64_t total_ = 0;
  std::atomic<uint64_t> done_ = 0;
  Workers workers_;
};

/// By line: file (or none), line of the source, of the PTX, instruction.
using Place = std::tuple<std::string, uint32_t, uint32_t, uint32_t>;

Place place_of(const compiler::Kernel& kernel, uint32_t id) {
  const Instruction& in = kernel.instructions[id];
  if (in.source_line != 0) {
    const bool known = in.source_file < kernel.source_files.size();
    return {known ? kernel.source_files[in.source_file] : "", in.source_line, 0, 0};
  }
  if (in.ptx_line != 0) return {"", 0, in.ptx_line, 0};
  return {"", 0, 0, id};
}

/// Adds a kernel and its lines to the profile, unless no launch of it was recorded.
void add_kernel(const compiler::Kernel& kernel, uint64_t launches,
                const std::vector<ProfileCounts>& by_instruction, report::Profile& out) {
  if (launches == 0) return;
  const auto index = static_cast<uint32_t>(out.kernels.size());
  report::ProfileKernel& row = out.kernels.emplace_back();
  row.name = kernel.name;
  row.launches = launches;
  std::map<Place, ProfileCounts> lines;
  for (uint32_t i = 0; i < by_instruction.size(); ++i) {
    if (by_instruction[i].warp_instructions == 0) continue;
    row.counts.add(by_instruction[i]);
    lines[place_of(kernel, i)].add(by_instruction[i]);
  }
  for (const auto& [place, counts] : lines) {
    const auto& [file, line, ptx_line, instruction] = place;
    out.lines.push_back({index, file, line, ptx_line, instruction, counts});
  }
  out.launches += launches;
  out.all.add(row.counts);
}

}  // namespace

report::Profile count(const runtime::Recording& recording, const Options& options) {
  const std::vector<Counters> counters = Work(recording, options).run();
  std::vector<uint64_t> launches(recording.kernels.size());
  std::vector<uint32_t> order;  // kernels, by first launch
  for (const runtime::LaunchRecord& l : recording.launches) {
    if (launches[l.kernel] == 0) order.push_back(l.kernel);
    launches[l.kernel] += l.stands_for;
  }
  report::Profile out;
  out.workload = recording.name;
  out.line_bytes = options.line_bytes;
  out.truncated = recording.truncated;
  for (const uint32_t k : order) {
    const compiler::Kernel& kernel = *recording.kernels[k];
    std::vector<ProfileCounts> by_instruction(kernel.instructions.size());
    for (const Counters& of_thread : counters)
      if (k < of_thread.size() && of_thread[k] != nullptr) of_thread[k]->add_to(by_instruction);
    add_kernel(kernel, launches[k], by_instruction, out);
  }
  std::stable_sort(out.lines.begin(), out.lines.end(), [](const auto& a, const auto& b) {
    if (a.counts.warp_instructions != b.counts.warp_instructions)
      return a.counts.warp_instructions > b.counts.warp_instructions;
    return a.counts.memory().sectors > b.counts.memory().sectors;
  });
  return out;
}

}  // namespace nearwarp::profile
