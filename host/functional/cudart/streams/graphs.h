// CUDA graphs: nodes of work with dependencies, which the application adds or the capture of a
// stream records. A launch executes them in an order that the dependencies allow.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <unordered_map>
#include <utility>
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

/// Executes a node, or a call in a stream.
using Work = std::function<void(Runtime&)>;

struct Graph;

/// A conditional node's parameters: by the value of `handle` it executes one of its bodies, none,
/// or its only one again and again.
struct Condition {
  enum class Kind : int { kIf = 0, kWhile = 1, kSwitch = 2 };
  Kind kind = Kind::kIf;
  uint64_t handle = 0;
  std::vector<Graph*> bodies;  ///< they belong to the node
};

/// A node: cudaGraphNode_t points to one.
struct GraphNode {
  NodeType type = NodeType::kEmpty;
  Work work;  ///< its target (graph_work.h) holds the parameters; of kGraph: that of `child`
  std::vector<GraphNode*> dependencies;
  size_t number = 0;  ///< unique within its graph; nodes of clones keep it
  Graph* graph = nullptr;
  Graph* child = nullptr;                               ///< kGraph: it belongs to the node
  Condition condition;                                  ///< only for kConditional
  std::unordered_map<int, LaunchAttribute> attributes;  ///< kKernel: hints, kept to be read back
  std::vector<void*> arguments;  ///< kKernel: pointers that the last query for parameters returned
};

/// cudaUserObject_t: an object of the application, which is destroyed with its last reference.
struct UserObject {
  void* pointer = nullptr;
  void (*destroy)(void*) = nullptr;
  uint64_t references = 0;
  static UserObject* create(void* pointer, void (*destroy)(void*), uint64_t references);
  /// `object`, if it is a live user object. Throws Failure if not.
  static UserObject& checked(UserObject* object);
  /// Gives up `count` references. The object is destroyed and deleted with the last.
  void release(uint64_t count);
};
/// References that a graph or an instance holds to an object. A copy holds as many of its own.
struct UserObjectHold {
  /// Takes over references that are counted already.
  UserObjectHold(UserObject* o, uint64_t n) : object(o), references(n) {}
  UserObjectHold(const UserObjectHold& other) : UserObjectHold(other.object, other.references) {
    object->references += references;
  }
  UserObjectHold(UserObjectHold&& other) noexcept
      : UserObjectHold(other.object, std::exchange(other.references, 0)) {}
  UserObjectHold& operator=(UserObjectHold other) noexcept {
    std::swap(object, other.object);
    std::swap(references, other.references);
    return *this;
  }
  ~UserObjectHold() {
    if (references != 0) object->release(references);
  }

  UserObject* object;
  uint64_t references;
};

/// A graph: cudaGraph_t points to one.
struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;  ///< in the order of creation
  std::vector<UserObjectHold> holds;
  size_t next_number = 0;
  std::vector<uint64_t> conditions;  ///< handles that were created for this graph
  bool is_child = false;             ///< it belongs to a node of another graph
  bool is_body = false;   ///< it is a conditional node's body, or a child graph within one
  bool is_moved = false;  ///< the application's graph itself became a child, not a clone of it
  size_t instances = 0;   ///< live GraphExecs of this graph

  /// The nodes, each after those that it depends on, otherwise in the order of creation. Throws
  /// Failure if the dependencies have a cycle.
  std::vector<GraphNode*> ordered() const;
  /// Does the graph have a node of one of these types, itself or in a child graph or body?
  bool has(std::initializer_list<NodeType> types) const;
  /// Throws Failure if nodes allocate or free memory. Nodes of such a graph cannot be removed, and
  /// it has no clones and only one instance.
  void check_without_memory() const;
};

/// An instantiated graph, its work in the order of execution: cudaGraphExec_t points to one.
struct GraphExec {
  struct Step {
    size_t node = 0;  ///< GraphNode::number
    NodeType type = NodeType::kEmpty;
    Work work;
    std::vector<size_t>
        after;  ///< indices of the steps that it depends on, all smaller than its own
    bool enabled = true;
  };
  std::vector<Step> steps;
  std::vector<UserObjectHold> holds;  ///< of the graph, its child graphs and bodies
  std::vector<uint64_t> conditions;   ///< of the graph, its child graphs and bodies
  Graph* graph = nullptr;             ///< nullptr: the graph was destroyed
  unsigned long long flags = 0;
  /// Kernel launches that the instance's next launch waits for: two of its launches never overlap.
  std::shared_ptr<runtime::LaunchSet> before = std::make_shared<runtime::LaunchSet>();

  /// The step of the node with this number and type. Throws Failure if there is none.
  Step& step(const GraphNode& node);
};

/// Copies of what a graph holds, and its child graphs and bodies.
std::vector<UserObjectHold> holds_of(const Graph& graph);

