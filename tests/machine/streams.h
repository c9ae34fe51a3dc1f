// Streams of loads of lines in one stack (or above one core) for each block.
#pragma once

#include <bit>

#include "tests/machine/one_load.h"

namespace nearwarp::testing {

/// Lines that an instruction of a warp loads: so many consecutive ones of a stack are hashed alike.
constexpr uint32_t kAtOnce = 8;

/// `blocks` blocks of 32 warps, in turns on the SMs, `sms_each` (a power of two) of which lie in a
/// stack. A warp loads `lines_each` (a multiple of 8) whole lines that no other loads, all in the
/// stack that lies `away` from its own.
struct Streams {
  uint32_t blocks, sms_each, lines_each, away;
};

inline runtime::Recording record(const Streams& s, const config::MachineConfig& machine) {
  const AddressMap map = sim::machine_address_map(machine);
  PtxDevice d(R"(
.visible .entry k(.param .u64 data, .param .u32 rounds, .param .u32 away, .param .u32 sm_bits,
                  .param .u32 low, .param .u32 stack_bits, .param .u32 vault_bits,
                  .param .u32 hashed, .param .u32 first, .param .u64 stride) {
  .reg .pred %p<2>; .reg .b32 %r<28>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [rounds];
  ld.param.u32 %r2, [away];
  ld.param.u32 %r3, [sm_bits];
  ld.param.u32 %r4, [low];
  ld.param.u32 %r5, [stack_bits];
  ld.param.u32 %r6, [vault_bits];
  ld.param.u32 %r7, [hashed];
  ld.param.u32 %r15, [first];
  ld.param.u64 %rd4, [stride];
  mov.u32 %r8, %ctaid.x;
  shr.u32 %r9, %r8, %r3;       // the block's stack
  add.u32 %r9, %r9, %r2;       // and the one that it reads from
  mov.u32 %r10, 32;
  shl.b32 %r13, %r10, %r3;     // warps of a stack
  shl.b32 %r11, %r8, 5;
  sub.u32 %r14, %r13, 1;
  and.b32 %r11, %r11, %r14;
  mov.u32 %r12, %tid.x;
  shr.u32 %r14, %r12, 5;
  add.u32 %r11, %r11, %r14;    // the warp among them
  shl.b32 %r11, %r11, 3;
  shl.b32 %r13, %r13, 3;
  add.u32 %r11, %r11, %r15;    // its first line within the stack
  mov.u32 %r10, 1;
  shl.b32 %r14, %r10, %r5;
  sub.u32 %r14, %r14, 1;       // of a stack's number
  and.b32 %r12, %r12, 31;
  shr.u32 %r12, %r12, 2;       // four lanes for each of eight lines
  cvt.u64.u32 %rd3, %r12;
  mul.lo.u64 %rd3, %rd3, %rd4;
  add.u64 %rd1, %rd1, %rd3;
L1:
  shr.u32 %r17, %r11, %r6;
  shr.u32 %r18, %r17, 16;
  xor.b32 %r17, %r17, %r18;
  shr.u32 %r18, %r17, 8;
  xor.b32 %r17, %r17, %r18;
  shr.u32 %r18, %r17, 4;
  xor.b32 %r17, %r17, %r18;
  shr.u32 %r18, %r17, 2;
  xor.b32 %r17, %r17, %r18;
  and.b32 %r17, %r17, %r7;     // what the hash makes of it
  xor.b32 %r17, %r17, %r9;
  and.b32 %r17, %r17, %r14;
  shl.b32 %r17, %r17, %r4;
  shr.u32 %r18, %r11, %r4;
  add.u32 %r16, %r4, %r5;
  shl.b32 %r18, %r18, %r16;
  or.b32 %r17, %r17, %r18;
  mul.wide.u32 %rd2, %r17, 128;
  add.u64 %rd2, %rd2, %rd1;
  ld.global.u32 %r19, [%rd2];
  add.u32 %r11, %r11, %r13;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra L1;
  ret;
})");
  d.device.allocate(uint64_t{1} << 26);
  const uint32_t hashed = map.hash_stack != 0 ? 3 : 0;
  const bool known = (hashed == 0 || map.stack_bits == 2) &&  // bits are folded in pairs
                     (map.stack_shift == 0 ? map.vault_bits >= 3 : map.stack_shift >= 3);
  if (!known) throw Error("lines of this map are not known here");
  const uint64_t stride = machine.l1.line_bytes << (map.stack_shift == 0 ? map.stack_bits : 0);
  d.device.launch(d.module, "k", {s.blocks}, {1024}, 0,
                  runtime::KernelArgs(exec::kDeviceBase, s.lines_each / kAtOnce, s.away,
                                      static_cast<uint32_t>(std::countr_zero(s.sms_each)),
                                      map.stack_shift, map.stack_bits, map.vault_bits, hashed,
                                      kFirstLine >> map.stack_bits, stride));
  return d.record();
}

/// The rate in MB/s of the lines that all loads together wanted.
inline double mbps(const Streams& s, const config::MachineConfig& machine,
                   const report::RunResult& r) {
  const double bytes = 32.0 * s.blocks * s.lines_each * machine.l1.line_bytes;
  return bytes * machine.clocks.core_mhz / static_cast<double>(r.cycles);
}

}  // namespace nearwarp::testing
