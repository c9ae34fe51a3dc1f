// Barriers and masks that are not used as CUDA demands: all threads of a block that have not exited
// must come to the same barrier, and the lanes that a mask names, and no others, must execute the
// instruction that has the mask. Diverged lanes run one group after the other here, so lanes that
// are missing may only be late: they are awaited until they come to the instruction, or are seen
// beyond it together with lanes that came.
#include <fmt/format.h>

#include <algorithm>

#include "host/core/demangle.h"
#include "host/functional/compiler/print.h"
#include "host/functional/instructions/lanes.h"
#include "host/functional/racecheck/checker_state.h"

namespace nearwarp::racecheck {

namespace {

uint32_t count_of(uint32_t lanes) { return static_cast<uint32_t>(__builtin_popcount(lanes)); }

/// "lane 3", "lanes 0-15, 20".
std::string lanes_text(uint32_t lanes) {
  std::string text = count_of(lanes) == 1 ? "lane " : "lanes ";
  const char* separator = "";
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    uint32_t last = lane;
    while (last < 31 && (lanes >> (last + 1) & 1) != 0) ++last;
    text += last == lane ? fmt::format("{}{}", separator, lane)
                         : fmt::format("{}{}-{}", separator, lane, last);
    separator = ", ";
    lane = last;
  }
  return text;
}

std::string apart_text(uint32_t came, uint32_t missing) {
  return fmt::format("{} of the warp came, {} went on without", lanes_text(came),
                     lanes_text(missing));
}

std::string missing_text(uint32_t came, uint32_t mask, uint32_t missing) {
  return fmt::format("{} came with mask {:#010x}, {} did not", lanes_text(came), mask,
                     lanes_text(missing));
}

}  // namespace

/// Add a finding: `lanes` of the warp at hand misused something as `kind` says. It counts
/// `threads`.
void Checker::misused(const Now& now, MisuseKind kind, uint32_t lanes, uint32_t threads,
                      const std::string& detail) {
  Misuse* const misuse =
      table_.add(findings_, launch_.kernel, lines_->line(now.stamp.instruction), kind, threads);
  if (misuse == nullptr) return;
  misuse->kernel = demangled(launch_.kernel->name);
  misuse->at = describe(now.stamp, false, static_cast<uint32_t>(__builtin_ctz(lanes)));
  misuse->at.kind = kind <= MisuseKind::kPassedBy    ? "barrier"
                    : kind == MisuseKind::kInProduct ? "touched"
                    : kind == MisuseKind::kNoFence   ? "product"
                                                     : "exchange";
  misuse->detail = detail;
}

/// Note that the lanes of `mask` execute an instruction together, so none of them waits for another
/// any more: lanes that were awaited by others of these have gone on without coming.
void Checker::see(const Now& now, const exec::Warp& warp, uint32_t mask) {
  if (!options_.misuse) return;
  now.warp.last = now.stamp.instruction;
  std::vector<Awaited>& awaited = now.warp.awaited;
  if (awaited.empty()) return;
  for (Awaited& a : awaited) {
    a.missing &= ~warp.exited;
    const uint32_t gone = a.missing & mask;
    if ((a.came & mask) == 0 || gone == 0) continue;
    a.missing &= ~gone;
    Now then = now;
    then.stamp.instruction = a.instruction & 0xffffffu;
    if (a.barrier)
      misused(then, MisuseKind::kApart, a.came, count_of(a.came), apart_text(a.came, gone));
    else
      misused(then, MisuseKind::kMissing, a.came, count_of(gone), missing_text(a.came, a.id, gone));
  }
  std::erase_if(awaited, [](const Awaited& a) { return a.missing == 0; });
}

