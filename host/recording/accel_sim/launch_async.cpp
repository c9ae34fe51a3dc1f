// Lines of asynchronous instructions: what arrives at mbarriers, waits, bulk copies, groups.
#include <fmt/format.h>

#include <bit>
#include <utility>

#include "host/recording/accel_sim/launch_builder.h"

namespace nearwarp::sass {
namespace {

constexpr uint64_t kPiece = 16;                 // bytes of a bulk copy that a record names
constexpr uint32_t kMbarrierCounts = 1u << 20;  // a new mbarrier's word has this, less its count

}  // namespace

std::vector<LaunchBuilder::AtMbarrier> LaunchBuilder::mbarriers(uint32_t mask) {
  std::vector<AtMbarrier> all;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(m));
    uint8_t block = 0, number = 0;
    if (!mbarrier_at(address_[lane], &block, &number)) continue;
    const auto it = std::find_if(all.begin(), all.end(), [&](const AtMbarrier& a) {
      return a.block == block && a.number == number;
    });
    if (it != all.end())
      it->lanes |= 1u << lane;
    else
      all.push_back({block, number, 1u << lane, lane});
  }
  return all;
}

LineProblem LaunchBuilder::async(uint32_t id, AsyncKind kind, const DynamicPart& d,
                                 std::string_view rest) {
  WarpTrace& trace = *warp_.trace;
  if (d.mask == 0) {
    release_held();
    trace.add(id, d.pc, 0, nullptr);
    return {};
  }
  if (kind == AsyncKind::kBulkLoad || kind == AsyncKind::kBulkStore ||
      kind == AsyncKind::kRemoteBulk || kind == AsyncKind::kPrefetch)
    return bulk(id, kind, d, rest);
  const uint32_t operands = kernel_.at(id).line.operands;
  if (kernel_.at(id).line.memory_bytes != 0) {
    const LineProblem problem = parse_addresses(rest, d.mask, address_, &rest);
    if (problem.what != nullptr) return problem;
  }
  LineTail tail;
  const LineProblem problem = parse_tail(rest, operands, &tail);
  if (problem.what != nullptr) return problem;
  switch (kind) {
    case AsyncKind::kInit:
      return init(id, d, tail);
    case AsyncKind::kArrive:
    case AsyncKind::kCopiesArrive:
      arrive(id, kind, d, tail);
      return {};
    case AsyncKind::kWait:
      wait(id, d, tail);
      return {};
    case AsyncKind::kProducts:
      trace.add(id, d.pc, d.mask, nullptr);
      if (!kernel_.at(id).line.commits) return {};
      ++added_;
      trace.add(kernel_.derived(id, 0,
                                [](MachineInstruction& m) {
                                  m.instruction = commit_of_products();
                                  m.ends_run = true;
                                }),
                d.pc, d.mask, nullptr, false);
      return {};
    case AsyncKind::kBulkCommit:
      warp_.groups = CopyGroups::kBulk;
      break;
    case AsyncKind::kLoadCommit:
      warp_.groups = CopyGroups::kLoads;
      break;
    default: {
      auto first = static_cast<uint32_t>(tail.immediate[0] & 0xffff),
           second = static_cast<uint32_t>(tail.immediate[1] & 0xffff);
      // A barrier's number is below 16, and its threads are whole warps.
      if (kind == AsyncKind::kBarrier && first >= 16) std::swap(first, second);
      const CopyGroups groups = kind == AsyncKind::kGroupWait ? warp_.groups : CopyGroups::kNone;
      const uint64_t key =
          uint64_t{first} | uint64_t{second} << 16 | static_cast<uint64_t>(groups) << 32;
      if (kind == AsyncKind::kBarrier || kind == AsyncKind::kClusterBarrier)
        barrier(kernel_.at(id), first, second);
      id = kernel_.derived(id, key, [&](MachineInstruction& m) {
        m.instruction = with_immediates(m, first, second, groups);
      });
    }
  }
  trace.add(id, d.pc, d.mask, nullptr);
  return {};
}

