// Parses the text of one kernel launch: thread blocks, warps, instructions.
#include "host/recording/accel_sim/launch_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/core/error.h"
#include "host/recording/accel_sim/tokens.h"

namespace nearwarp::sass {
namespace {

constexpr uint64_t kLinesBetweenProgress = uint64_t{1} << 14;
constexpr char kAgain[] = "trace the program again, or copy the whole file";

/// Parses a line "key = value" and returns its value; false if the line is something else.
bool value_of(std::string_view line, std::string_view key, std::string_view* value) {
  if (!line.starts_with(key)) return false;
  Tokens words(line.substr(key.size()));
  if (words.next() != "=") return false;
  words.skip_spaces();
  *value = words.rest();
  while (value->ends_with(' ')) value->remove_suffix(1);
  return true;
}

/// Parses a position such as "1,2,3"; false for other texts.
bool parse_position(std::string_view text, uint32_t (*at)[3]) {
  for (size_t n = 0; n < 3; ++n) {
    const size_t comma = n < 2 ? text.find(',') : text.size();
    if (comma == std::string_view::npos || !parse_number(text.substr(0, comma), &(*at)[n]))
      return false;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return true;
}

}  // namespace

LaunchReader::LaunchReader(LineReader& lines, const KernelHeader& header, LaunchBuilder& builder)
    : lines_(lines), header_(header), builder_(builder), blocks_seen_(header.grid) {}

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

runtime::LaunchRecord LaunchReader::read(const std::function<void()>& progress) {
  progress_ = &progress;
  std::string_view line;
  while (next(&line)) {
    if (!line.starts_with("#BEGIN_TB")) {
      if (line[0] == '#') continue;  // a comment
      lines_.fail(quoted(line) + " stands outside of a thread block", "begin one with #BEGIN_TB");
    }
    thread_block();
  }
  if (builder_.blocks() != header_.grid.count())
    lines_.fail(fmt::format("the file ends after {} of {} thread blocks", builder_.blocks(),
                            header_.grid.count()),
                kAgain);
  return builder_.finish(lines_.path());
}

void LaunchReader::check_thread_block(std::string_view text) {
  uint32_t at[3] = {};
  const runtime::Dim3& grid = header_.grid;
  if (!parse_position(text, &at) || !blocks_seen_.is_inside(at))
    lines_.fail("a thread block's position cannot be read or is outside of the grid",
                fmt::format("write three numbers below {},{},{}", grid.x, grid.y, grid.z));
  if (!blocks_seen_.add(at))
    lines_.fail(fmt::format("thread block {},{},{} is there twice", at[0], at[1], at[2]),
                "name each once");
}

bool LaunchReader::check_cluster(std::string_view line, uint32_t* rank) const {
  std::string_view value;
  uint32_t at[3] = {};
  if (value_of(line, "cluster rank", &value)) {
    if (!parse_number(value, rank) || *rank >= header_.cluster.count())
      lines_.fail(quoted(value) + " is no rank of a thread block in its cluster",
                  fmt::format("write a number below {}", header_.cluster.count()));
    return true;
  }
  if (!value_of(line, "cluster id", &value) && !value_of(line, "cluster cta", &value)) return false;
  if (!parse_position(value, &at))
    lines_.fail(quoted(value) + " is no position of a cluster, or in one", "write three numbers");
  return true;
}

void LaunchReader::thread_block() {
  // The rank, if no line has it: blocks of a cluster follow each other in the order of their ranks.
  auto rank = static_cast<uint32_t>(builder_.blocks() % header_.cluster.count());
  bool begun = false;
  const auto check = [&](const LineProblem& problem) {
    if (problem.what != nullptr) lines_.fail(problem.what, problem.right);
  };
  const auto begin = [&] {
    if (!begun) check(builder_.begin_block(rank));
    begun = true;
  };
  warp_seen_.assign(builder_.warps_per_block(), false);
  std::string_view line, value;
  bool named = false;
  while (next(&line)) {
    if (value_of(line, "thread block", &value)) {
      if (named) lines_.fail("a thread block has two positions", "end the first with #END_TB");
      check_thread_block(value);
      named = true;
    } else if (!begun && check_cluster(line, &rank)) {
      continue;
    } else if (value_of(line, "warp", &value)) {
      uint32_t number = 0;
      if (!parse_number(value, &number) || number >= builder_.warps_per_block())
        lines_.fail("there is no warp " + quoted(value),
                    fmt::format("a block of {} threads has warps 0 to {}", header_.block.count(),
                                builder_.warps_per_block() - 1));
      if (warp_seen_[number])
        lines_.fail(fmt::format("warp {} is there twice", number), "name each once");
      warp_seen_[number] = true;
      begin();
      warp(number);
    } else if (line.starts_with("#END_TB")) {
      if (!named)
        lines_.fail("a thread block has no position",
                    "write thread block = x,y,z before its warps");
      begin();
      check(builder_.end_block());
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
  builder_.begin_warp(number);
  for (uint64_t i = 0; i < count; ++i) {
    if (!next(&line)) lines_.fail("the file ends inside a warp", kAgain);
    if (line[0] == '#' || line.starts_with("warp"))
      lines_.fail(fmt::format("warp {} ends after {} of {} instructions", number, i, count),
                  "write as many lines as insts = says");
    const LineProblem problem = builder_.line(line);
    if (problem.what != nullptr) lines_.fail(problem.what, problem.right);
  }
  builder_.end_warp();
}

}  // namespace nearwarp::sass
