// CFD with the mesh in panels of 32 cells, so that a warp reads its faces from consecutive lines
// (pim-tuning, section 3.2.1). Laying it out is part of the program. Warps all begin with the first
// face, whose order matters to the boundaries' branches; panels are 2 KB, 16 sets apart. The rest is
// that of cfd.cu.

namespace {

constexpr int kFaces = 4;
constexpr int kWall = -1;
constexpr int kFarField = -2;
constexpr float kGamma = 1.4f;
constexpr float kSmoothing = 0.2f;

struct State {
  float density, mx, my, mz, energy;
};
struct Derived {
  float vx, vy, vz, speed_squared, pressure, sound;
};

__device__ __forceinline__ State load(const float* variables, int cell, int n) {
  return {variables[cell], variables[cell + n], variables[cell + 2 * n], variables[cell + 3 * n],
          variables[cell + 4 * n]};
}

__device__ __forceinline__ Derived derive(const State& s) {
  Derived d;
  d.vx = s.mx / s.density;
  d.vy = s.my / s.density;
  d.vz = s.mz / s.density;
  d.speed_squared = d.vx * d.vx + d.vy * d.vy + d.vz * d.vz;
  d.pressure = (kGamma - 1.0f) * (s.energy - 0.5f * s.density * d.speed_squared);
  d.sound = sqrtf(kGamma * d.pressure / s.density);
  return d;
}

// Half of one side's flux through a face of normal (nx, ny, nz), taken from `f`.
__device__ __forceinline__ void subtract_flux(State& f, const State& s, const Derived& d, float nx,
                                              float ny, float nz) {
  const float through = 0.5f * (d.vx * nx + d.vy * ny + d.vz * nz);
  const float half_pressure = 0.5f * d.pressure;
  f.density -= s.density * through;
  f.mx -= s.mx * through + half_pressure * nx;
  f.my -= s.my * through + half_pressure * ny;
  f.mz -= s.mz * through + half_pressure * nz;
  f.energy -= (s.energy + d.pressure) * through;
}

}  // namespace

constexpr int kFaceWords = 4;  // of a face: its neighbour, its normal

// Where a cell's word of a face lies: mesh[cell / 32][face][word][cell % 32].
__device__ __forceinline__ int in_panel(int cell, int face, int word) {
  return ((cell / 32 * kFaces + face) * kFaceWords + word) * 32 + cell % 32;
}

extern "C" __global__ void cfd_panels(const int* neighbours, const float* normals, float* mesh,
                                      int n) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= n) return;
#pragma unroll 1
  for (int face = 0; face < kFaces; ++face) {
    mesh[in_panel(cell, face, 0)] = __int_as_float(neighbours[face * n + cell]);
#pragma unroll
    for (int axis = 0; axis < 3; ++axis)
      mesh[in_panel(cell, face, 1 + axis)] = normals[(face * 3 + axis) * n + cell];
  }
}

extern "C" __global__ void cfd_step_factor(const float* variables, const float* areas,
                                           float* factors, int n) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= n) return;
  const Derived d = derive(load(variables, cell, n));
  factors[cell] = 0.5f / (sqrtf(areas[cell]) * (sqrtf(d.speed_squared) + d.sound));
}

// far_field: the five variables of the undisturbed flow.
extern "C" __global__ void cfd_flux_panels(const float* mesh, const float* variables,
                                           const float* far_field, float* fluxes, int n) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= n) return;
  const State mine = load(variables, cell, n);
  const Derived own = derive(mine);
  const float own_speed = sqrtf(own.speed_squared);
  State flux = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 1
  for (int face = 0; face < kFaces; ++face) {
    const int neighbour = __float_as_int(mesh[in_panel(cell, face, 0)]);
    const float nx = mesh[in_panel(cell, face, 1)];
    const float ny = mesh[in_panel(cell, face, 2)];
    const float nz = mesh[in_panel(cell, face, 3)];
    if (neighbour == kWall) {
      flux.mx -= own.pressure * nx;
      flux.my -= own.pressure * ny;
      flux.mz -= own.pressure * nz;
      continue;
    }
    const State theirs = neighbour == kFarField ? load(far_field, 0, 1)
                                                : load(variables, neighbour, n);
    const Derived other = derive(theirs);
    if (neighbour != kFarField) {  // artificial viscosity
      const float area = sqrtf(nx * nx + ny * ny + nz * nz);
      const float factor = area * kSmoothing * 0.5f *
                           (own_speed + sqrtf(other.speed_squared) + own.sound + other.sound);
      flux.density -= factor * (mine.density - theirs.density);
      flux.mx -= factor * (mine.mx - theirs.mx);
      flux.my -= factor * (mine.my - theirs.my);
      flux.mz -= factor * (mine.mz - theirs.mz);
      flux.energy -= factor * (mine.energy - theirs.energy);
    }
    subtract_flux(flux, theirs, other, nx, ny, nz);
    subtract_flux(flux, mine, own, nx, ny, nz);
  }
  fluxes[cell] = flux.density;
  fluxes[cell + n] = flux.mx;
  fluxes[cell + 2 * n] = flux.my;
  fluxes[cell + 3 * n] = flux.mz;
  fluxes[cell + 4 * n] = flux.energy;
}

// Stage number `stages_left` from the end: variables = old + factor / stages_left * flux.
extern "C" __global__ void cfd_time_step(const float* old, float* variables, const float* factors,
                                         const float* fluxes, int n, int stages_left) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= n) return;
  const float factor = factors[cell] / static_cast<float>(stages_left);
#pragma unroll
  for (int v = 0; v < 5; ++v)
    variables[v * n + cell] = old[v * n + cell] + factor * fluxes[v * n + cell];
}
