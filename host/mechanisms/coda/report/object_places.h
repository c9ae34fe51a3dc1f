// Where rules of placement put a program's memory objects, and what that makes local.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nearwarp::coda {

/// One object; accesses are those of lanes, in all launches.
struct ObjectPlace {
  std::string name;  ///< the program's; may be empty
  uint64_t address = 0, bytes = 0;
  uint64_t accesses = 0;
  uint64_t block_bytes = 0;  ///< B: from one thread block's part to the next one's; 0: none
  bool constant = false;     ///< the same for nearly all pairs of blocks
  bool from_code = false;    ///< B is of the kernel's code
  uint64_t local = 0;        ///< accesses to the block's stack, were it put in stacks by B
  bool by_distance = false;  ///< put in stacks if B alone decides
  bool by_share = false;  ///< put in stacks if as many of its accesses are then local as is asked
};

struct ObjectPlaces {
  std::string version, workload, size, machine, policy;
  uint32_t stacks = 0;
  uint32_t local_percent = 0;  ///< asked of by_share, of the kernel that touches an object first
  std::vector<ObjectPlace> objects;

  /// Share of all accesses that are to the block's own stack; of a spread object one in `stacks`
  /// is.
  double local_share(bool ObjectPlace::*rule) const;
};

std::string format_object_places(const ObjectPlaces& places, size_t width);
/// Format: docs/json.md.
std::string object_places_json(const ObjectPlaces& places);

}  // namespace nearwarp::coda
