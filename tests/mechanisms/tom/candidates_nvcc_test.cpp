// Does the selection see through what nvcc makes of loops? The worked example of the TOM paper on
// real PTX, and properties of every candidate in every workload.
#include <gtest/gtest.h>

#include <set>

#include "host/mechanisms/tom/pass/facts.h"
#include "host/mechanisms/tom/pass/print.h"
#include "tests/mechanisms/tom/candidates_ptx.h"

namespace nearwarp::compiler {
namespace {

Program program_of(const std::string& path) {
  return compile_ptx_file(std::string(NW_SOURCE_DIR) + "/" + path);
}

/// The candidate whose instructions come from this source line.
const OffloadCandidate* at_line(const Kernel& kernel, const SelectionResult& result,
                                uint32_t line) {
  for (const OffloadCandidate& c : result.candidates) {
    for (InstrId i = c.first_instruction; i <= c.last_instruction; ++i) {
      const Instruction& instruction = kernel.instructions[i];
      if (instruction.source_line == line && is_counted_store(instruction)) return &c;
    }
  }
  return nullptr;
}

/// Line of `text` in a source file, from 1; the `nth` that contains it.
uint32_t line_of(const std::string& path, const std::string& text, int nth) {
  std::FILE* file = std::fopen((std::string(NW_SOURCE_DIR) + "/" + path).c_str(), "r");
  if (file == nullptr) return 0;
  char buffer[512];
  uint32_t line = 0, found = 0;
  while (found == 0 && std::fgets(buffer, sizeof(buffer), file) != nullptr) {
    ++line;
    if (std::string(buffer).find(text) != std::string::npos && nth-- == 0) found = line;
  }
  std::fclose(file);
  return found;
}

constexpr const char* kFigure4 = "tests/mechanisms/tom/data/figure4.cu";

// Section 3.1.5: five values go in, one load and one store per iteration; +110.25 for one
// iteration, -39 for four, threshold four. nvcc unrolls the loop by four with a remainder loop.
TEST(OffloadWorkedExample, FirstLoopAsNvccUnrollsIt) {
  const Program program = program_of("tests/mechanisms/tom/data/figure4.ptx");
  const Kernel& kernel = *program.find("figure4");
  const SelectionResult result = analyze(kernel);
  const OffloadCandidate* c = at_line(kernel, result, line_of(kFigure4, "L_b[n] = -v", 0));
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(c->live_ins.size(), 5u);  // L, L_b, -v * delta, delta, Nmat
  EXPECT_TRUE(c->special_live_ins.empty());
  EXPECT_TRUE(c->live_outs.empty());
  EXPECT_EQ(c->per_iteration.n_ld, 1);
  EXPECT_EQ(c->per_iteration.n_st, 1);
  EXPECT_EQ(c->base.n_ld, 0);
  EXPECT_EQ(c->base.n_st, 0);

  const OffloadModel model;
  const auto total = [&](int64_t iterations) {
    const OffloadTerms t = with_iterations(c->base, c->per_iteration, iterations);
    return (bw_tx(model, t) + bw_rx(model, t)).value();
  };
  EXPECT_EQ(total(1), 110.25);
  EXPECT_EQ(total(4), -39.0);
  ASSERT_EQ(c->trip, TripKind::kConditional);
  EXPECT_EQ(c->condition.threshold_iterations, 4);
  EXPECT_EQ((c->tx + c->rx).value(), -39.0);
  EXPECT_FALSE(c->saves_tx);  // 5 x 32 - 4 x 33.5
  EXPECT_TRUE(c->saves_rx);

  // The condition is on the trip count of the source: Nmat alone.
  ASSERT_EQ(c->condition.factors.size(), 1u);
  const TripCount& count = c->condition.factors[0];
  ASSERT_EQ(count.terms.size(), 1u);
  EXPECT_EQ(count.terms[0].coefficient, 1);
  EXPECT_EQ(count.constant, 0);
  EXPECT_EQ(count.step, 1);
  ASSERT_EQ(c->condition.count_blocks.size(), 2u);
  EXPECT_EQ(c->condition.count_blocks[0].iterations_per_execution, 4u);
  EXPECT_EQ(c->condition.count_blocks[1].iterations_per_execution, 1u);
}

// The second loop needs four values at PTX level: b, L_b, Nmat, N. (The paper counts five; which
// is the fifth, it does not say.) Four make the threshold three.
TEST(OffloadWorkedExample, SecondLoopAsNvccUnrollsIt) {
  const Program program = program_of("tests/mechanisms/tom/data/figure4.ptx");
  const Kernel& kernel = *program.find("figure4");
  const SelectionResult result = analyze(kernel);
  const OffloadCandidate* c = at_line(kernel, result, line_of(kFigure4, "L_b[n] = b", 0));
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(c->live_ins.size(), 4u);
  EXPECT_TRUE(c->live_outs.empty());
  EXPECT_EQ(c->per_iteration.n_ld, 1);
  EXPECT_EQ(c->per_iteration.n_st, 1);
  ASSERT_EQ(c->trip, TripKind::kConditional);
  EXPECT_EQ(c->condition.threshold_iterations, 3);
  EXPECT_EQ((c->tx + c->rx).value(), 4 * 32 - 3 * 49.75);
  EXPECT_EQ(c->condition.factors.at(0).terms.size(), 2u);  // N - Nmat
}

TEST(OffloadWorkedExample, RolledLoops) {
  const Program program = program_of("tests/mechanisms/tom/data/figure4.ptx");
  const Kernel& kernel = *program.find("figure4_rolled");
  const SelectionResult result = analyze(kernel);
  const OffloadCandidate* first = at_line(kernel, result, line_of(kFigure4, "L_b[n] = -v", 1));
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->kind, CandidateKind::kLoop);
  EXPECT_EQ(first->live_ins.size(), 5u);
  EXPECT_EQ(first->per_iteration.n_ld, 1);
  EXPECT_EQ(first->per_iteration.n_st, 1);
  // nvcc moved the load of the pointer L down to the loop; the analysis takes it in (one load).
  EXPECT_EQ(first->base.n_ld, 1);
  EXPECT_EQ(first->condition.threshold_iterations, 3);
  const OffloadCandidate* second = at_line(kernel, result, line_of(kFigure4, "L_b[n] = b", 1));
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->live_ins.size(), 4u);
  EXPECT_EQ(second->condition.threshold_iterations, 3);
}

