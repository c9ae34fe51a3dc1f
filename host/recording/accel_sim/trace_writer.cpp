// Writes recordings as traces of the form that Accel-Sim's tracer makes, version 6.
#include "host/recording/accel_sim/trace_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "host/core/error.h"
#include "host/recording/accel_sim/tracez_file.h"
#include "host/recording/accel_sim/warp_lines.h"

namespace nearwarp::sass {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kSmRegisters = 65536;  // of every GPU that the form is made on

/// A file under a temporary name beside its own until all are written; gone if one is not.
class PendingFile {
 public:
  explicit PendingFile(std::string path)
      : temporary(fmt::format("{}.tmp{}", path, getpid())), path_(std::move(path)) {}
  ~PendingFile() {
    std::error_code ignored;
    if (!renamed_) fs::remove(temporary, ignored);
  }
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  void rename() {
    std::error_code failed;
    fs::rename(temporary, path_, failed);
    if (failed)
      throw Error(fmt::format("cannot write '{}': {} - check the folder", path_, failed.message()));
    renamed_ = true;
  }
  const std::string temporary;

 private:
  std::string path_;
  bool renamed_ = false;
};

/// Where the lines of a launch go.
class Output {
 public:
  virtual ~Output() = default;
  virtual void begin_block(const TracezBlock& block) = 0;
  virtual void warp(uint32_t number, const std::vector<std::string>& lines) = 0;
  virtual void end_block() = 0;
  virtual void finish() = 0;
};

class Indexed final : public Output {
 public:
  Indexed(const std::string& path, const std::string& header) : writer_(path, header) {}
  void begin_block(const TracezBlock& block) override { writer_.begin_block(block); }
  void warp(uint32_t, const std::vector<std::string>& lines) override {
    writer_.begin_warp();
    for (const std::string& line : lines) writer_.line(line);
    writer_.end_warp();
  }
  void end_block() override {}
  void finish() override { writer_.finish(); }

 private:
  TracezWriter writer_;
};

class Text final : public Output {
 public:
  Text(const std::string& path, const std::string& header) : path_(path), file_(path) {
    file_ << header << "\n#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num "
          << "[reg_srcs] [commit] mem_width [addresses] immediates values\n\n";
    check();
  }
  void begin_block(const TracezBlock& b) override {
    file_ << fmt::format(
        "#BEGIN_TB\n\nthread block = {},{},{}\ncluster id = {},{},{}\ncluster cta = {},{},{}\n"
        "cluster rank = {}\n",
        b.at[0], b.at[1], b.at[2], b.cluster[0], b.cluster[1], b.cluster[2], b.in_cluster[0],
        b.in_cluster[1], b.in_cluster[2], b.rank);
  }
  void warp(uint32_t number, const std::vector<std::string>& lines) override {
    file_ << fmt::format("\nwarp = {}\ninsts = {}\n", number, lines.size());
    for (const std::string& line : lines) file_ << line << '\n';
  }
  void end_block() override { file_ << "\n#END_TB\n\n"; }
  void finish() override {
    file_.close();
    check();
  }

 private:
  void check() const {
    if (!file_) throw Error(fmt::format("cannot write '{}' - check the folder", path_));
  }
  std::string path_;
  std::ofstream file_;
};

std::string header_of(const runtime::Recording& recording, uint32_t index) {
  const runtime::LaunchRecord& l = recording.launches[index];
  const compiler::Kernel& kernel = *recording.kernels[l.kernel];
  const runtime::Dim3& c = l.cluster;
  const std::string cluster =
      c.count() > 1 ? fmt::format("-cluster dim = ({},{},{})\n", c.x, c.y, c.z) : "";
  return fmt::format(
      "-kernel name = {}\n-kernel id = {}\n-grid dim = ({},{},{})\n-block dim = ({},{},{})\n{}"
      "-shmem = {}\n-nregs = {}\n-binary version = 90\n-cuda stream id = {}\n"
      "-shmem base_addr = {:#018x}\n-local mem base_addr = 0x00007f3b00000000\n"
      "-nvbit version = none, by nearwarp\n-accelsim tracer version = 6\n-enable lineinfo = 0\n",
      kernel.name, index + 1, l.grid.x, l.grid.y, l.grid.z, l.block.x, l.block.y, l.block.z,
      cluster, l.shared_bytes, compiler::occupancy_registers(kernel, kSmRegisters, l.block.count()),
      l.stream, kWrittenSharedBase);
}

/// A warp's lines, which are handed on when it ends.
struct Visit {
  WarpLines& lines;
  std::vector<std::string>& of_warp;
  Output& out;
  uint32_t number = 0;
  bool begun = false;

