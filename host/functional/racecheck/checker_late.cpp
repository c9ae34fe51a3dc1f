// The race detector's checks of asynchronous work, which continues until a warp has waited for it:
// shared memory that warpgroups' products and bulk copies still read must not be written, and
// registers of products must not be used.
#include <fmt/format.h>

#include <algorithm>

#include "host/functional/compiler/products.h"
#include "host/functional/compiler/visit.h"
#include "host/functional/racecheck/checker_state.h"

namespace nearwarp::racecheck {

using compiler::RegId;
using ptx::Opcode;

void Checker::read_late(const Now& now, const Place& place, uint32_t bytes, uint32_t lane,
                        bool product) {
  const uint32_t warp = now.stamp.warp;
  const uint32_t owner =
      product ? LateReads::product_owner(warp) : LateReads::copy_owner(warp, lane);
  const uint32_t group = product ? now.warp.products_committed : now.warp.stores_committed[lane];
  place.owner->late.add(place.address, bytes, {owner, group, now.stamp.instruction, warp, lane});
}

/// Checks a write to shared memory: for each late read of these bytes, it must be ordered after a
/// wait for that read.
void Checker::look_at_late_reads(const Now& now, const Place& place, uint32_t bytes,
                                 uint32_t lane) {
  place.owner->late.written(place.address, bytes, [&](const LateRead& read) {
    const bool product = LateReads::is_product(read.owner);
    const LateReads::Times times = place.owner->late.ended(read.owner, read.group);
    Stamp stamp;
    stamp.block = static_cast<uint32_t>(place.owner->index);
    stamp.instruction = read.instruction & 0xffffffu;
    for (uint32_t i = 0; i < times.size(); ++i) {
      if (times[i] == 0) continue;
      stamp.warp = (product ? read.owner * 4 + i : read.warp) & 31u;
      stamp.time = times[i];
      // All lanes of a warp wait for a product together.
      stamp.lanes = 1u << (product ? lane : read.lane);
      if (read_ordered(now, stamp, lane)) return;
    }
    stamp.warp = read.warp & 31u;
    stamp.lanes = 1u << read.lane;
    stamp.pending = 1;
    found(now, HazardKind::kWriteAfterRead, stamp, place.address, lane, false);
  });
}

void Checker::wait_for_products(const exec::Warp& warp, uint32_t pending) {
  WarpState& state = running_->warps[warp.index];
  const uint32_t groups = state.products_committed - std::min(pending, state.products_committed);
  running_->late.end(LateReads::product_owner(warp.index), groups, warp.index % 4,
                     state.order.time);
  std::erase_if(state.in_products, [&](const auto& entry) { return entry.second.group < groups; });
}

void Checker::commit_stores(Now& now, uint32_t mask) {
  for (uint32_t m = mask; m != 0; m &= m - 1) ++now.warp.stores_committed[__builtin_ctz(m)];
}

void Checker::wait_for_stores(Now& now, uint32_t mask, uint32_t pending) {
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(m));
    const uint32_t committed = now.warp.stores_committed[lane];
    now.block.late.end(LateReads::copy_owner(now.stamp.warp, lane),
                       committed - std::min(pending, committed), 0, now.warp.order.time);
  }
}

/// Checks an instruction that may use registers of products, before it is executed. A move between
/// registers only renames a value, since ptxas removes it; it is allowed, and the copy counts as
/// being computed like its source.
void Checker::touch(const Now& now, uint32_t mask) {
  const compiler::Instruction& in = launch_.kernel->instructions[now.stamp.instruction];
  auto& registers = now.warp.in_products;
  const auto tell = [&](RegId reg, const WarpState::InProduct& product, const char* does) {
    if (!options_.misuse) return;
    misused(now, MisuseKind::kInProduct, mask, static_cast<uint32_t>(__builtin_popcount(mask)),
            fmt::format("{} {}, {} of the product in {}, which nobody has waited for", does,
                        launch_.kernel->registers[reg].name,
                        product.result ? "a result" : "factors", line_text(product.instruction)));
  };
  const auto look = [&](RegId reg, const char* does) {
    const auto it = registers.find(reg);
    if (it != registers.end()) tell(reg, it->second, does);
    return it != registers.end();
  };
  if (in.op == Opcode::kMov && in.dsts.size() == 1 && in.srcs.size() == 1 &&
      in.srcs[0].kind == compiler::OperandKind::kRegister && in.dsts[0] != compiler::kNone) {
    const auto source = now.warp.computed.find(in.srcs[0].reg);
    if (source != now.warp.computed.end())
      now.warp.computed[in.dsts[0]] = uint32_t{source->second};
    else
      now.warp.computed.erase(in.dsts[0]);
    const auto from = registers.find(in.srcs[0].reg);
    if (from != registers.end())
      registers[in.dsts[0]] = WarpState::InProduct(from->second);
    else
      registers.erase(in.dsts[0]);
    return;
  }
  if (compiler::is_group_product(in)) {
    look_at_fence(now, mask, in);
    WarpState::InProduct product{now.warp.products_committed, now.stamp.instruction, false};
    compiler::for_each_factor(in, [&](RegId reg) {
      const auto it = registers.find(reg);
      if (it != registers.end() && it->second.result) tell(reg, it->second, "multiplies");
      registers[reg] = product;
    });
    product.result = true;
    for (const RegId reg : in.dsts) registers[reg] = product;
    return;
  }
  bool told = false;
  compiler::for_each_use(in, [&](RegId reg) { told = told || look(reg, "reads"); });
  compiler::for_each_def(in, [&](RegId reg) {
    told = told || look(reg, "writes");
    registers.erase(reg);
    // Constants are put into registers wherever the compiler likes.
    if (in.op == Opcode::kMov)
      now.warp.computed.erase(reg);
    else
      now.warp.computed[reg] = now.stamp.instruction;
  });
}

/// A product of a warp group, before it is made: a wgmma.fence has to come before the first one,
/// and between another instruction's write to one of its registers and itself.
void Checker::look_at_fence(const Now& now, uint32_t mask, const compiler::Instruction& product) {
  if (!options_.misuse) return;
  WarpState& warp = now.warp;
  const auto tell = [&](const std::string& detail) {
    misused(now, MisuseKind::kNoFence, mask, static_cast<uint32_t>(__builtin_popcount(mask)),
            detail);
  };
  if (!warp.products_fenced) {
    tell("the warp has executed no wgmma.fence yet; one before its first product would be right");
    warp.products_fenced = true;
  }
  bool told = false;
  const auto look = [&](RegId reg, const char* what) {
    const auto it = warp.computed.find(reg);
    if (it == warp.computed.end()) return;
    if (!told)
      tell(fmt::format("{}, {}, was written in {}; wgmma.fence between the two would be right",
                       launch_.kernel->registers[reg].name, what, line_text(it->second)));
    told = true;
    warp.computed.erase(it);
  };
  compiler::for_each_factor(product, [&](RegId reg) { look(reg, "a factor"); });
  for (const RegId reg : product.dsts) look(reg, "a sum");
}

}  // namespace nearwarp::racecheck
