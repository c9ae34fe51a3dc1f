// A store of ways through machines' graphs that have been found and checked, for machines that are
// laid out later: the points of a sweep mostly have the same links between the same nodes.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "host/timing/machine/routes.h"

namespace nearwarp::sim {

/// The ways of a graph that has passed check_graph(). They depend on its links and homes alone.
struct CheckedWays {
  std::vector<LinksOfNode> links;
  Ways ways;
};

/// Limits of a store. The defaults are enough for a mechanism and the baseline beside it on a few
/// machines, and for a sweep of machines of 4,096 SMs (ways of `mpu` take some 9 MB with 1,024
/// SMs).
struct SharedWaysLimits {
  size_t graphs = 8;
  size_t bytes = size_t{256} << 20;  ///< of all graphs; ways that take more are not kept
};

/// Keeps the ways of the most recently used graphs. Threads may share it; if two ask at the same
/// time for ways that it does not have, both search for them.
class SharedWays {
 public:
  explicit SharedWays(const SharedWaysLimits& limits = {}) : limits_(limits) {}

  /// The ways of a graph, searched for if they are not kept. Throws nearwarp::Error as Ways and
  /// check_graph() do.
  std::shared_ptr<const CheckedWays> of(const Graph& graph);

  size_t graphs() const;
  size_t bytes() const;

  /// The store of this process.
  static SharedWays& common();

 private:
  /// Everything of a graph that its ways and the check depend on.
  using Key = std::vector<uint32_t>;
  struct Kept {
    Key key;
    std::shared_ptr<const CheckedWays> ways;
    size_t bytes;
  };

  static Key key_of(const Graph& graph);
  std::shared_ptr<const CheckedWays> find(const Key& key);
  void keep(Kept kept);

  const SharedWaysLimits limits_;
  mutable std::mutex mutex_;
  std::list<Kept> kept_;  ///< the most recently used first
  size_t bytes_ = 0;
};

}  // namespace nearwarp::sim
