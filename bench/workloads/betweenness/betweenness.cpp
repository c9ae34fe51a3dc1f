#include "bench/workloads/common/random.h"
#include "bench/workloads/graphs/graph_workload.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

struct Shape {
  int vertices, sources;
};

Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {1 << 12, 2};
    case Size::kMedium:
      return {1 << 16, 2};
    case Size::kLarge:
      return {1 << 17, 4};
    case Size::kPaper:
      return {1 << 20, 8};
  }
  return {};
}

int source_number(int i, int vertices) { return static_cast<int>(random_below(103, i, vertices)); }

/// Adds the contributions of one source; a vertex's sums are in the order of its row, as on the
/// device.
void add_source(const Graph& graph, int source, std::vector<float>& betweenness) {
  const std::vector<int32_t> level = breadth_first(graph, source);
  std::vector<int32_t> order;  // by level
  for (int l = 0; order.empty() || level[order.back()] == l - 1; ++l) {
    for (int v = 0; v < graph.num_vertices; ++v) {
      if (level[v] == l) order.push_back(v);
    }
  }
  std::vector<uint32_t> paths(graph.num_vertices, 0);
  std::vector<float> dependency(graph.num_vertices, 0.0f);
  paths[source] = 1;
  for (int32_t v : order) {
    for (int e = graph.row_start[v]; e < graph.row_start[v + 1]; ++e) {
      const int32_t u = graph.edges[e];
      if (level[u] == level[v] + 1) paths[u] += paths[v];
    }
  }
  for (size_t i = order.size(); i-- > 0;) {
    const int32_t v = order[i];
    float sum = 0.0f;
    for (int e = graph.row_start[v]; e < graph.row_start[v + 1]; ++e) {
      const int32_t u = graph.edges[e];
      if (level[u] == level[v] + 1)
        sum += static_cast<float>(paths[v]) / static_cast<float>(paths[u]) * (1.0f + dependency[u]);
    }
    dependency[v] = sum;
    if (v != source) betweenness[v] += sum;
  }
}

class Betweenness final : public GraphWorkload {
 public:
  explicit Betweenness(int cv_percent)
      : GraphWorkload({"betweenness", "betweenness centrality from a few sources, level by level",
                       "GraphBIG, BetweennessCentr; Pannotia, bc", "betweenness.ptx"},
                      cv_percent) {}

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [n, sources] = shape_of(size);
    const Graph graph = make_graph(n);
    const auto [row_start, edges] = upload(device, graph);
    const auto level_of = device.allocate(n * sizeof(int32_t), "level");
    const auto paths = device.allocate(n * sizeof(uint32_t), "paths");
    const auto dependency = device.allocate(n * sizeof(float), "dependency");
    const auto betweenness = device.upload(std::vector<float>(n, 0.0f), "betweenness");
    const auto more = device.allocate(sizeof(int32_t), "more");
    for (int i = 0; i < sources; ++i) {
      const int source = source_number(i, n);
      const int32_t zero = 0;
      const uint32_t one = 1;
      device.fill(level_of, 0xff, n * sizeof(int32_t));  // -1
      device.copy_to_device(level_of + source * sizeof(zero), &zero, sizeof(zero));
      device.fill(paths, 0, n * sizeof(uint32_t));
      device.copy_to_device(paths + source * sizeof(one), &one, sizeof(one));
      int levels = 0;
      for (int32_t go_on = 1; go_on != 0; ++levels) {
        go_on = 0;
        device.copy_to_device(more, &go_on, sizeof(go_on));
        if (!launch(device, module, "betweenness_expand", n, row_start, edges, level_of, paths,
                    levels) ||
            !launch(device, module, "betweenness_advance", n, level_of, paths, more, levels))
          return skipped_by_limit();
        device.copy_to_host(&go_on, more, sizeof(go_on));
      }
      for (int level = levels - 1; level >= 0; --level) {
        if (!launch(device, module, "betweenness_back", n, row_start, edges, level_of, paths,
                    dependency, betweenness, level))
          return skipped_by_limit();
      }
    }
    std::vector<float> expected(n, 0.0f);
    for (int i = 0; i < sources; ++i) add_source(graph, source_number(i, n), expected);
    return check_bits("betweenness", device.download<float>(betweenness, n), expected);
  }
};

}  // namespace

Workloads make_betweenness() { return on_graphs<Betweenness>(); }

}  // namespace nearwarp::workloads
