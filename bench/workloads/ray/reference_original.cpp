#include "bench/workloads/ray/reference_original.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace nearwarp::workloads {
namespace {

constexpr size_t kLevels = 5;
constexpr float kFar = 10000.0f, kOff = 1.0e-4f;

using Vec = std::array<float, 3>;
using Colour = std::array<float, 4>;

Vec plus(Vec a, Vec b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Vec minus(Vec a, Vec b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Vec times(Vec a, float s) { return {a[0] * s, a[1] * s, a[2] * s}; }
float dot(Vec a, Vec b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vec unit(Vec a) { return times(a, 1.0f / std::sqrt(dot(a, a))); }

float meet(const RayPicture& picture, const RayObject& object, Vec from, Vec along) {
  const Vec centre = {object.x + picture.shift, object.y, object.z};
  if (object.is_floor) {
    if (std::fabs(along[1]) < kOff) return 0.0f;
    return std::max(-(from[1] - centre[1]) / along[1], 0.0f);
  }
  const Vec to = minus(centre, from);
  const float d = dot(to, along), squared = dot(to, to), radius = object.radius * object.radius;
  const float aside = squared - d * d;
  if ((d < 0.0f && squared > radius) || aside > radius) return 0.0f;
  const float half = std::sqrt(radius - aside);
  return squared > radius ? d - half : d + half;
}

bool lit(const RayPicture& picture, Vec at, Vec to_lamp, Vec lamp) {
  const float reach = dot(minus(lamp, at), minus(lamp, at));
  const Vec from = plus(at, times(to_lamp, kOff));
  return std::all_of(picture.objects.begin(), picture.objects.end(), [&](const RayObject& object) {
    const float t = meet(picture, object, from, to_lamp);
    return t == 0.0f || (t > 0.0f && t * t > reach);
  });
}

float highlight(float x) {
  for (int i = 0; i < 4; ++i) x *= x;
  return x * x * x;
}

Colour trace(const RayPicture& picture, Vec from, Vec along) {
  const Vec lamp = {10.0f, 10.0f, 10.0f};
  std::vector<Colour> stack;
  while (stack.size() < kLevels) {
    float nearest = kFar;
    const RayObject* hit = nullptr;
    for (const RayObject& object : picture.objects) {
      const float t = meet(picture, object, from, along);
      if (t > 0.0f && t < nearest) {
        nearest = t;
        hit = &object;
      }
    }
    if (hit == nullptr) break;
    const Vec at = plus(from, times(along, nearest));
    const Vec to_lamp = unit(minus(lamp, at)), to_eye = unit(minus(from, at));
    const Vec normal = hit->is_floor ? Vec{0.0f, 1.0f, 0.0f}
                                     : unit(minus(at, {hit->x + picture.shift, hit->y, hit->z}));
    const Vec facing = dot(to_eye, normal) < 0.0f ? times(normal, -1.0f) : normal;
    float weight = 0.05f, shine = 0.0f;
    if (dot(facing, to_lamp) > 0.0f && lit(picture, at, to_lamp, lamp)) {
      weight += 0.3f * std::min(1.0f, dot(facing, to_lamp));
      const Vec between = unit(plus(to_lamp, to_eye));
      shine = 0.8f * highlight(std::clamp(dot(facing, between), 0.0f, 1.0f));
    }
    Colour colour;
    for (int i = 0; i < 4; ++i) colour[i] = weight * hit->colour[i] + (i < 3 ? shine : 0.0f);
    stack.push_back(colour);
    along = unit(minus(times(normal, 2.0f * dot(normal, to_eye)), to_eye));
    from = plus(at, times(along, kOff));
  }
  if (stack.empty()) return {0.0f, 0.0f, 0.0f, 1.0f};
  for (size_t level = stack.size() - 1; level > 0; --level) {
    for (int i = 0; i < 4; ++i) stack[level - 1][i] += 0.8f * stack[level][i];
  }
  return stack[0];
}

}  // namespace

RayPicture ray_picture(int width, int height) {
  RayPicture picture;
  picture.width = width;
  picture.height = height;
  picture.objects = {
      {0.0f, 1.5f, 0.0f, 1.5f, {1.0f, 0.2f, 0.2f, 1.0f}, 0},
      {-2.0f, 1.0f, 2.5f, 1.0f, {0.2f, 1.0f, 0.2f, 1.0f}, 0},
      {-1.5f, 0.8f, -2.5f, 0.8f, {0.2f, 0.2f, 1.0f, 1.0f}, 0},
      {0.0f, 0.0f, 0.0f, 0.0f, {0.9f, 0.9f, 0.7f, 1.0f}, 1},
  };
  picture.view = {1.0f, 0.0f, 0.0f, -9.0f, 0.0f, 1.0f, 0.0f, 2.0f, 0.0f, 0.0f, 1.0f, 0.0f};
  return picture;
}

std::vector<int32_t> ray_original_reference(const RayPicture& picture) {
  const std::vector<float>& v = picture.view;
  const auto axis = [&](int row) { return Vec{v[4 * row], v[4 * row + 1], v[4 * row + 2]}; };
  const auto width = static_cast<float>(picture.width);
  const auto height = static_cast<float>(picture.height);
  const float pixel = 2.0f / std::min(width, height);
  std::vector<int32_t> image;
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      const float right = (static_cast<float>(x) - width * 0.5f) * pixel;
      const float up = (static_cast<float>(y) - height * 0.5f) * pixel;
      const Vec along = unit(
          plus(plus(times(axis(0), picture.ahead), times(axis(2), right)), times(axis(1), up)));
      const Colour colour = trace(picture, {v[3], v[7], v[11]}, along);
      uint32_t packed = 0;
      for (int i = 3; i >= 0; --i)
        packed = packed << 8 | static_cast<uint32_t>(std::clamp(colour[i], 0.0f, 1.0f) * 255.0f);
      image.push_back(static_cast<int32_t>(packed));
    }
  }
  return image;
}

}  // namespace nearwarp::workloads
