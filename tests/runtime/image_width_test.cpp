// Are pixels along the width of images copied as the PTX ISA has it (im2col::w, im2col::w::128)?
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "host/functional/device/virtual_device.h"
#include "host/functional/instructions/tensor_map.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::runtime {
namespace {

constexpr int kChannels = 16, kWidth = 9, kHeight = 4, kImages = 40;  // of f16

struct alignas(128) Map {
  exec::TensorMap map;
};

struct Case {
  bool part_of_128 = false;
  int pixels = 20, stride = 1, lower = 0, upper = 0;
  int w = 0, h = 0, n = 0;
  uint32_t more = 0, offset = 0;
  int rows() const {
    return part_of_128 ? 128 + 4 * static_cast<int>(more) : pixels + static_cast<int>(more);
  }
};

std::string text(const Case& c) {
  return std::string(R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .align 64 .b8 from[128], .param .u64 out, .param .u32 bytes,
                  .param .u32 w, .param .u32 h, .param .u32 n)
{
  .reg .b64 %m, %o, %x; .reg .b32 %t, %r<10>, %n, %v, %i, %e; .reg .pred %p, %q; .reg .b16 %more;
  .extern .shared .align 1024 .b8 tile[]; .shared .align 8 .b64 bar;
  ld.param.u64 %o, [out]; ld.param.u32 %n, [bytes]; ld.param.u32 %r1, [w];
  ld.param.u32 %r2, [h]; ld.param.u32 %r3, [n]; mov.u32 %r0, 0; mov.b16 %more, )") +
         std::to_string(c.more) + R"(;
  mov.u32 %t, %tid.x; setp.ne.u32 %p, %t, 0;
  @%p bra begun;
  mbarrier.init.shared::cta.b64 [bar], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %n;
  mov.b64 %m, from; cvta.param.u64 %m, %m;
  cp.async.bulk.prefetch.tensor.4d.L2.global.im2col::w)" +
         (c.part_of_128 ? "::128" : "") + R"( [%m, {%r0, %r1, %r2, %r3}], {%more, 0};
  cp.async.bulk.tensor.4d.shared::cta.global.im2col::w)" +
         (c.part_of_128 ? "::128" : "") + R"(.mbarrier::complete_tx::bytes
    [tile], [%m, {%r0, %r1, %r2, %r3}], [bar], {%more, )" +
         std::to_string(c.offset) + R"(};
begun:
  bar.sync 0;
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %q, [bar], 0;
  @!%q bra wait;
  shl.b32 %i, %t, 2;
again:
  setp.ge.u32 %q, %i, %n; @%q bra done;
  mov.u32 %v, tile; add.u32 %v, %v, %i; ld.shared.u32 %r5, [%v];
  cvt.u64.u32 %x, %i; add.u64 %x, %o, %x; st.global.u32 [%x], %r5;
  add.u32 %i, %i, 128; bra again;
done:
  ret;
}
)";
}

uint16_t pixel(int w, int h, int n, int c) {
  if (w < 0 || w >= kWidth || h < 0 || h >= kHeight || n < 0 || n >= kImages) return 0;
  return static_cast<uint16_t>(((n * kHeight + h) * kWidth + w) * kChannels + c + 1);
}

void expect_pixels(const Case& c, const std::string& what) {
  VirtualDevice d;
  const uint32_t module = d.load_module(
      std::make_shared<const compiler::Program>(compiler::compile_ptx(text(c), "wide.ptx")));
  std::vector<uint16_t> images(size_t{kChannels} * kWidth * kHeight * kImages);
  for (size_t i = 0; i < images.size(); ++i) images[i] = static_cast<uint16_t>(i + 1);
  const uint64_t sizes[] = {kChannels, kWidth, kHeight, kImages};
  const uint64_t strides[] = {kChannels * 2, kChannels * 2 * kWidth,
                              kChannels * 2 * kWidth * kHeight};
  const auto step = static_cast<uint32_t>(c.stride);
  const uint32_t steps[] = {1, step, 1, 1};
  exec::TensorRequest r;
  r.type = 6;
  r.dimensions = 4;
  r.swizzle = 1;
  r.address = d.upload(images);
  r.sizes = sizes;
  r.strides = strides;
  r.element_strides = steps;
  r.im2col = true;
  r.wide = c.part_of_128 ? exec::ImageMode::kWidth128 : exec::ImageMode::kWidth;
  r.lower = &c.lower;
  r.upper = &c.upper;
  r.channels = kChannels;
  r.pixels = static_cast<uint32_t>(c.pixels);
  Map map;
  ASSERT_TRUE(exec::encode(r, &map.map)) << what;
  const uint32_t bytes = static_cast<uint32_t>(c.rows()) * kChannels * 2;
  const DevicePtr out = d.allocate(bytes);
  d.launch(module, "k", {1}, {32}, bytes, KernelArgs(map, out, bytes, c.w, c.h, c.n));
  const auto got = d.download<uint16_t>(out, bytes / 2);
  // As in the PTX ISA's figures: pixel by pixel through the box in a row, then in the next image's
  // rows.
  int w = c.w, n = c.n, row = 0;
  const int part = c.part_of_128 ? 32 : c.pixels;
  const auto expect_row = [&](int x) {
    for (int k = 0; k < kChannels; ++k) {
      const int piece = (k / 8) ^ (row / 4 % 2);  // rows of 32 bytes, four to one of 128
      EXPECT_EQ(got[row * kChannels + piece * 8 + k % 8],
                pixel(x + static_cast<int>(c.offset), c.h, n, k))
          << what << ": row " << row << " channel " << k;
    }
    ++row;
  };
  for (int i = 0; i < (c.part_of_128 ? 128 : c.pixels); ++i) {
    expect_row(w);
    if (i % part == part - 1)
      for (int k = 1; k <= static_cast<int>(c.more); ++k) expect_row(w + k * c.stride);
    w += c.stride;
    if (w > kWidth - 1 + c.upper) {
      w = c.lower;
      ++n;
    }
  }
  EXPECT_EQ(row, c.rows());
  validate(d.take_recording(""));
}

