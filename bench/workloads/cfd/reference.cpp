#include "bench/workloads/cfd/reference.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "bench/workloads/common/random.h"

namespace nearwarp::workloads {
namespace {

constexpr uint64_t kPointStream = 90, kOrderStream = 91, kStartStream = 92;
constexpr float kGamma = 1.4f, kSmoothing = 0.2f;
// Cells among which numbers are mixed. Few: Rodinia's meshes come numbered so that neighbours lie
// near each other in memory (Corrigan et al., Int. J. Numer. Meth. Fluids 66, 2011).
constexpr int kWindow = 64;

struct Point {
  float x, y;
};
struct State {
  float density, mx, my, mz, energy;
};
struct Derived {
  float vx, vy, vz, speed_squared, pressure, sound;
};

State load(const std::vector<float>& v, int cell, int n) {
  return {v[cell], v[cell + n], v[cell + 2 * n], v[cell + 3 * n], v[cell + 4 * n]};
}

Derived derive(const State& s) {
  Derived d;
  d.vx = s.mx / s.density;
  d.vy = s.my / s.density;
  d.vz = s.mz / s.density;
  d.speed_squared = d.vx * d.vx + d.vy * d.vy + d.vz * d.vz;
  d.pressure = (kGamma - 1.0f) * (s.energy - 0.5f * s.density * d.speed_squared);
  d.sound = std::sqrt(kGamma * d.pressure / s.density);
  return d;
}

void subtract_flux(State& f, const State& s, const Derived& d, float nx, float ny, float nz) {
  const float through = 0.5f * (d.vx * nx + d.vy * ny + d.vz * nz);
  const float half_pressure = 0.5f * d.pressure;
  f.density -= s.density * through;
  f.mx -= s.mx * through + half_pressure * nx;
  f.my -= s.my * through + half_pressure * ny;
  f.mz -= s.mz * through + half_pressure * nz;
  f.energy -= (s.energy + d.pressure) * through;
}

State flux_of(const CfdMesh& mesh, const std::vector<float>& variables,
              const std::vector<float>& far_field, int cell) {
  const int n = mesh.num_cells;
  const State mine = load(variables, cell, n);
  const Derived own = derive(mine);
  State flux = {};
  for (int face = 0; face < kCfdFaces; ++face) {
    const int neighbour = mesh.neighbours[face * n + cell];
    const float nx = mesh.normals[(face * 3 + 0) * n + cell];
    const float ny = mesh.normals[(face * 3 + 1) * n + cell];
    const float nz = mesh.normals[(face * 3 + 2) * n + cell];
    if (neighbour == kCfdWall) {
      flux.mx -= own.pressure * nx;
      flux.my -= own.pressure * ny;
      flux.mz -= own.pressure * nz;
      continue;
    }
    const State theirs =
        neighbour == kCfdFarField ? load(far_field, 0, 1) : load(variables, neighbour, n);
    const Derived other = derive(theirs);
    if (neighbour != kCfdFarField) {
      const float area = std::sqrt(nx * nx + ny * ny + nz * nz);
      const float factor =
          area * kSmoothing * 0.5f *
          (std::sqrt(own.speed_squared) + std::sqrt(other.speed_squared) + own.sound + other.sound);
      flux.density -= factor * (mine.density - theirs.density);
      flux.mx -= factor * (mine.mx - theirs.mx);
      flux.my -= factor * (mine.my - theirs.my);
      flux.mz -= factor * (mine.mz - theirs.mz);
      flux.energy -= factor * (mine.energy - theirs.energy);
    }
    subtract_flux(flux, theirs, other, nx, ny, nz);
    subtract_flux(flux, mine, own, nx, ny, nz);
  }
  return flux;
}

}  // namespace

CfdMesh cfd_mesh(int columns, int rows, int num_cells) {
  CfdMesh mesh;
  const int n = mesh.num_cells = num_cells > 0 ? num_cells : columns * rows;
  mesh.neighbours.resize(size_t(kCfdFaces) * n);
  mesh.normals.resize(size_t(kCfdFaces) * 3 * n);
  mesh.areas.resize(n);
  std::vector<int32_t> number(n);  // of the cell at row * columns + column
  std::iota(number.begin(), number.end(), 0);
  for (int begin = 0; begin < n; begin += kWindow) {
    const int size = begin + kWindow < n ? kWindow : n - begin;
    for (int i = size - 1; i > 0; --i)
      std::swap(number[begin + i], number[begin + random_below(kOrderStream, begin + i, i + 1)]);
  }
  const auto point = [&](int column, int row) -> Point {
    const uint64_t i = 2 * (uint64_t(row) * (columns + 1) + column);
    return {static_cast<float>(column) + 0.4f * (random_unit(kPointStream, i) - 0.5f),
            static_cast<float>(row) + 0.4f * (random_unit(kPointStream, i + 1) - 0.5f)};
  };
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const int place = row * columns + column;
      if (place >= n) break;
      const int cell = number[place];
      // Counter-clockwise from below on the left; face f lies between corner f and the next.
      const Point corner[] = {point(column, row), point(column + 1, row),
                              point(column + 1, row + 1), point(column, row + 1)};
      const int32_t beyond[] = {
          row > 0 ? number[place - columns] : kCfdWall,
          column + 1 < columns && place + 1 < n ? number[place + 1] : kCfdFarField,
          place + columns < n ? number[place + columns] : kCfdFarField,
          column > 0 ? number[place - 1] : kCfdFarField};
      float twice_area = 0.0f;
      for (int face = 0; face < kCfdFaces; ++face) {
        const Point a = corner[face], b = corner[(face + 1) % kCfdFaces];
        mesh.neighbours[size_t(face) * n + cell] = beyond[face];
        mesh.normals[(size_t(face) * 3 + 0) * n + cell] = b.y - a.y;
        mesh.normals[(size_t(face) * 3 + 1) * n + cell] = a.x - b.x;
        mesh.normals[(size_t(face) * 3 + 2) * n + cell] = 0.0f;
        twice_area += a.x * b.y - b.x * a.y;
      }
      mesh.areas[cell] = 0.5f * twice_area;
    }
  }
  return mesh;
}

