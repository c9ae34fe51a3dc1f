#include <functional>
#include <limits>
#include <queue>

#include "bench/workloads/common/random.h"
#include "bench/workloads/graphs/graph_workload.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr int32_t kUnreached = std::numeric_limits<int32_t>::max();
constexpr uint32_t kMaxWeight = 64;

int vertices(Size size) {
  switch (size) {
    case Size::kSmall:
      return 1 << 11;
    case Size::kMedium:
      return 1 << 16;
    case Size::kLarge:
      return 1 << 17;
    case Size::kPaper:
      return 1 << 20;
  }
  return 0;
}

std::vector<int32_t> dijkstra(const Graph& graph, const std::vector<int32_t>& weights, int source) {
  using Entry = std::pair<int32_t, int32_t>;  // distance, vertex
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::vector<int32_t> distance(graph.num_vertices, kUnreached);
  distance[source] = 0;
  queue.emplace(0, source);
  while (!queue.empty()) {
    const auto [here, v] = queue.top();
    queue.pop();
    if (here > distance[v]) continue;
    for (int e = graph.row_start[v]; e < graph.row_start[v + 1]; ++e) {
      const int32_t u = graph.edges[e], there = here + weights[e];
      if (there >= distance[u]) continue;
      distance[u] = there;
      queue.emplace(there, u);
    }
  }
  return distance;
}

class Sssp final : public GraphWorkload {
 public:
  explicit Sssp(int cv_percent)
      : GraphWorkload({"sssp", "shortest paths from one vertex, two launches per round",
                       "GraphBIG, SSSP; Pannotia, sssp", "sssp.ptx"},
                      cv_percent) {}

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int n = vertices(size);
    const Graph graph = make_graph(n);
    const int source = busiest_vertex(graph);
    std::vector<int32_t> weights(graph.edges.size()), distance(n, kUnreached);
    for (size_t e = 0; e < weights.size(); ++e)
      weights[e] = static_cast<int32_t>(1 + random_below(102, e, kMaxWeight));
    distance[source] = 0;
    std::vector<uint8_t> flags(n, 0);
    flags[source] = 1;
    const auto [row_start, edges] = upload(device, graph);
    const auto d_weights = device.upload(weights, "weights");
    const auto active = device.upload(flags, "active");
    const auto d_distance = device.upload(distance, "distance");
    const auto offered = device.upload(distance, "offered");
    const auto more = device.allocate(sizeof(int32_t), "more");
    for (int32_t go_on = 1; go_on != 0;) {
      go_on = 0;
      device.copy_to_device(more, &go_on, sizeof(go_on));
      if (!launch(device, module, "sssp_relax", n, row_start, edges, d_weights, active, d_distance,
                  offered) ||
          !launch(device, module, "sssp_take", n, active, d_distance, offered, more))
        return skipped_by_limit();
      device.copy_to_host(&go_on, more, sizeof(go_on));
    }
    return check_equal("distance", device.download<int32_t>(d_distance, n),
                       dijkstra(graph, weights, source));
  }
};

}  // namespace

Workloads make_sssp() { return on_graphs<Sssp>(); }

}  // namespace nearwarp::workloads
