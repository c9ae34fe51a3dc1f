// Studies of parts by themselves: a network, a memory channel, latencies and bandwidths of a
// machine, the area of a processor's dies.
#pragma once

#include <nearwarp/configuration.h>
#include <nearwarp/failure.h>
#include <nearwarp/program.h>
#include <nearwarp/texts.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nearwarp {

// ---- A network ----------------------------------------------------------------------------------

/// Delays in cycles of the network, loads in flits per sending node and cycle (docs/networks.md).
struct NetworkOptions {
  std::string topology = "mesh";  ///< "mesh", "crossbar", "butterfly", "full"
  std::string size = {};          ///< "8x8", "16", "4x3"; empty: one that is usual
  std::string routing = "xy";     ///< routing of a mesh: "xy", "yx"
  uint32_t vcs = 8;               ///< virtual channels of a port
  /// Virtual networks that they are divided among; default: 1, or 2 if packets are answered.
  std::optional<uint32_t> vnets = {};
  uint32_t buffers = 8;  ///< flits of a virtual channel
  uint32_t routing_delay = 1, vc_alloc_delay = 1, sw_alloc_delay = 1, traversal_delay = 1;
  uint32_t credit_delay = 0;
  uint32_t speedup = 1;        ///< rounds of a cycle inside a router, 1 or 2
  uint32_t input_speedup = 1;  ///< flits that a port hands to the switch in a round
  bool wait_for_tail_credit = false;
  uint32_t link_latency = 1;
  std::string traffic = "uniform";       ///< "uniform", "hotspot", "transpose", "many-to-few"
  std::vector<uint32_t> hot_nodes = {};  ///< destinations of hotspot and many-to-few traffic
  double hot_share = 1;                  ///< share of hotspot traffic that goes to these nodes
  uint32_t packet_flits = 1;
  uint32_t reply_flits = 0;  ///< flits of a reply; 0: packets are not answered
  uint64_t seed = 1;

  std::vector<double> loads = {};  ///< empty: ten, up to what the channels carry
  bool saturation = false;         ///< the load is searched at which it saturates
  uint32_t period_cycles = 1000;   ///< cycles of a sample
  uint32_t max_periods = 50;       ///< number of samples, at most
  uint32_t latency_limit = 500;    ///< mean beyond which a load is unstable

  unsigned threads = 0;  ///< from here on as BatchOptions
  std::string backend = "cpu";
  int device = 0;
  /// Told how many loads are done, some times a second; returns false to stop.
  std::function<bool(const Activity&)> progress = {};
};

/// How busy a link was.
struct LinkLoad {
  uint32_t router = 0, port = 0;
  bool to_terminal = false;
  uint32_t to = 0;         ///< a router, or a terminal
  double utilisation = 0;  ///< flits per cycle
};
struct NetworkLoad {
  double load = 0;      ///< offered load
  bool stable = false;  ///< if not, what follows is of what was seen until then
  std::string why;      ///< why the load is unstable
  double accepted = 0;
  double latency = 0;          ///< mean, cycles from a packet's creation to its tail's arrival
  double latency_error = 0;    ///< half width of its 95 % interval
  double network_latency = 0;  ///< the same from when it entered the network
  double request_latency = 0, reply_latency = 0, round_trip = 0;  ///< 0 unless packets are answered
  double hops = 0;
  uint32_t max_latency = 0;
  uint64_t packets = 0;  ///< measured
  uint64_t measured_cycles = 0;
  std::vector<LinkLoad> links;
};
struct NetworkSaturation {
  double stable = 0;            ///< highest load that was seen to be stable
  double unstable = 0;          ///< lowest that was not; 0: none
  double accepted_at_full = 0;  ///< when 1 is offered
};
struct NEARWARP_API NetworkReport {
  double zero_load_latency = 0;  ///< mean, cycles, without other traffic
  double throughput_bound = 0;   ///< load at which the busiest channel has no cycle left
  std::vector<NetworkLoad> loads;
  std::optional<NetworkSaturation> saturation;
  size_t wanted = 0;     ///< loads that were to be measured
  bool stopped = false;  ///< progress() said so: loads, or the saturation, are not there
  std::string document;  ///< as `nearwarp noc --json` writes it

  /// As `nearwarp noc` prints it, with so many of the busiest links.
  Expected<std::string> text(size_t links = 0, size_t width = 80) const;
  struct Whole;
  std::shared_ptr<const Whole> whole = {};
};
/// Latency against load. A failure names options as `nearwarp noc` does.
NEARWARP_API Expected<NetworkReport> measure_network(const NetworkOptions& options = {});
/// Fails with what is wrong with the network, before anything is measured.
NEARWARP_API Expected<Done> check(const NetworkOptions& options);

// ---- A memory channel ---------------------------------------------------------------------------

/// A standard of memory, by name or .toml file.
class NEARWARP_API MemoryStandard {
 public:
  static Expected<MemoryStandard> load(const std::string& name_or_path, Texts changes = {});
  const std::string& name() const;
  uint32_t access_bytes() const;

  struct State;

 private:
  friend struct Access;
  std::shared_ptr<const State> state_;
};

