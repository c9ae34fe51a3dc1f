// Entry points of CUDA graphs for nodes and edges of all types, user objects and graphs' memory.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "host/functional/cudart/runtime/graph_work.h"
#include "host/functional/cudart/runtime/runtime.h"

using namespace nearwarp::cudart;

namespace {

const char* name_of(NodeType type) {
  switch (type) {
    case NodeType::kKernel:
      return "kernel";
    case NodeType::kCopy:
      return "copy";
    case NodeType::kFill:
      return "fill";
    case NodeType::kHost:
      return "host function";
    case NodeType::kGraph:
      return "graph";
    case NodeType::kEmpty:
      return "empty";
    case NodeType::kWaitEvent:
      return "wait for event";
    case NodeType::kRecordEvent:
      return "record event";
    case NodeType::kAllocate:
      return "allocate";
    case NodeType::kFree:
      return "free";
    case NodeType::kConditional:
      return "condition";
  }
  return "node";
}

/// Returns a list as CUDA does: without an array `to`, only its length; else as many elements as
/// fit, and nullptr in the rest of the array.
template <class List>
void give(const List& list, GraphNode** to, size_t* count) {
  require(count != nullptr);
  for (size_t i = 0; to != nullptr && i < *count; ++i) to[i] = i < list.size() ? list[i] : nullptr;
  *count = to == nullptr ? list.size() : std::min(*count, list.size());
}

void clear(EdgeData* edges, size_t count) {
  if (edges != nullptr) std::fill_n(edges, count, EdgeData{});
}

std::vector<GraphNode*> dependents_of(const GraphNode& node) {
  std::vector<GraphNode*> found;
  for (const auto& other : node.graph->nodes)
    if (std::count(other->dependencies.begin(), other->dependencies.end(), &node) != 0)
      found.push_back(other.get());
  return found;
}

}  // namespace

NW_API cudaGraphCreate(Graph** graph, unsigned flags) {
  return api([&](Runtime& r) {
    require(graph != nullptr && flags == 0);
    *graph = r.graphs.create();
    return kSuccess;
  });
}
NW_API cudaGraphDestroy(Graph* graph) {
  return api([&](Runtime& r) {
    require(!r.graphs.graph(graph).is_child);
    r.graphs.destroy(graph);
    return kSuccess;
  });
}
NW_API cudaGraphClone(Graph** clone, Graph* original) {
  return api([&](Runtime& r) {
    require(clone != nullptr);
    *clone = r.graphs.clone(r.graphs.graph(original));
    return kSuccess;
  });
}
NW_API cudaGraphNodeFindInClone(GraphNode** node, const GraphNode* original, Graph* clone) {
  return api([&](Runtime& r) {
    require(node != nullptr);
    const GraphNode& wanted = r.graphs.node(original);
    for (const auto& own : r.graphs.graph(clone).nodes) {
      if (own->number != wanted.number) continue;
      *node = own.get();
      return kSuccess;
    }
    return kErrorInvalidValue;
  });
}

// --- Nodes and edges -----------------------------------------------------------------------------

NW_API cudaGraphGetNodes(Graph* graph, GraphNode** nodes, size_t* count) {
  return api([&](Runtime& r) {
    std::vector<GraphNode*> all;
    for (const auto& node : r.graphs.graph(graph).nodes) all.push_back(node.get());
    give(all, nodes, count);
    return kSuccess;
  });
}
NW_API cudaGraphGetRootNodes(Graph* graph, GraphNode** nodes, size_t* count) {
  return api([&](Runtime& r) {
    std::vector<GraphNode*> roots;
    for (const auto& node : r.graphs.graph(graph).nodes)
      if (node->dependencies.empty()) roots.push_back(node.get());
    give(roots, nodes, count);
    return kSuccess;
  });
}
NW_API cudaGraphGetEdges(Graph* graph, GraphNode** from, GraphNode** to, EdgeData* edges,
                         size_t* count) {
  return api([&](Runtime& r) {
    require(count != nullptr && (from == nullptr) == (to == nullptr));
    std::vector<GraphNode*> starts, ends;
    for (const auto& node : r.graphs.graph(graph).nodes)
      for (GraphNode* before : node->dependencies) {
        starts.push_back(before);
        ends.push_back(node.get());
      }
    size_t room = *count;
    give(starts, from, &room);
    give(ends, to, count);
    if (from != nullptr) clear(edges, *count);
    return kSuccess;
  });
}
NW_API cudaGraphNodeGetDependencies(const GraphNode* node, GraphNode** nodes, EdgeData* edges,
                                    size_t* count) {
  return api([&](Runtime& r) {
    give(r.graphs.node(node).dependencies, nodes, count);
    if (nodes != nullptr) clear(edges, *count);
    return kSuccess;
  });
}
NW_API cudaGraphNodeGetDependentNodes(const GraphNode* node, GraphNode** nodes, EdgeData* edges,
                                      size_t* count) {
  return api([&](Runtime& r) {
    give(dependents_of(r.graphs.node(node)), nodes, count);
    if (nodes != nullptr) clear(edges, *count);
    return kSuccess;
  });
}
NW_API cudaGraphAddDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                                const EdgeData*, size_t count) {
  return api([&](Runtime& r) {
    Graph& g = r.graphs.graph(graph);
    require(count == 0 || (from != nullptr && to != nullptr));
    for (size_t i = 0; i < count; ++i)
      require(r.graphs.node(from[i]).graph == &g && r.graphs.node(to[i]).graph == &g &&
              from[i] != to[i]);
    for (size_t i = 0; i < count; ++i) to[i]->dependencies.push_back(from[i]);
    return kSuccess;
  });
}
NW_API cudaGraphRemoveDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                                   const EdgeData*, size_t count) {
  return api([&](Runtime& r) {
    Graph& g = r.graphs.graph(graph);
    require(count == 0 || (from != nullptr && to != nullptr));
    g.check_without_memory();
    for (size_t i = 0; i < count; ++i) {
      require(r.graphs.node(to[i]).graph == &g);
      require(std::erase(to[i]->dependencies, from[i]) != 0);
    }
    return kSuccess;
  });
}
NW_API cudaGraphDestroyNode(GraphNode* node) {
  return api([&](Runtime& r) {
    r.graphs.remove(r.graphs.node(node));
    return kSuccess;
  });
}
NW_API cudaGraphNodeGetType(const GraphNode* node, int* type) {
  return api([&](Runtime& r) {
    require(type != nullptr);
    *type = static_cast<int>(r.graphs.node(node).type);
    return kSuccess;
  });
}
/// Writes the graph in Graphviz's language.
NW_API cudaGraphDebugDotPrint(Graph* graph, const char* path, unsigned) {
  return api([&](Runtime& r) {
    require(path != nullptr);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "w"), std::fclose);
    require(file != nullptr, kErrorOperatingSystem);
    std::string text = "digraph {\n";
    for (const auto& node : r.graphs.graph(graph).nodes) {
      text += fmt::format("  n{} [label=\"{}: {}\"];\n", node->number, node->number,
                          name_of(node->type));
      for (const GraphNode* before : node->dependencies)
        text += fmt::format("  n{} -> n{};\n", before->number, node->number);
    }
    text += "}\n";
    require(std::fwrite(text.data(), 1, text.size(), file.get()) == text.size(),
            kErrorOperatingSystem);
    return kSuccess;
  });
}

