// Graphs of the application: their nodes, instances, conditional handles and memory.
#include "host/functional/cudart/streams/graphs.h"

#include <algorithm>
#include <unordered_set>

#include "host/functional/cudart/status/failure.h"

namespace nearwarp::cudart {

namespace {

constexpr std::initializer_list<NodeType> kNotInBodies = {NodeType::kHost, NodeType::kWaitEvent,
                                                          NodeType::kRecordEvent,
                                                          NodeType::kAllocate, NodeType::kFree};

std::unordered_set<const UserObject*>& user_objects() {
  static auto* const all = new std::unordered_set<const UserObject*>;
  return *all;
}
}  // namespace

UserObject* UserObject::create(void* pointer, void (*destroy)(void*), uint64_t references) {
  auto* const object = new UserObject{pointer, destroy, references};
  user_objects().insert(object);
  return object;
}

UserObject& UserObject::checked(UserObject* object) {
  require(user_objects().contains(object));
  return *object;
}

void UserObject::release(uint64_t count) {
  references -= std::min(count, references);
  if (references != 0) return;
  user_objects().erase(this);
  if (destroy != nullptr) destroy(pointer);
  delete this;
}

std::vector<GraphNode*> Graph::ordered() const {
  std::vector<GraphNode*> order;
  std::unordered_set<const GraphNode*> placed;
  while (order.size() < nodes.size()) {
    const size_t before = order.size();
    for (const auto& node : nodes) {
      if (placed.contains(node.get())) continue;
      const auto& needs = node->dependencies;
      if (!std::all_of(needs.begin(), needs.end(),
                       [&](const GraphNode* n) { return placed.contains(n); }))
        continue;
      placed.insert(node.get());
      order.push_back(node.get());
    }
    require(order.size() > before);
  }
  return order;
}

bool Graph::has(std::initializer_list<NodeType> types) const {
  return std::ranges::any_of(nodes, [&](const auto& node) {
    if (std::ranges::find(types, node->type) != types.end()) return true;
    return (node->child != nullptr && node->child->has(types)) ||
           std::ranges::any_of(node->condition.bodies,
                               [&](const Graph* body) { return body->has(types); });
  });
}

void Graph::check_without_memory() const {
  if (has({NodeType::kAllocate, NodeType::kFree}))
    throw Failure{kErrorInvalidValue,
                  "nodes of the graph allocate or free memory: it has one instance, no clones, and "
                  "keeps its nodes and edges"};
}

std::vector<UserObjectHold> holds_of(const Graph& graph) {
  std::vector<UserObjectHold> all = graph.holds;
  const auto add = [&all](const Graph& inner) {
    for (UserObjectHold& hold : holds_of(inner)) all.push_back(std::move(hold));
  };
  for (const auto& node : graph.nodes) {
    if (node->child != nullptr) add(*node->child);
    for (const Graph* body : node->condition.bodies) add(*body);
  }
  return all;
}

GraphExec::Step& GraphExec::step(const GraphNode& node) {
  for (Step& step : steps)
    if (step.node == node.number && step.type == node.type) return step;
  throw Failure{kErrorInvalidValue};
}

// --- Graphs --------------------------------------------------------------------------------------

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

void Graphs::destroy(Graph* graph) {
  for (const auto& node : this->graph(graph).nodes) {
    nodes_.erase(node.get());
    if (node->child != nullptr) destroy(node->child);
    for (Graph* body : node->condition.bodies) destroy(body);
  }
  // Instances of the graph may outlive it.
  for (const uint64_t handle : this->graph(graph).conditions)
    conditions_.at(handle).graph = nullptr;
  for (const auto& [pointer, weak] : memory_)
    if (const auto memory = weak.lock(); memory != nullptr && memory->graph == graph)
      memory->graph = nullptr;
  if (graph->instances != 0)
    for (const auto& [handle, exec] : execs_)
      if (exec->graph == graph) exec->graph = nullptr;
  graphs_.erase(graph);
}

namespace {
/// Throws Failure if the graph cannot be cloned.
void check_clone(const Graph& original) {
  original.check_without_memory();
  if (original.has({NodeType::kConditional}))
    throw Failure{kErrorNotSupported, "graphs with conditional nodes cannot be cloned"};
}
}  // namespace

Graph* Graphs::clone(const Graph& original) {
  check_clone(original);
  Graph* const copy = create();
  std::unordered_map<const GraphNode*, GraphNode*> copies;
  for (const auto& node : original.nodes) {
    GraphNode* const own = add(*copy, node->type, node->work);
    own->number = node->number;
    own->attributes = node->attributes;
    if (node->child != nullptr) add_child(*own, *node->child, false);
    copies[node.get()] = own;
  }
  for (const auto& node : original.nodes)
    for (const GraphNode* before : node->dependencies)
      copies[node.get()]->dependencies.push_back(copies[before]);
  copy->next_number = original.next_number;
  copy->holds = original.holds;
  return copy;
}

namespace {

/// Throws Failure if the graph cannot have nodes of this type.
void check_type(const Graph& graph, NodeType type) {
  if (graph.is_body && std::ranges::find(kNotInBodies, type) != kNotInBodies.end())
    throw Failure{kErrorInvalidValue,
                  "bodies of conditions have kernel, empty, child, copy, fill and conditional "
                  "nodes alone"};
  require(!graph.is_moved || (type != NodeType::kAllocate && type != NodeType::kFree));
}

void mark_as_body(Graph& graph) {
  graph.is_body = true;
  for (const auto& node : graph.nodes)
    if (node->child != nullptr) mark_as_body(*node->child);
}

}  // namespace

GraphNode* Graphs::add(Graph& graph, NodeType type, Work work, GraphNode* const* dependencies,
                       size_t count) {
  require(count == 0 || dependencies != nullptr);
  check_type(graph, type);
  auto made = std::make_unique<GraphNode>();
  made->type = type;
  made->work = std::move(work);
  made->number = graph.next_number;
  made->graph = &graph;
  for (size_t i = 0; i < count; ++i) {
    require(node(dependencies[i]).graph == &graph);
    made->dependencies.push_back(dependencies[i]);
  }
  graph.next_number += 1;
  GraphNode* const handle = made.get();
  nodes_.emplace(handle, handle);
  graph.nodes.push_back(std::move(made));
  return handle;
}

namespace {
/// Is `inner` the graph itself, or a child graph or body in it?
bool contains(const Graph& graph, const Graph& inner) {
  if (&graph == &inner) return true;
  return std::ranges::any_of(graph.nodes, [&](const auto& node) {
    return (node->child != nullptr && contains(*node->child, inner)) ||
           std::ranges::any_of(node->condition.bodies,
                               [&](const Graph* body) { return contains(*body, inner); });
  });
}
}  // namespace

void Graphs::check_child(const Graph& graph, const Graph& child, bool is_moved) const {
  if (graph.is_body) require(!child.has(kNotInBodies));
  if (!is_moved) return check_clone(child);
  require(!child.is_child && child.instances == 0 && !contains(child, graph));
}

void Graphs::add_child(GraphNode& node, Graph& child, bool is_moved) {
  node.child = is_moved ? &child : clone(child);
  node.child->is_child = true;
  node.child->is_moved = is_moved;
  if (node.graph->is_body) mark_as_body(*node.child);
}

void Graphs::remove(GraphNode& node) {
  Graph& graph = *node.graph;
  graph.check_without_memory();
  for (const auto& other : graph.nodes) std::erase(other->dependencies, &node);
  if (node.child != nullptr) destroy(node.child);
  for (Graph* body : node.condition.bodies) destroy(body);
  nodes_.erase(&node);
  std::erase_if(graph.nodes, [&](const auto& own) { return own.get() == &node; });
}

GraphNode& Graphs::node(const GraphNode* node) const {
  const auto it = nodes_.find(node);
  require(it != nodes_.end());
  return *it->second;
}

GraphNode& Graphs::node(const GraphNode* handle, NodeType type) const {
  GraphNode& found = node(handle);
  require(found.type == type);
  return found;
}

namespace {
/// Adds the conditional handles of a graph, of its child graphs and of its conditional nodes'
/// bodies.
void add_conditions(const Graph& graph, std::vector<uint64_t>* to) {
  to->insert(to->end(), graph.conditions.begin(), graph.conditions.end());
  for (const auto& node : graph.nodes) {
    if (node->child != nullptr) add_conditions(*node->child, to);
    for (const Graph* body : node->condition.bodies) add_conditions(*body, to);
  }
}
/// Does a conditional node of the graph, or of a child graph or body in it, test this handle?
bool uses_condition(const Graph& graph, uint64_t handle) {
  return std::ranges::any_of(graph.nodes, [&](const auto& node) {
    return (node->type == NodeType::kConditional && node->condition.handle == handle) ||
           (node->child != nullptr && uses_condition(*node->child, handle)) ||
           std::ranges::any_of(node->condition.bodies,
                               [&](const Graph* body) { return uses_condition(*body, handle); });
  });
}
}  // namespace

GraphExec* Graphs::instantiate(Graph& graph) {
  require(!graph.is_moved);
  if (graph.instances != 0) {
    graph.check_without_memory();
    if (graph.has({NodeType::kConditional}))
      throw Failure{kErrorInvalidValue, "a graph with conditional nodes has one instance"};
  }
  auto made = std::make_unique<GraphExec>();
  made->steps = steps_of(graph);
  made->holds = holds_of(graph);
  add_conditions(graph, &made->conditions);
  for (const uint64_t handle : made->conditions)
    if (!uses_condition(graph, handle))
      throw Failure{kErrorInvalidValue,
                    "a conditional handle of the graph is of none of its nodes"};
  made->graph = &graph;
  ++graph.instances;
  GraphExec* const handle = made.get();
  execs_.emplace(handle, std::move(made));
  return handle;
}

GraphExec& Graphs::exec(GraphExec* exec) const {
  const auto it = execs_.find(exec);
  require(it != execs_.end());
  return *it->second;
}

void Graphs::destroy(GraphExec* exec) {
  if (Graph* const graph = this->exec(exec).graph; graph != nullptr) --graph->instances;
  execs_.erase(exec);
}

// --- Conditions ----------------------------------------------------------------------------------

uint64_t Graphs::create_condition(Graph& graph, uint32_t initial, bool begins_anew) {
  const uint64_t handle = next_condition_++;
  conditions_[handle] = {&graph, initial, initial, begins_anew};
  graph.conditions.push_back(handle);
  return handle;
}

bool Graphs::set_condition(uint64_t handle, uint32_t value) {
  const auto it = conditions_.find(handle);
  if (it == conditions_.end()) return false;
  it->second.value = value;
  return true;
}

void Graphs::check_condition(const Graph& graph, uint64_t handle) const {
  const auto it = conditions_.find(handle);
  require(it != conditions_.end());
  const Graph* const own = it->second.graph;
  // Nodes of a body may also test handles of the graph around it.
  require(own == &graph || graph.is_child);
  if (own != nullptr && uses_condition(*own, handle))
    throw Failure{kErrorInvalidValue,
                  "a conditional handle is one node's, and this one has a node"};
}

void Graphs::begin_conditions(const std::vector<uint64_t>& handles) {
  for (const uint64_t handle : handles)
    if (const auto it = conditions_.find(handle); it != conditions_.end() && it->second.begins_anew)
      it->second.value = it->second.initial;
}

void Graphs::add_bodies(GraphNode& node, Condition::Kind kind, uint64_t handle, unsigned size) {
  node.condition = {kind, handle, {}};
  for (unsigned i = 0; i < size; ++i) {
    node.condition.bodies.push_back(create());
    node.condition.bodies.back()->is_child = true;
    node.condition.bodies.back()->is_body = true;
  }
}

// --- Memory --------------------------------------------------------------------------------------

GraphMemory::GraphMemory(Process& process, Memory& memory, size_t bytes, const Graph& of)
    : graph(&of),
      process_(process),
      memory_(memory),
      pointer_(memory.allocate(process, bytes, Memory::Kind::kDevice)),
      bytes_(bytes) {}

GraphMemory::~GraphMemory() {
  if (!is_lost) memory_.free(process_, pointer_, false);
}

std::shared_ptr<GraphMemory> Graphs::reserve(Process& process, size_t bytes, const Graph& graph) {
  require(bytes != 0);
  std::erase_if(memory_, [](const auto& entry) { return entry.second.expired(); });
  auto made = std::make_shared<GraphMemory>(process, device_memory_, bytes, graph);
  memory_[made->pointer()] = made;
  return made;
}

void Graphs::allocate(Process& process, const std::shared_ptr<GraphMemory>& memory, size_t bytes) {
  if (memory->live_bytes != 0)
    throw Failure{kErrorInvalidValue,
                  "what the launch before of this graph has allocated is not freed yet"};
  // The range may still hold bytes that another node or an earlier launch has written.
  if (!memory->is_lost)
    process.device().note_unwritten(reinterpret_cast<runtime::DevicePtr>(memory->pointer()), bytes);
  memory->live_bytes = bytes;
  memory->is_backed = true;
  live_[memory.get()] = memory;
  most_live_bytes_ = std::max(most_live_bytes_, live_bytes());
  most_backed_bytes_ = std::max(most_backed_bytes_, backed_bytes());
}

void Graphs::free(GraphMemory& memory) {
  require(memory.live_bytes != 0);
  memory.live_bytes = 0;
  live_.erase(&memory);
}

std::shared_ptr<GraphMemory> Graphs::memory(void* pointer) const {
  const auto it = memory_.find(pointer);
  return it == memory_.end() ? nullptr : it->second.lock();
}

uint64_t Graphs::live_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [key, memory] : live_) bytes += memory->live_bytes;
  return bytes;
}

uint64_t Graphs::backed_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [pointer, weak] : memory_)
    if (const auto memory = weak.lock(); memory != nullptr && memory->is_backed)
      bytes += memory->bytes();
  return bytes;
}

uint64_t Graphs::unbacked_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [pointer, weak] : memory_)
    if (const auto memory = weak.lock(); memory != nullptr && !memory->is_backed)
      bytes += memory->bytes();
  return bytes;
}

void Graphs::trim() {
  for (const auto& [pointer, weak] : memory_)
    if (const auto memory = weak.lock(); memory != nullptr && memory->live_bytes == 0)
      memory->is_backed = false;
}

void Graphs::forget_memory() {
  for (const auto& [pointer, weak] : memory_) {
    const auto memory = weak.lock();
    if (memory == nullptr) continue;
    memory->live_bytes = 0;
    memory->is_backed = false;
    memory->is_lost = true;
  }
  memory_.clear();
  live_.clear();
}

}  // namespace nearwarp::cudart
