// CUDA graphs: lists of work, made by hand or by capturing streams, executed in an order that their
// dependencies allow.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "host/cudart/abi.h"

namespace nearwarp::cudart {

class Runtime;

/// cudaGraphNodeType
enum class NodeType : int {
  kKernel = 0,
  kCopy = 1,
  kFill = 2,
  kHost = 3,
  kGraph = 4,
  kEmpty = 5,
  kWaitEvent = 6,
  kRecordEvent = 7,
};

using Work = std::function<void(Runtime&)>;

/// What cudaGraphNode_t points to.
struct GraphNode {
  NodeType type = NodeType::kEmpty;
  Work work;
  std::vector<const GraphNode*> dependencies;
  size_t number = 0;  ///< within its graph, in the order of creation
};

/// What cudaGraph_t points to.
struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;

  GraphNode* add(NodeType type, Work work, const GraphNode* const* dependencies = nullptr,
                 size_t count = 0);
  /// Nodes so that each comes after those it depends on, else as created. Throws Failure if they
  /// depend on one another in a circle.
  std::vector<const GraphNode*> ordered() const;
};

/// What cudaGraphExec_t points to: the work of nodes, in the order of execution.
struct GraphExec {
  struct Step {
    size_t node = 0;  ///< number
    Work work;
  };
  std::vector<Step> steps;
};

class Graphs {
 public:
  Graph* create();
  /// Throws Failure unless it lives.
  Graph& graph(Graph* graph) const;
  void destroy(Graph* graph);
  GraphExec* instantiate(const Graph& graph);
  GraphExec& exec(GraphExec* exec) const;
  void destroy(GraphExec* exec);
  /// The graph that a node belongs to. Throws Failure for what is no node.
  Graph& graph_of(const GraphNode* node) const;

 private:
  std::unordered_map<const Graph*, std::unique_ptr<Graph>> graphs_;
  std::unordered_map<const GraphExec*, std::unique_ptr<GraphExec>> execs_;
};

}  // namespace nearwarp::cudart