TEST(ImageWidth, PixelsOfARowAfterThoseOfTheImageBefore) {
  expect_pixels({.pixels = 20, .w = 7, .h = 2, .n = 3}, "a box of all");
  expect_pixels({.pixels = 20, .w = 7, .h = 2, .n = 3, .more = 2}, "two more behind the last");
  expect_pixels({.pixels = 20, .lower = -1, .upper = -1, .w = 2, .h = 0, .n = 30}, "a smaller box");
  expect_pixels({.pixels = 33, .w = -2, .h = 1, .more = 1}, "the first one left of the box");
  expect_pixels({.pixels = 30, .w = 0, .h = 3, .n = 38}, "beyond the last image");
}

TEST(ImageWidth, StepsAndOffsets) {
  // The boxes of example 1 in the PTX ISA 9.0, section 5.5.5.4, with fewer pixels.
  const Case first{.pixels = 24, .stride = 2, .lower = -1, .upper = 0, .w = -1, .h = 3, .n = 2};
  Case even = first, odd = first;
  even.more = 1;
  odd.offset = 1;
  expect_pixels(even, "buffer 1");
  expect_pixels(odd, "buffer 2");
}

TEST(ImageWidth, PartsOf32Of128Pixels) {
  expect_pixels({.part_of_128 = true, .w = 7, .h = 2, .n = 3}, "none more");
  expect_pixels({.part_of_128 = true, .w = 7, .h = 2, .n = 3, .more = 2}, "two more behind each");
  expect_pixels({.part_of_128 = true,
                 .pixels = 5,
                 .stride = 3,
                 .lower = -1,
                 .upper = -1,
                 .w = -1,
                 .h = 2,
                 .n = 1,
                 .offset = 2},
                "steps");
}

TEST(ImageWidth, MapsOfOtherModesAreRefused) {
  VirtualDevice d;
  const Case c;
  const uint32_t module = d.load_module(
      std::make_shared<const compiler::Program>(compiler::compile_ptx(text(c), "wide.ptx")));
  const uint64_t sizes[] = {kChannels, kWidth, kHeight, kImages};
  const uint64_t strides[] = {32, 32 * kWidth, 32 * kWidth * kHeight};
  const uint32_t steps[] = {1, 1, 1, 1};
  const int corner[] = {0, 0};
  exec::TensorRequest r;
  r.type = 6;
  r.dimensions = 4;
  r.swizzle = 1;
  r.address = d.allocate(1 << 20);
  r.sizes = sizes;
  r.strides = strides;
  r.element_strides = steps;
  r.im2col = true;
  r.lower = r.upper = corner;
  r.channels = kChannels;
  r.pixels = 20;
  Map map;
  ASSERT_TRUE(exec::encode(r, &map.map));
  const DevicePtr out = d.allocate(4096);
  EXPECT_THROW(d.launch(module, "k", {1}, {32}, 4096, KernelArgs(map, out, 640u, 0, 0, 0)),
               std::exception);
  r.wide = exec::ImageMode::kWidth;
  EXPECT_TRUE(exec::encode(r, &map.map));
  r.swizzle = 0;
  EXPECT_FALSE(exec::encode(r, &map.map)) << "without a swizzle";
}

}  // namespace
}  // namespace nearwarp::runtime
