// Entry points of graphs: what they consist of, and executing them.
#include "host/functional/cudriver/driver.h"

namespace nearwarp::cudriver {

NW_CU cuGraphCreate(Graph** graph, unsigned flags) {
  return forward(cudaGraphCreate, graph, flags);
}
NW_CU cuGraphDestroy(Graph* graph) { return forward(cudaGraphDestroy, graph); }
NW_CU cuGraphClone(Graph** clone, Graph* original) {
  return forward(cudaGraphClone, clone, original);
}
NW_CU cuGraphNodeFindInClone(GraphNode** node, const GraphNode* original, Graph* clone) {
  return forward(cudaGraphNodeFindInClone, node, original, clone);
}
NW_CU cuGraphGetNodes(Graph* graph, GraphNode** nodes, size_t* count) {
  return forward(cudaGraphGetNodes, graph, nodes, count);
}
NW_CU cuGraphGetRootNodes(Graph* graph, GraphNode** nodes, size_t* count) {
  return forward(cudaGraphGetRootNodes, graph, nodes, count);
}
NW_CU cuGraphNodeGetType(const GraphNode* node, int* type) {
  return forward(cudaGraphNodeGetType, node, type);
}
NW_CU cuGraphDestroyNode(GraphNode* node) { return forward(cudaGraphDestroyNode, node); }
NW_CU cuGraphDebugDotPrint(Graph* graph, const char* path, unsigned flags) {
  return forward(cudaGraphDebugDotPrint, graph, path, flags);
}

// Edges: since CUDA 12.3 with data, which kernels' edges alone may have.
NW_CU cuGraphGetEdges_v2(Graph* graph, GraphNode** from, GraphNode** to, EdgeData* edges,
                         size_t* count) {
  return forward(cudaGraphGetEdges, graph, from, to, edges, count);
}
NW_CU cuGraphGetEdges(Graph* graph, GraphNode** from, GraphNode** to, size_t* count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}
NW_CU cuGraphNodeGetDependencies_v2(const GraphNode* node, GraphNode** nodes, EdgeData* edges,
                                    size_t* count) {
  return forward(cudaGraphNodeGetDependencies, node, nodes, edges, count);
}
NW_CU cuGraphNodeGetDependencies(const GraphNode* node, GraphNode** nodes, size_t* count) {
  return cuGraphNodeGetDependencies_v2(node, nodes, nullptr, count);
}
NW_CU cuGraphNodeGetDependentNodes_v2(const GraphNode* node, GraphNode** nodes, EdgeData* edges,
                                      size_t* count) {
  return forward(cudaGraphNodeGetDependentNodes, node, nodes, edges, count);
}
NW_CU cuGraphNodeGetDependentNodes(const GraphNode* node, GraphNode** nodes, size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(node, nodes, nullptr, count);
}
NW_CU cuGraphAddDependencies_v2(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                                const EdgeData* edges, size_t count) {
  return forward(cudaGraphAddDependencies, graph, from, to, edges, count);
}
NW_CU cuGraphAddDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                             size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}
NW_CU cuGraphRemoveDependencies_v2(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                                   const EdgeData* edges, size_t count) {
  return forward(cudaGraphRemoveDependencies, graph, from, to, edges, count);
}
NW_CU cuGraphRemoveDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                                size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

NW_CU cuUserObjectCreate(UserObject** object, void* pointer, void (*destroy)(void*),
                         unsigned references, unsigned flags) {
  return forward(cudaUserObjectCreate, object, pointer, destroy, references, flags);
}
NW_CU cuUserObjectRetain(UserObject* object, unsigned count) {
  return forward(cudaUserObjectRetain, object, count);
}
NW_CU cuUserObjectRelease(UserObject* object, unsigned count) {
  return forward(cudaUserObjectRelease, object, count);
}
NW_CU cuGraphRetainUserObject(Graph* graph, UserObject* object, unsigned count, unsigned flags) {
  return forward(cudaGraphRetainUserObject, graph, object, count, flags);
}
NW_CU cuGraphReleaseUserObject(Graph* graph, UserObject* object, unsigned count) {
  return forward(cudaGraphReleaseUserObject, graph, object, count);
}

// --- Instances -----------------------------------------------------------------------------------

NW_CU cuGraphInstantiateWithFlags(GraphExec** exec, Graph* graph, unsigned long long flags) {
  return forward(cudaGraphInstantiate, exec, graph, flags);
}
/// Errors have no node and no text.
NW_CU cuGraphInstantiate_v2(GraphExec** exec, Graph* graph, GraphNode** node, char* log,
                            size_t bytes) {
  if (node != nullptr) *node = nullptr;
  if (log != nullptr && bytes != 0) *log = '\0';
  return cuGraphInstantiateWithFlags(exec, graph, 0);
}
NW_CU cuGraphInstantiate(GraphExec** exec, Graph* graph, GraphNode** node, char* log,
                         size_t bytes) {
  return cuGraphInstantiate_v2(exec, graph, node, log, bytes);
}
NW_CU cuGraphInstantiateWithParams(GraphExec** exec, Graph* graph, InstantiateParams* params) {
  return forward(cudaGraphInstantiateWithParams, exec, graph, params);
}
NW_CU cuGraphExecGetFlags(GraphExec* exec, unsigned long long* flags) {
  return forward(cudaGraphExecGetFlags, exec, flags);
}
NW_CU cuGraphExecDestroy(GraphExec* exec) { return forward(cudaGraphExecDestroy, exec); }
NW_CU cuGraphUpload(GraphExec* exec, Stream stream) {
  return forward(cudaGraphUpload, exec, stream);
}
NW_CU cuGraphLaunch(GraphExec* exec, Stream stream) {
  return forward(cudaGraphLaunch, exec, stream);
}
NW_CU cuGraphExecUpdate_v2(GraphExec* exec, Graph* graph, ExecUpdateResult* result) {
  return forward(cudaGraphExecUpdate, exec, graph, result);
}
NW_CU cuGraphExecUpdate(GraphExec* exec, Graph* graph, const void** node, int* result) {
  ExecUpdateResult all{};
  const Status status = cuGraphExecUpdate_v2(exec, graph, &all);
  if (node != nullptr) *node = all.node;
  if (result != nullptr) *result = all.result;
  return status;
}
NW_CU cuGraphNodeSetEnabled(GraphExec* exec, const GraphNode* node, unsigned enabled) {
  return forward(cudaGraphNodeSetEnabled, exec, node, enabled);
}
NW_CU cuGraphNodeGetEnabled(GraphExec* exec, const GraphNode* node, unsigned* enabled) {
  return forward(cudaGraphNodeGetEnabled, exec, node, enabled);
}

}  // namespace nearwarp::cudriver
