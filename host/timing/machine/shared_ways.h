// Ways through machines' graphs that were found and checked before, for those laid out next: the
// points of a sweep mostly have the same links between the same nodes.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "host/timing/machine/routes.h"

namespace nearwarp::sim {

/// Ways that follow from a graph's links and homes alone, once they have passed check_graph().
struct CheckedWays {
  std::vector<LinksOfNode> links;
  Ways ways;
};

/// How much is kept: a mechanism and the baseline beside it on a few machines, and what a sweep of
/// machines of 4,096 SMs needs (`mpu`'s ways take some 9 MB with 1,024).
struct SharedWaysLimits {
  size_t graphs = 8;
  size_t bytes = size_t{256} << 20;  ///< in all; ways that take more are not kept
};

/// Keeps those of the graphs asked for last. Threads may share it; two that ask at the same time
/// for ways that it lacks both search.
class SharedWays {
 public:
  explicit SharedWays(const SharedWaysLimits& limits = {}) : limits_(limits) {}

  /// Throws nearwarp::Error as Ways and check_graph() do.
  std::shared_ptr<const CheckedWays> of(const Graph& graph);

  size_t graphs() const;
  size_t bytes() const;

  /// The store of this process.
  static SharedWays& common();

 private:
  /// All of a graph that its ways and the check depend on, compared as it is.
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
  std::list<Kept> kept_;  ///< the one asked for last first
  size_t bytes_ = 0;
};

}  // namespace nearwarp::sim
