// The profile of a program as tables for a terminal.
#include "host/timing/report/profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/timing/report/columns.h"
#include "host/timing/report/kernels.h"

namespace nearwarp::report {
namespace {

constexpr size_t kWidth = 80;

std::string ratio(uint64_t part, uint64_t whole, int digits) {
  if (whole == 0) return "-";
  return fmt::format("{:.{}f}", static_cast<double>(part) / static_cast<double>(whole), digits);
}

/// A table of named rows, given as rows of cells.
std::string table(const std::vector<std::string>& names, const std::vector<std::string>& heads,
                  const std::vector<std::vector<std::string>>& rows) {
  std::vector<Column> columns;
  for (const std::string& head : heads) columns.push_back({head, {}});
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) columns[i].cells.push_back(row[i]);
  return columns_text(names, std::move(columns), kWidth);
}

/// The kernels of the tables, those with the most warp-instructions first. All beyond the limit are
/// added up in one row.
std::vector<ProfileKernel> shown_kernels(const Profile& p) {
  std::vector<ProfileKernel> kernels = p.kernels;
  std::stable_sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) {
    return a.counts.warp_instructions > b.counts.warp_instructions;
  });
  for (ProfileKernel& k : kernels) k.name = short_name(k.name);
  if (kernels.size() <= kMostKernels) return kernels;
  ProfileKernel rest;
  rest.name = fmt::format("{} other kernels", kernels.size() - kMostKernels + 1);
  for (size_t i = kMostKernels - 1; i < kernels.size(); ++i) {
    rest.launches += kernels[i].launches;
    rest.counts.add(kernels[i].counts);
  }
  kernels.resize(kMostKernels - 1);
  kernels.push_back(std::move(rest));
  return kernels;
}

std::string kernels_text(const Profile& p, const std::vector<ProfileKernel>& kernels) {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;
  for (const ProfileKernel& k : kernels) {
    const ProfileCounts& c = k.counts;
    names.push_back(k.name);
    rows.push_back({grouped(k.launches), grouped(c.warp_instructions),
                    percent(c.warp_instructions, p.all.warp_instructions),
                    grouped(c.thread_instructions),
                    ratio(c.thread_instructions, c.warp_instructions, 1)});
  }
  return table(names, {"launches", "warp-instr.", "[%]", "thread-instr.", "lanes"}, rows);
}

/// The table of accesses by kernel and kind of memory; empty if there are none.
std::string accesses_text(const std::vector<ProfileKernel>& kernels) {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;
  for (const ProfileKernel& k : kernels) {
    const auto row = [&](const char* kind, const AccessCounts& c) {
      if (c.accesses == 0) return;
      const bool device = c.sectors != 0;
      names.push_back(fmt::format("{}: {}", k.name, kind));
      rows.push_back({grouped(c.accesses), ratio(c.lanes, c.accesses, 1),
                      device ? ratio(c.sectors, c.accesses, 2) : "-",
                      device ? ratio(c.lines, c.accesses, 2) : "-",
                      percent(c.bytes, c.sectors * kSectorBytes)});
    };
    row("loads", k.counts.loads);
    row("stores", k.counts.stores);
    row("atomics", k.counts.atomics);
    row("local", k.counts.local);
    row("shared", k.counts.shared);
    row("constant", k.counts.constant);
  }
  if (rows.empty()) return "";
  return table(names, {"accesses", "lanes", "sectors", "lines", "used [%]"}, rows);
}

/// A source line as "file:line", or the best that is known.
std::string place(const ProfileLine& l) {
  if (l.line == 0)
    return l.ptx_line != 0 ? fmt::format("PTX {}", l.ptx_line)
                           : fmt::format("instr. {}", l.instruction);
  return fmt::format("{}:{}", l.file.empty() ? "line" : l.file.substr(l.file.rfind('/') + 1),
                     l.line);
}

