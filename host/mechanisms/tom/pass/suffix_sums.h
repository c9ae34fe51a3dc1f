// A sequence of numbers that finds the least of its suffix sums.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace nearwarp::compiler {

/// The sum at `place` is that of all numbers from `place` to the end of the sequence, so a number
/// is part of the sums at its place and at all places in front of it. Only places that have been
/// opened are compared. All operations take O(log size) steps.
class SuffixSums {
 public:
  static constexpr uint32_t kNowhere = ~uint32_t{0};

  explicit SuffixSums(uint32_t size) : leaves_(std::bit_ceil(size)), nodes_(2 * leaves_) {}

  /// Let `place` take part in the search for the least sum.
  void open(uint32_t place) {
    nodes_[leaves_ + place].at = place;
    update(leaves_ + place);
  }

  /// Add to the sums at all places in front of `end`.
  void add(uint32_t end, int64_t amount) {
    if (end == 0) return;
    Node& leaf = nodes_[leaves_ + end - 1];
    leaf.sum += amount;
    leaf.least += amount;
    update(leaves_ + end - 1);
  }

  /// Add to the sums at the places [begin, end).
  void add(uint32_t begin, uint32_t end, int64_t amount) {
    if (begin == end) return;
    add(end, amount);
    add(begin, -amount);
  }

  /// The open place with the least sum, the last of several; kNowhere if none is open.
  uint32_t least_at() const { return nodes_[1].at; }
  int64_t least() const { return nodes_[1].least; }

 private:
  struct Node {
    int64_t sum = 0;
    int64_t least = 0;       ///< the least of the sums from an open place to the node's end
    uint32_t at = kNowhere;  ///< the place of `least`
  };

  void update(uint32_t node) {
    while (node > 1) {
      node /= 2;
      const Node &left = nodes_[2 * node], &right = nodes_[2 * node + 1];
      const int64_t left_least = left.least + right.sum;
      const bool take_right =
          left.at == kNowhere || (right.at != kNowhere && right.least <= left_least);
      nodes_[node] = {left.sum + right.sum, take_right ? right.least : left_least,
                      take_right ? right.at : left.at};
    }
  }

  uint32_t leaves_;
  std::vector<Node> nodes_;  ///< the children of node i are 2i and 2i + 1, the root is 1
};

}  // namespace nearwarp::compiler
