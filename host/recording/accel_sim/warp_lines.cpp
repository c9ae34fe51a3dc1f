// The lines of a warp's instructions in a trace, from a recording.
#include "host/recording/accel_sim/warp_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "device/trace/reader.h"
#include "host/functional/compiler/lane_bytes.h"
#include "host/functional/ptx/details.h"
#include "host/recording/accel_sim/machine_names.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::sass {
namespace {

using compiler::Instruction;
using ptx::CopyGroup;
using ptx::Opcode;

constexpr uint32_t kInstructionBytes = 16;
constexpr uint64_t kPiece = 16;
constexpr uint32_t kMbarrierCounts = 1u << 20;
constexpr uint64_t kWindowBytes = uint64_t{1} << 24;  // of a block's shared memory
/// An address of shared memory of no block, for what arrives at mbarriers without phases.
constexpr uint64_t kNowhere = uint64_t{0xff} << 24;

bool is_arrival(const Instruction& in) {
  return in.op == Opcode::kAtom && in.mod.atomic == ptx::AtomicOp::kArrive;
}
bool is_step(const Instruction& in) {
  return in.op == Opcode::kTensorLoad || in.op == Opcode::kTensorStore ||
         in.op == Opcode::kTensorReduce;
}
bool is_box_end(const Instruction& in) {
  return (is_arrival(in) && in.mod.mode == 1) ||
         (in.op == Opcode::kNop && in.mod.detail == static_cast<uint32_t>(CopyGroup::kBulkEnd));
}
bool is_product(const Instruction& in) {
  return in.op == Opcode::kWarpMma && ptx::WarpMatrixDetail::unpack(in.mod.detail).of_group();
}

/// The immediates of barriers and of waits for groups.
std::string immediates_of(const Instruction& in) {
  const auto immediate = [&](size_t i) -> uint64_t {
    return i < in.srcs.size() && in.srcs[i].kind == compiler::OperandKind::kImmediate
               ? in.srcs[i].bits
               : 0;
  };
  if (in.op == Opcode::kBar || in.op == Opcode::kWgmmaWait || in.op == Opcode::kNop)
    return fmt::format("{} {}", immediate(0), immediate(1));
  return "0";
}

}  // namespace

WarpLines::WarpLines(const compiler::Kernel& kernel, const runtime::LaunchRecord& launch,
                     MbarrierStory& story, std::function<void(const std::string&)> to)
    : kernel_(kernel), launch_(launch), story_(story), to_(std::move(to)) {
  uint32_t n = 0;
  for (const Instruction& in : kernel.instructions) {
    number_of_.push_back(n);
    n += !has_no_machine_instruction(in);
  }
}

void WarpLines::warp(uint64_t block, uint32_t) {
  rank_ = static_cast<uint32_t>(block % launch_.cluster.count());
}

void WarpLines::run(uint32_t block, uint32_t, uint32_t mask) {
  finish_run();
  mask_ = mask;
  next_ = kernel_.blocks[block].first;
  end_ = next_ + kernel_.blocks[block].count;
}

void WarpLines::record(uint32_t index, uint32_t lanes, const uint64_t* words) {
  while (next_ < index) instruction(0, nullptr);
  instruction(lanes, words);
}

void WarpLines::finish_run() {
  while (next_ < end_) instruction(0, nullptr);
}

void WarpLines::finish_warp() {
  finish_run();
  finish_box();
  finish_product(false);
}

