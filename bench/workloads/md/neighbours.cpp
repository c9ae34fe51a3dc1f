#include "bench/workloads/md/neighbours.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/workloads/common/random.h"

namespace nearwarp::workloads {
namespace {

constexpr float kEdge = 20.0f;

/// Atoms sorted into cubes.
struct Cells {
  int side;
  float width;
  std::vector<std::vector<int32_t>> atoms;

  explicit Cells(const std::vector<MdAtom>& all)
      // A cell has some 32 atoms, so 27 cells have many more than the wanted neighbours.
      : side(std::max(1, static_cast<int>(std::cbrt(static_cast<double>(all.size()) / 32)))),
        width(kEdge / static_cast<float>(side)),
        atoms(size_t(side) * side * side) {
    for (size_t i = 0; i < all.size(); ++i) {
      const MdAtom& a = all[i];
      atoms[number(of(a.x), of(a.y), of(a.z))].push_back(static_cast<int32_t>(i));
    }
  }
  int of(float coordinate) const {
    return std::clamp(static_cast<int>(coordinate / width), 0, side - 1);
  }
  size_t number(int x, int y, int z) const { return (size_t(z) * side + y) * side + x; }
};

using Candidate = std::pair<float, int32_t>;  // squared distance, atom

/// All other atoms in the cells up to `reach` away.
std::vector<Candidate> around(const std::vector<MdAtom>& atoms, const Cells& cells, int32_t atom,
                              int reach) {
  std::vector<Candidate> found;
  const MdAtom& here = atoms[atom];
  const auto low = [reach](int c) { return std::max(0, c - reach); };
  const auto high = [&](int c) { return std::min(cells.side - 1, c + reach); };
  const int cx = cells.of(here.x), cy = cells.of(here.y), cz = cells.of(here.z);
  for (int z = low(cz); z <= high(cz); ++z) {
    for (int y = low(cy); y <= high(cy); ++y) {
      for (int x = low(cx); x <= high(cx); ++x) {
        for (int32_t other : cells.atoms[cells.number(x, y, z)]) {
          if (other != atom) found.emplace_back(md_distance_squared(here, atoms[other]), other);
        }
      }
    }
  }
  return found;
}

}  // namespace

std::vector<MdAtom> md_atoms(int count) {
  std::vector<MdAtom> atoms(count);
  for (int i = 0; i < count; ++i) {
    atoms[i] = {kEdge * random_unit(87, i), kEdge * random_unit(88, i), kEdge * random_unit(89, i),
                0.0f};
  }
  return atoms;
}

std::vector<int32_t> md_neighbours(const std::vector<MdAtom>& atoms) {
  const Cells cells(atoms);
  const size_t count = atoms.size();
  std::vector<int32_t> neighbours(count * kMdNeighbours);
  for (size_t i = 0; i < count; ++i) {
    for (int reach = 1;; ++reach) {
      std::vector<Candidate> found = around(atoms, cells, static_cast<int32_t>(i), reach);
      if (found.size() < kMdNeighbours) continue;
      std::partial_sort(found.begin(), found.begin() + kMdNeighbours, found.end());
      // Cells further out begin at least `reach` cells away; a little less for rounding.
      const float seen = 0.999f * static_cast<float>(reach) * cells.width;
      const bool all = reach >= cells.side;
      if (!all && found[kMdNeighbours - 1].first > seen * seen) continue;
      for (int j = 0; j < kMdNeighbours; ++j) neighbours[j * count + i] = found[j].second;
      break;
    }
  }
  return neighbours;
}

}  // namespace nearwarp::workloads
