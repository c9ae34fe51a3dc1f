// Do textures and surfaces read and write what the CUDA programming guide says?
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "host/core/error.h"
#include "host/recording/trace_replay.h"
#include "tests/runtime/breadth_kernels.h"

namespace nearwarp::runtime {
namespace {

using Address = TextureDesc::Address;
using Filter = TextureDesc::Filter;

TextureDesc single_channel(DevicePtr at, uint32_t width, uint32_t height = 1, uint32_t depth = 1) {
  TextureDesc desc;
  desc.levels[0] = {at, width, height, depth, 0, 0};
  return desc;
}

TEST(Textures, LinearMemoryByIndex) {
  BreadthDevice d("textures");
  const std::vector<float> data = {1, 2, 3, 4, 5};
  const DevicePtr p = d.upload(data), out = d.allocate(64);
  const uint64_t t = d.create_texture(single_channel(p, 5));
  d.launch(d.module, "fetch_1d", {1}, {32}, 0, KernelArgs(t, out, 9));
  EXPECT_EQ(d.download<float>(out, 9), (std::vector<float>{0, 0, 1, 2, 3, 4, 5, 0, 0}));
  d.destroy_texture(t);
  EXPECT_THROW(d.launch(d.module, "fetch_1d", {1}, {32}, 0, KernelArgs(t, out, 9)), DeviceFault);
  EXPECT_THROW(d.destroy_texture(t), Error);
  EXPECT_THROW(d.create_texture(single_channel(p, 6)), Error);  // beyond the allocation
}

/// The element that index `i` reads in a row of `n` by address mode, after the programming guide.
int brought_in(int i, int n, Address mode) {
  switch (mode) {
    case Address::kClamp:
      return std::min(std::max(i, 0), n - 1);
    case Address::kWrap:
      return (i % n + n) % n;
    case Address::kMirror: {
      const int p = (i % (2 * n) + 2 * n) % (2 * n);
      return p < n ? p : 2 * n - 1 - p;
    }
    case Address::kBorder:
      break;
  }
  return i >= 0 && i < n ? i : -1;
}

TEST(Textures, FiltersAndAddressModes) {
  constexpr int w = 5, h = 3, n = 400;
  for (const Address mode : {Address::kWrap, Address::kClamp, Address::kMirror, Address::kBorder}) {
    for (const Filter filter : {Filter::kPoint, Filter::kLinear}) {
      BreadthDevice d("textures");
      std::vector<std::array<float, 4>> data(w * h);
      for (int i = 0; i < w * h; ++i)
        for (int c = 0; c < 4; ++c) data[i][c] = static_cast<float>(i * 4 + c * c);
      TextureDesc desc = single_channel(d.upload(data), w, h);
      desc.format = {{32, 32, 32, 32}, ChannelFormat::Kind::kFloat};
      desc.address = {mode, mode, mode};
      desc.filter = filter;
      desc.normalized_coordinates = true;
      desc.border = {-1, -2, -3, -4};
      const uint64_t t = d.create_texture(desc);
      std::vector<std::array<float, 2>> at(n);
      for (int i = 0; i < n; ++i)  // multiples of 1/256 of a texel
        at[i] = {static_cast<float>(i * 53 % 3001 - 1000) / 1024,
                 static_cast<float>(i * 31 % 2003 - 700) / 1024};
      const DevicePtr pa = d.upload(at), out = d.allocate(n * 16);
      d.launch(d.module, "sample_2d", {7}, {64}, 0, KernelArgs(t, pa, out, n));
      const auto got = d.download<std::array<float, 4>>(out, n);
      for (int i = 0; i < n; ++i) {
        const float shift = filter == Filter::kLinear ? 0.5f : 0.0f;
        const float x = at[i][0] * w - shift, y = at[i][1] * h - shift;
        const int ix = static_cast<int>(std::floor(x)), iy = static_cast<int>(std::floor(y));
        for (int c = 0; c < 4; ++c) {
          const auto texel = [&](int u, int v) -> double {
            const int a = brought_in(u, w, mode), b = brought_in(v, h, mode);
            return a < 0 || b < 0 ? desc.border[c] : data[b * w + a][c];
          };
          double want = texel(ix, iy);
          if (filter == Filter::kLinear) {
            const double fx = std::nearbyint((x - ix) * 256) / 256,
                         fy = std::nearbyint((y - iy) * 256) / 256;
            want = (1 - fx) * (1 - fy) * texel(ix, iy) + fx * (1 - fy) * texel(ix + 1, iy) +
                   (1 - fx) * fy * texel(ix, iy + 1) + fx * fy * texel(ix + 1, iy + 1);
          }
          ASSERT_NEAR(got[i][c], want, 1e-4) << i << " " << c << " mode " << static_cast<int>(mode);
        }
      }
      validate(d.take_recording(""));
    }
  }
}

TEST(Textures, Integers) {
  BreadthDevice d("textures");
  std::vector<int16_t> data(4 * 2 * 4);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int16_t>(1000 - 111 * int(i));
  TextureDesc desc = single_channel(d.upload(data), 4, 2);
  desc.format = {{16, 16, 16, 16}, ChannelFormat::Kind::kSigned};
  const DevicePtr out = d.allocate(8 * 16);
  d.launch(d.module, "sample_integers", {1}, {8}, 0, KernelArgs(d.create_texture(desc), out, 4));
  const auto got = d.download<int>(out, 32);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(got[i], data[i]) << i;
  TextureDesc odd = desc;
  odd.format.bits = {16, 16, 16, 0};
  EXPECT_THROW(d.create_texture(odd), Error);
}

TEST(Textures, VolumesLayersCubesAndMipmaps) {
  BreadthDevice d("textures");
  std::vector<float> data(4 * 4 * 6);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  const DevicePtr p = d.upload(data);
  const uint64_t volume = d.create_texture(single_channel(p, 4, 4, 3));
  const uint64_t layers = d.create_texture(single_channel(p, 4, 4, 3));
  TextureDesc cube_desc = single_channel(p, 4, 4, 6);
  cube_desc.normalized_coordinates = true;
  const uint64_t cube = d.create_texture(cube_desc);
  TextureDesc mip = single_channel(p, 4, 4);
  mip.levels.push_back({p + 64, 2, 2, 1, 0, 0});
  mip.normalized_coordinates = true;
  mip.max_level = 1;
  const uint64_t mipmap = d.create_texture(mip);
  const DevicePtr out = d.allocate(12 * 24);
  d.launch(d.module, "sample_others", {1}, {12}, 0, KernelArgs(volume, layers, cube, mipmap, out));
  const auto got = d.download<float>(out, 72);
  for (int i = 0; i < 12; ++i) {
    const int x = std::min(static_cast<int>(static_cast<float>(i) * 0.37f), 3);
    EXPECT_EQ(got[6 * i], x + 4 * 1 + 16 * (i % 3)) << i;
    EXPECT_EQ(got[6 * i + 1], x + 16 * (i % 3)) << i;
    const float dx = i % 3 == 0 ? 1.f : .1f, dy = i % 3 == 1 ? -1.f : .2f,
                dz = i % 3 == 2 ? 1.f : -.3f;
    // +x: (-z, -y); -y: (x, -z); +z: (x, -y)
    const float s = i % 3 == 0 ? -dz : dx, t = i % 3 == 1 ? -dz : -dy;
    const int face = i % 3 == 0 ? 0 : (i % 3 == 1 ? 3 : 4);
    const int u = static_cast<int>((s + 1) / 2 * 4), v = static_cast<int>((t + 1) / 2 * 4);
    EXPECT_EQ(got[6 * i + 2], face * 16 + v * 4 + u) << i;
    EXPECT_EQ(got[6 * i + 3], i % 2 ? 16 + 2 * 1 + 0 : 2 * 4 + 1) << i;
    EXPECT_EQ(got[6 * i + 4], 2 * 4 + 2) << i;  // gather: (i1, j1) of (1, 2) x (1, 2)
    EXPECT_EQ(got[6 * i + 5], 1 + 2 * 16) << i;
  }
}

TEST(Surfaces, ReadAndWrite) {
  BreadthDevice d("textures");
  constexpr int w = 37, h = 4;
  std::vector<uint8_t> data(w * h * 4);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(i * 7);
  const DevicePtr from = d.upload(data), to = d.allocate(64 * 4 * h);
  const ChannelFormat format = {{8, 8, 8, 8}, ChannelFormat::Kind::kUnsigned};
  const uint64_t a = d.create_surface({from, w, h, 1, 0, 0}, format);
  const uint64_t b = d.create_surface({to, w, h, 1, 256, 0}, format);
  d.launch(d.module, "invert", {2, h}, {32}, 0, KernelArgs(a, b, w, h));
  const auto got = d.download<uint8_t>(to, 256 * h);
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      const uint8_t* in = &data[(y * w + x) * 4];
      const uint8_t* out = &got[(h - 1 - y) * 256 + x * 4];
      EXPECT_EQ(out[0], 255 - in[0]);
      EXPECT_EQ(out[1], in[1]);
      EXPECT_EQ(out[3], x);
    }
  }
  validate(d.take_recording(""));
}

TEST(Surfaces, Outside) {
  BreadthDevice d("textures");
  const DevicePtr p = d.upload(std::vector<int>(10, 77)), out = d.upload(std::vector<int>(4, 0));
  const uint64_t s =
      d.create_surface({p, 10, 1, 1, 0, 0}, {{32, 0, 0, 0}, ChannelFormat::Kind::kSigned});
  d.launch(d.module, "outside", {1}, {1}, 0, KernelArgs(s, out));
  EXPECT_EQ(d.download<int>(out, 2), (std::vector<int>{0, 77}));
  EXPECT_EQ(d.download<int>(p, 10), std::vector<int>(10, 77));
  d.copy_to_device(out + 8, "\1\0\0\0", 4);
  EXPECT_THROW(d.launch(d.module, "outside", {1}, {1}, 0, KernelArgs(s, out)), DeviceFault);
}

}  // namespace
}  // namespace nearwarp::runtime
