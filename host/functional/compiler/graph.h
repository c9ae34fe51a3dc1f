// Dominators, post-dominators and natural loops of a directed graph with entry 0.
#pragma once

#include <cstdint>
#include <vector>

#include "host/functional/compiler/kernel.h"

namespace nearwarp::compiler {

/// successors[n]: the nodes after node n. Duplicates are allowed.
using Graph = std::vector<std::vector<uint32_t>>;

/// Nodes reachable from `entry` in reverse postorder of a depth-first search.
std::vector<uint32_t> reverse_postorder(const Graph& graph, uint32_t entry = 0);

/// Immediate dominators; kNone for the entry and for nodes that it does not reach.
/// Source: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", 2001.
std::vector<uint32_t> immediate_dominators(const Graph& graph, uint32_t entry = 0);

/// Immediate post-dominators; kNone where only the (virtual) exit post-dominates.
///
/// `exits[n]` says that node n has an edge to the virtual exit. Where nodes reach no exit (infinite
/// loops), each set of nodes that cannot be left gets an edge to the exit from its first node in
/// reverse postorder, so that the answer does not depend on anything else.
std::vector<uint32_t> immediate_postdominators(const Graph& graph, const std::vector<bool>& exits);

/// Strongly connected components, numbered so that edges between components lead to lower numbers.
std::vector<uint32_t> strong_components(const Graph& graph, uint32_t* count);

/// Does `a` dominate `b` (or equal it)? Takes as many steps as the dominator tree is deep.
bool dominates(const std::vector<uint32_t>& idom, uint32_t a, uint32_t b);

/// Natural loops of back edges (whose target dominates their source), loops of one header merged;
/// outer loops before inner ones, then by header. innermost[n] receives the loop of node n or
/// kNone.
std::vector<Loop> natural_loops(const Graph& graph, const std::vector<uint32_t>& idom,
                                std::vector<uint32_t>* innermost);

}  // namespace nearwarp::compiler