/// Find where the `missing` lanes are while the lanes of `mask` run.
Checker::Elsewhere Checker::elsewhere(const exec::Warp& warp, uint32_t mask,
                                      uint32_t missing) const {
  Elsewhere e;
  // Stack entries without running lanes come first: their lanes have not had their turn. In entries
  // with running lanes, missing lanes wait for these; the innermost such entry counts.
  for (const bool meeting : {false, true}) {
    for (uint32_t i = warp.depth; i > 0 && missing != 0; --i) {
      const exec::StackEntry& entry = warp.stack[i - 1];
      const uint32_t here = entry.mask & missing;
      if (here == 0 || ((entry.mask & mask) != 0) != meeting) continue;
      missing &= ~here;
      (lines_->only_ends(entry.block) ? e.ending : meeting ? e.gone : e.pending) |= here;
    }
  }
  e.gone |= missing;  // these lanes are at the instruction, but a predicate keeps them out
  return e;
}

void Checker::check_members(Now& now, const exec::Warp& warp, const SyncRules& rules,
                            uint32_t mask) {
  if (!options_.misuse || !rules.has_mask) return;
  const uint32_t* const named = exec::row<uint32_t>(warp.rows, rules.operand);
  const uint32_t live = now.warp.order.lanes & ~warp.exited;
  for (uint32_t left = mask; left != 0;) {
    const uint32_t members = named[__builtin_ctz(left)];
    const uint32_t group = exec::lanes_with(warp.rows, rules.operand, members, left);
    left &= ~group;
    if (const uint32_t others = group & ~members; others != 0)
      misused(now, MisuseKind::kNotInMask, others, count_of(others),
              fmt::format("{} executed it with mask {:#010x}", lanes_text(others), members));
    const uint32_t came = group & members;
    if (came == 0) continue;
    bool matched = false;
    for (Awaited& a : now.warp.awaited) {
      const bool same = a.instruction == rules.instruction || !rules.exchanges;
      if (a.barrier || a.id != members || !same || (a.missing & came) == 0) continue;
      a.missing &= ~came;
      matched = true;
    }
    std::erase_if(now.warp.awaited, [](const Awaited& a) { return a.missing == 0; });
    const uint32_t missing = members & live & ~group;
    if (missing != 0 && !matched) {
      const Elsewhere e = elsewhere(warp, came, missing);
      if (e.gone != 0)
        misused(now, MisuseKind::kMissing, came, count_of(e.gone),
                missing_text(came, members, e.gone));
      if (e.pending != 0)
        now.warp.awaited.push_back({rules.instruction, false, members, came, e.pending});
    }
    if (rules.shuffles) check_sources(now, warp, rules, came, members);
  }
}

/// Check the lanes from which `lanes` read in a shuffle: each must be named by the mask, and be
/// there.
void Checker::check_sources(Now& now, const exec::Warp& warp, const SyncRules& rules,
                            uint32_t lanes, uint32_t members) {
  const uint32_t* const b = exec::row<uint32_t>(warp.rows, rules.lane);
  const uint32_t* const c = exec::row<uint32_t>(warp.rows, rules.clamp);
  uint32_t live = now.warp.order.lanes & ~warp.exited;
  if ((live & ~lanes) != 0) live &= ~elsewhere(warp, lanes, live & ~lanes).ending;
  uint32_t outside = 0, nobody = 0;
  uint32_t from[exec::kLanes];
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(m));
    if (!exec::shuffle_source(rules.mode, lane, b[lane], c[lane], &from[lane])) continue;
    const uint32_t source = 1u << (from[lane] & 31);
    if ((members & source) == 0)
      outside |= 1u << lane;
    else if ((live & source) == 0)
      nobody |= 1u << lane;
  }
  const auto tell = [&](MisuseKind kind, uint32_t readers) {
    if (readers == 0) return;
    const auto lane = static_cast<uint32_t>(__builtin_ctz(readers));
    misused(
        now, kind, readers, count_of(readers),
        fmt::format("lane {} reads lane {} with mask {:#010x}", lane, from[lane] & 31, members));
  };
  tell(MisuseKind::kOutside, outside);
  tell(MisuseKind::kNobodyThere, nobody);
}

std::string Checker::thread_text(uint32_t warp, uint32_t lane) const {
  const uint32_t thread = warp * 32 + lane;
  const auto& size = launch_.block;
  return fmt::format("({},{},{})", thread % size[0], thread / size[0] % size[1],
                     thread / size[0] / size[1]);
}

