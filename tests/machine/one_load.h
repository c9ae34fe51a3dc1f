// Runs one load in an idle machine, and finds lines by stack and vault.
#pragma once

#include "host/functional/instructions/decoded.h"
#include "host/timing/machine/baseline_map.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::testing {

/// Where allocations begin.
constexpr uint32_t kFirstLine = (2u << 20) / 128;

/// The first line from kFirstLine on that lies in this vault of this stack (or partition).
inline uint32_t line_of(const config::MachineConfig& machine, uint32_t stack, uint32_t vault) {
  const AddressMap map = sim::machine_address_map(machine);
  uint32_t line = kFirstLine;
  while (map.stack_of(line) != stack || map.vault_of(line) != vault) ++line;
  return line;
}

/// Runs a launch of at + 1 blocks, of which the last one loads a word of line `line`. Blocks go to
/// the SMs in turns.
inline report::RunResult one_load(const config::MachineConfig& machine, uint32_t at,
                                  uint32_t line) {
  PtxDevice d(R"(
.visible .entry k(.param .u64 data, .param .u32 at) {
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u32 %r1, [at];
  mov.u32 %r2, %ctaid.x;
  setp.ne.u32 %p1, %r1, %r2;
  @%p1 bra L1;
  ld.param.u64 %rd1, [data];
  ld.global.u32 %r3, [%rd1];
L1:
  ret;
})");
  d.device.allocate(uint64_t{1} << 24);
  d.device.launch(
      d.module, "k", {at + 1}, {1}, 0,
      runtime::KernelArgs(exec::kDeviceBase + uint64_t{line} * machine.l1.line_bytes, at));
  const runtime::Recording recording = d.record();
  return sim::replay_on_cpu(recording, machine, config::load_policy("baseline"), {});
}

}  // namespace nearwarp::testing
