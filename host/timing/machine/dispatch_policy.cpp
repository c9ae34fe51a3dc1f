// Applies a policy's choices of which thread blocks run on which SMs.
#include "host/timing/machine/dispatch_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "host/core/error.h"

namespace nearwarp::sim {

namespace {

/// The group of each SM: the SM's stack if all SMs are in stacks and these are as many as the
/// groups, else a run of consecutive SMs, all of about the same length. Every group has an SM.
std::vector<uint32_t> group_sms(const Graph& graph, const std::vector<NodeId>& sms,
                                uint32_t groups) {
  std::vector<uint32_t> of;
  uint32_t stacks = 0;
  for (const NodeId sm : sms) stacks = std::max(stacks, graph.nodes[sm].stack + 1u);
  const bool in_stacks = stacks == groups;  // never if an SM is in no stack, as kNoStack is large
  for (size_t i = 0; i < sms.size(); ++i)
    of.push_back(in_stacks ? graph.nodes[sms[i]].stack
                           : static_cast<uint32_t>(i * groups / sms.size()));
  return of;
}

/// The stack of each SM, for launches that are bound to stacks. Throws nearwarp::Error if there are
/// several groups which are not the stacks.
std::vector<uint32_t> stacks_of(const Graph& graph, const std::vector<NodeId>& sms,
                                uint32_t groups) {
  std::vector<uint32_t> of;
  for (const NodeId sm : sms) of.push_back(graph.nodes[sm].stack);
  const uint32_t stacks = *std::max_element(of.begin(), of.end()) + 1;
  if (groups != 1 && groups != stacks)
    throw Error(
        fmt::format("dispatch.groups: {} groups of SMs, and programs are bound to some of "
                    "{} stacks - 1 or {} groups go with that",
                    groups, stacks, stacks));
  return of;
}

}  // namespace

uint32_t blocks_in_row(const config::PolicyConfig::Dispatch& policy, uint32_t groups, uint32_t sms,
                       const sm::SmResources& capacity, const sm::LaunchInfo& launch) {
  if (policy.row_blocks != 0) return policy.row_blocks;
  if (!policy.even_rows) return sms * blocks_per_sm(capacity, launch.needs);
  if (launch.stacks != 0) groups = static_cast<uint32_t>(std::popcount(launch.stacks));
  return std::max(1u, (launch.num_blocks + groups - 1) / groups);
}

void apply_dispatch_policy(const config::PolicyConfig::Dispatch& policy, Graph& graph,
                           ImageTables& image) {
  const auto is_front_end = [&](const Node& n) {
    return std::holds_alternative<FrontEndSpec>(graph.classes[n.node_class].spec);
  };
  const auto at = std::find_if(graph.nodes.begin(), graph.nodes.end(), is_front_end);
  if (at == graph.nodes.end()) return;
  const auto node = static_cast<NodeId>(at - graph.nodes.begin());
  std::vector<NodeId> sms;
  const LinksOfNode links = links_by_node(graph)[node];
  for (const uint32_t i : links.out)
    if (graph.links[i].carries == kControl) sms.push_back(graph.links[i].to.node);
  FrontEndSpec& spec = graph.spec<FrontEndSpec>(at->node_class);
  frontend::DispatchParams& p = spec.params.dispatch;
  p.fill = policy.sms == "fill";
  p.from_first = policy.first_sm == "first";
  p.steal = policy.steal;
  p.groups = policy.groups;
  if (std::any_of(image.launches.begin(), image.launches.end(),
                  [](const sm::LaunchInfo& l) { return l.stacks != 0; }))
    spec.stacks = stacks_of(graph, sms, policy.groups);
  if (policy.groups == 1) return;
  if (sms.size() < policy.groups)
    throw Error(fmt::format("dispatch.groups: {} groups of {} SMs - at most one group for each SM",
                            policy.groups, sms.size()));
  spec.groups = group_sms(graph, sms, policy.groups);
  const auto in_group = static_cast<uint32_t>(sms.size() / policy.groups);
  const sm::SmResources& capacity = std::get<SmSpec>(graph.spec_of(sms.front())).capacity;
  for (sm::LaunchInfo& launch : image.launches)
    launch.row = blocks_in_row(policy, policy.groups, in_group, capacity, launch);
}

}  // namespace nearwarp::sim