std::string Checker::line_text(uint32_t instruction) const {
  const compiler::Kernel& kernel = *launch_.kernel;
  if (instruction >= kernel.instructions.size()) return "the kernel";
  const compiler::Instruction& in = kernel.instructions[instruction];
  const std::string source = compiler::source_location(kernel, in);
  const std::string caller = compiler::caller_location(kernel, in);
  if (!caller.empty()) return fmt::format("{}, called in {}", source, caller);
  return source.empty() ? fmt::format("{}:{}", launch_.path, in.ptx_line) : source;
}

/// Check the arrival of `warp`, or of a part of it, at a barrier.
void Checker::check_arrival(Now& now, const exec::Warp& warp, const BarrierRules& barrier) {
  if (!options_.misuse) return;
  const uint32_t came = warp.barrier_mask;
  see(now, warp, came);
  bool matched = false;
  for (Awaited& a : now.warp.awaited) {
    if (!a.barrier || a.id != barrier.number || (a.missing & came) == 0) continue;
    if (barrier.aligned && a.instruction != barrier.instruction)
      misused(now, MisuseKind::kApart, came, count_of(came),
              fmt::format("{} of the warp came, {} to the barrier in {}", lanes_text(came),
                          lanes_text(a.came), line_text(a.instruction)));
    a.missing &= ~came;
    matched = true;
  }
  std::erase_if(now.warp.awaited, [](const Awaited& a) { return a.missing == 0; });
  // The rest of the warp came earlier by itself, so lanes that are missing now may have come then.
  if (matched) running_->generations[barrier.number].late = true;
  const uint32_t missing = now.warp.order.lanes & ~warp.exited & ~came;
  // Parts of a warp may come to an unaligned barrier for a number of threads by themselves.
  if (missing != 0 && !matched && (barrier.aligned || !barrier.counted)) {
    const Elsewhere e = elsewhere(warp, came, missing);
    if (e.gone != 0)
      misused(now, MisuseKind::kApart, came, count_of(came), apart_text(came, e.gone));
    if (e.pending != 0)
      now.warp.awaited.push_back({barrier.instruction, true, barrier.number, came, e.pending});
  }
  Generation& generation = running_->generations[barrier.number];
  generation.arrived |= 1u << warp.index;
  if (!barrier.waits) return;
  if (!generation.any) {
    generation.any = true;
    generation.first = barrier;
    generation.warp = warp.index;
    generation.lane = static_cast<uint32_t>(__builtin_ctz(came));
    return;
  }
  const BarrierRules& first = generation.first;
  // CUDA demands the same aligned barrier instruction only of the threads of a warp. Warps that
  // wait for a number of threads at different instructions have different roles; warps that wait
  // for the whole block at different instructions have diverged.
  const bool whole_block = !barrier.counted && !first.counted;
  if (whole_block && barrier.aligned && first.aligned && barrier.instruction != first.instruction &&
      generation.warp != warp.index && !generation.late)
    misused(
        now, MisuseKind::kDifferent, came, count_of(came),
        fmt::format("thread {} waits for it in {}", thread_text(generation.warp, generation.lane),
                    line_text(first.instruction)));
}

/// Check the warps that a barrier did not wait for since they had exited, as it lets the others go
/// on: each must have ended before the barrier, not gone past it without the others.
void Checker::check_generation(const Generation& generation) {
  if (!options_.misuse || !generation.any || generation.late || generation.first.counted) return;
  for (uint32_t w = 0; w < running_->warps.size(); ++w) {
    const WarpState& other = running_->warps[w];
    if (!other.exited || (generation.arrived >> w & 1) != 0) continue;
    if (!lines_->past(generation.first.instruction, other.last)) continue;
    Now now{running_->warps[generation.warp], *running_};
    now.stamp.block = static_cast<uint32_t>(running_->index);
    now.stamp.warp = generation.warp & 31u;
    now.stamp.instruction = generation.first.instruction & 0xffffffu;
    misused(now, MisuseKind::kPassedBy, 1u << generation.lane, count_of(other.order.lanes),
            fmt::format("the warp of thread {} did not come, and went on to {}", thread_text(w, 0),
                        line_text(other.last)));
  }
}

}  // namespace nearwarp::racecheck
