#include "bench/workloads/cfd/reference_original.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace nearwarp::workloads {
namespace {

constexpr float kGamma = 1.4f, kSmoothing = 0.2f;

using Vector = std::array<float, 3>;
using Variables = std::array<float, kCfdVariables>;  // density, momentum, energy

struct Flow {
  Vector velocity;
  float speed_squared, pressure, sound;
};

/// [variable][axis]
using Fluxes = std::array<Vector, kCfdVariables>;

Variables load(const std::vector<float>& v, int cell, int n) {
  return {v[cell], v[cell + n], v[cell + 2 * n], v[cell + 3 * n], v[cell + 4 * n]};
}

Flow flow_of(const Variables& gas) {
  Flow f;
  f.velocity = {gas[1] / gas[0], gas[2] / gas[0], gas[3] / gas[0]};
  f.speed_squared =
      f.velocity[0] * f.velocity[0] + f.velocity[1] * f.velocity[1] + f.velocity[2] * f.velocity[2];
  f.pressure = (kGamma - 1.0f) * (gas[4] - 0.5f * gas[0] * f.speed_squared);
  f.sound = std::sqrt(kGamma * f.pressure / gas[0]);
  return f;
}

Fluxes fluxes_of(const Variables& gas, const Flow& flow) {
  Fluxes f;
  f[0] = {gas[1], gas[2], gas[3]};
  for (int a = 0; a < 3; ++a) {
    for (int b = a; b < 3; ++b) {
      const float moved = flow.velocity[a] * gas[1 + b];
      f[1 + a][b] = f[1 + b][a] = a == b ? moved + flow.pressure : moved;
    }
    f[4][a] = flow.velocity[a] * (gas[4] + flow.pressure);
  }
  return f;
}

Variables sum_of_faces(const CfdMesh& mesh, const std::vector<float>& variables, int cell) {
  const int n = mesh.num_cells;
  const std::vector<float> far = cfd_far_field();
  const Variables undisturbed = {far[0], far[1], far[2], far[3], far[4]};
  const Variables mine = load(variables, cell, n);
  const Flow flow = flow_of(mine);
  const Fluxes own = fluxes_of(mine, flow);
  Variables sum = {};
  for (int face = 0; face < kCfdFaces; ++face) {
    const int neighbour = mesh.neighbours[size_t(face) * n + cell];
    Vector normal;
    for (int axis = 0; axis < 3; ++axis)
      normal[axis] = mesh.normals[size_t(axis * kCfdFaces + face) * n + cell];
    if (neighbour == kCfdWall) {
      for (int axis = 0; axis < 3; ++axis) sum[1 + axis] += normal[axis] * flow.pressure;
      continue;
    }
    const Variables theirs =
        neighbour == kCfdFarField ? undisturbed : load(variables, neighbour, n);
    const Flow other = flow_of(theirs);
    if (neighbour != kCfdFarField) {
      const float area =
          std::sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
      const float viscosity = -area * kSmoothing * 0.5f *
                              (std::sqrt(flow.speed_squared) + std::sqrt(other.speed_squared) +
                               flow.sound + other.sound);
      for (int v = 0; v < kCfdVariables; ++v) sum[v] += viscosity * (mine[v] - theirs[v]);
    }
    const Fluxes beyond = fluxes_of(theirs, other);
    for (int axis = 0; axis < 3; ++axis) {
      const float half = 0.5f * normal[axis];
      for (int v = 0; v < kCfdVariables; ++v) sum[v] += half * (beyond[v][axis] + own[v][axis]);
    }
  }
  return sum;
}

}  // namespace

CfdMesh cfd_original_mesh(int num_cells, int columns) {
  const CfdMesh plain = cfd_mesh(columns, (num_cells + columns - 1) / columns, num_cells);
  CfdMesh mesh;
  const int n = mesh.num_cells = (num_cells + kCfdBlock - 1) / kCfdBlock * kCfdBlock;
  for (int face = 0; face < kCfdFaces; ++face) {
    for (int cell = 0; cell < n; ++cell) {
      const int of = std::min(cell, num_cells - 1);
      mesh.neighbours.push_back(plain.neighbours[size_t(face) * num_cells + of]);
    }
  }
  for (int axis = 0; axis < 3; ++axis) {
    for (int face = 0; face < kCfdFaces; ++face) {
      for (int cell = 0; cell < n; ++cell) {
        const int of = std::min(cell, num_cells - 1);
        mesh.normals.push_back(-plain.normals[size_t(face * 3 + axis) * num_cells + of]);
      }
    }
  }
  for (int cell = 0; cell < n; ++cell)
    mesh.areas.push_back(plain.areas[std::min(cell, num_cells - 1)]);
  return mesh;
}

std::vector<float> cfd_far_fluxes() {
  const std::vector<float> far = cfd_far_field();
  const Variables gas = {far[0], far[1], far[2], far[3], far[4]};
  const Fluxes fluxes = fluxes_of(gas, flow_of(gas));
  std::vector<float> list;
  for (int v = 1; v < kCfdVariables; ++v)
    list.insert(list.end(), fluxes[v].begin(), fluxes[v].end());
  return list;
}

std::vector<float> cfd_original_start(const CfdMesh& mesh) {
  std::vector<float> variables;
  for (const float value : cfd_far_field())
    variables.insert(variables.end(), mesh.num_cells, value);
  return variables;
}

void cfd_original_iterate(const CfdMesh& mesh, std::vector<float>& variables) {
  const int n = mesh.num_cells;
  const std::vector<float> old = variables;
  std::vector<float> factors(n);
  std::vector<Variables> sums(n);
  for (int cell = 0; cell < n; ++cell) {
    const Flow flow = flow_of(load(variables, cell, n));
    factors[cell] =
        0.5f / (std::sqrt(mesh.areas[cell]) * (std::sqrt(flow.speed_squared) + flow.sound));
  }
  for (int stages_left = 3; stages_left > 0; --stages_left) {
    for (int cell = 0; cell < n; ++cell) sums[cell] = sum_of_faces(mesh, variables, cell);
    for (int cell = 0; cell < n; ++cell) {
      const float factor = factors[cell] / static_cast<float>(stages_left);
      for (int v = 0; v < kCfdVariables; ++v)
        variables[size_t(v) * n + cell] = old[size_t(v) * n + cell] + factor * sums[cell][v];
    }
  }
}

}  // namespace nearwarp::workloads
