#include "bench/workloads/bfs/graph.h"
#include "bench/workloads/common/check.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlockThreads = 256;
constexpr int kPairsPerVertex = 3;  // six edges per vertex, as in Rodinia's graph1MW_6

int vertices(Size size) {
  switch (size) {
    case Size::kSmall:
      return 1 << 14;
    case Size::kMedium:
      return 1 << 17;
    case Size::kLarge:
      return 1 << 21;
    case Size::kPaper:
      return 1 << 22;
  }
  return 0;
}

class Bfs final : public Workload {
 public:
  explicit Bfs(bool rmat) : rmat_(rmat) {}
  std::string name() const override { return rmat_ ? "bfs-rmat" : "bfs-uniform"; }
  std::string description() const override {
    return rmat_ ? "breadth-first search on an R-MAT graph, two launches per level"
                 : "breadth-first search on a uniformly random graph, two launches per level";
  }
  std::string source() const override { return "Rodinia, bfs"; }
  std::string ptx_name() const override { return "bfs.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int n = vertices(size);
    const Graph graph = rmat_ ? rmat_graph(n, kPairsPerVertex) : uniform_graph(n, kPairsPerVertex);
    const int source = rmat_ ? busiest_vertex(graph) : 0;

    std::vector<uint8_t> flags(n, 0);
    std::vector<int32_t> cost(n, -1);
    cost[source] = 0;
    const auto row_start = device.upload(graph.row_start, "row_start");
    const auto edges = device.upload(graph.edges, "edges");
    const auto updating = device.upload(flags, "updating");
    flags[source] = 1;
    const auto frontier = device.upload(flags, "frontier");
    const auto visited = device.upload(flags, "visited");
    const auto d_cost = device.upload(cost, "cost");
    const auto more = device.allocate(sizeof(int32_t), "more");

    int32_t go_on = 1;
    while (go_on != 0) {
      go_on = 0;
      device.copy_to_device(more, &go_on, sizeof(go_on));
      device.launch(module, "bfs_expand", blocks_for(n, kBlockThreads), {kBlockThreads}, 0,
                    runtime::KernelArgs(row_start, edges, frontier, updating, visited, d_cost, n));
      if (device.limit_reached()) return skipped_by_limit();
      device.launch(module, "bfs_advance", blocks_for(n, kBlockThreads), {kBlockThreads}, 0,
                    runtime::KernelArgs(frontier, updating, visited, more, n));
      if (device.limit_reached()) return skipped_by_limit();
      device.copy_to_host(&go_on, more, sizeof(go_on));
    }
    return check_equal("distance", device.download<int32_t>(d_cost, n),
                       breadth_first(graph, source));
  }

 private:
  bool rmat_;
};

}  // namespace

std::unique_ptr<Workload> make_bfs_rmat() { return std::make_unique<Bfs>(true); }
std::unique_ptr<Workload> make_bfs_uniform() { return std::make_unique<Bfs>(false); }

}  // namespace nearwarp::workloads