/// The next one of the run; `words` of its record, if it left one.
void WarpLines::instruction(uint32_t lanes, const uint64_t* words) {
  const uint32_t index = next_++;
  const Instruction& in = kernel_.instructions[index];
  if (has_no_machine_instruction(in)) return;
  if (is_step(in)) {
    if (box_.ends) finish_box();
    finish_product(false);
    if (!box_.open) box_ = {true, false, index, mask_, {}, kNowhere, 0};
    uint64_t address[32] = {};
    if (words != nullptr) trace::read_record(words, ~uint64_t{0}, lanes, address);
    for (uint32_t m = lanes; m != 0; m &= m - 1)
      box_.addresses.push_back(address[std::countr_zero(m)]);
    return;
  }
  if (is_box_end(in)) {
    box_.ends = true;
    if (words == nullptr || lanes == 0 || !is_arrival(in)) return;
    const trace::PhaseEvent event = trace::phase_event(words[1]);
    const uint64_t place = place_of(event);
    const bool alike = box_.blocks == 0 || (place ^ box_.mbarrier) % kWindowBytes == 0;
    left_out_ = left_out_ || !alike;
    if (!alike) return;
    if (box_.blocks == 0 || event.block == 0) box_.mbarrier = place;
    box_.blocks |= 1u << rank_of(event);
    return;
  }
  finish_box();
  if (in.op == Opcode::kWgmmaCommit && has_product_) {
    finish_product(true);
    return;
  }
  finish_product(false);
  if (in.op == Opcode::kPhaseWait || is_arrival(in))
    events(index, lanes, words);
  else if (runtime::leaves_record(in))
    memory(index, lanes, words);
  else
    plain(index);
}

void WarpLines::begin_line(uint32_t index, uint32_t mask) {
  const Instruction& in = kernel_.instructions[index];
  const LineOperands to = machine_destinations(kernel_, in), from = machine_sources(kernel_, in);
  line_ = fmt::format("{:04x} {:08x} {} {} {} ", number_of_[index] * kInstructionBytes, mask,
                      to.text, machine_opcode(in), from.text);
  operands_ = to.count + from.count;
}

/// Values are those of the last operand; of others nothing is known, and 0 stands for them.
void WarpLines::end_line(const std::string& immediates, uint32_t operands,
                         const std::string& last_values) {
  line_ += immediates;
  if (last_values.empty()) {
    line_ += " NoVal";
  } else {
    line_ += " Val";
    for (uint32_t i = 0; i + 1 < operands; ++i) line_ += " 1 0";
    line_ += ' ' + last_values;
  }
  to_(line_);
}

void WarpLines::plain(uint32_t index) {
  const Instruction& in = kernel_.instructions[index];
  begin_line(index, mask_);
  if (is_product(in)) {
    product_[0] = line_;
    product_[1] = " 0 0 NoVal";
    has_product_ = true;
    return;
  }
  line_ += "0 ";
  end_line(immediates_of(in), operands_, "");
}

void WarpLines::finish_product(bool commits) {
  if (!has_product_) return;
  has_product_ = false;
  to_(product_[0] + (commits ? "1" : "0") + product_[1]);
}

void WarpLines::addresses(uint32_t bytes, uint32_t mask, const uint64_t* address) {
  std::vector<uint64_t> list;
  for (uint32_t m = mask; m != 0; m &= m - 1) list.push_back(address[std::countr_zero(m)]);
  line_ += fmt::format("{} ", bytes);
  if (list.empty()) {
    line_ += "0 ";
    return;
  }
  bool strided = true;
  for (size_t i = 2; i < list.size(); ++i)
    strided = strided && list[i] - list[i - 1] == list[1] - list[0];
  line_ += fmt::format("{} {:#x} ", strided ? 1 : 2, list[0]);
  for (size_t i = 1; i < (strided ? std::min<size_t>(2, list.size()) : list.size()); ++i)
    line_ += fmt::format("{} ", static_cast<int64_t>(list[i] - list[i - 1]));
  if (strided && list.size() == 1) line_ += "0 ";
}

uint64_t WarpLines::place_of(const trace::PhaseEvent& event) const {
  const uint32_t rank = rank_of(event);
  return rank * kWindowBytes + story_.offset_of(rank, event.mbarrier);
}

/// As a traced GPU would have it: shared memory's window, of the block of the cluster whose rank is
/// in bits 24 and up. Local memory is written as device memory.
uint64_t WarpLines::traced(const Instruction& in, uint64_t address) const {
  const uint64_t window = (address & (trace::kSharedWindow - 1)) / kWindowBytes;
  const uint64_t rank = window == 0 ? rank_ : window - 1;  // 0 is the block's own
  const uint64_t offset = rank * kWindowBytes + (address & (kWindowBytes - 1));
  if ((address & trace::kSharedWindow) != 0) return kWrittenSharedBase + offset;
  return in.mod.space == ptx::Space::kShared ? offset : address;
}

