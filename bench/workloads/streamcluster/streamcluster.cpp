#include <algorithm>
#include <numeric>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlock = 512;
constexpr float kOpeningCost = 20.0f;

struct Shape {
  int points = 0, dimensions = 0, candidates = 0;
};

/// Rodinia's default has 65,536 points in 256 dimensions.
Shape shape(Size size) {
  switch (size) {
    case Size::kSmall:
      return {8192, 16, 4};
    case Size::kMedium:
      return {16384, 64, 6};
    case Size::kLarge:
      return {65536, 64, 12};
    case Size::kPaper:
      return {65536, 256, 40};
  }
  return {};
}

/// Points, and the centres that are open; the host's side of the algorithm.
struct Clusters {
  Shape s;
  std::vector<float> coordinates, weights, costs;
  std::vector<int32_t> centre_of;
  std::vector<bool> open;

  explicit Clusters(const Shape& shape)
      : s(shape), costs(shape.points), centre_of(shape.points), open(shape.points, false) {
    for (int k = 0; k < s.points * s.dimensions; ++k) coordinates.push_back(random_unit(1, k));
    for (int i = 0; i < s.points; ++i) weights.push_back(1.0f);
    // A centre for every 1024 points to begin with.
    for (int c = 0; c < s.points; c += 1024) open[c] = true;
    for (int i = 0; i < s.points; ++i) {
      centre_of[i] = i / 1024 * 1024;
      costs[i] = distance(i, centre_of[i]) * weights[i];
    }
  }
  float distance(int i, int j) const {
    float sum = 0.0f;
    for (int d = 0; d < s.dimensions; ++d) {
      const float apart = coordinates[d * s.points + i] - coordinates[d * s.points + j];
      sum += apart * apart;
    }
    return sum;
  }
  /// Columns of the open centres; -1: not open.
  std::vector<int32_t> columns() const {
    std::vector<int32_t> column(s.points, -1);
    int32_t next = 0;
    for (int i = 0; i < s.points; ++i)
      if (open[i]) column[i] = next++;
    return column;
  }
  int32_t num_open() const {
    return static_cast<int32_t>(std::count(open.begin(), open.end(), true));
  }
  /// The results of compute_cost(): rows of savings, and who would switch.
  void evaluate(int candidate, std::vector<float>& savings, std::vector<int32_t>& switches) const {
    const std::vector<int32_t> column = columns();
    const int32_t n = num_open();
    savings.assign(size_t(s.points) * (n + 1), 0.0f);
    switches.assign(s.points, 0);
    for (int i = 0; i < s.points; ++i) {
      const float cost = distance(i, candidate) * weights[i];
      float* row = savings.data() + size_t(i) * (n + 1);
      if (cost < costs[i]) {
        switches[i] = 1;
        row[n] += cost - costs[i];
      } else {
        row[column[centre_of[i]]] += costs[i] - cost;
      }
    }
  }
  /// Open the candidate if that saves more than it costs; centres that then cost more than they
  /// save are closed.
  void decide(int candidate, const std::vector<float>& savings,
              const std::vector<int32_t>& switches) {
    const std::vector<int32_t> column = columns();
    const int32_t n = num_open();
    std::vector<float> lower(n, 0.0f);
    float gain = -kOpeningCost;
    for (int i = 0; i < s.points; ++i) {
      for (int32_t c = 0; c < n; ++c) lower[c] += savings[size_t(i) * (n + 1) + c];
      gain -= savings[size_t(i) * (n + 1) + n];
    }
    for (int32_t c = 0; c < n; ++c)
      if (kOpeningCost + lower[c] > 0.0f) gain += kOpeningCost + lower[c];
    if (gain <= 0.0f) return;
    const auto closes = [&](int centre) { return kOpeningCost + lower[column[centre]] > 0.0f; };
    for (int i = 0; i < s.points; ++i) {
      if (switches[i] == 0 && !closes(centre_of[i])) continue;
      costs[i] = distance(i, candidate) * weights[i];
      centre_of[i] = candidate;
    }
    for (int i = 0; i < s.points; ++i)
      if (open[i] && closes(i)) open[i] = false;
    open[candidate] = true;
  }
};

/// `global`: the candidate's coordinates are read from global memory.
class Streamcluster final : public Workload {
 public:
  explicit Streamcluster(bool global) : global_(global) {}
  std::string name() const override { return global_ ? "streamcluster-global" : "streamcluster"; }
  std::string description() const override {
    return global_ ? "streamcluster without shared memory"
                   : "clusters a stream of points: what new centres would cost";
  }
  std::string source() const override {
    return global_ ? "Rodinia, after Pattnaik et al., ISCA 2019" : "Rodinia";
  }
  std::string ptx_name() const override {
    return global_ ? "streamcluster_global.ptx" : "streamcluster.ptx";
  }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const Shape s = shape(size);
    Clusters clusters(s);
    const auto coordinates = device.upload(clusters.coordinates, "coordinates"),
               weights = device.upload(clusters.weights, "weights");
    CheckResult last;
    for (int k = 0; k < s.candidates && !device.limit_reached(); ++k) {
      const int candidate = static_cast<int>(random_below(3, k, s.points));
      if (clusters.open[candidate]) continue;
      std::vector<float> savings;
      std::vector<int32_t> switches;
      clusters.evaluate(candidate, savings, switches);
      const auto d_savings = device.upload(std::vector<float>(savings.size(), 0.0f), "savings"),
                 d_switches = device.upload(std::vector<int32_t>(s.points, 0), "switches"),
                 costs = device.upload(clusters.costs, "costs"),
                 centre_of = device.upload(clusters.centre_of, "centres"),
                 column_of = device.upload(clusters.columns(), "columns");
      device.launch(
          module, "compute_cost", blocks_for(s.points, kBlock), {kBlock},
          global_ ? 0 : static_cast<uint32_t>(s.dimensions * sizeof(float)),
          runtime::KernelArgs(coordinates, weights, costs, centre_of, column_of, candidate,
                              s.points, s.dimensions, clusters.num_open(), d_savings, d_switches));
      if (device.limit_reached()) break;
      last =
          both(check_bits("savings", device.download<float>(d_savings, savings.size()), savings),
               check_equal("switches", device.download<int32_t>(d_switches, s.points), switches));
      if (!last.passed) return last;
      for (const auto p : {d_savings, d_switches, costs, centre_of, column_of}) device.free(p);
      clusters.decide(candidate, savings, switches);
    }
    return device.limit_reached() ? skipped_by_limit() : last;
  }

 private:
  bool global_;
};

}  // namespace

std::unique_ptr<Workload> make_streamcluster() { return std::make_unique<Streamcluster>(false); }
std::unique_ptr<Workload> make_streamcluster_global() {
  return std::make_unique<Streamcluster>(true);
}

}  // namespace nearwarp::workloads