/// A range of addresses for allocation nodes of a graph. Several nodes may use it one after the
/// other, each after the one before has freed it. Memory backs the range from the first launch on,
/// as long as work refers to it, and after that until the application frees it.
class GraphMemory {
 public:
  GraphMemory(Process& process, Memory& memory, size_t bytes, const Graph& graph);
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  void* pointer() const { return pointer_; }
  size_t bytes() const { return bytes_; }  ///< the size of the largest of these nodes
  size_t live_bytes = 0;                   ///< bytes allocated by a launch and not yet freed
  bool is_backed = false;                  ///< memory backs the range
  bool is_lost = false;                    ///< the device was reset
  const Graph* graph = nullptr;            ///< the graph of the nodes; nullptr: it was destroyed
  bool is_freed_elsewhere = false;         ///< a node of another graph frees the memory

 private:
  Process& process_;
  Memory& memory_;
  void* pointer_ = nullptr;
  size_t bytes_ = 0;
};

/// All graphs, nodes, instances and conditional handles of the process. Handles that are not live
/// are refused with a Failure.
class Graphs {
 public:
  explicit Graphs(Memory& memory) : device_memory_(memory) {}
  Graph* create();
  Graph& graph(Graph* graph) const;
  void destroy(Graph* graph);
  /// A copy whose nodes have the numbers of the originals. Throws Failure for a graph that cannot
  /// be cloned: one whose nodes allocate or free memory, or are conditional.
  Graph* clone(const Graph& original);

  /// Adds a node. Throws Failure if a dependency is not a node of `graph`, or if the graph cannot
  /// have nodes of this type.
  GraphNode* add(Graph& graph, NodeType type, Work work, GraphNode* const* dependencies = nullptr,
                 size_t count = 0);
  void remove(GraphNode& node);
  /// Throws Failure if `child` cannot become a child graph of a node in `graph`.
  void check_child(const Graph& graph, const Graph& child, bool is_moved) const;
  /// Gives a node its child graph: `child` itself if it is moved, else a clone of it.
  void add_child(GraphNode& node, Graph& child, bool is_moved);
  /// The node of a handle. Throws Failure if there is none, or if it has another type.
  GraphNode& node(const GraphNode* node) const;
  GraphNode& node(const GraphNode* node, NodeType type) const;

  GraphExec* instantiate(Graph& graph);
  GraphExec& exec(GraphExec* exec) const;
  void destroy(GraphExec* exec);

  /// A handle of a value that kernels set and conditional nodes of the graph test. With
  /// `begins_anew`, each launch of the graph begins with the value `initial`.
  uint64_t create_condition(Graph& graph, uint32_t initial, bool begins_anew);
  /// Returns false if there is no such handle.
  bool set_condition(uint64_t handle, uint32_t value);
  /// The value of a handle that exists.
  uint32_t condition(uint64_t handle) const { return conditions_.at(handle).value; }
  /// Throws Failure if a new node of the graph cannot test the handle: only one node may.
  void check_condition(const Graph& graph, uint64_t handle) const;
  /// Set the values with which a launch of an instance with these handles begins.
  void begin_conditions(const std::vector<uint64_t>& handles);
  /// Makes a node's condition, with `size` empty graphs as its bodies.
  void add_bodies(GraphNode& node, Condition::Kind kind, uint64_t handle, unsigned size);

  /// Reserves addresses for allocation nodes. Throws Failure if there are too few.
  std::shared_ptr<GraphMemory> reserve(Process& process, size_t bytes, const Graph& graph);
  /// Executes an allocation node. Throws Failure if the memory of the last launch is not freed yet.
  void allocate(Process& process, const std::shared_ptr<GraphMemory>& memory, size_t bytes);
  /// Frees memory for a node or the application. Throws Failure if it is not allocated.
  void free(GraphMemory& memory);
  /// The memory that begins at `pointer`; nullptr if there is none.
  std::shared_ptr<GraphMemory> memory(void* pointer) const;
  uint64_t live_bytes() const;
  uint64_t backed_bytes() const;
  /// Bytes of reserved addresses that no memory backs, and that count as free on the device.
  uint64_t unbacked_bytes() const;
  /// The largest live_bytes() and backed_bytes() since the last forget_...().
  uint64_t most_live_bytes() const { return most_live_bytes_; }
  uint64_t most_backed_bytes() const { return most_backed_bytes_; }
  void forget_most_live_bytes() { most_live_bytes_ = live_bytes(); }
  void forget_most_backed_bytes() { most_backed_bytes_ = backed_bytes(); }
  /// Gives memory that is not in use back to the device.
  void trim();
  /// Marks all memory as lost, since the device was reset.
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
  std::unordered_map<const GraphNode*, GraphNode*> nodes_;  ///< nodes of all graphs
  std::unordered_map<const GraphExec*, std::unique_ptr<GraphExec>> execs_;
  std::unordered_map<void*, std::weak_ptr<GraphMemory>> memory_;
  std::unordered_map<const GraphMemory*, std::shared_ptr<GraphMemory>> live_;
  uint64_t most_live_bytes_ = 0, most_backed_bytes_ = 0;
};

/// The present work of a graph in the order of execution. (This function and the next are defined
/// in runtime/graph_steps.cpp.)
std::vector<GraphExec::Step> steps_of(const Graph& graph);
/// Execute steps up to the first fault. Kernel launches of a step wait for those of the steps that
/// it depends on.
void run_steps(Runtime& runtime, const std::vector<GraphExec::Step>& steps);

}  // namespace nearwarp::cudart
