// Do liveness, block-local flags and register allocation of real code agree with independent
// definitions?
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/functional/compiler/liveness.h"

namespace nearwarp::compiler::registers_test {
namespace {

// A flat program point is an instruction; its successors by the block structure.
std::vector<std::vector<uint32_t>> instruction_successors(const Kernel& kernel) {
  std::vector<std::vector<uint32_t>> next(kernel.instructions.size());
  for (const Block& block : kernel.blocks) {
    for (uint32_t i = block.first; i + 1 < block.first + block.count; ++i) next[i] = {i + 1};
    for (const BlockId s : block.successors) {
      next[block.first + block.count - 1].push_back(kernel.blocks[s].first);
    }
  }
  return next;
}

bool reads(const Instruction& instr, RegId r) {
  bool found = instr.guard == r || instr.address.base == r;
  for (const Operand& src : instr.srcs) {
    found = found || (src.kind == Operand::Kind::kRegister && src.reg == r);
  }
  return found;
}
bool writes(const Instruction& instr, RegId r) {
  return std::find(instr.dsts.begin(), instr.dsts.end(), r) != instr.dsts.end();
}

// Is `r` live before each instruction? By walking back from every read of it.
std::vector<bool> live_before(const Kernel& kernel, RegId r,
                              const std::vector<std::vector<uint32_t>>& previous) {
  std::vector<bool> live(kernel.instructions.size(), false);
  std::vector<uint32_t> work;
  for (uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    if (!reads(kernel.instructions[i], r)) continue;
    live[i] = true;
    work.push_back(i);
  }
  while (!work.empty()) {
    const uint32_t i = work.back();
    work.pop_back();
    for (const uint32_t p : previous[i]) {
      const bool killed =
          writes(kernel.instructions[p], r) && kernel.instructions[p].guard == kNone;
      if (killed || live[p]) continue;
      live[p] = true;
      work.push_back(p);
    }
  }
  return live;
}

uint32_t units(const Register& r) { return ptx::size_of(r.type) == 8 ? 2 : 1; }

// Checks everything that liveness and allocation promise.
void verify(const Kernel& kernel) {
  SCOPED_TRACE(kernel.name);
  const auto next = instruction_successors(kernel);
  std::vector<std::vector<uint32_t>> previous(kernel.instructions.size());
  for (uint32_t i = 0; i < next.size(); ++i) {
    for (const uint32_t s : next[i]) previous[s].push_back(i);
  }
  // holders[i]: registers that are occupied while instruction i has just finished.
  std::vector<std::vector<RegId>> holders(kernel.instructions.size());
  for (RegId r = 0; r < kernel.registers.size(); ++r) {
    const Register& reg = kernel.registers[r];
    const std::vector<bool> live = live_before(kernel, r, previous);
    std::set<BlockId> homes;
    bool crosses = false;
    for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
      const Block& block = kernel.blocks[b];
      const bool in = live[block.first];
      bool out = false;
      for (const BlockId s : block.successors) out = out || live[kernel.blocks[s].first];
      ASSERT_EQ(in, std::binary_search(kernel.live_in[b].begin(), kernel.live_in[b].end(), r))
          << reg.name << " in B" << b;
      ASSERT_EQ(out, std::binary_search(kernel.live_out[b].begin(), kernel.live_out[b].end(), r))
          << reg.name << " out B" << b;
      crosses = crosses || in || out;
      for (uint32_t i = block.first; i < block.first + block.count; ++i) {
        const Instruction& instr = kernel.instructions[i];
        if (reads(instr, r) || writes(instr, r)) homes.insert(b);
        bool after = writes(instr, r);
        for (const uint32_t s : next[i]) after = after || live[s];
        if (after) holders[i].push_back(r);
      }
    }
    ASSERT_EQ(reg.block_local, !crosses && homes.size() <= 1) << reg.name;
    ASSERT_EQ(reg.physical == kNone, homes.empty()) << reg.name;
    if (reg.physical == kNone) continue;
    if (reg.type == ptx::Type::kPred) {
      ASSERT_LT(reg.physical, kernel.num_predicates);
    } else {
      ASSERT_LE(reg.physical + units(reg), kernel.num_physical);
      ASSERT_EQ(reg.physical % units(reg), 0u) << "pairs are aligned";
    }
  }
  holders.push_back(kernel.live_in[0]);
  for (const std::vector<RegId>& live : holders) {
    std::vector<RegId> owner(kernel.num_physical, kNone), predicates(kernel.num_predicates, kNone);
    for (const RegId r : live) {
      const Register& reg = kernel.registers[r];
      std::vector<RegId>& file = reg.type == ptx::Type::kPred ? predicates : owner;
      for (uint32_t u = reg.physical; u < reg.physical + units(reg); ++u) {
        ASSERT_EQ(file[u], kNone) << reg.name << " and " << kernel.registers[file[u]].name;
        file[u] = r;
      }
    }
  }
  EXPECT_GE(kernel.num_physical, register_pressure(kernel));
}

class Samples : public testing::TestWithParam<const char*> {};

TEST_P(Samples, AllocationIsValid) {
  const Program program = compile_ptx_file(std::string(NW_SOURCE_DIR) + "/" + GetParam());
  size_t checked = 0;
  for (const Kernel& kernel : program.kernels) {
    if (!kernel.unsupported.empty()) continue;
    verify(kernel);
    ++checked;
  }
  EXPECT_GT(checked, 0u);
}

INSTANTIATE_TEST_SUITE_P(Nvcc, Samples,
                         testing::Values("tests/ptx/data/loops.ptx", "tests/ptx/data/calls.ptx",
                                         "tests/ptx/data/warp.ptx", "tests/ptx/data/forms.ptx",
                                         "bench/workloads/bfs/bfs.ptx",
                                         "bench/workloads/libor/libor.ptx",
                                         "bench/workloads/kmeans/kmeans.ptx",
                                         "bench/workloads/reduction/reduction.ptx"));

Kernel compile_body(const std::string& body) {
  const std::string text =
      ".version 9.0\n.target sm_75\n.address_size 64\n.entry k()\n{\n" + body + "\nret;\n}\n";
  return compile_ptx(text, "test.ptx").kernels.at(0);
}

const Register& named(const Kernel& kernel, const std::string& name) {
  for (const Register& r : kernel.registers) {
    if (r.name == name) return r;
  }
  throw std::runtime_error("no register " + name);
}

TEST(Registers, OccupancyCountsThoseOfMachineCodeWhereTheyAreKnown) {
  Kernel kernel;
  kernel.num_physical = 20;
  EXPECT_EQ(source_text(kernel.machine_code), "own allocation");
  EXPECT_EQ(occupancy_registers(kernel, 32768), 20u);
  kernel.machine_code = {RegisterSource::kCubin, 75, 55};
  EXPECT_EQ(source_text(kernel.machine_code), "cubin sm_75");
  EXPECT_EQ(occupancy_registers(kernel, 32768), 55u);
  EXPECT_EQ(occupancy_registers(kernel, 32768, 1024), 32u) << "one block has to fit";
  kernel.bounds.max_threads = 256;
  kernel.bounds.min_blocks = 4;
  EXPECT_EQ(occupancy_registers(kernel, 32768), 32u) << "compiled for this machine, it had these";
  EXPECT_EQ(occupancy_registers(kernel, 65536), 55u);
  kernel.machine_code = {RegisterSource::kPtxas, 90, 12};
  EXPECT_EQ(source_text(kernel.machine_code), "ptxas sm_90");
  EXPECT_EQ(occupancy_registers(kernel, 32768), 12u) << "fewer than our own";
  kernel.machine_code = {RegisterSource::kTrace, 0, 12};
  EXPECT_EQ(source_text(kernel.machine_code), "trace");
}

TEST(Registers, GuardedWritesDoNotEndALife) {
  const Kernel kernel = compile_body(R"(
    .reg .pred %p<2>; .reg .b32 %r<4>;
    mov.u32 %r1, 1;
    setp.eq.u32 %p1, %r1, 5;
    bra NEXT;
  NEXT:
    @%p1 mov.u32 %r1, 2;
    @%p1 mov.u32 %r2, 3;
    add.u32 %r3, %r1, %r2;
    st.global.u32 [16], %r3;)");
  verify(kernel);
  EXPECT_FALSE(named(kernel, "%r1").block_local);
  EXPECT_FALSE(named(kernel, "%r2").block_local);  // may be read before it is ever written
  EXPECT_TRUE(named(kernel, "%r3").block_local);
  EXPECT_EQ(kernel.live_in[0].size(), 1u);  // %r2
}

TEST(Registers, UnusedResultsTakeARegisterOfTheirOwn) {
  const Kernel kernel = compile_body(R"(
    .reg .b32 %r<6>;
    mov.u32 %r1, 1;
    ld.global.v4.u32 {%r2, %r3, _, %r4}, [32];
    st.global.v2.u32 [64], {%r1, %r3};)");
  verify(kernel);
  EXPECT_EQ(kernel.num_physical, 4u);
}

TEST(Registers, SmallAndWideTypes) {
  const Kernel kernel = compile_body(R"(
    .reg .b16 %rs<4>; .reg .b32 %r<4>; .reg .f64 %fd<4>; .reg .pred %p<4>;
    ld.global.u8 %rs1, [0];
    ld.global.u32 %r1, [4];
    ld.global.f64 %fd1, [8];
    setp.eq.s16 %p1|%p2, %rs1, 3;
    st.global.u8 [0], %rs1;
    st.global.u32 [4], %r1;
    st.global.f64 [8], %fd1;
    and.pred %p3, %p1, %p2;
    @%p3 trap;)");
  verify(kernel);
  EXPECT_EQ(kernel.num_physical, 4u);
  EXPECT_EQ(kernel.num_predicates, 2u);
}

TEST(Registers, ALargeKernelIsFast) {
  // 8,000 registers, 300 of them live throughout.
  std::string body = ".reg .b32 %r<9000>;\n";
  for (int i = 0; i < 300; ++i) {
    body += "ld.global.u32 %r" + std::to_string(i) + ", [" + std::to_string(4 * i) + "];\n";
  }
  for (int i = 300; i < 8300; ++i) {
    const std::string a = std::to_string(i), b = std::to_string(i - 1);
    body += "add.u32 %r" + a + ", %r" + b + ", %r" + std::to_string(i % 299) + ";\n";
  }
  for (int i = 0; i < 300; ++i) {
    body += "st.global.u32 [" + std::to_string(4 * i) + "], %r" + std::to_string(i) + ";\n";
  }
  const Kernel kernel = compile_body(body);
  EXPECT_EQ(kernel.num_physical, 301u);
  EXPECT_EQ(register_pressure(kernel), 301u);
}

TEST(Registers, AKernelWithTooManyInterferencesIsScanned) {
  std::string body = ".reg .b32 %r<9000>; .reg .b64 %rd<9000>;\n";
  for (int i = 0; i < 1500; ++i) body += "mov.u64 %rd" + std::to_string(i) + ", 1;\n";
  for (int i = 1; i < 6000; ++i) {
    body += "add.u32 %r" + std::to_string(i) + ", %r" + std::to_string(i - 1) + ", 1;\n";
  }
  for (int i = 0; i < 1500; ++i) body += "st.global.u64 [8], %rd" + std::to_string(i) + ";\n";
  const Kernel kernel = compile_body(body);
  verify(kernel);
  EXPECT_EQ(kernel.num_physical, 3002u);  // %r0 and a hole before the pairs
}

// The lowest register or even pair that is free at a time, of those that were taken before.
class FirstFit {
 public:
  uint32_t take(uint32_t units, uint64_t begin, uint64_t end) {
    const auto is_free = [&](uint32_t u) { return u >= busy_.size() || busy_[u] < begin; };
    uint32_t first = 0;
    while (!is_free(first) || (units == 2 && !is_free(first + 1))) first += units;
    if (busy_.size() < first + units) busy_.resize(first + units, 0);
    for (uint32_t u = first; u < first + units; ++u) busy_[u] = end;
    return first;
  }

