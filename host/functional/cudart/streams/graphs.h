// CUDA graphs: lists of work, made by hand or by capturing streams, executed in an order that their
// dependencies allow.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "host/functional/cudart/abi.h"
#include "host/functional/cudart/memory/memory.h"
#include "host/functional/cudart/process.h"
#include "host/recording/launch_set.h"

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
  kAllocate = 10,
  kFree = 11,
  kConditional = 13,
};

using Work = std::function<void(Runtime&)>;

struct Graph;

/// The choice of a conditional node: it executes one of its graphs, or one again and again.
struct Condition {
  enum class Kind : int { kIf = 0, kWhile = 1, kSwitch = 2 };
  Kind kind = Kind::kIf;
  uint64_t handle = 0;
  std::vector<Graph*> bodies;  ///< graphs of the node's own
};

/// A node: cudaGraphNode_t points to one.
struct GraphNode {
  NodeType type = NodeType::kEmpty;
  Work work;  ///< its target (graph_work.h) holds the parameters; of kGraph: that of `child`
  std::vector<GraphNode*> dependencies;
  size_t number = 0;  ///< within its graph; a clone's node has the same as the original
  Graph* graph = nullptr;
  Graph* child = nullptr;                               ///< of kGraph: a graph of its own
  Condition condition;                                  ///< of kConditional
  std::unordered_map<int, LaunchAttribute> attributes;  ///< of kKernel; hints
  std::vector<void*> arguments;  ///< of kKernel: pointers to them, for who asked last
};

/// cudaUserObject_t: what is destroyed when nobody refers to it any more.
struct UserObject {
  void* pointer = nullptr;
  void (*destroy)(void*) = nullptr;
  uint64_t references = 0;
  static UserObject* create(void* pointer, void (*destroy)(void*), uint64_t references);
  /// Throws Failure unless `object` lives.
  static UserObject& checked(UserObject* object);
  /// Deletes the object with its last reference.
  void release(uint64_t count);
};
/// References that a graph, its clones and instances hold together.
struct UserObjectHold {
  UserObject* object = nullptr;
  uint64_t references = 0;
  ~UserObjectHold() {
    if (object != nullptr) object->release(references);
  }
};

/// A graph: cudaGraph_t points to one.
struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;  ///< in the order of creation
  std::vector<std::shared_ptr<UserObjectHold>> holds;
  size_t next_number = 0;
  std::vector<uint64_t> conditions;  ///< handles of values that its conditional nodes go by
  bool is_child = false;             ///< belongs to a node of another graph
  bool is_body = false;              ///< of a condition, or in a child graph of one
  bool is_moved = false;             ///< into its node: the application's own graph before
  size_t instances = 0;              ///< that there are of it

  /// Nodes so that each comes after those it depends on, else as created. Throws Failure if they
  /// depend on one another in a circle.
  std::vector<GraphNode*> ordered() const;
  /// Has it such a node, or one of the graphs in its nodes?
  bool has(std::initializer_list<NodeType> types) const;
  /// Throws Failure if nodes allocate or free memory: those of such graphs stay, and it has neither
  /// clones nor two instances.
  void check_without_memory() const;
};

/// An instantiated graph, its work in the order of execution: cudaGraphExec_t points to one.
struct GraphExec {
  struct Step {
    size_t node = 0;  ///< number
    NodeType type = NodeType::kEmpty;
    Work work;
    std::vector<size_t> after;  ///< steps that it depends on: indices, below its own
    bool enabled = true;
  };
  std::vector<Step> steps;
  std::vector<std::shared_ptr<UserObjectHold>> holds;
  std::vector<uint64_t> conditions;  ///< of the graph
  Graph* graph = nullptr;            ///< nullptr: it is gone
  unsigned long long flags = 0;
  /// Launches that its next launch waits for: two of one instance never overlap.
  std::shared_ptr<runtime::LaunchSet> before = std::make_shared<runtime::LaunchSet>();

  /// Throws Failure if it has no step of that node's number and type.
  Step& step(const GraphNode& node);
};

/// Addresses that allocation nodes of a graph have, one after the other: who comes later finds free
/// what those before it have freed. There is memory behind them from the first launch on, and as
/// long as work refers to it, and beyond that until the application frees it.
class GraphMemory {
 public:
  GraphMemory(Process& process, Memory& memory, size_t bytes, const Graph& graph);
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  void* pointer() const { return pointer_; }
  size_t bytes() const { return bytes_; }  ///< the most that one of the nodes has
  size_t live_bytes = 0;                   ///< that a launch has allocated and nobody freed
  bool is_backed = false;                  ///< by memory
  bool is_lost = false;                    ///< by a reset of the device
  const Graph* graph = nullptr;            ///< whose nodes allocate there; nullptr: it is gone
  bool is_freed_elsewhere = false;         ///< by a node of another graph

