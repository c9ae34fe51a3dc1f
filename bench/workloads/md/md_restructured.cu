// MD with lists laid out so that a warp reads consecutive lines, and warps that begin with
// different neighbours (pim-tuning, section 3.2). Making the layout is part of the program.
#include "bench/workloads/common/first_round.h"

using nearwarp::workloads::first_round;

// panels[atom / 32][j][atom % 32]
extern "C" __global__ void md_panels(const int* neighbours, int* panels, int num_neighbours,
                                     int num_atoms) {
  const int atom = blockIdx.x * blockDim.x + threadIdx.x;
  if (atom >= num_atoms) return;
  int* panel = panels + atom / 32 * num_neighbours * 32 + atom % 32;
  for (int j = 0; j < num_neighbours; ++j) panel[j * 32] = neighbours[j * num_atoms + atom];
}

extern "C" __global__ void md_forces_panels(const float4* positions, float4* forces,
                                            const int* panels, unsigned num_neighbours,
                                            unsigned num_atoms, float cutoff_squared, float lj1,
                                            float lj2) {
  const unsigned atom = blockIdx.x * blockDim.x + threadIdx.x;
  if (atom >= num_atoms) return;
  const int* panel = panels + atom / 32 * num_neighbours * 32 + atom % 32;
  const float4 here = positions[atom];
  float4 force = {0.0f, 0.0f, 0.0f, 0.0f};
  unsigned j = first_round(atom / 32, num_neighbours);
  for (unsigned round = 0; round < num_neighbours; ++round) {
    const float4 there = positions[panel[size_t{32} * j]];
    const float x = here.x - there.x, y = here.y - there.y, z = here.z - there.z;
    const float r2 = x * x + y * y + z * z;
    if (r2 < cutoff_squared) {
      const float inverse = 1.0f / r2;
      const float inverse6 = inverse * inverse * inverse;
      const float f = inverse * inverse6 * (lj1 * inverse6 - lj2);
      force.x += x * f;
      force.y += y * f;
      force.z += z * f;
    }
    j = j + 1 < num_neighbours ? j + 1 : 0;
  }
  forces[atom] = force;
}
