#include "bench/reference/counts.h"

#include <algorithm>
#include <cmath>

#include "host/core/error.h"

namespace nearwarp::reference {
namespace {

constexpr double kSectorBytes = 32;
constexpr double kLineBytes = 128;  // the same on both configurations' machines

bool has(const report::RunResult& result, const std::string& name) {
  return std::any_of(result.counters.begin(), result.counters.end(),
                     [&](const report::Counter& c) { return c.name == name; });
}

double counter(const report::RunResult& result, const std::string& name) {
  const auto at = std::find_if(result.counters.begin(), result.counters.end(),
                               [&](const report::Counter& c) { return c.name == name; });
  if (at == result.counters.end())
    throw Error("no counter '" + name + "' - the comparison needs a discrete machine");
  return static_cast<double>(at->value);
}

}  // namespace

Counts ours(const report::RunResult& r, const Configuration& configuration) {
  const auto of = [&](const char* name) { return counter(r, name); };
  Counts c;
  c.cycles = static_cast<double>(r.cycles);
  c.dram_reads = of("dram.bytes_read") / kSectorBytes;
  c.dram_writes = of("dram.bytes_written") / kSectorBytes;
  const double writes = of("l2.writes"), missed = writes - of("l2.write_hits");
  // The mean number of sectors that a write has. It follows from DRAM's counters where all writes
  // go on to memory, without atomics, which write a sector each.
  const bool by_sectors = has(r, "l2.sector_misses");
  const double plain = of("dram.writes") - of("l2.atomics");
  const double sectors_each =
      by_sectors || plain <= 0 ? 0 : (c.dram_writes - of("l2.atomics")) / plain;
  // Loads that join an outstanding miss are no misses, as in GPGPU-Sim.
  const bool l1_by_sectors =
      has(r, "sm.l1.sector_misses") && configuration.l1_bytes == kSectorBytes;
  c.l1_misses = l1_by_sectors ? of("sm.l1.sector_misses") + of("sm.l1.sector_write_misses")
                              : of("sm.l1.read_misses") * (kLineBytes / configuration.l1_bytes) +
                                    of("sm.l1.write_misses") *
                                        (configuration.l1_bytes == kLineBytes ? 1 : sectors_each);
  c.l2_misses = by_sectors
                    ? of("l2.sector_misses") + of("l2.sector_write_misses")
                    : of("l2.read_misses") * (kLineBytes / kSectorBytes) + missed * sectors_each;
  c.dram_activations = of("dram.activates");
  return c;
}

Counts theirs(const Figures& f, const Configuration& configuration) {
  Counts c;
  c.cycles = static_cast<double>(f.cycles);
  c.l1_misses = static_cast<double>(f.l1_misses);
  c.l2_misses = static_cast<double>(f.l2_misses);
  c.dram_reads = static_cast<double>(f.dram_read_bursts);  // one sector of each burst is used
  c.dram_writes =
      static_cast<double>(f.dram_write_bursts) * (configuration.write_bytes / kSectorBytes);
  c.dram_activations = static_cast<double>(f.dram_activations);
  return c;
}

Deviation deviation(const std::vector<double>& ours, const std::vector<double>& theirs) {
  const auto n = static_cast<double>(ours.size());
  double sum = 0, sum_abs = 0, farthest = -1, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  Deviation d;
  for (size_t i = 0; i < ours.size(); ++i) {
    const double a = std::log(ours[i]), b = std::log(theirs[i]), ratio = a - b;
    sum += ratio;
    sum_abs += std::abs(ratio);
    if (std::abs(ratio) > farthest) {
      farthest = std::abs(ratio);
      d.largest = i;
    }
    x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
  }
  d.geometric_mean = std::exp(sum / n);
  d.mean_factor = std::exp(sum_abs / n);
  const double spread = std::sqrt((n * xx - x * x) * (n * yy - y * y));
  if (ours.size() > 1 && spread > 0) d.correlation = (n * xy - x * y) / spread;
  return d;
}

}  // namespace nearwarp::reference
