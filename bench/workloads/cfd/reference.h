// Flow by finite volumes on an unstructured mesh: the mesh and the solution on the CPU.
#pragma once

#include <cstdint>
#include <vector>

namespace nearwarp::workloads {

inline constexpr int kCfdFaces = 4;  ///< faces of a cell, as in cfd.cu
inline constexpr int kCfdVariables = 5;
inline constexpr int kCfdWall = -1, kCfdFarField = -2;

/// Quadrilaterals between jittered points, numbered at random within windows, so that a cell's
/// neighbours lie near in memory but not beside it. Wall below, far field on the other sides.
struct CfdMesh {
  int num_cells = 0;
  std::vector<int32_t> neighbours;  ///< [face][cell]: a cell, kCfdWall or kCfdFarField
  std::vector<float> normals;       ///< [face][axis][cell], outwards, as long as the face
  std::vector<float> areas;         ///< [cell]
};

/// Makes the mesh. `num_cells`, if not 0: the number of cells; the last row is cut off there.
CfdMesh cfd_mesh(int columns, int rows, int num_cells = 0);
/// The undisturbed flow: density, momentum x y z, energy.
std::vector<float> cfd_far_field();
/// [variable][cell]: the undisturbed flow with a disturbance in every cell.
std::vector<float> cfd_start(const CfdMesh& mesh);
/// One iteration in place, in the device's order of operations.
void cfd_iterate(const CfdMesh& mesh, std::vector<float>& variables);

}  // namespace nearwarp::workloads
