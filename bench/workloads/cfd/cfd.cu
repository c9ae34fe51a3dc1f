// Inviscid flow (the Euler equations of a compressible gas) by finite volumes on an unstructured
// mesh, after Rodinia's cfd (euler3d): per iteration the step factors, then three Runge-Kutta
// stages of fluxes and time integration.
//
// Arrays are [component][cell]: density, momentum x y z, energy per volume. A cell has kFaces faces;
// neighbours[face][cell] is a cell, kWall or kFarField; normals[face][axis][cell] point outwards and
// are as long as the face is large.

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

extern "C" __global__ void cfd_step_factor(const float* variables, const float* areas,
                                           float* factors, int n) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= n) return;
  const Derived d = derive(load(variables, cell, n));
  factors[cell] = 0.5f / (sqrtf(areas[cell]) * (sqrtf(d.speed_squared) + d.sound));
}

// far_field: the five variables of the undisturbed flow.
extern "C" __global__ void cfd_flux(const int* neighbours, const float* normals,
                                    const float* variables, const float* far_field, float* fluxes,
                                    int n) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= n) return;
  const State mine = load(variables, cell, n);
  const Derived own = derive(mine);
  const float own_speed = sqrtf(own.speed_squared);
  State flux = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 1
  for (int face = 0; face < kFaces; ++face) {
    const int neighbour = neighbours[face * n + cell];
    const float nx = normals[(face * 3 + 0) * n + cell];
    const float ny = normals[(face * 3 + 1) * n + cell];
    const float nz = normals[(face * 3 + 2) * n + cell];
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
