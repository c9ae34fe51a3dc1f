// Text around the instructions of Accel-Sim's traces: the list of kernels, a kernel's header.
#include "host/recording/accel_sim/trace_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "host/core/error.h"
#include "host/recording/accel_sim/tokens.h"

namespace nearwarp::sass {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kMostThreads = 1024;            // of a block, on every GPU so far
constexpr uint32_t kMostRegisters = 256;           // of a thread; 255 and one that is always zero
constexpr uint32_t kMostSharedBytes = 256u << 10;  // of a block; 228 KiB on Blackwell
constexpr uint32_t kNewestTracer = 6;              // whose format this is
constexpr uint32_t kMostCluster = 16;              // blocks, on Hopper
constexpr uint64_t kMostBlocks = 1u << 31;         // CUDA's limit of a grid's x

bool ends_with_any(const std::string& name, const std::string& ending) {
  return name.ends_with(ending) || name.ends_with(ending + ".xz") ||
         name.ends_with(ending + ".zst");
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t n = text.find(at);
    parts.push_back(trimmed(text.substr(0, n)));
    if (n == std::string_view::npos) return parts;
    text.remove_prefix(n + 1);
  }
}

/// The file, or one that differs in its compression only.
std::string existing_file(const fs::path& path, const LineReader& list) {
  std::error_code ignored;
  if (fs::exists(path, ignored)) return path.string();
  fs::path plain = path;
  if (plain.extension() == ".xz" || plain.extension() == ".zst") plain.replace_extension();
  for (const char* ending : {"", ".xz", ".zst"}) {
    const std::string other = plain.string() + ending;
    if (fs::exists(other, ignored)) return other;
  }
  list.fail(fmt::format("there is no file '{}'", path.string()),
            "put the kernels' files beside the list");
}

CopyToDevice parse_copy(std::string_view line, size_t kernels_before, const LineReader& list) {
  const std::vector<std::string_view> words = split(line, ',');
  CopyToDevice copy;
  copy.kernels_before = kernels_before;
  if (words.size() != 3 || !parse_number(words[1], &copy.address, 16) ||
      !parse_number(words[2], &copy.bytes) || copy.address + copy.bytes < copy.address)
    list.fail(quoted(line) + " is no copy to the device", "write MemcpyHtoD,0x<address>,<bytes>");
  return copy;
}

/// Fills a header from its lines.
class HeaderParser {
 public:
  explicit HeaderParser(const LineReader& lines) : lines_(lines) {}

  void line(std::string_view text) {
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos)
      lines_.fail(quoted(text) + " has no value", "write -key = value");
    const std::string_view key = trimmed(text.substr(1, equals - 1));
    const std::string_view value = trimmed(text.substr(equals + 1));
    if (key == "kernel name")
      header_.name = value;
    else if (key == "grid dim")
      header_.grid = dim(key, value);
    else if (key == "block dim")
      header_.block = dim(key, value);
    else if (key == "cluster dim")
      header_.cluster = dim(key, value);
    else if (key == "shmem")
      number(key, value, &header_.shared_bytes);
    else if (key == "nregs")
      number(key, value, &header_.registers);
    else if (key == "binary version")
      number(key, value, &header_.binary_version);
    else if (key == "cuda stream id")
      number(key, value, &header_.stream);
    else if (key == "shmem base_addr")
      number(key, value, &header_.shared_base, 16);
    else if (key == "local mem base_addr")
      number(key, value, &header_.local_base, 16);
    else if (key == "accelsim tracer version")
      number(key, value, &header_.tracer_version);
    else if (key == "enable lineinfo")
      header_.line_info = value != "0";
    // Other keys (kernel id, nvbit version, ...) mean nothing for a simulation.
    if (key == "grid dim") seen_grid_ = true;
    if (key == "block dim") seen_block_ = true;
  }

  KernelHeader finish() {
    if (header_.name.empty()) missing("-kernel name = NAME");
    if (!seen_grid_) missing("-grid dim = (x,y,z)");
    if (!seen_block_) missing("-block dim = (x,y,z)");
    if (header_.block.count() > kMostThreads)
      lines_.fail(fmt::format("a thread block has {} threads", header_.block.count()),
                  fmt::format("at most {} are possible", kMostThreads));
    // Tracers built for another CUDA version write what lies at the wrong place.
    if (header_.registers > kMostRegisters) {
      doubt("nregs", header_.registers, "registers are counted as instructions name them");
      header_.registers = 0;
    }
    if (header_.shared_bytes > kMostSharedBytes) {
      doubt("shmem", header_.shared_bytes, "shared memory does not limit occupancy");
      header_.shared_bytes = 0;
    }
    const runtime::Dim3 &g = header_.grid, &c = header_.cluster;
    if (c.count() > kMostCluster || g.x % c.x != 0 || g.y % c.y != 0 || g.z % c.z != 0)
      lines_.fail(fmt::format("clusters of ({},{},{}) thread blocks do not make up a grid of "
                              "({},{},{})",
                              c.x, c.y, c.z, g.x, g.y, g.z),
                  fmt::format("at most {} blocks are possible, and whole clusters", kMostCluster));
    if (header_.tracer_version > kNewestTracer)
      lines_.fail(fmt::format("the file is of tracer version {}", header_.tracer_version),
                  fmt::format("versions up to {} are read", kNewestTracer));
    return header_;
  }

 private:
  [[noreturn]] void missing(const char* what) const {
    lines_.fail("the header ends without a line that it needs", fmt::format("add '{}'", what));
  }
  void doubt(const char* key, uint64_t value, const char* instead) {
    header_.doubts.push_back(
        fmt::format("{}: no GPU has {} = {}; {}", lines_.path(), key, value, instead));
  }
  template <class T>
  void number(std::string_view key, std::string_view value, T* to, int base = 10) const {
    if (!parse_number(value, to, base))
      lines_.fail(fmt::format("{} is no value of '{}'", quoted(value), key),
                  base == 16 ? "write a hexadecimal number" : "write a whole number");
  }
  runtime::Dim3 dim(std::string_view key, std::string_view value) const {
    std::array<uint32_t, 3> n = {};
    bool right = value.size() > 2 && value.front() == '(' && value.back() == ')';
    if (right) {
      const std::vector<std::string_view> words = split(value.substr(1, value.size() - 2), ',');
      right = words.size() == 3;
      for (size_t i = 0; right && i < 3; ++i) right = parse_number(words[i], &n[i]) && n[i] != 0;
    }
    // The product of three 32-bit numbers may not fit into 64 bits.
    if (right)
      right = uint64_t{n[0]} * n[1] <= kMostBlocks && uint64_t{n[0]} * n[1] * n[2] <= kMostBlocks;
    if (!right)
      lines_.fail(fmt::format("{} is no value of '{}'", quoted(value), key),
                  "write three numbers from 1, as (16,1,1)");
    return {n[0], n[1], n[2]};
  }

  const LineReader& lines_;
  KernelHeader header_;
  bool seen_grid_ = false, seen_block_ = false;
};

}  // namespace

