// Rodinia's bfs on a graph as its generator makes them: graph1MW_6 has 1,000,000 vertices.
#include "bench/workloads/bfs/graph.h"
#include "bench/workloads/common/check.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlockThreads = 512;

int vertices(Size size) {  // of the suite's three graphs
  switch (size) {
    case Size::kSmall:
      return 4096;
    case Size::kMedium:
      return 65'536;
    default:
      return 1'000'000;
  }
}

class BfsOriginal final : public Workload {
 public:
  std::string name() const override { return "bfs-original"; }
  std::string variant_of() const override { return "bfs-uniform"; }
  std::string description() const override {
    return "bfs-uniform with the original's vertices, graph and blocks of 512: 1,000,000 vertices";
  }
  std::string source() const override { return "Rodinia, bfs"; }
  std::string ptx_name() const override { return "bfs_original.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int n = vertices(size);
    const Graph graph = rodinia_graph(n);
    constexpr int kSource = 0;
    std::vector<int32_t> pairs;  // first edge, number of edges
    for (int v = 0; v < n; ++v) {
      pairs.push_back(graph.row_start[v]);
      pairs.push_back(graph.row_start[v + 1] - graph.row_start[v]);
    }
    std::vector<uint8_t> flags(n, 0);
    std::vector<int32_t> cost(n, -1);
    cost[kSource] = 0;
    const auto d_vertices = device.upload(pairs, "vertices");
    const auto d_edges = device.upload(graph.edges, "edges");
    flags[kSource] = 1;
    const auto frontier = device.upload(flags, "frontier");
    flags[kSource] = 0;
    const auto updating = device.upload(flags, "updating");
    flags[kSource] = 1;
    const auto visited = device.upload(flags, "visited");
    const auto d_cost = device.upload(cost, "cost");
    const auto more = device.allocate(sizeof(uint8_t), "more");

    uint8_t go_on = 1;
    while (go_on != 0) {
      go_on = 0;
      device.copy_to_device(more, &go_on, sizeof(go_on));
      device.launch(
          module, "bfs_original_expand", blocks_for(n, kBlockThreads), {kBlockThreads}, 0,
          runtime::KernelArgs(d_vertices, d_edges, frontier, updating, visited, d_cost, n));
      if (device.limit_reached()) return skipped_by_limit();
      device.launch(module, "bfs_original_advance", blocks_for(n, kBlockThreads), {kBlockThreads},
                    0, runtime::KernelArgs(frontier, updating, visited, more, n));
      if (device.limit_reached()) return skipped_by_limit();
      device.copy_to_host(&go_on, more, sizeof(go_on));
    }
    return check_equal("distance", device.download<int32_t>(d_cost, n),
                       breadth_first(graph, kSource));
  }
};

}  // namespace

std::unique_ptr<Workload> make_bfs_original() { return std::make_unique<BfsOriginal>(); }

}  // namespace nearwarp::workloads
