// The base of the workloads on graphs of a given regularity.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "bench/workloads/common/check.h"
#include "bench/workloads/graphs/generator.h"
#include "bench/workloads/workload.h"

namespace nearwarp::workloads {

/// Coefficients of variation of the edges per thread block, in percent.
inline constexpr int kRegular = 10, kSkewed = 100;

/// NAME works on a regular graph, NAME-skewed on a skewed one, NAME-cvN on one of N percent: the
/// same code on other data.
class GraphWorkload : public Workload {
 public:
  struct About {
    const char* name;
    const char* description;
    const char* source;
    const char* ptx_name;
  };
  GraphWorkload(const About& about, int cv_percent) : about_(about), cv_percent_(cv_percent) {}

  std::string name() const override {
    if (cv_percent_ == kRegular) return about_.name;
    if (cv_percent_ == kSkewed) return std::string(about_.name) + "-skewed";
    return fmt::format("{}-cv{}", about_.name, cv_percent_);
  }
  std::string variant_of() const override { return cv_percent_ == kRegular ? "" : about_.name; }
  bool other_input() const override { return cv_percent_ != kRegular; }
  std::string description() const override {
    return fmt::format("{}; edges per thread block vary by {} %", about_.description, cv_percent_);
  }
  std::string source() const override { return about_.source; }
  std::string ptx_name() const override { return about_.ptx_name; }

 protected:
  struct OnDevice {
    runtime::DevicePtr row_start, edges;
  };
  Graph make_graph(int num_vertices, int pairs_per_vertex = kGraphPairsPerVertex) const {
    return graph_of_variation(num_vertices, pairs_per_vertex, cv_percent_);
  }
  static OnDevice upload(runtime::VirtualDevice& device, const Graph& graph) {
    return {device.upload(graph.row_start, "row_start"), device.upload(graph.edges, "edges")};
  }
  /// Launches `kernel` with a thread per vertex; false: the instruction limit ended the program.
  template <class... T>
  static bool launch(runtime::VirtualDevice& device, uint32_t module, const char* kernel,
                     int num_vertices, const T&... arguments) {
    device.launch(module, kernel, blocks_for(num_vertices, kGraphBlockVertices),
                  {kGraphBlockVertices}, 0, runtime::KernelArgs(arguments..., num_vertices));
    return !device.limit_reached();
  }

 private:
  About about_;
  int cv_percent_;
};

/// A workload of type W on graphs of each of these variations.
template <class W>
Workloads on_graphs(std::initializer_list<int> cv_percents = {kRegular, kSkewed}) {
  Workloads list;
  for (const int cv_percent : cv_percents) list.push_back(std::make_unique<W>(cv_percent));
  return list;
}

}  // namespace nearwarp::workloads