/// Accesses to a channel, as fast as possible but for one of rate_ppm and outstanding.
struct MemoryStream {
  static constexpr uint32_t kMostStreams = 16, kMostOutstanding = 65536;
  static constexpr uint64_t kMostAddress = uint64_t{1} << 40;
  /// "stream", "random", "strided", "conflict" (another row of one bank each time), "mix" (a stream
  /// with every third access a write) or "trace", which is by itself.
  std::string pattern = "stream";
  std::optional<uint32_t> reads_ppm = {};  ///< share of reads, 10^-6; default: all, of mix 2/3
  /// Accesses come at random times, with this share of the peak bandwidth, 10^-6.
  uint32_t rate_ppm = 0;
  uint32_t outstanding = 0;   ///< a read for every one that comes back, so many under way
  uint64_t stride_bytes = 0;  ///< for pattern strided; a multiple of MemoryStandard::access_bytes()
  uint64_t start_bytes = 0;   ///< address at which a stream begins; a multiple likewise
  std::string trace = {};     ///< file of a trace: lines "R|W 0xADDRESS [CYCLE]"
  uint64_t seed = 1;
};
struct MemoryPoint {
  MemoryStandard standard;
  std::vector<MemoryStream> streams;  ///< streams that run at the same time
  std::string label = {};             ///< heads its column; empty: the standard's name
};
struct MemoryOptions {
  uint64_t cycles = 1'000'000;       ///< cycles of the command clock that are measured; traces: all
  uint64_t warm_up_cycles = 50'000;  ///< cycles before the measurement
  unsigned threads = 1;              ///< from here on as BatchOptions
  std::string backend = "cpu";
  int device = 0;
  /// Told how many cycles are done (10^6 a second are "Mcycles/s"); returns false to stop.
  std::function<bool(const Activity&)> progress = {};
};
struct MemoryResult {
  std::string label, standard;
  bool ended = false;  ///< if not, the rest is empty: progress() stopped it
  uint64_t cycles = 0;
  double gigabytes_per_second = 0, share_of_peak = 0;  ///< 10^9 bytes; 0 to 1
  uint64_t reads = 0, writes = 0;
  double mean_latency = 0;  ///< mean of reads, in cycles
  uint64_t median_latency = 0, latency_95 = 0, latency_99 = 0, max_latency = 0;
  double row_hit_rate = 0;  ///< 0 to 1
  uint64_t activations = 0, precharges = 0, refreshes = 0;
  std::optional<double> energy_picojoules = {};  ///< empty as far as the standard does not give it
};
struct NEARWARP_API MemoryReport {
  std::vector<MemoryResult> results;  ///< in the order of the points
  std::string document;  ///< as `nearwarp dram --json` writes it, of the runs that ended

  /// As `nearwarp dram` prints it; empty if none has ended.
  Expected<std::string> text(size_t width = 80) const;
  struct Whole;
  std::shared_ptr<const Whole> whole = {};
};
/// One channel by itself, at each point.
NEARWARP_API Expected<MemoryReport> measure_memory(std::span<const MemoryPoint> points,
                                                   const MemoryOptions& options = {});

// ---- A machine ----------------------------------------------------------------------------------

struct ProbeOptions {
  unsigned threads = 0;  ///< runs at a time; 0: one for each processor
  /// Told how many runs are done; returns false to stop.
  std::function<bool(const Activity&)> progress = {};
};
/// A latency or a bandwidth.
struct ProbeValue {
  std::string name;
  bool measured = false;                    ///< if not, progress() stopped before
  double core_cycles = 0, nanoseconds = 0;  ///< a latency
  double gigabytes_per_second = 0;          ///< a bandwidth: the measured value
  double bound = 0;                         ///< what the narrowest part of the way carries
  std::string bound_by;                     ///< the part that sets the bound
  double as_meant = 1;  ///< share of the accesses that went where they were meant to
};
struct ProbeSection {
  std::string id, title;
  bool latencies = false;  ///< else bandwidths
  std::vector<ProbeValue> values;
};
struct NEARWARP_API ProbeReport {
  std::string machine;
  std::vector<ProbeSection> sections;
  size_t ended = 0, runs = 0;  ///< fewer have ended if progress() stopped it
  bool stopped() const { return ended < runs; }
  std::string document;  ///< as `nearwarp probe --json` writes it

  /// As `nearwarp probe` prints it.
  Expected<std::string> text(size_t width = 80) const;
  struct Whole;
  std::shared_ptr<const Whole> whole = {};
};
/// A machine's unloaded latencies, and the bandwidths that it reaches, by small programs that are
/// simulated on it (docs/probe.md).
NEARWARP_API Expected<ProbeReport> probe_machine(const Machine& machine,
                                                 const ProbeOptions& options = {});

// ---- Dies ---------------------------------------------------------------------------------------

struct AreaOptions {
  std::string machine = "mpu", policy = "mpu", areas = "mpu-20nm";  ///< names or paths
  std::vector<std::string> changes = {};  ///< "key=value" of any of the three
};
struct AreaPart {
  std::string name;
  std::string of;          ///< what has one: "core", "unit", "subcore"
  bool logic_die = false;  ///< else on DRAM dies
  uint64_t count = 0;      ///< number of such parts in a processor
  double um2 = 0;          ///< area of one part
  double mm2 = 0;          ///< area of all parts
  double share = 0;        ///< share of these dies, 0 to 1
};
struct AreaReport {
  std::vector<AreaPart> parts;
  double dram_mm2 = 0, logic_mm2 = 0;      ///< a processor's dies
  double dram_share = 0, logic_share = 0;  ///< shares of the dies that all parts take
  std::string text;
  std::string document;  ///< as `nearwarp area --json` writes it
};
/// The area that parts of a processor below and among memory take; nothing is simulated.
NEARWARP_API Expected<AreaReport> estimate_area(const AreaOptions& options = {});

}  // namespace nearwarp