std::vector<float> cfd_far_field() {
  constexpr float kDensity = 1.4f, kSpeed = 1.2f, kPressure = 1.0f;  // Mach 1.2, as in Rodinia
  return {kDensity, kDensity * kSpeed, 0.0f, 0.0f,
          kPressure / (kGamma - 1.0f) + 0.5f * kDensity * kSpeed * kSpeed};
}

std::vector<float> cfd_start(const CfdMesh& mesh) {
  const std::vector<float> far_field = cfd_far_field();
  std::vector<float> variables(size_t(kCfdVariables) * mesh.num_cells);
  for (size_t i = 0; i < variables.size(); ++i) {
    const float disturbance = 0.02f * (random_unit(kStartStream, i) - 0.5f);
    variables[i] = far_field[i / mesh.num_cells] + disturbance;
  }
  return variables;
}

void cfd_iterate(const CfdMesh& mesh, std::vector<float>& variables) {
  const int n = mesh.num_cells;
  const std::vector<float> old = variables, far_field = cfd_far_field();
  std::vector<float> factors(n);
  std::vector<State> fluxes(n);
  for (int cell = 0; cell < n; ++cell) {
    const Derived d = derive(load(variables, cell, n));
    factors[cell] = 0.5f / (std::sqrt(mesh.areas[cell]) * (std::sqrt(d.speed_squared) + d.sound));
  }
  for (int stages_left = 3; stages_left > 0; --stages_left) {
    for (int cell = 0; cell < n; ++cell) fluxes[cell] = flux_of(mesh, variables, far_field, cell);
    for (int cell = 0; cell < n; ++cell) {
      const float factor = factors[cell] / static_cast<float>(stages_left);
      const State& f = fluxes[cell];
      const float flux[] = {f.density, f.mx, f.my, f.mz, f.energy};
      for (int v = 0; v < kCfdVariables; ++v)
        variables[v * n + cell] = old[v * n + cell] + factor * flux[v];
    }
  }
}

}  // namespace nearwarp::workloads