/// Names of the first `shown` lines, `width` columns wide: source lines, and kernels if there are
/// several.
std::vector<std::string> line_names(const Profile& p, size_t shown, size_t width) {
  std::vector<std::string> names;
  size_t widest = 0;
  for (size_t i = 0; i < shown; ++i) {
    names.push_back(fitted(place(p.lines[i]), p.kernels.size() == 1 ? width : width * 2 / 3));
    widest = std::max(widest, names.back().size());
  }
  if (p.kernels.size() == 1) return names;
  for (size_t i = 0; i < shown; ++i)
    names[i] =
        fmt::format("{:<{}} {}", names[i], widest,
                    fitted(short_name(p.kernels[p.lines[i].kernel].name), width - widest - 1));
  return names;
}

std::string lines_text(const Profile& p, size_t most) {
  const size_t shown = std::min(most, p.lines.size());
  if (shown == 0) return "";
  const std::vector<std::string> heads = {"warp-instr.", "[%]", "lanes", "accesses", "sectors"};
  std::vector<std::vector<std::string>> rows;
  std::vector<size_t> widths;
  for (const std::string& head : heads) widths.push_back(head.size());
  for (size_t i = 0; i < shown; ++i) {
    const ProfileCounts& c = p.lines[i].counts;
    const AccessCounts memory = c.memory();
    rows.push_back({grouped(c.warp_instructions),
                    percent(c.warp_instructions, p.all.warp_instructions),
                    ratio(c.thread_instructions, c.warp_instructions, 1),
                    memory.accesses == 0 ? "-" : grouped(memory.accesses),
                    ratio(memory.sectors, memory.accesses, 2)});
    for (size_t k = 0; k < heads.size(); ++k)
      widths[k] = std::max(widths[k], rows.back()[k].size());
  }
  size_t used = 0;
  for (const size_t width : widths) used += width + 2;
  const std::vector<std::string> names =
      line_names(p, shown, std::max<size_t>(kWidth - std::min(used, kWidth), 20));
  std::string text = "\n" + table(names, heads, rows);
  if (shown < p.lines.size())
    text += fmt::format("{} more line{} (`most`)\n", grouped(p.lines.size() - shown),
                        p.lines.size() - shown == 1 ? "" : "s");
  return text;
}

std::string heading(const Profile& p) {
  std::string text = p.workload;
  if (!p.size.empty()) text += ", size " + p.size;
  text += fmt::format("; {} warp-instructions in {}, with {} active lanes on average",
                      grouped(p.all.warp_instructions),
                      p.launches == 1 ? "1 launch" : grouped(p.launches) + " launches",
                      ratio(p.all.thread_instructions, p.all.warp_instructions, 1));
  return text;
}

}  // namespace

void AccessCounts::add(const AccessCounts& other, uint64_t times) {
  accesses += other.accesses * times;
  lanes += other.lanes * times;
  sectors += other.sectors * times;
  lines += other.lines * times;
  bytes += other.bytes * times;
}

void ProfileCounts::add(const ProfileCounts& other) {
  warp_instructions += other.warp_instructions;
  thread_instructions += other.thread_instructions;
  loads.add(other.loads);
  stores.add(other.stores);
  atomics.add(other.atomics);
  local.add(other.local);
  shared.add(other.shared);
  constant.add(other.constant);
}

AccessCounts ProfileCounts::memory() const {
  AccessCounts sum = loads;
  sum.add(stores);
  sum.add(atomics);
  sum.add(local);
  return sum;
}

std::string format_profile(const Profile& p, size_t most_lines) {
  std::string text = wrapped(heading(p), kWidth);
  if (p.truncated)
    text += wrapped(
        "An instruction limit ended the recording: all figures are of what came before.", kWidth);
  if (p.kernels.empty()) return text;
  const std::vector<ProfileKernel> kernels = shown_kernels(p);
  text += "\n" + kernels_text(p, kernels);
  if (const std::string accesses = accesses_text(kernels); !accesses.empty())
    text += "\n" + accesses;
  text += lines_text(p, most_lines);
  text +=
      "\n" + wrapped(fmt::format("warp-instr.: PTX instructions executed by warps; lanes: active "
                                 "ones, mean; accesses: memory instructions executed by warps, by "
                                 "source line those to global and local memory; sectors, lines: "
                                 "of {} and {} bytes, touched by an access, mean; used: bytes "
                                 "accessed of those of the sectors.",
                                 kSectorBytes, p.line_bytes),
                     kWidth);
  return text;
}

}  // namespace nearwarp::report
