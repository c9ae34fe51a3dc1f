// Lennard-Jones forces from lists of neighbours, after SHOC's MD: a thread per atom. Neighbour
// number j of all atoms lies together: neighbours[j][atom].

extern "C" __global__ void md_forces(const float4* positions, float4* forces,
                                     const int* neighbours, int num_neighbours, int num_atoms,
                                     float cutoff_squared, float lj1, float lj2) {
  const int atom = blockIdx.x * blockDim.x + threadIdx.x;
  if (atom >= num_atoms) return;
  const float4 here = positions[atom];
  float4 force = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int j = 0; j < num_neighbours; ++j) {
    const float4 there = positions[neighbours[j * num_atoms + atom]];
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
  }
  forces[atom] = force;
}
