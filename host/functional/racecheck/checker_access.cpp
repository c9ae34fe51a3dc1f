// The race detector: memory accesses.
#include <cstring>

#include "host/core/demangle.h"
#include "host/functional/instructions/atomic.h"
#include "host/functional/instructions/codes.h"
#include "host/functional/instructions/memory.h"
#include "host/functional/racecheck/checker_state.h"

namespace nearwarp::racecheck {

namespace {

bool all_ordered(const WarpOrder& order, const Stamp& before, uint32_t lane) {
  for (uint32_t m = before.lanes; m != 0; m &= m - 1)
    if (!order.lane_ordered(static_cast<uint32_t>(__builtin_ctz(m)), before.time, lane))
      return false;
  return true;
}

/// The bytes that `lane` is about to store.
void stored_bytes(const exec::Warp& warp, const exec::MemDesc& desc, uint32_t lane, uint8_t* to) {
  if (desc.matrices != 0) return exec::collect_row(warp, desc, lane, to);
  for (uint32_t e = 0; e < desc.vector; ++e) {
    const uint64_t v = desc.reg_bytes == 8 ? exec::row<uint64_t>(warp.rows, desc.rows[e])[lane]
                                           : exec::row<uint32_t>(warp.rows, desc.rows[e])[lane];
    std::memcpy(to + e * desc.bytes, &v, desc.bytes);  // little endian
  }
}

}  // namespace

bool Checker::ordered(const Now& now, const Stamp& before, uint32_t lane) const {
  if (before.pending != 0) return false;
  const WarpOrder& order = now.warp.order;
  if (before.block != now.stamp.block) {
    const Times* times = space_.find(order.foreign, before.block);
    return times != nullptr && (*times)[before.warp] >= before.time;
  }
  if (before.warp != now.stamp.warp) return order.seen[before.warp] >= before.time;
  return all_ordered(order, before, lane);
}

/// Is an access ordered before this read? More is known of reads than of writes.
bool Checker::read_ordered(const Now& now, const Stamp& before, uint32_t lane) const {
  if (ordered(now, before, lane)) return true;
  const WarpOrder& order = now.warp.order;
  if (before.block != now.stamp.block) {
    const Times* times = space_.find(order.foreign_reads, before.block);
    return times != nullptr && (*times)[before.warp] >= before.time;
  }
  return before.warp != now.stamp.warp && order.seen_reads[before.warp] >= before.time;
}

/// Keep `stamp` as the last access, and the one before it if nothing orders the two.
void Checker::remember(const Now& now, Stamp (&stamps)[2], Stamp stamp, uint32_t lane) const {
  Stamp &last = stamps[0], &other = stamps[1];
  if (last.lanes != 0 && last.same_warp(stamp)) {
    if (last.time == stamp.time) {
      stamp.lanes |= last.lanes;
      if (last.strong == 0 && stamp.strong != 0) {  // the one that can be part of a hazard
        stamp.instruction = last.instruction;
        stamp.strong = stamp.atomic = 0;
      }
    }
  } else if (last.lanes != 0 && !ordered(now, last, lane)) {
    // Among several that it could be, one of another block tells most.
    if (other.lanes == 0 || other.same_warp(stamp) || other.block == last.block ||
        ordered(now, other, lane))
      other = last;
  } else if (other.lanes != 0 && ordered(now, other, lane)) {
    other = Stamp{};
  }
  last = stamp;
}

/// One lane's access: compare it with those before it, and remember it.
void Checker::look(Now& now, Shadow& shadow, uint64_t address, uint32_t bytes, uint32_t lane,
                   bool same_value) {
  Stamp stamp = now.stamp;
  stamp.lanes = 1u << lane;
  now.told = 0;
  const auto tell = [&](HazardKind kind, const Stamp& before, uint64_t at) {
    const auto bit = static_cast<uint8_t>(1u << static_cast<unsigned>(kind));
    if ((now.told & bit) != 0) return;
    now.told |= bit;
    if (kind == HazardKind::kWriteAfterWrite && same_value && before.pending == 0)
      ++findings_.same_value;
    else
      found(now, kind, before, at, lane, same_value);
  };
  const auto conflicts = [&](const Stamp& before) {
    return before.lanes != 0 && (before.strong & stamp.strong) == 0 && !ordered(now, before, lane);
  };
  const HazardKind after_write =
      now.write ? HazardKind::kWriteAfterWrite : HazardKind::kReadAfterWrite;
  // A lane that wrote the same with others reads what it wrote itself.
  const auto own = [&](const Stamp& before) {
    return !now.write && before.pending == 0 && before.same_warp(stamp) &&
           (before.lanes >> lane & 1) != 0;
  };
  shadow.each(address, bytes, [&](Cell& cell, uint64_t at) {
    for (const Stamp& before : cell.write)
      if (!own(before) && conflicts(before)) tell(after_write, before, at);
    if (!now.write && now.leaves_no_trace) return;
    if (!now.write) return remember(now, cell.read, stamp, lane);
    for (Stamp& before : cell.read) {
      if (before.lanes != 0 && (before.strong & stamp.strong) == 0 &&
          !read_ordered(now, before, lane))
        tell(HazardKind::kWriteAfterRead, before, at);
      before = Stamp{};
    }
    if (stamp.strong != 0) return remember(now, cell.write, stamp, lane);
    Stamp& last = cell.write[0];
    const bool together = same_value && last.same_warp(stamp) && last.time == stamp.time &&
                          last.instruction == stamp.instruction;
    const uint32_t others = together ? last.lanes : 0;
    last = stamp;
    last.lanes |= others;
    cell.write[1] = Stamp{};
  });
}

Checker::Now Checker::now_of(const exec::Warp& warp, uint32_t instruction) const {
  Now now{running_->warps[warp.index], *running_};
  now.stamp.block = static_cast<uint32_t>(running_->index);
  now.stamp.time = now.warp.order.time;
  now.stamp.warp = warp.index & 31u;
  now.stamp.instruction = instruction & 0xffffffu;
  return now;
}

/// Finds a lane's read of memory of which no byte was ever written. Where some of its bytes were,
/// the others (padding, the rest of a word) are taken to be read along without being used.
void Checker::look_whether_written(const Now& now, const Place& place, uint32_t bytes,
                                   uint32_t lane) {
  const bool shared = place.kind == Place::kShared;
  WrittenBytes* const written = shared ? place.owner->written.get() : launch_.written;
  if (written == nullptr) return;
  const uint64_t offset = shared ? place.address : place.address - exec::kDeviceBase;
  // Code that works through shared memory often fetches the element after the last, for which it
  // has room, and makes no use of it (CUB's merges).
  const auto fetched_ahead = [&] {
    return shared && offset >= bytes && written->any(offset - bytes, bytes);
  };
  if (now.read && !now.rules.blind && !written->any(offset, bytes) && !fetched_ahead()) {
    UnwrittenRead* const read =
        table_.add(findings_, launch_.kernel, lines_->line(now.stamp.instruction), shared);
    if (read != nullptr) {
      read->kernel = demangled(launch_.kernel->name);
      read->at = describe(now.stamp, false, lane);
      if (now.leaves_no_trace) read->at.kind = "read";  // by a product
      read->address = place.address;
      read->place = place_text(now, place.address);
    }
  }
  if (now.write) written->mark_access(offset, bytes);
}

void Checker::written_by_system(const exec::Context& ctx, const uint8_t* host, uint64_t bytes) {
  if (!options_.unwritten) return;
  const uint64_t in_device = static_cast<uint64_t>(host - ctx.arena);
  const uint64_t in_shared = static_cast<uint64_t>(host - ctx.shared);
  if (in_shared < ctx.shared_bytes)
    running_->written->mark(in_shared, bytes);
  else if (in_device < ctx.arena_bytes && launch_.written != nullptr)
    launch_.written->mark(in_device, bytes);
}

/// Shared memory of the running block, or of another of its cluster; kElsewhere if neither.
Checker::Place Checker::shared_place(const exec::Context& ctx, const uint8_t* host) const {
  const auto in = [&](const uint8_t* window) { return static_cast<uint64_t>(host - window); };
  if (in(ctx.shared) < ctx.shared_bytes) return {Place::kShared, in(ctx.shared), running_};
  if (ctx.cluster_blocks < 2) return {};
  const auto& blocks = clusters_.at(running_->cluster).blocks;
  for (uint32_t rank = 0; rank < ctx.cluster_blocks && rank < blocks.size(); ++rank) {
    const uint8_t* window = ctx.cluster_shared[rank];
    if (window != nullptr && blocks[rank] != nullptr && in(window) < ctx.shared_bytes)
      return {Place::kShared, in(window), blocks[rank]};
  }
  return {};
}

void Checker::copy_access(const exec::Context& ctx, const exec::Warp& warp,
                          const exec::CopiedBytes& copy) {
  const auto [instruction, lane, host, bytes, write, pending, value, late] = copy;
  ++findings_.accesses;
  Now now = now_of(warp, instruction);
  now.read = !write;
  now.write = write;
  // Reductions of boxes add up what others add, too (PTX ISA 9.0: relaxed, of the GPU's scope).
  if (write && launch_.kernel->instructions[instruction].op == ptx::Opcode::kTensorReduce)
    now.stamp.strong = now.stamp.atomic = 1;
  see(now, warp, 1u << lane);
  Place place = shared_place(ctx, host);
  now.stamp.pending = pending && place.owner == running_;
  const uint64_t in_device = static_cast<uint64_t>(host - ctx.arena);
  if (place.kind == Place::kElsewhere && in_device < ctx.arena_bytes)
    place = {Place::kDevice, in_device + exec::kDeviceBase};
  if (place.kind == Place::kElsewhere) return;
  now.shared = place.kind == Place::kShared;
  now.owner = place.owner;
  now.leaves_no_trace = late != exec::CopiedBytes::Late::kNo && now.shared;
  if (now.leaves_no_trace)
    read_late(now, place, bytes, lane, late == exec::CopiedBytes::Late::kProduct);
  if (write && now.shared) look_at_late_reads(now, place, bytes, lane);
  look(now, now.shared ? place.owner->shared : device_, place.address, bytes, lane,
       write && std::memcmp(host, value, bytes) == 0);
  if (now.leaves_no_trace) look_at_proxy(now, place, bytes, lane);
  look_whether_written(now, place, bytes, lane);
  if (pending && place.owner == running_)
    now.warp.copies.push_back({place.address, bytes, lane, now.warp.groups});
}

void Checker::look_at_row(Now& now, const Place& place, const exec::MemDesc& desc, uint32_t row,
                          uint32_t mask) {
  Shadow& shadow = now.shared ? place.owner->shared : device_;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(m));
    const uint32_t pair = lane % 4, line = lane / 4;
    if (desc.transposed == 0 ? line != row % 8 : pair != row % 8 / 2) continue;
    const uint32_t bytes = desc.transposed == 0 ? 4 : 2;
    look(now, shadow, place.address + (desc.transposed == 0 ? 4 * pair : 2 * line), bytes, lane,
         false);
  }
}

