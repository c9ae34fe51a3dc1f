// The ray tracer's scene and its picture by the CPU.
#pragma once

#include <cstdint>
#include <vector>

namespace nearwarp::workloads {

struct RaySphere {
  float x, y, z, radius;
};

struct RayColour {
  float red, green, blue, alpha;
};

inline constexpr int kRayLevels = 5;  ///< surfaces along a ray, the first included; as in ray.cu

struct RayScene {
  int width = 0, height = 0;
  int texture_size = 0;  ///< a power of two
  std::vector<RaySphere> spheres;
  std::vector<RayColour> colours;  ///< colour of each sphere
  std::vector<float> texture;      ///< the floor's: texture_size squared, eight per unit of length
};

RayScene ray_scene(int width, int height, int texture_size);
/// Colours of the picture's row `y`, in the device's order of operations.
std::vector<RayColour> ray_reference_row(const RayScene& scene, int y);
/// A colour as the picture holds it: a byte each, red the lowest.
uint32_t ray_packed(const RayColour& colour);

}  // namespace nearwarp::workloads
