// Reads one kernel launch: thread blocks, warps, instructions.
#include "host/recording/accel_sim/launch_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "device/trace/format.h"
#include "host/core/error.h"
#include "host/recording/accel_sim/tokens.h"
#include "host/recording/accel_sim/warp_trace.h"

namespace nearwarp::sass {
namespace {

constexpr uint64_t kWindowBytes = uint64_t{1} << 24;     // of the shared and the local window
constexpr uint64_t kChunkWords = uint64_t{1} << 18;      // 2 MiB
constexpr uint64_t kMostBlockWords = uint64_t{1} << 31;  // offsets in a chunk have 32 bits
constexpr uint64_t kLinesBetweenProgress = uint64_t{1} << 14;
constexpr char kAgain[] = "trace the program again, or copy the whole file";

/// The words of "key = value"; false if the line is something else.
bool value_of(std::string_view line, std::string_view key, std::string_view* value) {
  if (!line.starts_with(key)) return false;
  Tokens words(line.substr(key.size()));
  if (words.next() != "=") return false;
  words.skip_spaces();
  *value = words.rest();
  while (value->ends_with(' ')) value->remove_suffix(1);
  return true;
}

bool in_window(uint64_t address, uint64_t base) {
  return base != 0 && address >= base && address - base < kWindowBytes;
}
/// An address in a window, given as a generic address or as an offset.
uint64_t window_offset(uint64_t address, uint64_t base) {
  return (address >= base ? address - base : address) % kWindowBytes;
}

}  // namespace

LaunchReader::LaunchReader(LineReader& lines, const KernelHeader& header, MachineKernel& kernel,
                           AddressSpace& addresses)
    : lines_(lines),
      header_(header),
      kernel_(kernel),
      addresses_(addresses),
      warps_per_block_(static_cast<uint32_t>((header.block.count() + 31) / 32)),
      words_of_(warps_per_block_) {
  chunk_.warp_offset.push_back(0);
}

bool LaunchReader::next(std::string_view* line) {
  while (lines_.next(line)) {
    if (lines_until_progress_-- == 0) {
      (*progress_)();
      lines_until_progress_ = kLinesBetweenProgress;
    }
    if (line->find_first_not_of(" \t") == std::string_view::npos) continue;
    const std::string_view marker = marker_of(*line);
    if (marker.empty()) return true;
    add_once(markers_, marker);
  }
  return false;
}

runtime::LaunchRecord LaunchReader::read(runtime::TraceStore& store,
                                         const std::function<void()>& progress) {
  progress_ = &progress;
  record_.grid = header_.grid;
  record_.block = header_.block;
  record_.shared_bytes = header_.shared_bytes;
  record_.first_chunk = store.size();
  chunk_.warps_per_block = warps_per_block_;
  std::string_view line;
  while (next(&line)) {
    if (!line.starts_with("#BEGIN_TB")) {
      if (line[0] == '#') continue;  // a comment
      lines_.fail(quoted(line) + " stands outside of a thread block", "begin one with #BEGIN_TB");
    }
    thread_block();
    uint64_t words = 0;
    for (const std::vector<uint64_t>& w : words_of_) words += w.size();
    if (words > kMostBlockWords)
      lines_.fail("a thread block's trace is larger than a simulation has room for",
                  "trace a smaller problem");
    if (chunk_.words.size() + words > kMostBlockWords) flush(store);
    for (std::vector<uint64_t>& w : words_of_) {
      chunk_.words.insert(chunk_.words.end(), w.begin(), w.end());
      chunk_.warp_offset.push_back(static_cast<uint32_t>(chunk_.words.size()));
    }
    ++chunk_.num_blocks;
    ++record_.blocks_recorded;
    if (chunk_.words.size() >= kChunkWords) flush(store);
  }
  flush(store);
  record_.num_chunks = store.size() - record_.first_chunk;
  if (record_.blocks_recorded != header_.grid.count())
    lines_.fail(fmt::format("the file ends after {} of {} thread blocks", record_.blocks_recorded,
                            header_.grid.count()),
                kAgain);
  if (record_.warp_instructions != announced_)
    throw Error(
        fmt::format("'{}' has {} instructions, and {} were kept - this is a defect of the "
                    "simulator",
                    lines_.path(), announced_, record_.warp_instructions));
  return record_;
}

void LaunchReader::flush(runtime::TraceStore& store) {
  if (chunk_.num_blocks == 0) return;
  const uint32_t next = chunk_.first_block + chunk_.num_blocks;
  runtime::TraceChunk following;
  following.first_block = next;
  following.warps_per_block = warps_per_block_;
  following.warp_offset.push_back(0);
  store.append(std::exchange(chunk_, std::move(following)));
}

void LaunchReader::check_thread_block(std::string_view text) {
  std::array<uint32_t, 3> at = {};
  size_t n = 0;
  for (; n < 3; ++n) {
    const size_t comma = n < 2 ? text.find(',') : text.size();
    if (comma == std::string_view::npos || !parse_number(text.substr(0, comma), &at[n])) break;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  const runtime::Dim3& grid = header_.grid;
  if (n != 3 || at[0] >= grid.x || at[1] >= grid.y || at[2] >= grid.z)
    lines_.fail("a thread block's position cannot be read or is outside of the grid",
                fmt::format("write three numbers below {},{},{}", grid.x, grid.y, grid.z));
  const uint64_t index = at[0] + uint64_t{grid.x} * (at[1] + uint64_t{grid.y} * at[2]);
  if (index >= block_seen_.size()) block_seen_.resize(index + 1);
  if (block_seen_[index])
    lines_.fail(fmt::format("thread block {},{},{} is there twice", at[0], at[1], at[2]),
                "name each once");
  block_seen_[index] = true;
}

void LaunchReader::thread_block() {
  for (std::vector<uint64_t>& w : words_of_) w.assign(1, 0);  // a warp without instructions
  warp_seen_.assign(warps_per_block_, false);
  std::string_view line, value;
  bool named = false;
  while (next(&line)) {
    if (value_of(line, "thread block", &value)) {
      if (named) lines_.fail("a thread block has two positions", "end the first with #END_TB");
      check_thread_block(value);
      named = true;
    } else if (value_of(line, "warp", &value)) {
      uint32_t number = 0;
      if (!parse_number(value, &number) || number >= warps_per_block_)
        lines_.fail("there is no warp " + quoted(value),
                    fmt::format("a block of {} threads has warps 0 to {}", header_.block.count(),
                                warps_per_block_ - 1));
      if (warp_seen_[number])
        lines_.fail(fmt::format("warp {} is there twice", number), "name each once");
      warp_seen_[number] = true;
      warp(number);
    } else if (line.starts_with("#END_TB")) {
      if (!named)
        lines_.fail("a thread block has no position",
                    "write thread block = x,y,z before its warps");
      return;
    } else {
      lines_.fail(quoted(line) + " is no line of a thread block",
                  "write a warp's instructions behind warp = n and insts = k, and #END_TB behind "
                  "the last");
    }
  }
  lines_.fail("the file ends inside a thread block", kAgain);
}

void LaunchReader::warp(uint32_t number) {
  std::string_view line, value;
  uint64_t count = 0;
  if (!next(&line) || !value_of(line, "insts", &value) || !parse_number(value, &count))
    lines_.fail(fmt::format("warp {} has no number of instructions", number),
                "write insts = k behind warp = n");
  std::vector<uint64_t>& words = words_of_[number];
  words.clear();
  WarpTrace trace(kernel_, words);
  const auto in_launch = static_cast<uint32_t>(record_.blocks_recorded * warps_per_block_ + number);
  for (uint64_t i = 0; i < count; ++i) {
    if (!next(&line)) lines_.fail("the file ends inside a warp", kAgain);
    if (line[0] == '#' || line.starts_with("warp"))
      lines_.fail(fmt::format("warp {} ends after {} of {} instructions", number, i, count),
                  "write as many lines as insts = says");
    DynamicPart d;
    size_t length = 0;
    uint32_t id = 0;
    LineProblem problem = parse_front(line, header_, &d);
    if (problem.what == nullptr) problem = kernel_.instruction(d.pc, d.rest, &id, &length);
    const MachineInstruction* in = problem.what == nullptr ? &kernel_.at(id) : nullptr;
    if (in != nullptr && in->has_record) {
      problem = parse_addresses(d.rest.substr(length), d.mask, address_);
      if (problem.what == nullptr) move_addresses(*in, d.mask, in_launch);
    }
    if (problem.what != nullptr) lines_.fail(problem.what, problem.right);
    trace.add(id, d.pc, d.mask, address_);
  }
  trace.finish();
  announced_ += count;
  record_.warp_instructions += trace.warp_instructions();
  record_.thread_instructions += trace.thread_instructions();
}

void LaunchReader::move_addresses(const MachineInstruction& in, uint32_t mask,
                                  uint32_t warp_number) {
  if (mask == 0) return;
  OpcodeClass space = in.opcode_class;
  uint64_t window = trace::kSharedWindow;
  if (space == OpcodeClass::kShared) {
    window = 0;
  } else if (space != OpcodeClass::kLocal) {
    // All lanes access the memory that the first one does. Of LDGSTS, which has an address in
    // shared memory too, tracers may give either.
    const uint64_t first = address_[__builtin_ctz(mask)];
    space = in_window(first, header_.shared_base)  ? OpcodeClass::kShared
            : in_window(first, header_.local_base) ? OpcodeClass::kLocal
                                                   : OpcodeClass::kGlobal;
  }
  uint64_t least = ~uint64_t{0}, most = 0;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(m));
    uint64_t& address = address_[lane];
    if (space == OpcodeClass::kShared) {
      address = window | window_offset(address, header_.shared_base);
    } else if (space == OpcodeClass::kLocal) {
      address = addresses_.local(window_offset(address, header_.local_base), warp_number, lane);
    } else {
      address = addresses_.global(address);
      least = std::min(least, address);
      most = std::max(most, address);
    }
  }
  if (most != 0) addresses_.touch(least, most + in.lane_bytes - 1);
}

}  // namespace nearwarp::sass
