// CUDA graphs.
#include "host/cudart/graphs.h"

#include <algorithm>

#include "host/cudart/runtime.h"

namespace nearwarp::cudart {

GraphNode* Graph::add(NodeType type, Work work, const GraphNode* const* dependencies,
                      size_t count) {
  require(count == 0 || dependencies != nullptr);
  auto node = std::make_unique<GraphNode>();
  node->type = type;
  node->work = std::move(work);
  node->number = nodes.size();
  for (size_t i = 0; i < count; ++i) {
    const bool is_ours = std::any_of(nodes.begin(), nodes.end(),
                                     [&](const auto& n) { return n.get() == dependencies[i]; });
    require(is_ours);
    node->dependencies.push_back(dependencies[i]);
  }
  nodes.push_back(std::move(node));
  return nodes.back().get();
}

std::vector<const GraphNode*> Graph::ordered() const {
  std::vector<const GraphNode*> order;
  std::vector<char> placed(nodes.size(), 0);
  while (order.size() < nodes.size()) {
    const size_t before = order.size();
    for (const auto& node : nodes) {
      if (placed[node->number] != 0) continue;
      const auto& needs = node->dependencies;
      if (!std::all_of(needs.begin(), needs.end(),
                       [&](const GraphNode* n) { return placed[n->number] != 0; }))
        continue;
      placed[node->number] = 1;
      order.push_back(node.get());
    }
    require(order.size() > before);
  }
  return order;
}

Graph* Graphs::create() {
  auto made = std::make_unique<Graph>();
  Graph* const handle = made.get();
  graphs_.emplace(handle, std::move(made));
  return handle;
}

Graph& Graphs::graph(Graph* graph) const {
  const auto it = graphs_.find(graph);
  require(it != graphs_.end());
  return *it->second;
}

void Graphs::destroy(Graph* graph) { require(graphs_.erase(graph) == 1); }

GraphExec* Graphs::instantiate(const Graph& graph) {
  auto made = std::make_unique<GraphExec>();
  for (const GraphNode* node : graph.ordered()) made->steps.push_back({node->number, node->work});
  GraphExec* const handle = made.get();
  execs_.emplace(handle, std::move(made));
  return handle;
}

GraphExec& Graphs::exec(GraphExec* exec) const {
  const auto it = execs_.find(exec);
  require(it != execs_.end());
  return *it->second;
}

void Graphs::destroy(GraphExec* exec) { require(execs_.erase(exec) == 1); }

Graph& Graphs::graph_of(const GraphNode* node) const {
  for (const auto& [handle, graph] : graphs_)
    for (const auto& own : graph->nodes)
      if (own.get() == node) return *graph;
  throw Failure{kErrorInvalidValue};
}

}  // namespace nearwarp::cudart