void LaunchBuilder::barrier(const MachineInstruction& in, uint32_t number, uint32_t threads) {
  using Kind = MbarrierStep::Kind;
  const bool of_cluster = in.async == AsyncKind::kClusterBarrier;
  const bool arrives = in.instruction.mod.bar_arrive != 0;
  if (in.instruction.op == ptx::Opcode::kNop) return;
  MbarrierStep step;
  step.kind = of_cluster ? (arrives ? Kind::kClusterArrive : Kind::kClusterWait)
                         : (arrives ? Kind::kBarrierArrive : Kind::kBarrier);
  step.mbarrier = static_cast<uint8_t>(number % kNumBarriers);
  step.arrivals = (threads + 31) / 32;
  add_step(step);
}

LineProblem LaunchBuilder::init(uint32_t id, const DynamicPart& d, const LineTail& tail) {
  // A block makes its own mbarriers, so one of rank 0 shows that ranks are not in the addresses.
  const auto first = static_cast<uint32_t>(__builtin_ctz(d.mask));
  if (rank_of(address_[first]) == 0) no_ranks_ = rank_ != 0;
  const std::vector<AtMbarrier> all = mbarriers(d.mask);
  for (const AtMbarrier& a : all) {
    MbarrierStep step;
    step.kind = MbarrierStep::Kind::kInit;
    step.block = a.block;
    step.mbarrier = a.number;
    step.arrivals = (kMbarrierCounts - (tail.value[a.first] >> 1)) % kMbarrierCounts;
    step.known = tail.has_values && step.arrivals != 0;
    add_step(step);
  }
  for (uint32_t m = d.mask; m != 0; m &= m - 1) {
    uint64_t& address = address_[__builtin_ctz(m)];
    address = shared_offset(address);
  }
  warp_.trace->add(id, d.pc, d.mask, address_);
  return {};
}

void LaunchBuilder::arrive(uint32_t id, AsyncKind kind, const DynamicPart& d,
                           const LineTail& tail) {
  const ArrivalForm form = arrival_form(kernel_.at(id).line.opcode);
  const bool loads = kind == AsyncKind::kCopiesArrive;
  // Without ARVCNT an arrival is expected besides.
  const bool counted = !loads || Modifiers(kernel_.at(id).line.opcode).has("ARVCNT");
  const std::vector<AtMbarrier> all = mbarriers(d.mask);
  const size_t first = warp_.trace->events();
  warp_.trace->add_events(id, d.pc, d.mask, static_cast<uint32_t>(all.size()));
  for (size_t i = 0; i < all.size(); ++i) {
    MbarrierStep step;
    step.block = all[i].block;
    step.mbarrier = all[i].number;
    step.place = first + i;
    step.drops = form.drops;
    step.known = loads || (form.bytes != 'R' && form.bytes != 'X') || tail.has_values;
    for (uint32_t m = all[i].lanes; m != 0; m &= m - 1) {
      const uint32_t value = tail.has_values ? tail.value[__builtin_ctz(m)] : 1;
      step.arrivals += !counted || form.arrivals == '0' ? 0 : form.arrivals == 'R' ? value : 1;
      if (!loads && form.bytes == 'R') step.bytes += tail.has_values ? int64_t{value} : 0;
      if (!loads && form.bytes == 'X') step.bytes -= tail.has_values ? int64_t{value} : 0;
    }
    add_step(step);
  }
}

