// Are four rows of a plane, each at its own place, copied to shared memory and back as the PTX ISA
// has it (tile::gather4, tile::scatter4)?
#include <gtest/gtest.h>

#include <string>

#include "host/functional/device/virtual_device.h"
#include "host/recording/trace_replay.h"
#include "tests/runtime/plane_map.h"

namespace nearwarp::runtime {
namespace {

constexpr uint32_t kWidth = 96, kHeight = 20;  // of f16

/// Gathers rows into shared memory, copies that to `out`, and scatters the rows to a second plane.
const char* const kText = R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128], .param .u64 out,
                  .param .u32 bytes)
{
  .reg .b64 %m, %o, %x; .reg .b32 %t, %r<10>, %n, %v; .reg .pred %p, %q;
  .shared .align 1024 .b8 tile[1024]; .shared .align 8 .b64 bar;
  ld.param.u64 %o, [out]; ld.param.u32 %n, [bytes];
  mov.u32 %t, %tid.x; setp.ne.u32 %p, %t, 0;
  mov.u32 %r1, 3; mov.u32 %r2, 17; mov.u32 %r3, 25; mov.u32 %r4, 0; mov.u32 %r0, 32;
  @%p bra begun;
  mbarrier.init.shared::cta.b64 [bar], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %n;
  mov.b64 %m, from; cvta.param.u64 %m, %m;
  cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes
    [tile], [%m, {%r0, %r1, %r2, %r3, %r4}], [bar];
begun:
  bar.sync 0;
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %q, [bar], 0;
  @!%q bra wait;
  mov.u32 %v, tile; mad.lo.u32 %v, %t, 4, %v; ld.shared.u32 %r5, [%v];
  mul.wide.u32 %x, %t, 4; add.u64 %x, %o, %x; st.global.u32 [%x], %r5;
  fence.proxy.async.shared::cta; bar.sync 0;
  @%p bra done;
  mov.b64 %m, to; cvta.param.u64 %m, %m;
  mov.u32 %r1, 9; mov.u32 %r2, 1; mov.u32 %r3, 19; mov.u32 %r4, 200; mov.u32 %r0, 0;
  cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group
    [%m, {%r0, %r1, %r2, %r3, %r4}], [tile];
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
done:
  ret;
}
)";

TEST(FourRows, AreGatheredAndScattered) {
  for (const uint32_t swizzle : {0u, 3u}) {  // none, 128 bytes
    const uint32_t box = swizzle == 0 ? 48 : 64, row_bytes = box * 2;
    VirtualDevice d;
    const uint32_t module = d.load_module(
        std::make_shared<const compiler::Program>(compiler::compile_ptx(kText, "rows.ptx")));
    std::vector<uint16_t> plane(kWidth * kHeight);
    for (size_t i = 0; i < plane.size(); ++i) plane[i] = static_cast<uint16_t>(i + 1);
    const DevicePtr from = d.upload(plane), to = d.allocate(plane.size() * 2),
                    out = d.allocate(1024);
    const PlaneMap source(from, 6, kWidth, kHeight, box, 1, swizzle);
    const PlaneMap target(to, 6, kWidth, kHeight, box, 1, swizzle);
    d.launch(module, "k", {1}, {4 * row_bytes / 4}, 0,
             KernelArgs(source, target, out, 4 * row_bytes));
    const auto shared = d.download<uint16_t>(out, 4 * box);
    const auto there = d.download<uint16_t>(to, plane.size());
    constexpr uint32_t kFrom[] = {3, 17, 25, 0}, kTo[] = {9, 1, 19, 200};
    const auto element = [&](uint32_t row, uint32_t x) -> uint16_t {  // from column 32 on
      return kFrom[row] < kHeight && x + 32 < kWidth ? plane[kFrom[row] * kWidth + x + 32] : 0;
    };
    for (uint32_t r = 0; r < 4; ++r)
      for (uint32_t x = 0; x < box; ++x) {
        const uint32_t piece = swizzle == 0 ? x / 8 : x / 8 ^ r;
        EXPECT_EQ(shared[r * box + piece * 8 + x % 8], element(r, x))
            << swizzle << " " << r << " " << x;
      }
    for (uint32_t y = 0; y < kHeight; ++y)
      for (uint32_t x = 0; x < kWidth; ++x) {
        uint16_t want = 0;
        for (uint32_t r = 0; r < 4; ++r)
          if (kTo[r] == y && x < box) want = element(r, x);
        ASSERT_EQ(there[y * kWidth + x], want) << swizzle << " " << y << " " << x;
      }
    validate(d.take_recording(""));
  }
}

TEST(FourRows, AreAddedToWhatIsThere) {
  std::string text = kText;
  const std::string store = "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group";
  text.replace(text.find(store), store.size(),
               "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile::scatter4.bulk_group");
  VirtualDevice d;
  const uint32_t module = d.load_module(
      std::make_shared<const compiler::Program>(compiler::compile_ptx(text, "rows.ptx")));
  std::vector<uint32_t> plane(kWidth * kHeight), before(plane.size());
  for (size_t i = 0; i < plane.size(); ++i) {
    plane[i] = static_cast<uint32_t>(i + 1);
    before[i] = static_cast<uint32_t>(1000 * i);
  }
  constexpr uint32_t kBox = 32, kBytes = kBox * 4;
  const DevicePtr from = d.upload(plane), to = d.upload(before), out = d.allocate(1024);
  const PlaneMap source(from, 2, kWidth, kHeight, kBox, 1, 0);  // of u32
  const PlaneMap target(to, 2, kWidth, kHeight, kBox, 1, 0);
  d.launch(module, "k", {1}, {4 * kBytes / 4}, 0, KernelArgs(source, target, out, 4 * kBytes));
  const auto there = d.download<uint32_t>(to, plane.size());
  constexpr uint32_t kFrom[] = {3, 17, 25, 0}, kTo[] = {9, 1, 19, 200};
  for (uint32_t y = 0; y < kHeight; ++y)
    for (uint32_t x = 0; x < kWidth; ++x) {
      uint32_t want = before[y * kWidth + x];
      for (uint32_t r = 0; r < 4; ++r)
        if (kTo[r] == y && x < kBox && kFrom[r] < kHeight)
          want += plane[kFrom[r] * kWidth + x + 32];
      ASSERT_EQ(there[y * kWidth + x], want) << y << " " << x;
    }
  validate(d.take_recording(""));
}

TEST(FourRows, ABoxOfSeveralRowsIsRefused) {
  VirtualDevice d;
  const uint32_t module = d.load_module(
      std::make_shared<const compiler::Program>(compiler::compile_ptx(kText, "rows.ptx")));
  const DevicePtr plane = d.allocate(kWidth * kHeight * 2), out = d.allocate(1024);
  const PlaneMap source(plane, 6, kWidth, kHeight, 48, 4, 0);
  EXPECT_THROW(d.launch(module, "k", {1}, {96}, 0, KernelArgs(source, source, out, 384u)),
               std::exception);
}

}  // namespace
}  // namespace nearwarp::runtime
