// Vector clocks over the warps of many thread blocks, as trees that share equal parts.
#include "host/functional/racecheck/clocks.h"

namespace nearwarp::racecheck {

namespace {

using Leaf = ClockNode::Leaf;

/// The later of both times for every warp of a block; one of the two leaves if it has all of them.
Leaf join_leaves(const Leaf& a, const Leaf& b) {
  if (a == b || b == nullptr) return a;
  if (a == nullptr) return b;
  Times both = *a;
  raise(both, *b);
  if (both == *a) return a;
  if (both == *b) return b;
  return std::make_shared<const Times>(both);
}

/// The index of the child, in a node at `level` (1 is the lowest), that leads to `block`.
uint32_t child_of(uint64_t block, uint32_t level) {
  return static_cast<uint32_t>(block >> (ClockNode::kBits * (level - 1))) & (ClockNode::kFan - 1);
}

}  // namespace

ClockSpace::ClockSpace(uint64_t blocks) {
  while (levels_ < 16 && (blocks - 1) >> (ClockNode::kBits * levels_) != 0) ++levels_;
}

const Times* ClockSpace::find(const Clocks& clocks, uint64_t block) const {
  const ClockNode* node = clocks.get();
  for (uint32_t level = levels_; node != nullptr && level > 1; --level)
    node = node->children[child_of(block, level)].get();
  return node == nullptr ? nullptr : node->leaves[child_of(block, 1)].get();
}

Clocks ClockSpace::join(const Clocks& a, const Clocks& b, uint32_t level) const {
  if (a == b || b == nullptr) return a;
  if (a == nullptr) return b;
  auto both = std::make_shared<ClockNode>();
  bool all_a = true, all_b = true;
  if (level == 1) both->leaves.resize(ClockNode::kFan);
  for (uint32_t i = 0; i < ClockNode::kFan; ++i) {
    if (level == 1) {
      both->leaves[i] = join_leaves(a->leaves[i], b->leaves[i]);
      all_a = all_a && both->leaves[i] == a->leaves[i];
      all_b = all_b && both->leaves[i] == b->leaves[i];
    } else {
      both->children[i] = join(a->children[i], b->children[i], level - 1);
      all_a = all_a && both->children[i] == a->children[i];
      all_b = all_b && both->children[i] == b->children[i];
    }
  }
  if (all_a) return a;
  if (all_b) return b;
  return both;
}

Clocks ClockSpace::with(const Clocks& clocks, uint64_t block, const Times& times,
                        uint32_t level) const {
  auto node =
      clocks == nullptr ? std::make_shared<ClockNode>() : std::make_shared<ClockNode>(*clocks);
  const uint32_t i = child_of(block, level);
  if (level > 1) {
    node->children[i] = with(node->children[i], block, times, level - 1);
  } else {
    node->leaves.resize(ClockNode::kFan);
    node->leaves[i] = std::make_shared<const Times>(times);
  }
  return node;
}

}  // namespace nearwarp::racecheck
