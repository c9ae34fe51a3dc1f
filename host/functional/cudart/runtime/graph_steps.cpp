// The steps of a graph: its work in the order of execution, and doing it.
#include <unordered_map>
#include <utility>

#include "host/functional/cudart/runtime/runtime.h"
#include "host/functional/cudart/streams/graphs.h"

namespace nearwarp::cudart {

namespace {

/// The value is looked at when the node's turn comes, and again after each round of a loop.
Work conditional_work(const Condition& condition) {
  std::vector<std::vector<GraphExec::Step>> bodies;
  for (const Graph* body : condition.bodies) bodies.push_back(steps_of(*body));
  return [kind = condition.kind, handle = condition.handle, bodies](Runtime& r) {
    using Kind = Condition::Kind;
    const auto value = [&] { return r.graphs.condition(handle); };
    if (kind == Kind::kWhile) {
      while (value() != 0 && r.sticky == kSuccess) run_steps(r, bodies[0]);
      return;
    }
    const size_t chosen = kind == Kind::kSwitch ? value() : value() != 0 ? 0 : 1;
    if (chosen < bodies.size()) run_steps(r, bodies[chosen]);
  };
}

}  // namespace

std::vector<GraphExec::Step> steps_of(const Graph& graph) {
  std::vector<GraphExec::Step> steps;
  std::unordered_map<const GraphNode*, size_t> places;
  for (const GraphNode* node : graph.ordered()) {
    Work work = node->work;
    if (node->child != nullptr)
      work = [inner = steps_of(*node->child)](Runtime& r) { run_steps(r, inner); };
    if (node->type == NodeType::kConditional) work = conditional_work(node->condition);
    std::vector<size_t> after;
    for (const GraphNode* before : node->dependencies) after.push_back(places.at(before));
    places[node] = steps.size();
    steps.push_back({node->number, node->type, std::move(work), std::move(after)});
  }
  return steps;
}

void run_steps(Runtime& runtime, const std::vector<GraphExec::Step>& steps) {
  runtime::LaunchSet& now = runtime.order.now();
  const runtime::LaunchSet begin = now;
  runtime::LaunchSet end = begin;
  std::vector<runtime::LaunchSet> done;
  for (const GraphExec::Step& step : steps) {
    if (runtime.sticky != kSuccess) break;
    now = begin;
    for (const size_t before : step.after) now.join(done[before]);
    if (step.enabled) step.work(runtime);
    end.join(now);
    done.push_back(now);
  }
  now = std::move(end);
}

}  // namespace nearwarp::cudart
