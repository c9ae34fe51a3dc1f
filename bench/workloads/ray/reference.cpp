#include "bench/workloads/ray/reference.h"

#include <algorithm>
#include <cmath>

#include "bench/workloads/common/random.h"

namespace nearwarp::workloads {
namespace {

constexpr float kFar = 1.0e30f, kNear = 1.0e-3f;

struct Vec {
  float x, y, z;
};

float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vec along(Vec a, Vec b, float s) { return {a.x + b.x * s, a.y + b.y * s, a.z + b.z * s}; }
Vec unit(Vec a) {
  const float s = 1.0f / std::sqrt(dot(a, a));
  return {a.x * s, a.y * s, a.z * s};
}

float meet(const RaySphere& sphere, Vec origin, Vec direction) {
  const Vec to = {sphere.x - origin.x, sphere.y - origin.y, sphere.z - origin.z};
  const float middle = dot(to, direction);
  const float d = middle * middle - dot(to, to) + sphere.radius * sphere.radius;
  if (d <= 0.0f) return kFar;
  const float t = middle - std::sqrt(d);
  return t > kNear ? t : kFar;
}

float floor_colour(const RayScene& scene, Vec at) {
  const auto texel = [&](float x) {
    return static_cast<int>(std::floor(std::clamp(x, -1.0e6f, 1.0e6f) * 8.0f)) &
           (scene.texture_size - 1);
  };
  return scene.texture[size_t(texel(at.z)) * scene.texture_size + texel(at.x)];
}

RayColour grey(float value) { return {value, value, value, 1.0f}; }
RayColour scaled(RayColour a, float s) { return {a.red * s, a.green * s, a.blue * s, a.alpha * s}; }
RayColour plus(RayColour a, RayColour b) {
  return {a.red + b.red, a.green + b.green, a.blue + b.blue, a.alpha + b.alpha};
}

RayColour trace(const RayScene& scene, Vec origin, Vec direction) {
  const Vec light = {0.48f, 0.8f, -0.36f};
  const int num_spheres = static_cast<int>(scene.spheres.size());
  std::vector<RayColour> colours;
  while (colours.size() < kRayLevels) {
    float nearest = kFar;
    int hit = -1;
    for (int s = 0; s < num_spheres; ++s) {
      const float t = meet(scene.spheres[s], origin, direction);
      if (t < nearest) {
        nearest = t;
        hit = s;
      }
    }
    if (direction.y < 0.0f) {
      const float t = -origin.y / direction.y;
      if (t > kNear && t < nearest) {
        nearest = t;
        hit = num_spheres;
      }
    }
    if (hit < 0) {
      const float sky = 0.3f + 0.5f * direction.y;
      colours.push_back({sky, sky, 1.2f * sky, 1.0f});
      break;
    }
    origin = along(origin, direction, nearest);
    const bool floor = hit == num_spheres;
    Vec normal = {0.0f, 1.0f, 0.0f};
    if (!floor) {
      const RaySphere& s = scene.spheres[hit];
      normal = unit({origin.x - s.x, origin.y - s.y, origin.z - s.z});
    }
    const RayColour colour = floor ? grey(floor_colour(scene, origin)) : scene.colours[hit];
    colours.push_back(scaled(colour, 0.12f));
    const float lit = dot(normal, light);
    const auto shades = [&](const RaySphere& s) { return meet(s, origin, light) < kFar; };
    if (lit > 0.0f && std::none_of(scene.spheres.begin(), scene.spheres.end(), shades))
      colours.back() = plus(colours.back(), scaled(colour, 0.48f * lit));
    direction = unit(along(direction, normal, -2.0f * dot(direction, normal)));
  }
  for (size_t level = colours.size() - 1; level > 0; --level)
    colours[level - 1] = plus(colours[level - 1], scaled(colours[level], 0.4f));
  return colours[0];
}

}  // namespace

RayScene ray_scene(int width, int height, int texture_size) {
  constexpr uint64_t kSphereStream = 70, kTextureStream = 71;
  constexpr int kSpheres = 4;
  RayScene scene;
  scene.width = width;
  scene.height = height;
  scene.texture_size = texture_size;
  for (int s = 0; s < kSpheres; ++s) {
    const auto random = [&](int i) { return random_unit(kSphereStream, s * 8 + i); };
    const float radius = 0.3f + 0.7f * random(0);
    scene.spheres.push_back(
        {-5.0f + 10.0f * random(1), radius + 1.5f * random(2), 9.0f * random(3), radius});
    scene.colours.push_back(
        {0.3f + 0.7f * random(4), 0.3f + 0.7f * random(5), 0.3f + 0.7f * random(6), 1.0f});
  }
  scene.texture.resize(size_t(texture_size) * texture_size);
  for (size_t i = 0; i < scene.texture.size(); ++i)
    scene.texture[i] = random_unit(kTextureStream, i);
  return scene;
}

std::vector<RayColour> ray_reference_row(const RayScene& scene, int y) {
  std::vector<RayColour> row(scene.width);
  const auto width = static_cast<float>(scene.width), height = static_cast<float>(scene.height);
  const float scale = 2.0f / height;
  for (int x = 0; x < scene.width; ++x) {
    const Vec direction = unit({(static_cast<float>(x) - 0.5f * width) * scale,
                                (0.5f * height - static_cast<float>(y)) * scale - 0.2f, 1.5f});
    row[x] = trace(scene, {0.0f, 1.5f, -6.0f}, direction);
  }
  return row;
}

uint32_t ray_packed(const RayColour& colour) {
  const auto byte = [](float x) {
    return static_cast<uint32_t>(std::clamp(x, 0.0f, 1.0f) * 255.0f);
  };
  return byte(colour.alpha) << 24 | byte(colour.blue) << 16 | byte(colour.green) << 8 |
         byte(colour.red);
}

}  // namespace nearwarp::workloads