void WarpLines::memory(uint32_t index, uint32_t lanes, const uint64_t* words) {
  const Instruction& in = kernel_.instructions[index];
  begin_line(index, lanes);
  if (in.mod.space == ptx::Space::kConst || in.mod.space == ptx::Space::kParam) {
    line_ += "0 ";
    end_line("0", operands_, "");
    return;
  }
  uint64_t address[32] = {};
  if (words != nullptr) trace::read_record(words, ~uint64_t{0}, lanes, address);
  for (uint64_t& a : address) a = traced(in, a);
  addresses(compiler::lane_bytes(in), lanes, address);
  std::string values;
  if (in.op == Opcode::kSt && in.mod.mode == 1 && lanes != 0) {
    values = "32";
    for (uint32_t i = 0; i < 32; ++i) {
      const uint32_t number = story_.number_at(rank_, address[i] % kWindowBytes);
      const uint32_t count = number != MbarrierStory::kNone ? story_.count_of(rank_, number) : 1;
      values += fmt::format(" {:x}", (kMbarrierCounts - count) << 1);
    }
  }
  end_line("0", operands_, values);
}

/// Writes arrivals at mbarriers or waits for their phases: each event is a lane's, the last one
/// that of all other lanes too.
void WarpLines::events(uint32_t index, uint32_t lanes, const uint64_t* words) {
  const Instruction& in = kernel_.instructions[index];
  const auto count = static_cast<uint32_t>(std::popcount(lanes));
  // Where more mbarriers than lanes are named, other lanes have to help out.
  uint32_t mask = mask_;
  for (uint32_t i = 0; i < 32 && static_cast<uint32_t>(std::popcount(mask)) < count; ++i)
    mask |= 1u << i;
  begin_line(index, mask);
  uint64_t address[32] = {};
  uint32_t value[32] = {};
  uint32_t lane_index = 0;
  for (uint32_t m = mask; m != 0; m &= m - 1, ++lane_index) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    if (count == 0) {
      address[lane] = kNowhere;
      continue;
    }
    const uint32_t e = std::min(lane_index, count - 1);
    const trace::PhaseEvent event = trace::phase_event(words[1 + e]);
    address[lane] = place_of(event);
    if (in.op == Opcode::kPhaseWait)
      value[lane] = ((event.phase + 1) & 1) << 31;  // the parity of the phase before
    else if (in.mod.mode == 0 && lane_index == e)
      value[lane] =
          static_cast<uint32_t>(story_.take_bytes(rank_of(event), event.mbarrier, event.phase));
  }
  addresses(8, mask, address);
  std::string values = "32";
  for (const uint32_t v : value) values += fmt::format(" {:x}", v);
  end_line("0", operands_, values);
}

void WarpLines::finish_box() {
  if (!box_.open) return;
  const Instruction& in = kernel_.instructions[box_.instruction];
  begin_line(box_.instruction, box_.mask);
  const uint64_t bytes = box_.addresses.size() * kPiece;
  const bool several = std::popcount(box_.blocks) > 1;
  line_ +=
      fmt::format("16 {:#x} {} {} 0 4 {:#x} {}", in.op == Opcode::kTensorLoad ? box_.mbarrier : 0,
                  several ? fmt::format("1 {:#x}", box_.blocks) : "0", bytes,
                  box_.addresses.empty() ? 0 : box_.addresses[0], box_.addresses.size());
  for (size_t i = 1; i < box_.addresses.size(); ++i)
    line_ += fmt::format(" {}", static_cast<int64_t>(box_.addresses[i] - box_.addresses[i - 1]));
  line_ += ' ';
  end_line("0", operands_, "");
  box_ = Box{};
}

}  // namespace nearwarp::sass
