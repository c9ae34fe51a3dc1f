// Are boxes of tensors copied as the PTX ISA and the driver's interface say?
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <set>

#include "host/functional/instructions/half_ops.h"
#include "host/functional/instructions/tensor_map.h"
#include "host/recording/chunk_touches.h"
#include "host/recording/trace_replay.h"
#include "tests/runtime/breadth_kernels.h"

namespace nearwarp::runtime {
namespace {

using exec::TensorMap;
using exec::TensorRequest;

constexpr uint32_t kU8 = 0, kU32 = 2, kS32 = 3, kF16 = 6, kF32 = 7;
constexpr uint32_t kUntouched = 0xabababab;

struct alignas(128) Map {
  TensorMap map;
};

/// A tensor in device memory whose bytes are all known, and boxes of it.
struct Tensor {
  uint32_t type = kU32, interleave = 0, swizzle = 0, fill = 0;
  std::vector<uint64_t> sizes, strides;
  std::vector<uint32_t> box, steps;
  TensorRequest request(uint64_t address) const {
    TensorRequest r;
    r.type = type;
    r.dimensions = static_cast<uint32_t>(sizes.size());
    r.interleave = interleave;
    r.swizzle = swizzle;
    r.fill = fill;
    r.address = address;
    r.sizes = sizes.data();
    r.strides = strides.data();
    r.box = box.data();
    r.element_strides = steps.data();
    return r;
  }
  uint32_t element() const { return exec::bytes_of(static_cast<exec::TensorType>(type)); }
};

std::vector<uint8_t> pattern(size_t bytes) {
  std::vector<uint8_t> out(bytes);
  for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<uint8_t>(i * 2654435761u >> 13);
  return out;
}

/// Where a swizzle brings a byte to: rows of 128 bytes are numbered from the pattern's beginning,
/// which repeats after 2, 4 or 8 of them (CUDA programming guide: 256, 512 or 1024 bytes).
uint32_t swizzled_by_figure(uint32_t swizzle, uint32_t at) {
  const uint32_t row = at / 128, chunk = at % 128 / 16;
  uint32_t moved = chunk;
  if (swizzle == 3) moved = chunk ^ row % 8;
  if (swizzle == 2) moved = chunk / 4 * 4 + (chunk % 4 ^ row % 4);
  if (swizzle == 1) moved = chunk / 2 * 2 + (chunk % 2 ^ row % 2);
  return row * 128 + moved * 16 + at % 16;
}

/// The contents of shared memory after a load, by plain loops over all of the box's elements.
std::vector<uint8_t> expected_load(const Tensor& t, const std::vector<uint8_t>& memory,
                                   const std::vector<int>& at, size_t kept) {
  std::vector<uint8_t> out(kept, 0xab);
  const size_t n = t.sizes.size();
  const uint32_t e = t.element();
  std::vector<uint32_t> count(n), index(n, 0);
  for (size_t d = 0; d < n; ++d) {
    const uint32_t step = d == 0 && t.interleave == 0 ? 1 : t.steps[d];
    count[d] = (t.box[d] + step - 1) / step;
  }
  const uint32_t row = count[0] * e;
  const uint32_t pitch = t.swizzle == 0 ? row : std::max(row, 16u << t.swizzle);
  for (uint32_t line = 0;;) {
    for (uint32_t x = 0; x < count[0]; ++x) {
      bool inside = true;
      uint64_t from = 0;
      index[0] = x;
      for (size_t d = 0; d < n; ++d) {
        const int64_t step = d == 0 && t.interleave == 0 ? 1 : t.steps[d];
        const int64_t i = at[d] + index[d] * step;
        inside = inside && i >= 0 && i < static_cast<int64_t>(t.sizes[d]);
        from += static_cast<uint64_t>(i) * (d == 0 ? e : t.strides[d - 1]);
      }
      const uint32_t to = swizzled_by_figure(t.swizzle, line * pitch + x * e);
      for (uint32_t b = 0; b < e; ++b)
        out.at(to + b) = inside ? memory.at(from + b) : t.fill == 0 ? 0 : b % 2 == 0 ? 0xf7 : 0x7f;
    }
    ++line;
    size_t d = 1;
    for (; d < n && ++index[d] == count[d]; ++d) index[d] = 0;
    if (d == n || n == 1) break;
  }
  return out;
}

void expect_load(const Tensor& t, const std::vector<int>& at, size_t memory_bytes,
                 const std::string& what) {
  BreadthDevice d("tensors");
  const std::vector<uint8_t> memory = pattern(memory_bytes);
  const DevicePtr p = d.upload(memory);
  Map map;
  ASSERT_TRUE(exec::encode(t.request(p), &map.map)) << what;
  uint32_t bytes = t.element();
  for (size_t i = 0; i < t.box.size(); ++i) {
    const uint32_t step = i == 0 && t.interleave == 0 ? 1 : t.steps[i];
    bytes *= (t.box[i] + step - 1) / step;
  }
  const uint32_t row = t.box[0] * t.element();
  const uint32_t kept = t.swizzle == 0 ? bytes : bytes / row * std::max(row, 16u << t.swizzle);
  const DevicePtr out = d.allocate(kept);
  std::vector<int> c = at;
  c.resize(5, 0);
  d.launch(d.module, "load_" + std::to_string(t.sizes.size()) + "d", {1}, {64}, kept,
           KernelArgs(map, c[0], c[1], c[2], c[3], c[4], bytes, kept, out));
  EXPECT_EQ(d.download<uint8_t>(out, kept), expected_load(t, memory, at, kept)) << what;
  validate(d.take_recording(""));
}

TEST(Tensors, BoxesOfOneToFiveDimensions) {
  expect_load({.sizes = {100}, .strides = {}, .box = {64}, .steps = {1}}, {20}, 400, "1d");
  expect_load({.sizes = {100}, .strides = {}, .box = {64}, .steps = {1}}, {60}, 400, "1d, beyond");
  expect_load({.sizes = {20, 9}, .strides = {96}, .box = {8, 4}, .steps = {1, 1}}, {3, 2}, 900,
              "2d");
  expect_load({.sizes = {20, 9}, .strides = {96}, .box = {8, 4}, .steps = {1, 1}}, {-3, 7}, 900,
              "2d, over two edges");
  expect_load({.type = kU8,
               .sizes = {32, 5, 4},
               .strides = {32, 160},
               .box = {16, 2, 3},
               .steps = {1, 1, 1}},
              {9, 4, 2}, 640, "3d");
  expect_load({.type = kF16,
               .sizes = {8, 3, 4, 5},
               .strides = {16, 48, 192},
               .box = {8, 2, 2, 2},
               .steps = {1, 1, 1, 1}},
              {0, 1, 3, -1}, 960, "4d");
  expect_load({.type = kF32,
               .sizes = {4, 3, 4, 2, 3},
               .strides = {16, 48, 192, 384},
               .box = {4, 2, 2, 2, 2},
               .steps = {1, 1, 1, 1, 1}},
              {0, 1, 1, 0, 1}, 1152, "5d");
}

TEST(Tensors, SwizzlesAreTheFiguresOfTheIsa) {
  for (const uint32_t swizzle : {1u, 2u, 3u})
    for (const uint32_t width : {16u << swizzle, 16u}) {
      const Tensor t{.type = kU8,
                     .swizzle = swizzle,
                     .sizes = {256, 40},
                     .strides = {256},
                     .box = {width, 33},
                     .steps = {1, 1}};
      expect_load(t, {16, 2}, 256 * 40, std::to_string(swizzle) + " " + std::to_string(width));
    }
}

TEST(Tensors, ElementsInStepsAndWhatLiesOutside) {
  const Tensor steps{
      .sizes = {32, 20, 6}, .strides = {128, 2560}, .box = {8, 9, 4}, .steps = {3, 2, 3}};
  expect_load(steps, {2, 5, 1}, 2560 * 6, "steps; none along the first dimension");
  const Tensor nan{
      .type = kF16, .fill = 1, .sizes = {20, 9}, .strides = {48}, .box = {16, 4}, .steps = {1, 1}};
  expect_load(nan, {-5, 7}, 500, "NaN");
  const Tensor slices{.type = kF16,
                      .interleave = 1,
                      .sizes = {8, 6, 3},
                      .strides = {16, 96},
                      .box = {8, 4, 2},
                      .steps = {1, 2, 1}};
  expect_load(slices, {0, 1, 1}, 300, "slices of 8 channels");
}

TEST(Tensors, PixelsOfABoundingBox) {
  // An image of 5 x 4 pixels with 8 channels, 3 of them; a filter of 3 x 3 moves by 1.
  BreadthDevice d("tensors");
  constexpr int kChannels = 8, kWidth = 5, kHeight = 4, kImages = 3, kPixels = 24;
  std::vector<float> image(kChannels * kWidth * kHeight * kImages);
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i + 1);
  const DevicePtr p = d.upload(image);
  const uint64_t sizes[] = {kChannels, kWidth, kHeight, kImages};
  const uint64_t strides[] = {32, 160, 640};
  const uint32_t steps[] = {1, 1, 1, 1};
  const int lower[] = {-1, -1}, upper[] = {-1, -1};
  TensorRequest r;
  r.type = kF32;
  r.dimensions = 4;
  r.address = p;
  r.sizes = sizes;
  r.strides = strides;
  r.element_strides = steps;
  r.im2col = true;
  r.lower = lower;
  r.upper = upper;
  r.channels = 4;
  r.pixels = kPixels;
  Map map;
  ASSERT_TRUE(exec::encode(r, &map.map));
  const uint32_t bytes = kPixels * 16;
  const DevicePtr out = d.allocate(bytes);
  for (const uint16_t right : {0, 2})
    for (const uint16_t down : {0, 1}) {
      d.launch(d.module, "load_im2col", {1}, {32}, bytes,
               KernelArgs(map, 4, 2, 1, 1, right, down, bytes, out));
      const auto got = d.download<float>(out, bytes / 4);
      int w = 2, h = 1, n = 1;  // the first pixel; the box goes from -1 to the size less 2
      for (int i = 0; i < kPixels; ++i) {
        for (int c = 0; c < 4; ++c) {
          const int x = w + right, y = h + down;
          const bool inside = x >= 0 && x < kWidth && y >= 0 && y < kHeight && n < kImages;
          EXPECT_EQ(got[i * 4 + c],
                    inside ? image[((n * kHeight + y) * kWidth + x) * kChannels + 4 + c] : 0.0f)
              << i << " " << c << " " << right << " " << down;
        }
        if (++w > kWidth - 2) {
          w = -1;
          if (++h > kHeight - 2) {
            h = -1;
            ++n;
          }
        }
      }
    }
}

/// Sectors of 32 bytes, from the tensor's beginning, that the recorded launch touches in it.
std::set<uint64_t> touched_sectors(const Recording& r, DevicePtr tensor, uint64_t bytes) {
  std::set<uint64_t> out;
  TouchesOfChunks touches(7);
  const LaunchRecord& l = r.launches.at(0);
  for (uint32_t c = l.first_chunk; c < l.first_chunk + l.num_chunks; ++c)
    for (const ChunkTouches::Touch& t : touches.of(r, c, l.kernel)->touches)
      for (uint32_t s = 0; s < 4; ++s) {
        const uint64_t at = exec::kDeviceBase + t.line * uint64_t{128} + s * 32;
        if ((t.sectors >> s & 1) != 0 && at >= tensor && at < tensor + bytes)
          out.insert((at - tensor) / 32);
      }
  return out;
}

TEST(Tensors, TracesNameEverySectorOfABox) {
  struct Case {
    uint32_t type, width, rows;
    int x, y;
    uint32_t stride = 1040;
  };
  // Boxes that begin within a sector, at one's end, outside of the tensor; of one piece to many.
  for (const Case& c :
       {Case{kU32, 4, 8, 5, 0}, Case{kU32, 8, 20, 1, 3}, Case{kU32, 32, 16, 7, 0},
        Case{kU32, 64, 9, 30, 2}, Case{kU32, 16, 4, -3, -1}, Case{kU8, 16, 5, 30, 0},
        Case{kU8, 48, 12, 17, 1}, Case{kU8, 256, 6, 1, 0}, Case{kF16, 24, 9, 251, 4},
        Case{kU32, 8, 10, 0, 0}, Case{kU32, 124, 4, 3, 0}, Case{kU32, 4, 24, 5, 0},
        Case{kU8, 16, 24, 17, 0}, Case{kF16, 8, 22, 12, 1}, Case{kU32, 4, 24, 8, 0},
        Case{kU8, 48, 24, 20, 0, 1024}, Case{kU32, 12, 24, 6, 0, 1056}}) {
    BreadthDevice d("tensors");
    const Tensor t{.type = c.type,
                   .sizes = {256, 24},
                   .strides = {c.stride},
                   .box = {c.width, c.rows},
                   .steps = {1, 1}};
    const uint64_t all = uint64_t{c.stride} * 24;
    const DevicePtr p = d.upload(pattern(all));
    Map map;
    ASSERT_TRUE(exec::encode(t.request(p), &map.map));
    const uint32_t bytes = c.width * c.rows * t.element();
    const DevicePtr out = d.allocate(bytes);
    d.launch(d.module, "load_2d", {1}, {64}, bytes,
             KernelArgs(map, c.x, c.y, 0, 0, 0, bytes, bytes, out));
    std::set<uint64_t> want;
    for (uint32_t row = 0; row < c.rows; ++row)
      for (uint32_t i = 0; i < c.width; ++i) {
        const int x = c.x + static_cast<int>(i), y = c.y + static_cast<int>(row);
        if (x >= 0 && x < 256 && y >= 0 && y < 24)
          want.insert(
              (static_cast<uint64_t>(y) * c.stride + static_cast<uint64_t>(x) * t.element()) / 32);
      }
    EXPECT_EQ(touched_sectors(d.take_recording(""), p, all), want)
        << c.type << " " << c.width << " " << c.rows << " " << c.x << " " << c.y;
  }
}

TEST(Tensors, BoxesBeginAtMultiplesOf128Bytes) {
  for (const uint32_t at : {0u, 128u, 16u, 64u}) {
    BreadthDevice d("tensors");
    const DevicePtr p = d.upload(std::vector<int>(64, 1)), in = d.upload(std::vector<int>(64, 2));
    const Tensor t{.type = kS32, .sizes = {8, 8}, .strides = {32}, .box = {8, 4}, .steps = {1, 1}};
    Map map;
    ASSERT_TRUE(exec::encode(t.request(p), &map.map));
    std::string said;
    try {
      d.launch(d.module, "store_from", {1}, {32}, 512, KernelArgs(map, in, at));
    } catch (const Error& e) {
      said = e.what();
    }
    EXPECT_EQ(said.find("misaligned") != std::string::npos, at % 128 != 0) << at << said;
  }
}

TEST(Tensors, StoresAndReductions) {
  for (const int how : {0, 1, 2}) {
    BreadthDevice d("tensors");
    std::vector<int> memory(20 * 12), box(8 * 6);
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<int>(i * 37 % 101) - 50;
    for (size_t i = 0; i < box.size(); ++i) box[i] = static_cast<int>(i * 53 % 97) - 48;
    const DevicePtr p = d.upload(memory), in = d.upload(box);
    const Tensor t{.type = kS32,
                   .swizzle = 0,
                   .sizes = {20, 12},
                   .strides = {80},
                   .box = {8, 6},
                   .steps = {1, 1}};
    Map map;
    ASSERT_TRUE(exec::encode(t.request(p), &map.map));
    const uint32_t bytes = 192;
    d.launch(d.module, "store_2d", {1}, {32}, bytes, KernelArgs(map, in, bytes, 15, 9, how));
    std::vector<int> want = memory;
    for (int y = 0; y < 6; ++y)
      for (int x = 0; x < 8; ++x) {
        if (15 + x >= 20 || 9 + y >= 12) continue;  // is not there to be stored to
        int& w = want[(9 + y) * 20 + 15 + x];
        const int v = box[y * 8 + x];
        w = how == 0 ? v : how == 1 ? w + v : std::max(w, v);
      }
    EXPECT_EQ(d.download<int>(p, memory.size()), want) << how;
    validate(d.take_recording(""));
  }
}

TEST(Tensors, BlocksOfAMaskHaveTheBox) {
  for (const int linear : {0, 1}) {
    BreadthDevice d("tensors");
    std::vector<uint32_t> memory(16 * 40);
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint32_t>(i + 7);
    const DevicePtr p = d.upload(memory);
    const Tensor t{.sizes = {16, 40}, .strides = {64}, .box = {16, 20}, .steps = {1, 1}};
    Map map;
    ASSERT_TRUE(exec::encode(t.request(p), &map.map));
    const uint32_t bytes = 16 * 20 * 4;
    const DevicePtr out = d.allocate(4 * bytes);
    const uint16_t mask = 0b1011;
    d.launch_clusters(d.module, "load_multicast", {4}, {32}, {4, 1, 1}, bytes,
                      KernelArgs(map, mask, bytes, linear, p, out));
    const auto got = d.download<uint32_t>(out, bytes);
    for (uint32_t block = 0; block < 4; ++block)
      for (uint32_t i = 0; i < bytes / 4; ++i)
        ASSERT_EQ(got[block * bytes / 4 + i], (mask >> block & 1) != 0 ? i + 7 : 0u)
            << block << " " << i << " " << linear;
    validate(d.take_recording(""));
  }
}

TEST(Tensors, WordsThatBarriersCount) {
  BreadthDevice d("tensors");
  const DevicePtr out = d.allocate(4 * 33 * 4), sums = d.upload(std::vector<float>(32, 0.5f));
  d.launch_clusters(d.module, "counted_words", {4}, {32}, {4, 1, 1}, 0, KernelArgs(out, sums));
  const auto got = d.download<uint32_t>(out, 4 * 33);
  for (uint32_t block = 0; block < 4; ++block) {
    for (uint32_t i = 0; i < 32; ++i)
      EXPECT_EQ(got[block * 33 + i], (block + 3) % 4 * 100 + i) << block << " " << i;
    EXPECT_EQ(got[block * 33 + 32], 5u + 31 * 16) << block;
  }
  const auto all = d.download<float>(sums, 32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(all[i], 0.5f + 4 * static_cast<float>(i + 1));
}

TEST(Tensors, MistakesAreNamed) {
  Map none{}, still{};
  none.map.magic = 0;
  still.map.dimensions = 2;
  still.map.element_strides[1] = 0;  // as tensormap.replace may leave it
  for (const Map& map : {none, still}) {
    BreadthDevice d("tensors");
    const DevicePtr out = d.allocate(256);
    try {
      d.launch(d.module, "load_2d", {1}, {32}, 256,
               KernelArgs(map, 0, 0, 0, 0, 0, 256u, 256u, out));
      FAIL() << "a map that is none was taken";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("tensor map"), std::string::npos) << e.what();
    }
  }
}

TEST(TensorMaps, RulesOfTheDriver) {
  const uint64_t sizes[] = {64, 32, 8}, strides[] = {256, 8192};
  const uint32_t box[] = {16, 8, 2}, steps[] = {1, 1, 1};
  const auto request = [&] {
    TensorRequest r;
    r.type = kF32;
    r.dimensions = 3;
    r.address = 0x1000;
    r.sizes = sizes;
    r.strides = strides;
    r.box = box;
    r.element_strides = steps;
    return r;
  };
  TensorMap map;
  EXPECT_TRUE(exec::encode(request(), &map));
  const auto refused = [&](const char* what, const std::function<void(TensorRequest&)>& change) {
    TensorRequest r = request();
    change(r);
    EXPECT_FALSE(exec::encode(r, &map)) << what;
  };
  const uint64_t none[] = {64, 0, 8}, odd[] = {250, 8192}, far[] = {256, uint64_t{1} << 40};
  const uint32_t wide[] = {16, 257, 2}, uneven[] = {3, 8, 2}, row[] = {64, 8, 2},
                 still[] = {1, 0, 1}, leaps[] = {1, 9, 1};
  refused("an address", [](TensorRequest& r) { r.address = 0x1008; });
  refused("no address", [](TensorRequest& r) { r.address = 0; });
  refused("a type of later GPUs", [](TensorRequest& r) { r.type = 13; });
  refused("six dimensions", [](TensorRequest& r) { r.dimensions = 6; });
  refused("none", [](TensorRequest& r) { r.dimensions = 0; });
  refused("a size of 0", [&](TensorRequest& r) { r.sizes = none; });
  refused("a stride of 250", [&](TensorRequest& r) { r.strides = odd; });
  refused("a stride of 2^40", [&](TensorRequest& r) { r.strides = far; });
  refused("a box of 257", [&](TensorRequest& r) { r.box = wide; });
  refused("a row of 12 bytes", [&](TensorRequest& r) { r.box = uneven; });
  refused("a step of 0", [&](TensorRequest& r) { r.element_strides = still; });
  refused("a step of 9", [&](TensorRequest& r) { r.element_strides = leaps; });
  refused("a row beyond its swizzle", [&](TensorRequest& r) { r.box = row, r.swizzle = 3; });
  refused("a swizzle of later GPUs", [](TensorRequest& r) { r.swizzle = 4; });
  refused("NaN for integers", [](TensorRequest& r) { r.type = kU32, r.fill = 1; });
  refused("slices in two dimensions", [](TensorRequest& r) { r.dimensions = 2, r.interleave = 1; });
  refused("32-byte slices without their swizzle", [](TensorRequest& r) { r.interleave = 2; });
}

TEST(TensorMaps, PixelsBeforeABoxAreThoseOfTheModeAlongTheWidth) {
  // Images of 10 pixels in a row: with one dimension of pixels, both modes are the same.
  const uint64_t sizes[] = {16, 10, 40}, strides[] = {32, 320};
  const auto places = [&](exec::ImageMode wide, uint32_t step, int lower, int upper, int32_t w) {
    const uint32_t steps[] = {1, step, 1};
    TensorRequest r;
    r.type = 6;  // f16
    r.swizzle = 1;
    r.dimensions = 3;
    r.address = 0x10000;
    r.sizes = sizes;
    r.strides = strides;
    r.element_strides = steps;
    r.im2col = true;
    r.wide = wide;
    r.lower = &lower;
    r.upper = &upper;
    r.channels = 16;
    r.pixels = 30;
    exec::TensorMap map;
    EXPECT_TRUE(exec::encode(r, &map));
    const int32_t first[] = {0, w, 3};
    const exec::TensorBox box(map, first, {});
    std::vector<uint64_t> all;
    for (uint32_t piece = 0; piece < exec::TensorBox::pieces_of(map); ++piece) {
      std::array<uint64_t, exec::TensorBox::kPiece> addresses{};
      const uint32_t count = box.elements(piece, addresses);
      all.insert(all.end(), addresses.begin(), addresses.begin() + count);
    }
    return all;
  };
  for (const uint32_t step : {1u, 2u, 3u})
    for (const int lower : {-2, 0, 1})
      for (const int upper : {-2, 0, 1})
        for (const int32_t w : {-25, -4, -3, -2, -1, 0, 1, 5, 12})
          EXPECT_EQ(places(exec::ImageMode::kNone, step, lower, upper, w),
                    places(exec::ImageMode::kWidth, step, lower, upper, w))
              << step << " " << lower << " " << upper << " " << w;
}

}  // namespace
}  // namespace nearwarp::runtime
