// Keeps the ways through machines' graphs that have been found and checked.
#include "host/timing/machine/shared_ways.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "host/timing/machine/check_graph.h"

namespace nearwarp::sim {

namespace {

uint32_t packed(const End& end) { return uint32_t{end.node} << 16 | end.port; }

/// The table of homes that check_graph() uses for a node. `sms` counts the SMs before it.
uint32_t homes_of(const Graph& graph, const Node& node, uint32_t& sms) {
  const NodeSpec& spec = graph.classes[node.node_class].spec;
  if (const auto* sm = std::get_if<SmSpec>(&spec)) return sm->homes_of(sms++, node.stack);
  if (const auto* slice = std::get_if<L2SliceSpec>(&spec))
    return slice->sms_of_first_half != 0 ? ~slice->homes : slice->homes;
  return kNoHomes;
}

size_t bytes_of(const CheckedWays& w) {
  size_t n = w.ways.bytes();
  for (const LinksOfNode& l : w.links)
    n += sizeof(l) + (l.in.size() + l.out.size()) * sizeof(uint32_t);
  return n;
}

std::shared_ptr<const CheckedWays> search(const Graph& graph) {
  std::vector<LinksOfNode> links = links_by_node(graph);
  Ways ways(graph, links);
  check_graph(graph, links, ways);
  return std::make_shared<const CheckedWays>(CheckedWays{std::move(links), std::move(ways)});
}

}  // namespace

SharedWays::Key SharedWays::key_of(const Graph& graph) {
  Key key;
  key.reserve(2 + 2 * graph.nodes.size() + 3 * graph.links.size());
  key.push_back(static_cast<uint32_t>(graph.nodes.size()));
  uint32_t sms = 0;
  for (const Node& n : graph.nodes) {
    key.push_back(static_cast<uint32_t>(graph.classes[n.node_class].spec.index()));
    key.push_back(homes_of(graph, n, sms));
  }
  key.push_back(static_cast<uint32_t>(graph.links.size()));
  for (const Link& l : graph.links) {
    key.push_back(packed(l.from));
    key.push_back(packed(l.to));
    key.push_back(l.carries);
  }
  for (const Homes& h : graph.homes) {
    key.push_back(static_cast<uint32_t>(h.at.size()));
    key.insert(key.end(), h.at.begin(), h.at.end());
  }
  return key;
}

std::shared_ptr<const CheckedWays> SharedWays::of(const Graph& graph) {
  Key key = key_of(graph);
  if (std::shared_ptr<const CheckedWays> found = find(key)) return found;
  std::shared_ptr<const CheckedWays> ways = search(graph);
  const size_t bytes = bytes_of(*ways) + key.size() * sizeof(uint32_t);
  keep({std::move(key), ways, bytes});
  return ways;
}

std::shared_ptr<const CheckedWays> SharedWays::find(const Key& key) {
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::find(kept_, key, &Kept::key);
  if (at == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, at);
  return at->ways;
}

void SharedWays::keep(Kept kept) {
  if (kept.bytes > limits_.bytes) return;
  const std::lock_guard lock(mutex_);
  // Another thread may have searched for these ways at the same time.
  if (std::ranges::find(kept_, kept.key, &Kept::key) != kept_.end()) return;
  bytes_ += kept.bytes;
  kept_.push_front(std::move(kept));
  while (kept_.size() > limits_.graphs || bytes_ > limits_.bytes) {
    bytes_ -= kept_.back().bytes;
    kept_.pop_back();
  }
}

size_t SharedWays::graphs() const {
  const std::lock_guard lock(mutex_);
  return kept_.size();
}

size_t SharedWays::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

SharedWays& SharedWays::common() {
  static SharedWays ways;
  return ways;
}

}  // namespace nearwarp::sim
