#include <algorithm>
#include <utility>

#include "bench/workloads/common/random.h"
#include "bench/workloads/graphs/graph_workload.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

// Six neighbours on average: those of Pannotia's inputs for colouring have 5 (ecology1,
// G3_circuit). With 28, size small has more than ten times as many instructions.
constexpr int kPairsPerVertex = 3;

int vertices(Size size) {
  switch (size) {
    case Size::kSmall:
      return 1 << 12;
    case Size::kMedium:
      return 1 << 15;
    case Size::kLarge:
      return 1 << 18;
    case Size::kPaper:
      return 1 << 20;
  }
  return 0;
}

/// A random order of the vertices.
std::vector<int32_t> random_numbers(int count) {
  std::vector<int32_t> number(count);
  for (int v = 0; v < count; ++v) {
    number[v] = v;
    std::swap(number[v], number[random_below(104, v, v + 1)]);
  }
  return number;
}

/// The device's colours without rounds: a vertex waits for all its neighbours of greater numbers.
std::vector<int32_t> reference(const Graph& graph, const std::vector<int32_t>& number) {
  std::vector<int32_t> vertex(number.size()), colour(number.size(), 0);
  for (size_t v = 0; v < number.size(); ++v) vertex[number[v]] = static_cast<int32_t>(v);
  for (size_t i = vertex.size(); i-- > 0;) {
    const int32_t v = vertex[i];
    for (int e = graph.row_start[v]; e < graph.row_start[v + 1]; ++e) {
      const int32_t u = graph.edges[e];
      if (number[u] > number[v]) colour[v] = std::max(colour[v], colour[u] + 1);
    }
  }
  return colour;
}

class GraphColouring final : public GraphWorkload {
 public:
  explicit GraphColouring(int cv_percent)
      : GraphWorkload({"graph-colouring", "a colour for an independent set of vertices per round",
                       "GraphBIG, GraphColoring; Pannotia, color", "graph_colouring.ptx"},
                      cv_percent) {}

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int n = vertices(size);
    const Graph graph = make_graph(n, kPairsPerVertex);
    const std::vector<int32_t> number = random_numbers(n);
    const auto [row_start, edges] = upload(device, graph);
    const auto d_number = device.upload(number, "number");
    const auto colour = device.upload(std::vector<int32_t>(n, -1), "colour");
    const auto chosen = device.upload(std::vector<uint8_t>(n, 0), "chosen");
    const auto more = device.allocate(sizeof(int32_t), "more");
    int32_t go_on = 1;
    for (int round = 0; go_on != 0; ++round) {
      go_on = 0;
      device.copy_to_device(more, &go_on, sizeof(go_on));
      if (!launch(device, module, "colouring_choose", n, row_start, edges, d_number, colour,
                  chosen) ||
          !launch(device, module, "colouring_apply", n, colour, chosen, more, round))
        return skipped_by_limit();
      device.copy_to_host(&go_on, more, sizeof(go_on));
    }
    const auto colours = device.download<int32_t>(colour, n);
    int64_t clashes = 0;
    for (int v = 0; v < n; ++v) {
      for (int e = graph.row_start[v]; e < graph.row_start[v + 1]; ++e)
        clashes += colours[v] == colours[graph.edges[e]];
    }
    if (clashes != 0) return {.detail = fmt::format("{} neighbours have the same colour", clashes)};
    return check_equal("colour", colours, reference(graph, number));
  }
};

}  // namespace

Workloads make_graph_colouring() { return on_graphs<GraphColouring>(); }

}  // namespace nearwarp::workloads