// --- Objects that graphs keep alive --------------------------------------------------------------

NW_API cudaUserObjectCreate(UserObject** object, void* pointer, void (*destroy)(void*),
                            unsigned references, unsigned flags) {
  return api([&](Runtime&) {
    require(object != nullptr && destroy != nullptr && references != 0 && flags == 1);
    *object = UserObject::create(pointer, destroy, references);
    return kSuccess;
  });
}
NW_API cudaUserObjectRetain(UserObject* object, unsigned count) {
  return api([&](Runtime&) {
    require(count != 0);
    UserObject::checked(object).references += count;
    return kSuccess;
  });
}
NW_API cudaUserObjectRelease(UserObject* object, unsigned count) {
  return api([&](Runtime&) {
    UserObject& o = UserObject::checked(object);
    require(count != 0 && count <= o.references);
    o.release(count);
    return kSuccess;
  });
}
NW_API cudaGraphRetainUserObject(Graph* graph, UserObject* object, unsigned count, unsigned flags) {
  return api([&](Runtime& r) {
    constexpr unsigned kMove = 1;
    require(count != 0 && (flags & ~kMove) == 0);
    UserObject& o = UserObject::checked(object);
    Graph& g = r.graphs.graph(graph);
    if ((flags & kMove) == 0) o.references += count;
    const auto known = std::ranges::find(g.holds, object, &UserObjectHold::object);
    if (known == g.holds.end())
      g.holds.emplace_back(object, count);
    else
      known->references += count;
    return kSuccess;
  });
}
NW_API cudaGraphReleaseUserObject(Graph* graph, UserObject* object, unsigned count) {
  return api([&](Runtime& r) {
    UserObject::checked(object);
    Graph& g = r.graphs.graph(graph);
    const auto hold = std::ranges::find(g.holds, object, &UserObjectHold::object);
    require(hold != g.holds.end() && count != 0 && count <= hold->references);
    hold->references -= count;
    object->release(count);
    if (hold->references == 0) g.holds.erase(hold);
    return kSuccess;
  });
}

// --- Memory of graphs ----------------------------------------------------------------------------

NW_API cudaDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
  return api([&](Runtime& r) {
    r.check_device(device);
    require(value != nullptr && attribute >= 0 && attribute <= 3);
    const Graphs& g = r.graphs;
    const uint64_t values[] = {g.live_bytes(), g.most_live_bytes(), g.backed_bytes(),
                               g.most_backed_bytes()};
    *static_cast<uint64_t*>(value) = values[attribute];
    return kSuccess;
  });
}
NW_API cudaDeviceSetGraphMemAttribute(int device, int attribute, void* value) {
  return api([&](Runtime& r) {
    r.check_device(device);
    // Only high-water marks can be set, and only to 0.
    require(value != nullptr && (attribute == 1 || attribute == 3) &&
            *static_cast<uint64_t*>(value) == 0);
    if (attribute == 1)
      r.graphs.forget_most_live_bytes();
    else
      r.graphs.forget_most_backed_bytes();
    return kSuccess;
  });
}
NW_API cudaDeviceGraphMemTrim(int device) {
  return api([&](Runtime& r) {
    r.check_device(device);
    r.graphs.trim();
    return kSuccess;
  });
}
