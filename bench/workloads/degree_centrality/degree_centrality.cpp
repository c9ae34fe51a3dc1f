#include "bench/workloads/graphs/graph_workload.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

int vertices(Size size) {
  switch (size) {
    case Size::kSmall:
      return 1 << 14;
    case Size::kMedium:
      return 1 << 18;
    case Size::kLarge:
      return 1 << 19;
    case Size::kPaper:
      return 1 << 20;
  }
  return 0;
}

class DegreeCentrality final : public GraphWorkload {
 public:
  explicit DegreeCentrality(int cv_percent)
      : GraphWorkload({"degree-centrality", "edges out of and into each vertex, by atomics",
                       "GraphBIG, DegreeCentr", "degree_centrality.ptx"},
                      cv_percent) {}

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int n = vertices(size);
    const Graph graph = make_graph(n);
    const auto [row_start, edges] = upload(device, graph);
    const auto degree = device.upload(std::vector<int32_t>(n, 0), "degree");
    if (!launch(device, module, "degree_centrality", n, row_start, edges, degree))
      return skipped_by_limit();
    std::vector<int32_t> expected(n);
    for (int v = 0; v < n; ++v) expected[v] = graph.row_start[v + 1] - graph.row_start[v];
    for (int32_t u : graph.edges) ++expected[u];
    return check_equal("degree", device.download<int32_t>(degree, n), expected);
  }
};

}  // namespace

Workloads make_degree_centrality() { return on_graphs<DegreeCentrality>(); }

}  // namespace nearwarp::workloads