// Figure 4's two loops inside the LIBOR workload, where the arrays are laid out for coalescing.
TEST(OffloadWorkloads, LiborLoopsOfFigure4) {
  const Program program = program_of("bench/workloads/libor/libor.ptx");
  const Kernel& kernel = *program.find("libor_adjoint");
  const SelectionResult result = analyze(kernel);
  const char* source = "bench/workloads/libor/libor.cu";
  for (const char* text : {"L_b[n * m.num_paths] = -v", "L_b[n * m.num_paths] = b *"}) {
    const OffloadCandidate* c = at_line(kernel, result, line_of(source, text, 0));
    ASSERT_NE(c, nullptr) << text;
    EXPECT_EQ(c->trip, TripKind::kConditional);
    EXPECT_EQ(c->per_iteration.n_ld, 1);
    EXPECT_EQ(c->per_iteration.n_st, 1);
    EXPECT_GE(c->condition.threshold_iterations, 4);
    EXPECT_LE(c->condition.threshold_iterations, 6);
  }
}

TEST(OffloadWorkloads, KmeansCondition) {
  const Program program = program_of("bench/workloads/kmeans/kmeans.ptx");
  const Kernel& kernel = *program.find("kmeans_assign");
  const SelectionResult result = analyze(kernel);
  ASSERT_EQ(result.candidates.size(), 1u);
  const OffloadCandidate& c = result.candidates[0];
  EXPECT_EQ(c.condition.factors.size(), 2u);  // clusters times features
  EXPECT_EQ(c.per_iteration.n_ld, 2);
  EXPECT_EQ(c.condition.count_blocks.size(), 4u);  // main loop and three guarded copies
}

// ---- properties of every candidate ----

class EveryWorkload : public testing::TestWithParam<const char*> {};

/// Is `reg` read on some path from the candidate's start, through its instructions only, before it
/// is overwritten? (Depth-first over instructions; shares nothing with the analysis.) Reaching the
/// exit counts as a read if `read_at_exit`.
bool read_first(const Kernel& kernel, const OffloadCandidate& c, RegId reg, bool read_at_exit) {
  const auto block_of = block_of_instructions(kernel);
  std::set<InstrId> seen;
  std::vector<InstrId> stack{c.first_instruction};
  while (!stack.empty()) {
    const InstrId i = stack.back();
    stack.pop_back();
    if (i == c.resume_instruction) {
      if (read_at_exit) return true;
      continue;
    }
    if (!seen.insert(i).second) continue;
    const Instruction& instruction = kernel.instructions[i];
    const auto read = uses(instruction), written = defs(instruction);
    if (std::find(read.begin(), read.end(), reg) != read.end()) return true;
    if (instruction.guard == kNone &&
        std::find(written.begin(), written.end(), reg) != written.end()) {
      continue;
    }
    const Block& block = kernel.blocks[block_of[i]];
    if (i + 1 < block.first + block.count) {
      stack.push_back(i + 1);
    } else {
      for (BlockId s : block.successors) stack.push_back(kernel.blocks[s].first);
    }
  }
  return false;
}

