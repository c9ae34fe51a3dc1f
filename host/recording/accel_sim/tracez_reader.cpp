// Reads one kernel launch from a file with an index (".tracez").
#include "host/recording/accel_sim/tracez_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "host/core/error.h"
#include "host/recording/accel_sim/launch_reader.h"

namespace nearwarp::sass {
namespace {

/// A text in memory as a source of bytes.
class Text final : public ByteSource {
 public:
  explicit Text(const std::string& text) : text_(text) {}
  size_t read(char* to, size_t bytes) override {
    const size_t n = std::min(bytes, text_.size() - at_);
    std::memcpy(to, text_.data() + at_, n);
    at_ += n;
    return n;
  }
  uint64_t position() const override { return at_; }

 private:
  const std::string& text_;
  size_t at_ = 0;
};

/// Removes the first line from a text and returns it in `line`; false if the text is empty.
bool take_line(std::string_view* text, std::string_view* line) {
  if (text->empty()) return false;
  const size_t end = std::min(text->find('\n'), text->size());
  *line = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  if (line->ends_with('\r')) line->remove_suffix(1);
  return true;
}

class Reader {
 public:
  Reader(TracezFile& file, LaunchBuilder& builder, std::vector<std::string>* markers)
      : file_(file), builder_(builder), markers_(markers) {}

  void block(const TracezBlock& b, const KernelHeader& header, BlocksSeen& seen,
             const std::function<void(uint64_t)>& progress) {
    block_ = fmt::format("thread block {},{},{}", b.at[0], b.at[1], b.at[2]);
    const runtime::Dim3& g = header.grid;
    if (!seen.is_inside(b.at))
      fail(block_ + " is outside of the grid",
           fmt::format("thread blocks below {},{},{}", g.x, g.y, g.z));
    if (!seen.add(b.at)) fail(block_ + " is there twice", "each once");
    if (b.rank >= header.cluster.count())
      fail(fmt::format("{} has rank {} in its cluster", block_, b.rank),
           fmt::format("a rank below {}", header.cluster.count()));
    if (b.warps.size() > builder_.warps_per_block())
      fail(fmt::format("{} has {} warps", block_, b.warps.size()),
           fmt::format("at most {}, for {} threads", builder_.warps_per_block(),
                       header.block.count()));
    check(builder_.begin_block(b.rank));
    for (uint32_t w = 0; w < b.warps.size(); ++w) {
      warp(b.warps[w], w);
      progress(b.warps[w].offset);
    }
    check(builder_.end_block());
  }

 private:
  void warp(const TracezBlock::Warp& warp, uint32_t number) {
    const std::string what = fmt::format("{}, warp {}", block_, number);
    file_.begin_warp(warp, what);
    builder_.begin_warp(number);
    uint64_t done = 0;
    for (const uint32_t wanted : warp.parts) {
      std::string_view text = file_.next_part(what), line;
      uint32_t n = 0;
      while (take_line(&text, &line)) {
        if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
        if (const std::string_view marker = marker_of(line); !marker.empty()) {
          add_once(*markers_, marker);
          continue;
        }
        const LineProblem problem = builder_.line(line);
        if (problem.what != nullptr)
          throw Error(fmt::format("{} ('{}', {}, instruction {}: {}) - {}", problem.what,
                                  file_.path(), what, done + n, quoted(line), problem.right));
        ++n;
      }
      if (n != wanted)
        fail(fmt::format("a part of {} has {} instructions, and by the index {}", what, n, wanted),
             "the whole file");
      done += n;
    }
    builder_.end_warp();
  }
  void check(const LineProblem& problem) const {
    if (problem.what != nullptr) fail(fmt::format("{}: {}", block_, problem.what), problem.right);
  }
  [[noreturn]] void fail(const std::string& what, const std::string& right) const {
    throw Error(fmt::format("{} ('{}') - {} would be right", what, file_.path(), right));
  }

  TracezFile& file_;
  LaunchBuilder& builder_;
  std::vector<std::string>* markers_;
  std::string block_;
};

/// The thread blocks in the order of the builder: clusters of `each` blocks as in the file, and
/// within a cluster by rank. If clusters are incomplete, the order of the file.
std::vector<const TracezBlock*> by_clusters(const TracezFile& file, uint64_t each) {
  std::vector<const TracezBlock*> blocks;
  std::map<std::array<uint32_t, 3>, size_t> order;
  for (const TracezBlock& b : file.blocks()) {
    blocks.push_back(&b);
    if (each > 1) order.emplace(std::to_array(b.cluster), order.size());
  }
  if (each == 1 || order.size() * each != blocks.size()) return blocks;
  std::stable_sort(blocks.begin(), blocks.end(), [&](const TracezBlock* a, const TracezBlock* b) {
    const size_t first = order.at(std::to_array(a->cluster)),
                 second = order.at(std::to_array(b->cluster));
    return first != second ? first < second : a->rank < b->rank;
  });
  return blocks;
}

}  // namespace

KernelHeader header_of(const TracezFile& file) {
  LineReader lines(file.path(), std::make_unique<Text>(file.header()));
  return read_whole_header(lines);
}

runtime::LaunchRecord read_tracez(TracezFile& file, const KernelHeader& header,
                                  LaunchBuilder& builder,
                                  const std::function<void(uint64_t position)>& progress,
                                  std::vector<std::string>* markers) {
  BlocksSeen seen(header.grid);
  Reader reader(file, builder, markers);
  uint64_t furthest = 0;
  const auto forward = [&](uint64_t position) {
    furthest = std::max(furthest, position);
    progress(furthest);
  };
  for (const TracezBlock* b : by_clusters(file, header.cluster.count()))
    reader.block(*b, header, seen, forward);
  if (builder.blocks() != header.grid.count())
    throw Error(
        fmt::format("'{}' has {} of {} thread blocks - trace the program again, or copy "
                    "the whole file",
                    file.path(), builder.blocks(), header.grid.count()));
  return builder.finish(file.path());
}

}  // namespace nearwarp::sass