 private:
  Process& process_;
  Memory& memory_;
  void* pointer_ = nullptr;
  size_t bytes_ = 0;
};

class Graphs {
 public:
  explicit Graphs(Memory& memory) : device_memory_(memory) {}
  Graph* create();
  /// Throws Failure unless it lives.
  Graph& graph(Graph* graph) const;
  void destroy(Graph* graph);
  /// Its nodes have the numbers of the originals.
  Graph* clone(const Graph& original);

  /// Throws Failure if a dependency is no node of the graph, or if it cannot have such nodes.
  GraphNode* add(Graph& graph, NodeType type, Work work, GraphNode* const* dependencies = nullptr,
                 size_t count = 0);
  void remove(GraphNode& node);
  /// Throws Failure if `child` cannot be in a node of the graph.
  void check_child(const Graph& graph, const Graph& child, bool is_moved) const;
  /// The graph of a node: a clone of `child`, or this itself.
  void add_child(GraphNode& node, Graph& child, bool is_moved);
  /// Throws Failure for what is no node; with a type, for a node of another type.
  GraphNode& node(const GraphNode* node) const;
  GraphNode& node(const GraphNode* node, NodeType type) const;

  GraphExec* instantiate(Graph& graph);
  GraphExec& exec(GraphExec* exec) const;
  void destroy(GraphExec* exec);

  /// A value that kernels set and conditional nodes of the graph go by. With `begins_anew`, it is
  /// `initial` at the beginning of each launch.
  uint64_t create_condition(Graph& graph, uint32_t initial, bool begins_anew);
  /// False: there is no such handle.
  bool set_condition(uint64_t handle, uint32_t value);
  uint32_t condition(uint64_t handle) const {
    return conditions_.at(handle).value;
  }  ///< there is one
  /// Throws Failure if no new node of the graph can go by the handle, of which each is one node's.
  void check_condition(const Graph& graph, uint64_t handle) const;
  /// A launch of an instance begins.
  void begin_conditions(const std::vector<uint64_t>& handles);
  /// `size` new graphs of a conditional node.
  void add_bodies(GraphNode& node, Condition::Kind kind, uint64_t handle, unsigned size);

  /// Addresses for nodes. Throws Failure if there are not so many.
  std::shared_ptr<GraphMemory> reserve(Process& process, size_t bytes, const Graph& graph);
  /// A launch comes to a node that allocates there. Throws Failure if what the launch before has
  /// allocated is still in use.
  void allocate(Process& process, const std::shared_ptr<GraphMemory>& memory, size_t bytes);
  /// A node or the application frees it. Throws Failure for what is not allocated.
  void free(GraphMemory& memory);
  /// The memory that begins there; nullptr if none does.
  std::shared_ptr<GraphMemory> memory(void* pointer) const;
  uint64_t live_bytes() const;
  uint64_t backed_bytes() const;
  /// Addresses without memory behind them, which take none of the device's.
  uint64_t unbacked_bytes() const;
  uint64_t most_live_bytes() const { return most_live_bytes_; }  ///< at a time
  uint64_t most_backed_bytes() const { return most_backed_bytes_; }
  void forget_most_live_bytes() { most_live_bytes_ = live_bytes(); }
  void forget_most_backed_bytes() { most_backed_bytes_ = backed_bytes(); }
  /// Memory that is not in use goes back to the device.
  void trim();
  /// The device was reset: its memory is gone.
  void forget_memory();

 private:
  struct Value {
    const Graph* graph = nullptr;
    uint32_t value = 0, initial = 0;
    bool begins_anew = false;
  };

  Memory& device_memory_;
  std::unordered_map<uint64_t, Value> conditions_;
  uint64_t next_condition_ = 1;
  std::unordered_map<const Graph*, std::unique_ptr<Graph>> graphs_;
  std::unordered_map<const GraphNode*, GraphNode*> nodes_;  ///< of all graphs
  std::unordered_map<const GraphExec*, std::unique_ptr<GraphExec>> execs_;
  std::unordered_map<void*, std::weak_ptr<GraphMemory>> memory_;
  std::unordered_map<const GraphMemory*, std::shared_ptr<GraphMemory>> live_;
  uint64_t most_live_bytes_ = 0, most_backed_bytes_ = 0;
};

/// A graph's work in the order of execution, as it is now. (Both are defined where work is done,
/// in runtime/graph_steps.cpp.)
std::vector<GraphExec::Step> steps_of(const Graph& graph);
/// Do it, up to the first fault. Launches wait for those of the steps that theirs depends on.
void run_steps(Runtime& runtime, const std::vector<GraphExec::Step>& steps);

}  // namespace nearwarp::cudart
