#include "bench/workloads/graphs/graph_workload.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr float kDamping = 0.85f;  // S. Brin and L. Page, 1998; Pannotia's

struct Shape {
  int vertices, iterations;
};

Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {40 * kGraphBlockVertices, 2};  // fewer blocks cannot vary by 300 %
    case Size::kMedium:
      return {1 << 16, 5};
    case Size::kLarge:
      return {1 << 18, 5};
    case Size::kPaper:
      return {1 << 20, 20};
  }
  return {};
}

/// The ranks by the CPU: the same sums in the same order as the kernel's.
std::vector<float> reference(const Graph& graph, int iterations) {
  const int n = graph.num_vertices;
  const float base = (1.0f - kDamping) / static_cast<float>(n);
  std::vector<float> rank(n, 1.0f / static_cast<float>(n)), share(n);
  for (int i = 0; i < iterations; ++i) {
    for (int v = 0; v < n; ++v) {
      const int edges = graph.row_start[v + 1] - graph.row_start[v];
      share[v] = edges > 0 ? rank[v] / static_cast<float>(edges) : 0.0f;
    }
    for (int v = 0; v < n; ++v) {
      float sum = 0.0f;
      for (int e = graph.row_start[v]; e < graph.row_start[v + 1]; ++e)
        sum += share[graph.edges[e]];
      rank[v] = base + kDamping * sum;
    }
  }
  return rank;
}

class PageRank final : public GraphWorkload {
 public:
  explicit PageRank(int cv_percent)
      : GraphWorkload({"pagerank", "PageRank, a thread per vertex pulls from its neighbours",
                       "Pannotia, pagerank", "pagerank.ptx"},
                      cv_percent) {}

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [n, iterations] = shape_of(size);
    const Graph graph = make_graph(n);
    const auto [row_start, edges] = upload(device, graph);
    const auto rank = device.upload(std::vector<float>(n, 1.0f / static_cast<float>(n)), "rank");
    const auto share = device.allocate(n * sizeof(float), "share");
    const float base = (1.0f - kDamping) / static_cast<float>(n);
    for (int i = 0; i < iterations; ++i) {
      if (!launch(device, module, "pagerank_share", n, row_start, rank, share) ||
          !launch(device, module, "pagerank_gather", n, row_start, edges, share, rank, base,
                  kDamping))
        return skipped_by_limit();
    }
    return check_bits("rank", device.download<float>(rank, n), reference(graph, iterations));
  }
};

}  // namespace

Workloads make_pagerank() { return on_graphs<PageRank>(); }
Workloads make_pagerank_between() { return on_graphs<PageRank>({30, 300}); }

}  // namespace nearwarp::workloads
