// Atoms in a box and the nearest of each, as SHOC's MD starts from.
#pragma once

#include <cstdint>
#include <vector>

namespace nearwarp::workloads {

inline constexpr int kMdNeighbours = 128;  ///< neighbours of an atom, as in SHOC

struct MdAtom {
  float x, y, z, unused;
};

/// Atoms at random in a cube of 20 a side, as SHOC's; the more there are, the denser.
std::vector<MdAtom> md_atoms(int count);

/// Square of the distance as the device computes it.
inline float md_distance_squared(const MdAtom& a, const MdAtom& b) {
  const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
  return x * x + y * y + z * z;
}

/// The kMdNeighbours nearest of every atom, nearest first, of equals the one with the lower number:
/// [j][atom]. There must be more atoms than that.
std::vector<int32_t> md_neighbours(const std::vector<MdAtom>& atoms);

}  // namespace nearwarp::workloads