  void warp(uint64_t block, uint32_t warp) {
    finish();
    lines.warp(block, warp);
    number = warp;
    begun = true;
  }
  void run(uint32_t block, uint32_t instructions, uint32_t mask) {
    lines.run(block, instructions, mask);
  }
  void record(uint32_t instruction, uint32_t mask, const uint64_t* words) {
    lines.record(instruction, mask, words);
  }
  void finish() {
    if (!begun) return;
    lines.finish_warp();
    out.warp(number, of_warp);
    of_warp.clear();
    begun = false;
  }
};

/// Where the thread block is that was executed as number b: clusters follow one another by their
/// places in the grid, and the blocks of one by their ranks.
TracezBlock block_at(const runtime::LaunchRecord& l, uint64_t b) {
  const uint64_t each = l.cluster.count();
  const uint32_t size[3] = {l.cluster.x, l.cluster.y, l.cluster.z};
  const uint32_t grid[3] = {l.grid.x, l.grid.y, l.grid.z};
  TracezBlock block;
  block.rank = static_cast<uint32_t>(b % each);
  uint64_t cluster = b / each, rank = block.rank;
  for (int i = 0; i < 3; ++i) {
    const uint32_t clusters = grid[i] / size[i];
    block.cluster[i] = static_cast<uint32_t>(cluster % clusters);
    block.in_cluster[i] = static_cast<uint32_t>(rank % size[i]);
    block.at[i] = block.cluster[i] * size[i] + block.in_cluster[i];
    cluster /= clusters;
    rank /= size[i];
  }
  return block;
}

/// Returns whether all that arrives at mbarriers could be written.
bool write_launch(const runtime::Recording& recording, uint32_t index, Output& out) {
  const runtime::LaunchRecord& l = recording.launches[index];
  const compiler::Kernel& kernel = *recording.kernels[l.kernel];
  const runtime::ChunkWalk walk(kernel);
  MbarrierStory story(kernel, walk);
  std::vector<std::string> of_warp;
  WarpLines lines(kernel, l, story, [&](const std::string& line) { of_warp.push_back(line); });
  std::vector<RecordedBlock> cluster;
  for (uint32_t c = l.first_chunk; c < l.first_chunk + l.num_chunks; ++c) {
    const auto chunk = recording.traces.chunk(c);
    for (uint32_t b = chunk->first_block; b < chunk->first_block + chunk->num_blocks; ++b) {
      cluster.push_back({chunk, b});
      if (cluster.size() < l.cluster.count()) continue;
      story.read(cluster);
      for (const RecordedBlock& r : cluster) {
        out.begin_block(block_at(l, r.block));
        Visit visit{lines, of_warp, out};
        walk.walk(*r.chunk, r.block, r.block + 1, visit);
        visit.finish();
        out.end_block();
      }
      cluster.clear();
    }
  }
  out.finish();
  return !lines.left_out();
}

}  // namespace

std::string write_traces(const runtime::Recording& recording, const std::string& folder,
                         TraceForm form, const std::function<void(const std::string&)>& tell) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    throw Error(fmt::format("cannot make the folder '{}': {} - name another one", folder,
                            failed.message()));
  if (recording.truncated)
    throw Error(
        "only a part of the program was recorded, and traces are of whole kernels - record "
        "it without a limit");
  std::string list;
  std::list<PendingFile> files;
  bool whole = true;
  for (const runtime::Allocation& a : recording.allocations)
    list += fmt::format("MemcpyHtoD,{:#018x},{}\n", a.address, a.bytes);
  for (uint32_t i = 0; i < recording.launches.size(); ++i) {
    const bool text = form == TraceForm::kText;
    const std::string name = fmt::format("kernel-{}.{}", i + 1, text ? "traceg" : "tracez");
    const std::string& path = files.emplace_back((fs::path(folder) / name).string()).temporary;
    const std::string header = header_of(recording, i);
    std::unique_ptr<Output> out;
    if (text)
      out = std::make_unique<Text>(path, header);
    else
      out = std::make_unique<Indexed>(path, header);
    whole = write_launch(recording, i, *out) && whole;
    list += name + '\n';
  }
  // Traces of before, and their list, stand until all are there.
  const std::string path = (fs::path(folder) / "kernelslist.g").string();
  std::ofstream file(files.emplace_back(path).temporary);
  file << list;
  file.close();
  if (!file) throw Error(fmt::format("cannot write '{}' - check the folder", path));
  for (PendingFile& f : files) f.rename();
  if (!whole && tell)
    tell(
        "boxes for several thread blocks of a cluster tell mbarriers that do not lie alike, which "
        "a line of a trace cannot name: read back, nobody waits for those but the first");
  return path;
}

}  // namespace nearwarp::sass
