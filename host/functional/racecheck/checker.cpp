// The race detector: launches, blocks, and what is told of hazards.
#include "host/functional/racecheck/checker.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/core/demangle.h"
#include "host/core/error.h"
#include "host/functional/compiler/print.h"
#include "host/functional/compiler/products.h"
#include "host/functional/racecheck/checker_state.h"

namespace nearwarp::racecheck {

Checker::Checker(const Options& options) : options_(options), device_(options.most_bytes) {
  if (options.kernels.empty()) return;
  try {
    kernels_.emplace(options.kernels);
  } catch (const std::regex_error& error) {
    throw Error(fmt::format("'{}' is no regular expression: {}", options.kernels, error.what()));
  }
}

Checker::~Checker() = default;

bool Checker::wants(const std::string& kernel) const {
  return !kernels_ || std::regex_search(kernel, *kernels_) ||
         std::regex_search(demangled(kernel), *kernels_);
}

void Checker::begin_launch(LaunchFacts facts) {
  end_launch();
  launch_ = std::move(facts);
  const auto count = [](const std::array<uint32_t, 3>& d) { return uint64_t{d[0]} * d[1] * d[2]; };
  space_ = ClockSpace(count(launch_.grid));
  warps_ = static_cast<uint32_t>((count(launch_.block) + 31) / 32);
  device_.clear();
  points_.clear();
  clusters_.clear();
  lines_ = &places_.try_emplace(launch_.kernel, *launch_.kernel).first->second;
  ++findings_.launches;
}

void Checker::end_launch() {
  while (!blocks_.empty()) end_block(blocks_.begin()->first);
  running_ = nullptr;
  findings_.forgotten = device_.forgotten_pages();
}

void Checker::begin_block(uint64_t block, uint64_t cluster) {
  std::unique_ptr<BlockState> state;
  if (spare_.empty()) {
    state = std::make_unique<BlockState>();
  } else {
    state = std::move(spare_.back());
    spare_.pop_back();
  }
  state->index = block;
  state->cluster = cluster;
  clusters_[cluster].blocks.push_back(state.get());
  state->warps.clear();
  state->warps.resize(warps_);
  const uint64_t threads = uint64_t{launch_.block[0]} * launch_.block[1] * launch_.block[2];
  if (threads % 32 != 0) state->warps.back().order.lanes = (1u << threads % 32) - 1;
  for (Knowledge& barrier : state->barriers) barrier = Knowledge{};
  state->exited = Knowledge{};
  for (Generation& generation : state->generations) generation = Generation{};
  if (options_.unwritten && launch_.shared_bytes != 0) {
    if (state->written == nullptr || state->written->size() < launch_.shared_bytes)
      state->written = std::make_unique<WrittenBytes>(launch_.shared_bytes);
    // The system has written the part that it keeps for itself.
    state->written->unmark(0, launch_.own_shared_bytes);
    state->written->mark(launch_.own_shared_bytes, launch_.shared_bytes - launch_.own_shared_bytes);
  }
  state->shared.clear();
  state->points.clear();
  state->arrived.clear();
  state->late.clear();
  state->proxy_fences.clear();
  blocks_[block] = std::move(state);
}

void Checker::end_block(uint64_t block) {
  const auto it = blocks_.find(block);
  if (it == blocks_.end()) return;
  if (running_ == it->second.get()) running_ = nullptr;
  const auto meeting = clusters_.find(it->second->cluster);
  auto& blocks = meeting->second.blocks;
  std::replace(blocks.begin(), blocks.end(), it->second.get(), static_cast<BlockState*>(nullptr));
  if (std::all_of(blocks.begin(), blocks.end(), [](const BlockState* b) { return b == nullptr; }))
    clusters_.erase(meeting);
  spare_.push_back(std::move(it->second));
  blocks_.erase(it);
}

void Checker::enter(uint64_t block) { running_ = blocks_.at(block).get(); }

Access Checker::describe(const Stamp& stamp, bool write, uint32_t lane) const {
  const compiler::Kernel& kernel = *launch_.kernel;
  Access a;
  const bool product = stamp.instruction < kernel.instructions.size() &&
                       compiler::is_group_product(kernel.instructions[stamp.instruction]);
  a.kind = product              ? "product"
           : stamp.pending != 0 ? "asynchronous copy"
           : stamp.atomic != 0  ? "atomic"
           : write              ? "write"
                                : "read";
  if (stamp.instruction < kernel.instructions.size()) {
    const compiler::Instruction& in = kernel.instructions[stamp.instruction];
    a.text = compiler::to_string(kernel, in);
    a.source = compiler::source_location(kernel, in);
    a.caller = compiler::caller_location(kernel, in);
    a.ptx = fmt::format("{}:{}", launch_.path, in.ptx_line);
  }
  const auto split = [](uint64_t index, const std::array<uint32_t, 3>& size, auto& at) {
    at[0] = static_cast<uint32_t>(index % size[0]);
    at[1] = static_cast<uint32_t>(index / size[0] % size[1]);
    at[2] = static_cast<uint32_t>(index / size[0] / size[1]);
  };
  split(stamp.block, launch_.grid, a.block);
  split(uint64_t{stamp.warp} * 32 + lane, launch_.block, a.thread);
  return a;
}

void Checker::found(const Now& now, HazardKind kind, const Stamp& before, uint64_t address,
                    uint32_t lane, bool same_value) {
  const Distance distance = before.block != now.stamp.block ? Distance::kBlocks
                            : before.warp != now.stamp.warp ? Distance::kWarps
                                                            : Distance::kLanes;
  Hazard* hazard = table_.add(findings_,
                              {launch_.kernel, lines_->line(before.instruction),
                               lines_->line(now.stamp.instruction), kind, distance, now.shared},
                              same_value && before.pending == 0);
  if (hazard == nullptr) return;
  // A lane other than the one at hand, if there is one.
  uint32_t others = before.lanes;
  if (distance == Distance::kLanes && (others & ~(1u << lane)) != 0) others &= ~(1u << lane);
  hazard->kernel = demangled(launch_.kernel->name);
  hazard->earlier = describe(before, kind != HazardKind::kWriteAfterRead,
                             static_cast<uint32_t>(__builtin_ctz(others)));
  hazard->later = describe(now.stamp, now.write, lane);
  hazard->address = address;
  hazard->place = place_text(now, address);
}

std::string Checker::place_text(const Now& now, uint64_t address) const {
  if (!now.shared) return launch_.describe(address);
  if (now.owner == &now.block) return fmt::format("byte {} of shared memory", address);
  return fmt::format("byte {} of the shared memory of block {} of the grid", address,
                     now.owner->index);
}

}  // namespace nearwarp::racecheck
