// Chains of lines for lone threads.
#include "host/timing/probe/chases.h"

#include <algorithm>
#include <map>
#include <set>

#include "host/timing/machine/baseline_map.h"

namespace nearwarp::probe {
namespace {

/// Measured accesses of a chain: enough that a cycle more or less at a run's end makes no tenth.
constexpr size_t kMeasured = 128;
constexpr size_t kLeastMeasured = 2 * kRound;
/// Steps of runs that go around.
constexpr uint32_t kAround = 512;
/// Steps of runs around a few lines: the cost of the programs' own instructions is small beside it.
constexpr uint32_t kAroundFew = 4096;
constexpr uint32_t kResidentLines = 8;
constexpr size_t kRandomLines = 256;
constexpr LineAddr kRandomSpan = 1u << 17;
/// Lines among which rows are looked for.
constexpr LineAddr kFewestScanned = 1u << 18, kMostScanned = 1u << 22;
constexpr uint32_t kManyPages = 4096;

uint32_t rounded_up(uint64_t n) {
  return static_cast<uint32_t>((n + kRound - 1) / kRound * kRound);
}

/// A few lines so often that what the first time costs is in both runs, which have the same rounds.
ChasePair around(Chase::Kind kind, const std::vector<LineAddr>& visits) {
  return {{kind, visits, kAroundFew, kRound}, {kind, visits, 2 * kAroundFew, 2 * kRound}};
}
/// Around and around: twice to warm up, and then.
ChasePair around(Chase::Kind kind, const std::vector<LineAddr>& visits, uint32_t more) {
  const uint32_t warm = rounded_up(2 * visits.size());
  return {{kind, visits, warm}, {kind, visits, warm + rounded_up(more)}};
}

}  // namespace

Chases::Chases(const config::MachineConfig& machine)
    : machine_(machine),
      map_(sim::machine_address_map(machine)),
      first_line_(static_cast<LineAddr>(kDataOffset / machine.l1.line_bytes)),
      page_lines_(machine.tlb.page_bytes / machine.l1.line_bytes),
      most_pages_(machine.tlb.entries == 0 ? kManyPages : std::max(1u, machine.tlb.entries / 2)) {}

ChasePair Chases::distributed() const { return around(Chase::Kind::kDistributed, {}); }
ChasePair Chases::shared() const { return around(Chase::Kind::kShared, {}); }

std::vector<LineAddr> Chases::lines_of(uint32_t stack, size_t count) const {
  std::vector<LineAddr> lines;
  for (LineAddr line = first_line_; lines.size() < count; ++line)
    if (map_.stack_of(line) == stack) lines.push_back(line);
  return lines;
}

ChasePair Chases::resident(Chase::Kind kind, uint32_t stack) const {
  const std::vector<LineAddr> lines = lines_of(stack, kResidentLines);
  return kind == Chase::Kind::kLoads ? around(kind, lines) : around(kind, lines, kAround);
}

std::optional<ChasePair> Chases::beyond_l1(uint64_t l1_bytes, uint64_t l2_bytes,
                                           std::optional<uint32_t> half) const {
  const uint64_t lines = 2 * l1_bytes / machine_.l1.line_bytes;
  if (lines * machine_.l1.line_bytes > l2_bytes / 2) return std::nullopt;
  std::vector<LineAddr> visits;
  for (LineAddr line = first_line_; visits.size() < lines; ++line)
    if (!half || map_.stack_of(line) * 2 / machine_.partitions.count == *half)
      visits.push_back(line);
  return around(Chase::Kind::kLoads, visits, kAround);
}

std::optional<ChasePair> Chases::pages(uint32_t stack) const {
  const uint32_t entries = machine_.tlb.entries;
  if (entries == 0) return std::nullopt;
  // A fourth more than the TLB holds: the least recently used entry is always gone.
  const uint32_t stacks = map_.stacks != 0 ? map_.stacks : 1u << map_.stack_bits;
  std::vector<LineAddr> visits;
  for (uint32_t i = 0; i < entries + std::max(1u, entries / 4); ++i) {
    const LineAddr page = first_line_ + i * page_lines_;
    // Another place in each page, for another set of the L1.
    LineAddr line = page + i * stacks % page_lines_;
    for (uint32_t k = 0; k < page_lines_ && map_.stack_of(line) != stack; ++k)
      line = page + (line + 1 - page) % page_lines_;
    visits.push_back(line);
  }
  return around(Chase::Kind::kLoads, visits, kAround);
}

std::vector<Chases::Row> Chases::rows_of(uint32_t stack) const {
  std::map<std::pair<uint32_t, uint32_t>, Row> rows;
  std::vector<Row> all;
  LineAddr at = first_line_;
  for (LineAddr scanned = kFewestScanned; scanned <= kMostScanned; scanned *= 2) {
    for (; at < first_line_ + scanned; ++at) {
      if (map_.stack_of(at) != stack || map_.vault_of(at) != 0) continue;
      const Location l = map_.locate(at);
      Row& row = rows[{l.row, l.bank}];
      row.bank = l.bank;
      row.row = l.row;
      row.lines.push_back(at);
    }
    std::set<std::pair<uint32_t, uint32_t>> buffers;
    bool twice = false;
    for (const auto& [key, row] : rows)
      twice |= !buffers.insert({row.bank, row.row % machine_.dram.row_buffers}).second;
    if (twice) break;
  }
  for (auto& [key, row] : rows) all.push_back(std::move(row));
  std::sort(all.begin(), all.end(), [](const Row& a, const Row& b) { return a.lines < b.lines; });
  return all;
}

LineAddr Chases::unused_line(uint32_t own, LineAddr from, LineAddr to,
                             const std::vector<LineAddr>& used) const {
  for (LineAddr line = from; line < to; ++line)
    if (map_.stack_of(line) == own && std::find(used.begin(), used.end(), line) == used.end())
      return line;
  return 0;
}

ChasePair Chases::chain(uint32_t own, std::vector<LineAddr> prologue,
                        std::vector<LineAddr> measured) const {
  measured.resize(measured.size() / kLeastMeasured * kLeastMeasured);
  std::vector<LineAddr> used = prologue, visits;
  used.insert(used.end(), measured.begin(), measured.end());
  std::set<uint32_t> pages;
  for (const LineAddr line : used) pages.insert(page_of(line));
  visits.push_back(unused_line(own, first_line_, ~LineAddr{0}, used));
  used.push_back(visits.front());
  if (machine_.tlb.entries != 0)
    for (const uint32_t page : pages)
      if (const LineAddr line = unused_line(own, std::max(first_line_, page * page_lines_),
                                            (page + 1) * page_lines_, used))
        visits.push_back(line);
  while ((visits.size() + prologue.size()) % kRound != 0) visits.push_back(visits.back());
  visits.insert(visits.end(), prologue.begin(), prologue.end());
  const auto before = static_cast<uint32_t>(visits.size());
  const auto steps = static_cast<uint32_t>(measured.size());
  visits.insert(visits.end(), measured.begin(), measured.end());
  return {{Chase::Kind::kLoads, visits, before + steps / 2},
          {Chase::Kind::kLoads, visits, before + steps}};
}

std::optional<ChasePair> Chases::open_rows(uint32_t own, uint32_t stack) const {
  std::vector<LineAddr> openers, measured;
  std::set<uint32_t> pages, banks;
  for (const Row& row : rows_of(stack)) {
    if (measured.size() >= kMeasured) break;
    if (row.lines.size() < 2 || banks.count(row.bank) != 0) continue;
    std::set<uint32_t> more = pages;
    for (const LineAddr line : row.lines) more.insert(page_of(line));
    if (more.size() > most_pages_ && !measured.empty()) break;
    pages = more;
    banks.insert(row.bank);
    openers.push_back(row.lines.front());
    measured.insert(measured.end(), row.lines.begin() + 1, row.lines.end());
  }
  if (measured.size() < kLeastMeasured) return std::nullopt;
  return chain(own, openers, measured);
}

std::optional<ChasePair> Chases::row_conflicts(uint32_t own, uint32_t stack) const {
  // Two rows that have any of several row buffers never meet.
  if (machine_.dram.row_buffer_rule == "any" && machine_.dram.row_buffers > 1) return std::nullopt;
  std::vector<LineAddr> openers, measured;
  std::set<uint32_t> pages;
  std::map<std::pair<uint32_t, uint32_t>, Row> waiting;  // by bank and row buffer
  for (Row& row : rows_of(stack)) {
    if (measured.size() >= kMeasured) break;
    const std::pair<uint32_t, uint32_t> buffer{row.bank, row.row % machine_.dram.row_buffers};
    const auto other = waiting.find(buffer);
    if (other == waiting.end()) {
      waiting.emplace(buffer, std::move(row));
      continue;
    }
    const std::vector<LineAddr>&a = other->second.lines, &b = row.lines;
    std::set<uint32_t> more = pages;
    for (const auto* lines : {&a, &b})
      for (const LineAddr line : *lines) more.insert(page_of(line));
    if (more.size() > most_pages_ && !measured.empty()) break;
    pages = more;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      for (const LineAddr line : {a[i], b[i]}) (i == 0 ? openers : measured).push_back(line);
    waiting.erase(other);
  }
  if (measured.size() < kLeastMeasured) return std::nullopt;
  return chain(own, openers, measured);
}

ChasePair Chases::random() const {
  const auto span =
      static_cast<LineAddr>(std::min<uint64_t>(kRandomSpan, uint64_t{most_pages_} * page_lines_));
  std::vector<LineAddr> measured;
  std::set<LineAddr> seen;
  uint32_t x = 12345;
  while (measured.size() < std::min<size_t>(kRandomLines, span / 2)) {
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    const LineAddr line = first_line_ + x % span;
    if (seen.insert(line).second) measured.push_back(line);
  }
  return chain(0, {}, measured);
}

}  // namespace nearwarp::probe
