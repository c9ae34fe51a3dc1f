// The ray tracer's scene and its picture by the CPU.
#pragma once

#include <vector>

namespace nearwarp::workloads {

struct RaySphere {
  float x, y, z, radius;
};

struct RayScene {
  int width = 0, height = 0;
  int max_reflections = 0;
  int texture_size = 0;  ///< a power of two
  std::vector<RaySphere> spheres;
  std::vector<float> colours;  ///< grey value of each sphere
  std::vector<float> texture;  ///< of the floor, texture_size squared, eight per unit of length
};

RayScene ray_scene(int width, int height, int texture_size);
/// Grey values of the picture's row `y`, in the device's order of operations.
std::vector<float> ray_reference_row(const RayScene& scene, int y);

}  // namespace nearwarp::workloads
