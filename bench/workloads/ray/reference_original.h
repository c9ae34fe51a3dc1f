// The picture of GPGPU-Sim's RAY on the CPU: spheres, a floor, a lamp, highlights and reflections.
#pragma once

#include <cstdint>
#include <vector>

namespace nearwarp::workloads {

/// An object of the scene, laid out as Object in ray_original.cu.
struct RayObject {
  float x, y, z, radius;
  float colour[4];
  int32_t is_floor;
};

struct RayPicture {
  int width = 0, height = 0;
  std::vector<RayObject> objects;
  std::vector<float> view;  ///< rows ahead, up, right, each with a coordinate of the eye behind it
  float shift = 0.0f;       ///< movement of all objects along x
  float ahead = 2.0f;       ///< distance of the picture from the eye
};

RayPicture ray_picture(int width, int height);
/// The picture's pixels, alpha, blue, green and red from the highest byte down.
std::vector<int32_t> ray_original_reference(const RayPicture& picture);

}  // namespace nearwarp::workloads