bool Checker::access(exec::Context& ctx, exec::Warp& warp, const exec::Op& op, uint32_t mask) {
  if (mask == 0) return true;
  exec::MemDesc& desc = ctx.memory[op.c];
  exec::ResolvedAccess at;
  if (!exec::resolve(ctx, warp, desc, op, mask, at)) return false;
  ++findings_.accesses;
  const bool atomic = desc.atomic != exec::AtomOp::kNone;
  const bool store = desc.is_store != 0 && !atomic;
  const uint32_t bytes = uint32_t{desc.bytes} * desc.vector;
  Now now = now_of(warp, desc.instruction);
  now.rules = launch_.rules[op.c];
  now.read = !store;
  now.write = desc.is_store != 0;
  see(now, warp, mask);
  now.stamp.strong = now.rules.strong;
  now.stamp.atomic = atomic;
  now.stamp.pending = store && now.rules.async_copy;
  Places places;
  // Lanes without a row of their own have another one's address, too.
  const uint32_t rows = desc.matrices == 1 ? 0xffu : desc.matrices == 2 ? 0xffffu : ~0u;
  for (uint32_t m = mask & rows; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(m));
    uint8_t* const host = at.host[lane];
    Place& place = places[lane];
    const uint64_t in_device = static_cast<uint64_t>(host - ctx.arena);
    if (desc.space != exec::MemSpace::kGlobal) place = shared_place(ctx, host);
    if (place.kind == Place::kElsewhere && desc.space != exec::MemSpace::kLocal &&
        in_device < ctx.arena_bytes)
      place = {Place::kDevice, in_device + exec::kDeviceBase};
    uint8_t value[16];
    if (store) stored_bytes(warp, desc, lane, value);
    // Other blocks wait for what is copied to them: only copies to the running one are followed.
    now.stamp.pending = store && now.rules.async_copy && place.owner == running_;
    if (place.kind != Place::kElsewhere) {
      now.shared = place.kind == Place::kShared;
      now.owner = place.owner;
      if (now.write && now.shared) look_at_late_reads(now, place, bytes, lane);
      if (desc.matrices != 0 && !store) {
        look_at_row(now, place, desc, lane, mask);
      } else {
        look(now, now.shared ? place.owner->shared : device_, place.address, bytes, lane,
             store && std::memcmp(host, value, bytes) == 0);
      }
      look_whether_written(now, place, bytes, lane);
      if (now.stamp.pending != 0)
        now.warp.copies.push_back({place.address, bytes, lane, now.warp.groups});
    }
    // At once, so that a later lane finds what it is about to replace.
    if (store) std::memcpy(host, value, bytes);
  }
  if (atomic && now.rules.async_copy) copies_arrive(now, places, mask);
  if (!now.write && now.rules.acquire) wait_for_copies(places, mask);
  if (now.rules.strong) synchronise(now, warp, places, mask, bytes);
  if (store) {
    ctx.stored = true;
    return true;
  }
  return atomic ? exec::atomic_general(ctx, warp, op, mask)
                : exec::load_general(ctx, warp, op, mask);
}

}  // namespace nearwarp::racecheck

namespace nearwarp::exec {

void tell_copy(Context& ctx, const Warp& warp, const CopiedBytes& bytes) {
  static_cast<racecheck::Checker*>(ctx.checker)->copy_access(ctx, warp, bytes);
}

bool execute_checked(Context& ctx, Warp& warp, const Op& op, uint32_t mask) {
  auto& checker = *static_cast<racecheck::Checker*>(ctx.checker);
  if (op.code == kCheckedAccess) return checker.access(ctx, warp, op, mask);
  if (mask != 0) checker.sync(warp, op, mask);
  return true;
}

}  // namespace nearwarp::exec