bool names_trace(const std::string& name) {
  return ends_with_any(name, ".g") || ends_with_any(name, ".traceg") || name.ends_with(".tracez");
}

std::string_view marker_of(std::string_view line) {
  const std::string_view text = trimmed(line);
  // Instructions begin with a number, and all else with small letters, '#' or '-'.
  if (text.empty() || text.front() < 'A' || text.front() > 'Z') return {};
  const std::string_view word =
      text.substr(0, text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"));
  return word.find('_') == std::string_view::npos ? std::string_view() : word;
}

void add_once(std::vector<std::string>& words, std::string_view word) {
  if (std::find(words.begin(), words.end(), word) == words.end()) words.emplace_back(word);
}

TraceList read_trace_list(const std::string& path) {
  TraceList list;
  list.path = path;
  if (ends_with_any(path, ".traceg") || path.ends_with(".tracez")) {
    list.kernels.push_back(path);
    return list;
  }
  LineReader lines(path);
  const fs::path folder = fs::path(path).parent_path();
  std::string_view line;
  while (lines.next(&line)) {
    line = trimmed(line);
    if (line.starts_with("MemcpyHtoD"))
      list.copies.push_back(parse_copy(line, list.kernels.size(), lines));
    else if (line.starts_with("kernel"))
      list.kernels.push_back(existing_file(folder / line, lines));
    else if (!line.empty())
      add_once(list.passed_over, line.substr(0, line.find_first_of(" \t,=")));
  }
  if (list.kernels.empty())
    throw Error(
        fmt::format("'{}' lists no kernel - give a list as Accel-Sim's tracer writes it, "
                    "with lines such as kernel-1.traceg",
                    path));
  return list;
}

namespace {

/// False: the lines end.
bool parse_header(LineReader& lines, HeaderParser& parser) {
  std::string_view line;
  while (lines.next(&line)) {
    const std::string_view text = trimmed(line);
    if (text.empty()) continue;
    if (text.front() == '#') return true;
    if (text.front() != '-')
      lines.fail(
          quoted(text) + " is no line of a header",
          "give a file as Accel-Sim's tracer writes it, which begins with -kernel name = ...");
    parser.line(text);
  }
  return false;
}

}  // namespace

KernelHeader read_kernel_header(LineReader& lines) {
  HeaderParser parser(lines);
  if (!parse_header(lines, parser))
    lines.fail("the file ends in its header", "trace the program again, or copy the whole file");
  return parser.finish();
}

KernelHeader read_whole_header(LineReader& lines) {
  HeaderParser parser(lines);
  while (parse_header(lines, parser)) continue;  // a line that begins with '#' is no end
  return parser.finish();
}

}  // namespace nearwarp::sass
