// Are clusters of thread blocks executed as the PTX ISA says?
#include <gtest/gtest.h>

#include "host/functional/device/virtual_device.h"

namespace nearwarp::runtime {
namespace {

// Every block leaves its linear index in its shared memory; its neighbour in the cluster reads it.
// The last word that a block writes is its rank as getctarank has it.
constexpr const char* kPtx = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry rotate(.param .u64 out)
DIRECTIVES
{
  .reg .b64 %o, %a, %g;
  .reg .b32 %i, %n, %r, %m, %v, %t, %w;
  .shared .align 4 .b8 word[4];
  ld.param.u64 %o, [out];
  mov.u32 %i, %ctaid.y;
  mov.u32 %n, %nctaid.x;
  mov.u32 %v, %ctaid.x;
  mad.lo.u32 %i, %i, %n, %v;
  st.shared.u32 [word], %i;
  barrier.cluster.arrive.release.aligned;
  mov.u32 %r, %cluster_ctarank;
  mov.u32 %m, %cluster_nctarank;
  add.u32 %t, %r, 1;
  rem.u32 %t, %t, %m;
  mov.u32 %w, word;
  mapa.shared::cluster.u32 %w, %w, %t;
  barrier.cluster.wait.acquire.aligned;
  ld.shared::cluster.u32 %v, [%w];
  getctarank.shared::cluster.u32 %t, %w;
  cvta.shared.u64 %g, word;
  getctarank.u64 %m, %g;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mad.wide.u32 %a, %i, 12, %o;
  st.global.u32 [%a], %v;
  st.global.u32 [%a+4], %t;
  st.global.u32 [%a+8], %m;
  ret;
}
)";

struct Fixture {
  VirtualDevice device;
  uint32_t module;
  explicit Fixture(const std::string& directives = "") {
    std::string text = kPtx;
    text.replace(text.find("DIRECTIVES"), 10, directives);
    module = device.load_module(
        std::make_shared<compiler::Program>(compiler::compile_ptx(text, "clusters.ptx")));
  }
};

/// Expects the results of `rotate` in a grid of 6 by 4 with clusters of 3 by 2, or of one block.
void expect_rotated(const std::vector<uint32_t>& out, bool clusters) {
  for (uint32_t y = 0; y < 4; ++y)
    for (uint32_t x = 0; x < 6; ++x) {
      const uint32_t* at = &out[3 * (y * 6 + x)];
      const uint32_t rank = clusters ? x % 3 + 3 * (y % 2) : 0;
      const uint32_t next = clusters ? (rank + 1) % 6 : 0;
      const uint32_t nx = clusters ? x / 3 * 3 + next % 3 : x;
      const uint32_t ny = clusters ? y / 2 * 2 + next / 3 : y;
      EXPECT_EQ(at[0], ny * 6 + nx) << x << ", " << y;
      EXPECT_EQ(at[1], next) << x << ", " << y;
      EXPECT_EQ(at[2], rank) << x << ", " << y;
    }
}

TEST(Clusters, BlocksReadEachOthersSharedMemory) {
  Fixture f;
  const DevicePtr out = f.device.upload(std::vector<uint32_t>(72));
  f.device.launch_clusters(f.module, "rotate", {6, 4}, {1}, {3, 2, 1}, 0, KernelArgs(out));
  expect_rotated(f.device.download<uint32_t>(out, 72), true);
  f.device.launch(f.module, "rotate", {6, 4}, {1}, 0, KernelArgs(out));
  expect_rotated(f.device.download<uint32_t>(out, 72), false);
  const Recording r = f.device.take_recording("clusters");
  ASSERT_EQ(r.launches.size(), 2u);
  for (const LaunchRecord& launch : r.launches) EXPECT_EQ(launch.blocks_recorded, 24u);
}

TEST(Clusters, DirectivesOfTheKernelCount) {
  {
    Fixture f(".explicitcluster\n.reqnctapercluster 3, 2, 1");
    const DevicePtr out = f.device.upload(std::vector<uint32_t>(72));
    f.device.launch(f.module, "rotate", {6, 4}, {1}, 0, KernelArgs(out));
    expect_rotated(f.device.download<uint32_t>(out, 72), true);
  }
  Fixture f(".reqntid 1\n.blocksareclusters\n.explicitcluster\n.reqnctapercluster 3, 2, 1");
  const DevicePtr out = f.device.upload(std::vector<uint32_t>(72));
  f.device.launch(f.module, "rotate", {2, 2}, {1}, 0, KernelArgs(out));
  expect_rotated(f.device.download<uint32_t>(out, 72), true);
}

TEST(Clusters, ImpossibleOnesAreRefused) {
  Fixture f;
  const DevicePtr out = f.device.upload(std::vector<uint32_t>(72));
  for (const Dim3 cluster : {Dim3{4, 1, 1}, Dim3{6, 4, 1}, Dim3{1, 3, 1}})
    EXPECT_THROW(
        f.device.launch_clusters(f.module, "rotate", {6, 4}, {1}, cluster, 0, KernelArgs(out)),
        Error);
}

}  // namespace
}  // namespace nearwarp::runtime