TEST_P(EveryWorkload, CandidatesAreSound) {
  const Program program = program_of(GetParam());
  const OffloadModel model;
  for (const Kernel& kernel : program.kernels) {
    const SelectionResult result = analyze(kernel);
    const auto block_of = block_of_instructions(kernel);
    InstrId end_of_last = 0;
    for (const OffloadCandidate& c : result.candidates) {
      SCOPED_TRACE(kernel.name + " candidate " + std::to_string(c.id));
      if (c.id > 0) {
        EXPECT_GT(c.first_instruction, end_of_last);
      }
      end_of_last = c.last_instruction;
      const auto inside = [&](InstrId i) {
        return std::binary_search(c.blocks.begin(), c.blocks.end(), block_of[i]) &&
               (block_of[i] != c.entry || i >= c.first_instruction) && i <= c.last_instruction;
      };
      // Walk everything reachable from the start: it stays inside until it resumes.
      std::set<InstrId> reached;
      std::vector<InstrId> stack{c.first_instruction};
      std::set<RegId> written;
      while (!stack.empty()) {
        const InstrId i = stack.back();
        stack.pop_back();
        if (i == c.resume_instruction || !reached.insert(i).second) continue;
        ASSERT_TRUE(inside(i)) << "PTX line " << kernel.instructions[i].ptx_line;
        EXPECT_FALSE(forbidden(kernel.instructions[i], uses_shared_memory(kernel)));
        for (RegId reg : defs(kernel.instructions[i])) written.insert(reg);
        const Block& block = kernel.blocks[block_of[i]];
        if (i + 1 < block.first + block.count) {
          stack.push_back(i + 1);
        } else {
          for (BlockId s : block.successors) stack.push_back(kernel.blocks[s].first);
        }
      }
      // Nothing else enters it.
      for (InstrId i = 0; i < kernel.instructions.size(); ++i) {
        const Block& block = kernel.blocks[block_of[i]];
        if (reached.count(i) != 0 || i + 1 != block.first + block.count) continue;
        for (BlockId s : block.successors) {
          const InstrId next = kernel.blocks[s].first;
          EXPECT_TRUE(reached.count(next) == 0 || next == c.first_instruction);
        }
      }
      // Registers, by a search of its own.
      std::set<RegId> outs(c.live_outs.begin(), c.live_outs.end());
      const auto& live_at_resume = kernel.live_in[c.resume_block];
      for (RegId reg = 0; reg < kernel.registers.size(); ++reg) {
        const bool needed_after =
            c.resume_instruction == kernel.blocks[c.resume_block].first
                ? std::binary_search(live_at_resume.begin(), live_at_resume.end(), reg)
                : outs.count(reg) != 0;  // inside a block: checked by the unit tests
        const bool out = written.count(reg) != 0 && needed_after;
        EXPECT_EQ(out, outs.count(reg) != 0) << kernel.registers[reg].name;
        EXPECT_EQ(read_first(kernel, c, reg, out),
                  std::binary_search(c.live_ins.begin(), c.live_ins.end(), reg))
            << kernel.registers[reg].name;
      }
      // Numbers.
      EXPECT_EQ(c.terms.reg_tx,
                static_cast<int64_t>(c.live_ins.size() + c.special_live_ins.size()));
      EXPECT_EQ(c.terms.reg_rx, static_cast<int64_t>(c.live_outs.size()));
      EXPECT_EQ(c.tx, bw_tx(model, c.terms));
      EXPECT_EQ(c.rx, bw_rx(model, c.terms));
      EXPECT_TRUE((c.tx + c.rx).saves());
      EXPECT_EQ(c.saves_tx, c.tx.saves());
      EXPECT_EQ(c.saves_rx, c.rx.saves());
      ASSERT_NE(c.first_memory_instruction, kNone);
      EXPECT_TRUE(reached.count(c.first_memory_instruction) != 0);
      for (const CountBlock& count : c.condition.count_blocks)
        EXPECT_TRUE(reached.count(kernel.blocks[count.block].first) != 0);
    }
    // Every block is in a candidate or has a reason.
    std::set<BlockId> explained;
    for (const OffloadCandidate& c : result.candidates)
      explained.insert(c.blocks.begin(), c.blocks.end());
    for (const Refusal& r : result.refusals) {
      if (r.kind == CandidateKind::kBlock) explained.insert(r.block);
    }
    EXPECT_EQ(explained.size(), kernel.blocks.size()) << kernel.name;
    EXPECT_FALSE(format_analysis(kernel, result).empty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ptx, EveryWorkload,
    testing::Values("bench/workloads/libor/libor.ptx", "bench/workloads/kmeans/kmeans.ptx",
                    "bench/workloads/bfs/bfs.ptx", "bench/workloads/reduction/reduction.ptx",
                    "bench/workloads/vector_add/vector_add.ptx", "bench/workloads/fma/fma.ptx",
                    "bench/workloads/gather/gather.ptx", "tests/mechanisms/tom/data/figure4.ptx"),
    [](const auto& test) {
      const std::string path = test.param;
      const size_t slash = path.rfind('/') + 1;
      return path.substr(slash, path.rfind('.') - slash);
    });

}  // namespace
}  // namespace nearwarp::compiler