void LaunchBuilder::wait(uint32_t id, const DynamicPart& d, const LineTail& tail) {
  const auto lane = static_cast<uint32_t>(__builtin_ctz(d.mask));
  const uint64_t offset = shared_offset(address_[lane]);
  const uint32_t value = tail.value[lane] >> 31;
  // Lanes that have parted wait by themselves.
  if (warp_.waits && offset == warp_.wait_offset && value == warp_.wait_value &&
      (warp_.wait_lanes & d.mask) != 0) {
    left_out_ += warp_.held.size() + 1;
    left_out_tries_ += 1;
    warp_.held.clear();
    return;
  }
  release_held();
  std::vector<AtMbarrier> all = mbarriers(d.mask);
  std::erase_if(all, [&](const AtMbarrier& a) { return a.block != rank_; });  // as in PTX
  const size_t first = warp_.trace->events();
  warp_.trace->add_events(id, d.pc, d.mask, static_cast<uint32_t>(all.size()));
  for (size_t i = 0; i < all.size(); ++i) {
    MbarrierStep step;
    step.kind = MbarrierStep::Kind::kWait;
    step.block = all[i].block;
    step.mbarrier = all[i].number;
    step.place = first + i;
    step.known = tail.has_values;
    step.parity = static_cast<uint8_t>(tail.value[all[i].first] >> 31);
    // A try after which the same phase is waited for again was none that had to succeed.
    std::vector<MbarrierStep>& steps = order_.steps(warp_.in_cluster);
    size_t& last = warp_.last_wait[step.mbarrier];
    uint32_t& lanes = warp_.last_lanes[step.mbarrier];
    if (last != kNoStep && step.known && steps[last].known && steps[last].parity == step.parity &&
        (lanes & all[i].lanes) != 0)
      steps[last].kind = MbarrierStep::Kind::kPeek;
    last = steps.size();
    lanes = all[i].lanes;
    add_step(step);
  }
  warp_.waits = true;
  warp_.wait_offset = offset;
  warp_.wait_value = value;
  warp_.wait_lanes = d.mask;
}

LineProblem LaunchBuilder::bulk(uint32_t id, AsyncKind kind, const DynamicPart& d,
                                std::string_view rest) {
  const LineProblem problem = parse_bulk(rest, &bulk_, &rest);
  if (problem.what != nullptr) return problem;
  WarpTrace& trace = *warp_.trace;
  if (kind == AsyncKind::kPrefetch) {
    trace.add(id, d.pc, d.mask, nullptr);
    return {};
  }
  MbarrierStep step;
  step.kind = MbarrierStep::Kind::kBytes;
  bool there = mbarrier_at(bulk_.mbarrier, &step.block, &step.mbarrier);
  const auto arrives = [&](uint32_t event, bool counts) {
    step.place = trace.events();
    step.bytes = -static_cast<int64_t>(bulk_.bytes);
    trace.add_events(event, d.pc, d.mask, there ? 1 : 0, counts);
    if (there) add_step(step);
  };
  if (kind == AsyncKind::kRemoteBulk) {
    arrives(id, true);
    return {};
  }
  // Pieces of what each address stands for.
  std::vector<uint64_t>& at = bulk_.addresses;
  const uint64_t each =
      at.empty() ? 0 : (bulk_.bytes - bulk_.outside) / at.size() / kPiece * kPiece;
  const uint64_t pieces_each = std::max<uint64_t>(1, each / kPiece);
  const uint64_t pieces = at.size() * pieces_each;
  uint64_t done = 0;
  do {
    const auto n = static_cast<uint32_t>(std::min<uint64_t>(32, pieces - done));
    for (uint32_t i = 0; i < n; ++i) {
      const uint64_t piece = done + i;
      address_[i] = addresses_.global(at[piece / pieces_each] + piece % pieces_each * kPiece);
      addresses_.touch(address_[i], address_[i] + kPiece - 1);
    }
    added_ += done != 0;
    trace.add_pieces(id, d.pc, d.mask, n, address_, done == 0);
    done += n;
  } while (done < pieces);
  const uint32_t end = kernel_.derived(id, 0, [](MachineInstruction& m) {
    m.instruction = end_of_bulk(m);
    m.ends_run = true;
  });
  if (kind != AsyncKind::kBulkLoad) {
    ++added_;
    trace.add(end, d.pc, d.mask, nullptr, false);
    return {};
  }
  // Each of several blocks has its mbarrier at the place that is named.
  uint32_t blocks = there ? bulk_.blocks & ((1u << header_.cluster.count()) - 1) : 0;
  do {
    if (blocks != 0) {
      step.block = static_cast<uint8_t>(__builtin_ctz(blocks));
      there = order_.number_of(step.block, shared_offset(bulk_.mbarrier), &step.mbarrier);
    }
    ++added_;
    arrives(end, false);
    blocks &= blocks - 1;
  } while (blocks != 0);
  return {};
}

}  // namespace nearwarp::sass
