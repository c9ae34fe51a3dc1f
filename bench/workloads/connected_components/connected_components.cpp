#include "bench/workloads/graphs/graph_workload.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

int vertices(Size size) {
  switch (size) {
    case Size::kSmall:
      return 1 << 12;
    case Size::kMedium:
      return 1 << 16;
    case Size::kLarge:
      return 1 << 18;
    case Size::kPaper:
      return 1 << 20;
  }
  return 0;
}

/// The graph without edges between every 16th vertex and the others, so that it has several
/// components.
Graph in_parts(const Graph& whole) {
  constexpr int kPeriod = 16;
  const auto apart = [](int v) { return v % kPeriod == 0; };
  Graph graph;
  graph.num_vertices = whole.num_vertices;
  for (int v = 0; v < whole.num_vertices; ++v) {
    graph.row_start.push_back(static_cast<int32_t>(graph.edges.size()));
    for (int e = whole.row_start[v]; e < whole.row_start[v + 1]; ++e) {
      if (apart(v) == apart(whole.edges[e])) graph.edges.push_back(whole.edges[e]);
    }
  }
  graph.row_start.push_back(static_cast<int32_t>(graph.edges.size()));
  return graph;
}

/// The smallest vertex of each vertex's component.
std::vector<int32_t> reference(const Graph& graph) {
  std::vector<int32_t> label(graph.num_vertices, -1), queue;
  for (int32_t start = 0; start < graph.num_vertices; ++start) {
    if (label[start] >= 0) continue;
    label[start] = start;
    queue.assign(1, start);
    for (size_t head = 0; head < queue.size(); ++head) {
      const int32_t v = queue[head];
      for (int e = graph.row_start[v]; e < graph.row_start[v + 1]; ++e) {
        const int32_t u = graph.edges[e];
        if (label[u] >= 0) continue;
        label[u] = start;
        queue.push_back(u);
      }
    }
  }
  return label;
}

class ConnectedComponents final : public GraphWorkload {
 public:
  explicit ConnectedComponents(int cv_percent)
      : GraphWorkload({"connected-components", "components by hooking and pointer jumping",
                       "GraphBIG, ConnectedComp", "connected_components.ptx"},
                      cv_percent) {}

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int n = vertices(size);
    const Graph graph = in_parts(make_graph(n));
    const auto [row_start, edges] = upload(device, graph);
    std::vector<int32_t> own(n);
    for (int v = 0; v < n; ++v) own[v] = v;
    const auto label = device.upload(own, "label");
    const auto parent = device.upload(own, "parent");
    const auto more = device.allocate(sizeof(int32_t), "more");
    for (int32_t go_on = 1; go_on != 0;) {
      go_on = 0;
      device.copy_to_device(more, &go_on, sizeof(go_on));
      if (!launch(device, module, "components_hook", n, row_start, edges, label, parent) ||
          !launch(device, module, "components_jump", n, label, parent, more))
        return skipped_by_limit();
      device.copy_to_host(&go_on, more, sizeof(go_on));
    }
    return check_equal("label", device.download<int32_t>(label, n), reference(graph));
  }
};

}  // namespace

Workloads make_connected_components() { return on_graphs<ConnectedComponents>(); }

}  // namespace nearwarp::workloads
