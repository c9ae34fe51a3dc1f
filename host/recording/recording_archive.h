// Serialises the parts of a recording, for recording files and journals.
#pragma once

#include "host/recording/archive.h"
#include "host/recording/recording.h"

namespace nearwarp::runtime {

template <class A>
void io(A& a, ptx::Modifiers& m) {
  a.bytes(&m, sizeof(m));  // with its layout in memory: kRecordingFormat changes if that changes
}
template <class A>
void io(A& a, compiler::Param& p) {
  io_all(a, p.name, p.type, p.offset, p.size, p.align);
}
template <class A>
void io(A& a, compiler::Register& r) {
  io_all(a, r.name, r.type, r.physical, r.block_local);
}
template <class A>
void io(A& a, compiler::Symbol& s) {
  io_all(a, s.name, s.space, s.offset, s.size);
}
template <class A>
void io(A& a, compiler::Operand& o) {
  io_all(a, o.kind, o.special, o.negated, o.reg, o.symbol, o.bits);
}
template <class A>
void io(A& a, compiler::Instruction& i) {
  io_all(a, i.op, i.guard, i.guard_negated, i.dsts, i.address.base, i.address.symbol,
         i.address.offset, i.targets, i.inlined_call, i.implied, i.ptx_line, i.source_file,
         i.source_line);
  io(a, i.mod);
  io(a, i.srcs);
}
template <class A>
void io(A& a, compiler::Block& b) {
  io_all(a, b.first, b.count, b.successors, b.predecessors, b.idom, b.ipdom, b.loop);
}
template <class A>
void io(A& a, compiler::Loop& l) {
  io_all(a, l.header, l.blocks, l.latches, l.parent, l.depth);
}
template <class A>
void io(A& a, compiler::Kernel& k) {
  io_all(a, k.name, k.code, k.unsupported, k.param_bytes, k.static_shared_bytes, k.local_bytes,
         k.num_physical, k.machine_code.source, k.machine_code.architecture,
         k.machine_code.per_thread, k.num_predicates, k.bounds.max_threads, k.bounds.min_blocks,
         k.bounds.max_registers, k.live_in, k.live_out, k.source_files);
  io(a, k.params);
  io(a, k.registers);
  io(a, k.symbols);
  io(a, k.instructions);
  io(a, k.blocks);
  io(a, k.loops);
}
template <class A>
void io(A& a, Dim3& d) {
  io_all(a, d.x, d.y, d.z);
}
template <class A>
void io(A& a, LaunchRecord& l) {
  io(a, l.grid);
  io(a, l.block);
  io(a, l.cluster);
  io_all(a, l.kernel, l.shared_bytes, l.parameters, l.first_chunk, l.num_chunks, l.blocks_recorded,
         l.warp_instructions, l.thread_instructions, l.local_base, l.local_bytes, l.after_all,
         l.after, l.stream);
}
template <class A>
void io(A& a, Allocation& x) {
  io_all(a, x.address, x.bytes, x.label);
}
}  // namespace nearwarp::runtime
