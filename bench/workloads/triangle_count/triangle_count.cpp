#include "bench/workloads/graphs/graph_workload.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr int kPairsPerVertex = 7;  // the work grows with its square

/// Vertices of the graph. The first blocks have most to do, for a triangle counts at its smallest
/// vertex: from `medium` on there are several rounds of blocks for 16 SMs of six.
int vertices(Size size) {
  switch (size) {
    case Size::kSmall:
      return 1 << 11;
    case Size::kMedium:
      return 1 << 16;
    case Size::kLarge:
      return 1 << 18;
    case Size::kPaper:
      return 1 << 20;
  }
  return 0;
}

/// Triangles by their smallest vertex, and the sum of all at the end: by marks, without merging.
std::vector<int32_t> reference(const Graph& graph) {
  std::vector<int32_t> triangles(graph.num_vertices + 1, 0), mark(graph.num_vertices, -1);
  for (int32_t v = 0; v < graph.num_vertices; ++v) {
    for (int e = graph.row_start[v]; e < graph.row_start[v + 1]; ++e) mark[graph.edges[e]] = v;
    for (int e = graph.row_start[v]; e < graph.row_start[v + 1]; ++e) {
      const int32_t u = graph.edges[e];
      if (u < v) continue;
      for (int f = graph.row_start[u]; f < graph.row_start[u + 1]; ++f)
        triangles[v] += graph.edges[f] > u && mark[graph.edges[f]] == v;
    }
    triangles.back() += triangles[v];
  }
  return triangles;
}

class TriangleCount final : public GraphWorkload {
 public:
  explicit TriangleCount(int cv_percent)
      : GraphWorkload({"triangle-count", "triangles, by merging the rows of neighbours",
                       "GraphBIG, TriangleCount", "triangle_count.ptx"},
                      cv_percent) {}

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int n = vertices(size);
    const Graph graph = make_graph(n, kPairsPerVertex);
    const auto [row_start, edges] = upload(device, graph);
    const auto triangles = device.allocate(n * sizeof(int32_t), "triangles");
    const auto total = device.upload(std::vector<int32_t>(1, 0), "total");
    if (!launch(device, module, "triangle_count", n, row_start, edges, triangles, total))
      return skipped_by_limit();
    auto counts = device.download<int32_t>(triangles, n);
    counts.push_back(device.download<int32_t>(total, 1)[0]);
    return check_equal("triangles and their sum", counts, reference(graph));
  }
};

}  // namespace

Workloads make_triangle_count() { return on_graphs<TriangleCount>(); }

}  // namespace nearwarp::workloads
