// Inviscid flow by finite volumes with the layout of Rodinia's cfd (euler3d): cells padded to whole
// blocks, so that no kernel checks its bounds, faces unrolled, normals as [axis][face][cell], and the
// undisturbed flow with its fluxes in constant memory. The scheme is that of cfd.cu; normals point
// inwards.

namespace {

constexpr int kFaces = 4;
constexpr int kWall = -1;
constexpr int kFarField = -2;
constexpr float kGamma = 1.4f;
constexpr float kSmoothing = 0.2f;

struct Gas {
  float density;
  float3 momentum;
  float energy;
};

struct Flow {
  float3 velocity;
  float speed_squared, pressure, sound;
};

// Flows along x, y and z of each component of the momentum and of the energy.
struct Fluxes {
  float3 mx, my, mz, energy;
};

}  // namespace

extern "C" {
__constant__ float cfd_far_field[5];
__constant__ float cfd_far_fluxes[12];
}

namespace {

__device__ __forceinline__ Gas load(const float* variables, int cell, int n) {
  return {variables[cell],
          make_float3(variables[cell + n], variables[cell + 2 * n], variables[cell + 3 * n]),
          variables[cell + 4 * n]};
}

__device__ __forceinline__ void store(float* variables, int cell, int n, const Gas& gas) {
  variables[cell] = gas.density;
  variables[cell + n] = gas.momentum.x;
  variables[cell + 2 * n] = gas.momentum.y;
  variables[cell + 3 * n] = gas.momentum.z;
  variables[cell + 4 * n] = gas.energy;
}

__device__ __forceinline__ Flow flow_of(const Gas& gas) {
  Flow f;
  f.velocity = make_float3(gas.momentum.x / gas.density, gas.momentum.y / gas.density,
                           gas.momentum.z / gas.density);
  f.speed_squared = f.velocity.x * f.velocity.x + f.velocity.y * f.velocity.y +
                    f.velocity.z * f.velocity.z;
  f.pressure = (kGamma - 1.0f) * (gas.energy - 0.5f * gas.density * f.speed_squared);
  f.sound = sqrtf(kGamma * f.pressure / gas.density);
  return f;
}

__device__ __forceinline__ Fluxes fluxes_of(const Gas& gas, const Flow& flow) {
  const float3 v = flow.velocity, m = gas.momentum;
  const float p = flow.pressure, work = gas.energy + p;
  Fluxes f;
  f.mx = make_float3(v.x * m.x + p, v.x * m.y, v.x * m.z);
  f.my = make_float3(f.mx.y, v.y * m.y + p, v.y * m.z);
  f.mz = make_float3(f.mx.z, f.my.z, v.z * m.z + p);
  f.energy = make_float3(v.x * work, v.y * work, v.z * work);
  return f;
}

// Half of what flows on both sides, through a face's extent along one axis.
__device__ __forceinline__ void flow_through(Gas& sum, float normal, float momentum, float mx,
                                             float my, float mz, float energy) {
  const float half = 0.5f * normal;
  sum.density += half * momentum;
  sum.energy += half * energy;
  sum.momentum.x += half * mx;
  sum.momentum.y += half * my;
  sum.momentum.z += half * mz;
}

__device__ __forceinline__ void exchange(Gas& sum, float3 normal, float3 momentum_a,
                                         const Fluxes& a, float3 momentum_b, const Fluxes& b) {
  flow_through(sum, normal.x, momentum_a.x + momentum_b.x, a.mx.x + b.mx.x, a.my.x + b.my.x,
               a.mz.x + b.mz.x, a.energy.x + b.energy.x);
  flow_through(sum, normal.y, momentum_a.y + momentum_b.y, a.mx.y + b.mx.y, a.my.y + b.my.y,
               a.mz.y + b.mz.y, a.energy.y + b.energy.y);
  flow_through(sum, normal.z, momentum_a.z + momentum_b.z, a.mx.z + b.mx.z, a.my.z + b.my.z,
               a.mz.z + b.mz.z, a.energy.z + b.energy.z);
}

__device__ __forceinline__ float3 far_vector(int i) {
  return make_float3(cfd_far_fluxes[i], cfd_far_fluxes[i + 1], cfd_far_fluxes[i + 2]);
}

}  // namespace

extern "C" __global__ void cfd_original_start(int n, float* variables) {
  const int cell = blockDim.x * blockIdx.x + threadIdx.x;
#pragma unroll
  for (int v = 0; v < 5; ++v) variables[cell + v * n] = cfd_far_field[v];
}

extern "C" __global__ void cfd_original_step_factor(int n, const float* variables,
                                                    const float* areas, float* factors) {
  const int cell = blockDim.x * blockIdx.x + threadIdx.x;
  const Flow flow = flow_of(load(variables, cell, n));
  factors[cell] = 0.5f / (sqrtf(areas[cell]) * (sqrtf(flow.speed_squared) + flow.sound));
}

extern "C" __global__ void cfd_original_flux(int n, const int* neighbours, const float* normals,
                                             const float* variables, float* fluxes) {
  const int cell = blockDim.x * blockIdx.x + threadIdx.x;
  const Gas mine = load(variables, cell, n);
  const Flow flow = flow_of(mine);
  const float speed = sqrtf(flow.speed_squared);
  const Fluxes own = fluxes_of(mine, flow);
  Gas sum = {0.0f, make_float3(0.0f, 0.0f, 0.0f), 0.0f};
#pragma unroll
  for (int face = 0; face < kFaces; ++face) {
    const int neighbour = neighbours[cell + face * n];
    const float3 normal =
        make_float3(normals[cell + face * n], normals[cell + (face + kFaces) * n],
                    normals[cell + (face + 2 * kFaces) * n]);
    const float area =
        sqrtf(normal.x * normal.x + normal.y * normal.y + normal.z * normal.z);
    if (neighbour >= 0) {
      const Gas theirs = load(variables, neighbour, n);
      const Flow other = flow_of(theirs);
      const float viscosity = -area * kSmoothing * 0.5f *
                              (speed + sqrtf(other.speed_squared) + flow.sound + other.sound);
      sum.density += viscosity * (mine.density - theirs.density);
      sum.energy += viscosity * (mine.energy - theirs.energy);
      sum.momentum.x += viscosity * (mine.momentum.x - theirs.momentum.x);
      sum.momentum.y += viscosity * (mine.momentum.y - theirs.momentum.y);
      sum.momentum.z += viscosity * (mine.momentum.z - theirs.momentum.z);
      exchange(sum, normal, theirs.momentum, fluxes_of(theirs, other), mine.momentum, own);
    } else if (neighbour == kWall) {
      sum.momentum.x += normal.x * flow.pressure;
      sum.momentum.y += normal.y * flow.pressure;
      sum.momentum.z += normal.z * flow.pressure;
    } else if (neighbour == kFarField) {
      const float3 momentum = make_float3(cfd_far_field[1], cfd_far_field[2], cfd_far_field[3]);
      const Fluxes far = {far_vector(0), far_vector(3), far_vector(6), far_vector(9)};
      exchange(sum, normal, momentum, far, mine.momentum, own);
    }
  }
  store(fluxes, cell, n, sum);
}

extern "C" __global__ void cfd_original_time_step(int stages_left, int n, const float* old,
                                                  float* variables, const float* factors,
                                                  const float* fluxes) {
  const int cell = blockDim.x * blockIdx.x + threadIdx.x;
  const float factor = factors[cell] / static_cast<float>(stages_left);
#pragma unroll
  for (int v = 0; v < 5; ++v)
    variables[cell + v * n] = old[cell + v * n] + factor * fluxes[cell + v * n];
}
