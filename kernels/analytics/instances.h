// Where the instances of offloading candidates are in traces, and which memory they access.
//
// An instance is one execution of a candidate by one warp (TOM, section 3.2.1): the warp comes to
// the candidate's first instruction from outside, and the instance ends when the warp's next
// instruction does not belong to the candidate; the same rule as tom::look_at()'s. Where candidates
// are decided on in every round of their loops, an instance is a round. It counts if its condition
// holds and it accesses global memory; where the condition does not hold, instances of the
// candidates within count.
#pragma once

#include "device/mechanisms/tom/program.h"

namespace nearwarp::analytics {

using sm::Access;
using sm::Cursor;

/// One static instruction that leaves memory records.
struct MemoryInstr {
  uint32_t pc = 0;
  uint8_t guarded = 0;
  uint8_t elsewhere = 0;  ///< of shared memory, or a constant: nothing that mappings are about
};

/// Facts of a basic block that are known beforehand, so that most need no look at instructions.
struct BlockFacts {
  uint32_t first_memory = 0;  ///< index into the table of memory instructions
  uint16_t num_memory = 0;
  uint8_t has_begin = 0;  ///< an instance begins somewhere in it
  uint8_t uniform = 0;    ///< all its instructions belong to the same candidates
};

/// Traces of some warps of one launch, with the tables that explain them.
struct TraceSpan {
  const uint64_t* words = nullptr;
  const uint32_t* warp_offset = nullptr;  ///< by warp
  uint32_t num_warps = 0;
  uint32_t first_block = 0;  ///< of the launch's kernel, see sm::KernelInfo
  sm::ProgramImage image;
  tom::ProgramTables program;
  const BlockFacts* blocks = nullptr;  ///< by block of the image
  const MemoryInstr* memory = nullptr;
};

NW_HD inline void leave_blocks(const TraceSpan& t, Cursor& c) {
  sm::settle(c, t.words, t.image, t.first_block);
}

/// Pass one record; visit(pc, access) if it is an access to global memory.
template <class F>
NW_HD NW_INLINE void pass_record(const TraceSpan& t, Cursor& c, const MemoryInstr& in, F& visit) {
  const Access a = sm::read_access(t.words, c.trace_pos, c.mask, in.guarded != 0);
  c.trace_pos = a.next;
  if (a.mask == 0 || in.elsewhere != 0) return;
  if ((trace::record_base(t.words[a.record]) & trace::kSharedWindow) != 0) return;
  visit(in.pc, a);
}

/// Pass the records that this execution of the block still leaves.
template <class F>
NW_HD NW_INLINE void pass_block(const TraceSpan& t, Cursor& c, const BlockFacts& b, F& visit) {
  const MemoryInstr* in = t.memory + b.first_memory;
  for (uint32_t k = 0; k < b.num_memory; ++k)
    if (in[k].pc >= c.pc) pass_record(t, c, in[k], visit);
  c.pc = c.end;
}

struct IgnoreAccess {
  NW_HD void operator()(uint32_t, const Access&) {}
};

/// Pass the memory record of the instruction at the cursor, if it leaves one, and the instruction.
template <class F>
NW_HD NW_INLINE void pass_instr(const TraceSpan& t, Cursor& c, const BlockFacts& b, F& visit) {
  if ((t.image.instrs[c.pc].flags & sm::kHasRecord) != 0) {
    const MemoryInstr* in = t.memory + b.first_memory;
    while (in->pc != c.pc) ++in;
    pass_record(t, c, *in, visit);
  }
  c.pc += 1;
}

/// Walks from wherever the warp is outside of candidates to the next beginning of one. Returns
/// false if there is none.
NW_HD inline bool find_begin(const TraceSpan& t, Cursor& c) {
  IgnoreAccess ignore;
  while (c.pc != sm::kEndOfTrace) {
    const BlockFacts& b = t.blocks[c.block];
    if (b.has_begin == 0) {
      if (b.num_memory == 0) c.repeats = 0;
      pass_block(t, c, b, ignore);
    } else {
      if (t.program.instance_begins(c.pc)) return true;
      pass_instr(t, c, b, ignore);
    }
    leave_blocks(t, c);
  }
  return false;
}

/// Walks from the first instruction of an instance of candidate `id` to the one after its last.
template <class F>
NW_HD inline void pass_instance(const TraceSpan& t, Cursor& c, uint16_t id, F& visit) {
  bool first = true;
  while (c.pc != sm::kEndOfTrace && t.program.is_in(c.pc, id) &&
         (first || !t.program.round_begins(c.pc))) {
    first = false;
    const BlockFacts& b = t.blocks[c.block];
    if (b.uniform != 0) {
      if (b.num_memory == 0) c.repeats = 0;
      pass_block(t, c, b, visit);
    } else {
      pass_instr(t, c, b, visit);
    }
    leave_blocks(t, c);
  }
}

/// Does the condition of candidate `id` hold for a warp that stands at `c`?
NW_HD inline bool is_long_enough(const TraceSpan& t, const Cursor& c, uint16_t id) {
  const uint32_t threshold = t.program.candidates[id].threshold;
  if (threshold == 0) return true;
  const sm::WarpTrace trace{t.words, t.image, t.first_block};
  return tom::iterations_ahead(c, trace, t.program, id, threshold) >= threshold;
}

struct NoteAccess {
  uint32_t found = 0;
  NW_HD void operator()(uint32_t, const Access&) { found = 1; }
};

/// The candidate whose instance begins at `c` and counts: that of a block where the
/// loop around it is not long enough.
NW_HD inline uint16_t candidate_of_instance(const TraceSpan& t, const Cursor& c) {
  const uint16_t inner = t.program.inner_beginning(c.pc), id = t.program.candidate_at(c.pc);
  if (inner == tom::kNoCandidate) return id;
  return t.program.instance_begins(c.pc) && is_long_enough(t, c, id) ? id : inner;
}

/// An instance of candidate `id` that is not long enough: those of its blocks count. `c`: as in
/// pass_instance().
template <class F>
NW_HD inline void pass_short(const TraceSpan& t, Cursor& c, uint16_t id, F& found) {
  IgnoreAccess ignore;
  bool first = true;
  while (c.pc != sm::kEndOfTrace && t.program.candidate_at(c.pc) == id &&
         (first || !t.program.round_begins(c.pc))) {
    first = false;
    const uint16_t inner = t.program.inner_beginning(c.pc);
    if (inner == tom::kNoCandidate) {
      pass_instr(t, c, t.blocks[c.block], ignore);
      leave_blocks(t, c);
      continue;
    }
    const Cursor begin = c;
    NoteAccess access;
    pass_instance(t, c, inner, access);
    if (access.found != 0) found(begin);
  }
}

/// Call found(cursor at the first instruction) for every instance of the warp that counts, in
/// order.
template <class F>
NW_HD inline void each_instance(const TraceSpan& t, uint32_t warp, F& found) {
  Cursor c;
  c.trace_pos = t.warp_offset[warp];
  sm::fetch_first(c, t.words, t.image, t.first_block);
  while (find_begin(t, c)) {
    const Cursor begin = c;
    const uint16_t id = t.program.candidate_at(c.pc);
    const bool holds = is_long_enough(t, c, id);
    if (!holds && t.program.inner_of != nullptr) {
      pass_short(t, c, id, found);
      continue;
    }
    NoteAccess access;
    pass_instance(t, c, id, access);
    if (holds && access.found != 0) found(begin);
  }
}

/// Write how many instances of a warp count.
struct CountInstances {
  TraceSpan traces;
  uint32_t* to = nullptr;  ///< by warp
  struct Counter {
    uint32_t n = 0;
    NW_HD void operator()(const Cursor&) { n += 1; }
  };
  NW_HD void operator()(uint32_t warp) const {
    Counter count;
    each_instance(traces, warp, count);
    to[warp] = count.n;
  }
};

/// Write where the instances of a warp begin; the warp's first one has number first[warp]. Numbers
/// from `limit` on are left out.
struct ListInstances {
  TraceSpan traces;
  const uint32_t* first = nullptr;
  uint32_t limit = 0;
  Cursor* begins = nullptr;
  struct Writer {
    Cursor* begins;
    uint32_t at, limit;
    NW_HD void operator()(const Cursor& c) {
      if (at < limit) begins[at] = c;
      at += 1;
    }
  };
  NW_HD void operator()(uint32_t warp) const {
    if (first[warp] >= limit) return;
    Writer write{begins, first[warp], limit};
    each_instance(traces, warp, write);
  }
};

}  // namespace nearwarp::analytics