 private:
  std::vector<uint64_t> busy_;  // until when
};

TEST(Registers, AScanTakesTheFirstThatFit) {
  // In front, registers of both widths of many lengths of life; behind them so many live ones that
  // there are too many interferences.
  constexpr uint32_t kMixed = 2000, kMany = 4200;
  std::mt19937 random(1);
  std::vector<std::vector<std::string>> reads(kMixed + 1);  // by where a register is read last
  std::string body = ".reg .b32 %r<9000>; .reg .b64 %rd<9000>;\n";
  for (uint32_t i = 0; i < kMixed; ++i) {
    const bool wide = random() % 2 == 0;
    const std::string name = (wide ? "%rd" : "%r") + std::to_string(i);
    body += (wide ? "mov.u64 " : "mov.u32 ") + name + ", 1;\n";
    const auto life = static_cast<uint32_t>(1 + random() % (random() % 10 == 0 ? 400 : 20));
    const uint32_t last = std::min(kMixed, i + life);
    reads[last].push_back((wide ? "st.global.u64 [8], " : "st.global.u32 [8], ") + name + ";\n");
    for (const std::string& read : reads[i + 1]) body += read;
  }
  for (uint32_t i = 0; i < kMany; ++i) body += "mov.u32 %r" + std::to_string(3000 + i) + ", 1;\n";
  for (uint32_t i = 0; i < kMany; ++i)
    body += "st.global.u32 [8], %r" + std::to_string(3000 + i) + ";\n";
  const Kernel kernel = compile_body(body);

  // Every register is written once, then read once.
  std::vector<uint32_t> read_at(kernel.registers.size(), 0);
  for (uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    for (const Operand& src : kernel.instructions[i].srcs) {
      if (src.kind == Operand::Kind::kRegister) read_at[src.reg] = i;
    }
  }
  FirstFit fit;
  uint32_t registers = 0;
  for (uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    for (const RegId r : kernel.instructions[i].dsts) {
      const Register& reg = kernel.registers[r];
      ASSERT_EQ(reg.physical, fit.take(units(reg), i, read_at[r] - 1)) << reg.name;
      ++registers;
    }
  }
  EXPECT_EQ(registers, kMixed + kMany);
}

}  // namespace
}  // namespace nearwarp::compiler::registers_test
