// Small hand-made programs with events that are rare in the workloads: barriers of parts of a
// block, bank conflicts, fences, divergence, atomics on few lines, candidates of one and of many
// iterations, several launches, asynchronous copies.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "tests/sim/whole_machine.h"

namespace nearwarp::testing {

inline const std::map<std::string, std::string>& hand_made_texts() {
  static const std::map<std::string, std::string> texts{{"hand-made-barriers", R"(
.visible .entry k(.param .u64 data) {
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<6>; .reg .f32 %f<4>;
  .shared .align 4 .b8 tile[8192];
  ld.param.u64 %rd1, [data];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 256, %r1;
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  shl.b32 %r4, %r1, 3;
  and.b32 %r4, %r4, 2047;
  shl.b32 %r4, %r4, 2;
  mov.u32 %r5, tile;
  add.u32 %r6, %r5, %r4;
  st.shared.f32 [%r6], %f1;
  bar.sync 0;
  mov.u32 %r7, 0;
L1:
  setp.lt.u32 %p1, %r1, 128;
  @%p1 bra L2;
  bar.sync 1, 128;
  ld.shared.f32 %f2, [%r6];
  sin.approx.f32 %f2, %f2;
  bra L3;
L2:
  bar.sync 2, 128;
  ld.shared.f32 %f2, [%r5];
  fma.rn.f32 %f2, %f2, %f1, %f1;
L3:
  membar.gl;
  add.f32 %f1, %f1, %f2;
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p2, %r7, 4;
  @%p2 bra L1;
  bar.sync 0;
  st.global.f32 [%rd3], %f1;
  ret;
})"},
                                                        {"hand-made-copies", R"(
.visible .entry k(.param .u64 data) {
  .reg .pred %p<4>; .reg .b32 %r<18>; .reg .b64 %rd<8>;
  .shared .align 128 .b8 tile[8192];
  .shared .align 128 .b8 out[4096];
  .shared .align 8 .b8 bars[16];
  ld.param.u64 %rd1, [data];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  and.b32 %r3, %r2, 31;
  mul.wide.u32 %rd2, %r3, 16384;
  add.u64 %rd3, %rd1, %rd2;
  mov.u32 %r4, tile;
  mov.u32 %r5, bars;
  mov.u32 %r6, out;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra BEGUN;
  mbarrier.init.shared.b64 [%r5], 1;
  mbarrier.init.shared.b64 [%r5+8], 1;
BEGUN:
  bar.sync 0;
  mov.u32 %r7, 0;
LOOP:
  and.b32 %r8, %r7, 1;
  shl.b32 %r9, %r8, 3;
  add.u32 %r10, %r5, %r9;
  shl.b32 %r11, %r8, 12;
  add.u32 %r12, %r4, %r11;
  @%p1 bra WAIT;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 4096;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r12], [%rd3], 4096, [%r10];
WAIT:
  shr.u32 %r13, %r7, 1;
  and.b32 %r13, %r13, 1;
TRY:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r10], %r13;
  @!%p2 bra TRY;
  shl.b32 %r14, %r1, 2;
  add.u32 %r12, %r12, %r14;
  ld.shared.u32 %r15, [%r12];
  add.u32 %r15, %r15, 1;
  add.u32 %r16, %r6, %r14;
  st.shared.u32 [%r16], %r15;
  bar.sync 0;
  @%p1 bra NEXT;
  cp.async.bulk.global.shared::cta.bulk_group [%rd3+524288], [%r6], 1024;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
NEXT:
  bar.sync 0;
  add.u64 %rd3, %rd3, 4096;
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p3, %r7, 4;
  @%p3 bra LOOP;
  mul.wide.u32 %rd4, %r1, 4;
  add.u64 %rd5, %rd1, %rd4;
  add.u32 %r17, %r4, %r14;
  cp.async.ca.shared.global [%r17], [%rd5], 4;
  cp.async.commit_group;
  cp.async.ca.shared.global [%r17+4096], [%rd5+4096], 4;
  cp.async.commit_group;
  cp.async.wait_group 1;
  ld.shared.u32 %r15, [%r17];
  st.global.u32 [%rd5+1024], %r15;
  cp.async.wait_all;
  ret;
})"},
                                                        {"hand-made-stores", R"(
.visible .entry k(.param .u64 data) {
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .f32 %f<6>;
  ld.param.u64 %rd1, [data];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 256, %r1;
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd3, %rd1, %rd2;
  and.b32 %r8, %r3, 15;
  mov.u32 %r7, 0;
  mov.f32 %f2, 0f00000000;
L1:
  ld.global.f32 %f1, [%rd3];
  add.f32 %f2, %f2, %f1;
  ld.global.f32 %f3, [%rd3+131072];
  add.f32 %f2, %f2, %f3;
  st.global.f32 [%rd3+262144], %f2;
  add.u64 %rd3, %rd3, 8192;
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p1, %r7, %r8;
  @%p1 bra L1;
  st.global.f32 [%rd3], %f2;
  ret;
})"},
                                                        {"hand-made-atomics", R"(
.visible .entry k(.param .u64 data) {
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [data];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 256, %r1;
  mul.lo.u32 %r4, %r3, 2654435;
  and.b32 %r4, %r4, 1023;
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd3, %rd1, %rd2;
  atom.global.add.u32 %r5, [%rd3], 1;
  and.b32 %r6, %r5, 1;
  setp.eq.u32 %p1, %r6, 0;
  @%p1 red.global.add.u32 [%rd1], 1;
  ret;
})"}};
  return texts;
}

inline bool is_hand_made(const std::string& program) {
  return hand_made_texts().count(program) != 0;
}

/// Three launches of the program's kernel, 40, 200 and 7 thread blocks of 256 threads; recorded
/// once per process.
inline const runtime::Recording& hand_made(const std::string& program) {
  static std::map<std::string, std::unique_ptr<runtime::Recording>> kept;
  auto& r = kept[program];
  if (!r) {
    PtxDevice d(hand_made_texts().at(program));
    constexpr uint64_t kBytes = 1 << 20;
    const uint64_t data = d.device.allocate(kBytes);
    const std::vector<std::byte> zeros(kBytes);
    d.device.copy_to_device(data, zeros.data(), zeros.size());
    for (const uint32_t blocks : {40u, 200u, 7u})
      d.device.launch(d.module, "k", {blocks}, {256}, 0, runtime::KernelArgs(data));
    r = std::make_unique<runtime::Recording>(d.record(program));
  }
  return *r;
}

}  // namespace nearwarp::testing
