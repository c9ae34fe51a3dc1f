// The scheme of cfd/reference.h as Rodinia's euler3d computes it, on cells padded to whole blocks.
#pragma once

#include <vector>

#include "bench/workloads/cfd/reference.h"

namespace nearwarp::workloads {

inline constexpr int kCfdBlock = 192;  ///< threads, as in Rodinia

/// A mesh whose padding repeats the last cell; normals as [axis][face][cell], inwards.
CfdMesh cfd_original_mesh(int num_cells, int columns);
/// Fluxes of the undisturbed flow, along x, y and z: of the momentum's components and the energy.
std::vector<float> cfd_far_fluxes();
/// The undisturbed flow everywhere.
std::vector<float> cfd_original_start(const CfdMesh& mesh);
void cfd_original_iterate(const CfdMesh& mesh, std::vector<float>& variables);

}  // namespace nearwarp::workloads
