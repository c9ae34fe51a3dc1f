// Are the pieces of a block those that trying every run of its instructions finds?
#include "host/mechanisms/tom/pass/blocks.h"

#include <gtest/gtest.h>

#include <random>

#include "host/mechanisms/tom/pass/facts.h"
#include "tests/mechanisms/tom/candidates_ptx.h"
#include "tests/mechanisms/tom/every_run.h"

namespace nearwarp::compiler {
namespace {

/// The pieces by their definition: the best run, then what else saves in front of it and behind it.
class Expected {
 public:
  Expected(const OffloadContext& context, BlockId b)
      : kernel_(context.kernel()), block_(kernel_.blocks[b]) {
    const OffloadModel& model = context.model();
    std::vector<RunInstruction> instructions;
    for (InstrId i = block_.first; i < block_.first + block_.count; ++i) {
      const Instruction& in = kernel_.instructions[i];
      const OffloadTerms terms{.n_ld = is_counted_load(in), .n_st = is_counted_store(in)};
      instructions.push_back({.forbidden = forbidden(in, context.uses_shared()).has_value(),
                              .control = is_control(in),
                              .guarded = in.guard != kNone,
                              .access = terms.n_ld + terms.n_st > 0,
                              .saving = -bw_total(model, terms).raw(),
                              .uses = uses(in),
                              .defs = defs(in),
                              .specials = special_uses(in)});
    }
    every_.emplace(instructions, kernel_.live_out[b],
                   CrossingCosts{.live_in = bw_total(model, {.reg_tx = 1}).raw(),
                                 .live_out = bw_total(model, {.reg_rx = 1}).raw()});
    find(0, block_.count);
  }

  struct Found {
    EveryRun::Tried best;
    InstrId resume;
  };
  const std::vector<Found>& pieces() const { return pieces_; }

 private:
  void find(uint32_t begin, uint32_t end) {
    const EveryRun::Tried* best = every_->best(begin, end);
    if (best == nullptr) return;
    const InstructionRun& run = best->run;
    InstrId resume = block_.first + run.last + 1;
    if (run.last + 1 == block_.count) {
      if (block_.successors.empty()) return;
      resume = kernel_.blocks[block_.successors[0]].first;
    }
    if (run.total >= 0) {
      if (pieces_.empty()) pieces_.push_back({*best, resume});
      return;
    }
    pieces_.push_back({*best, resume});
    find(run.last + 1, end);
    find(begin, run.first);
  }

  const Kernel& kernel_;
  const Block& block_;
  std::optional<EveryRun> every_;
  std::vector<Found> pieces_;
};

/// A few blocks of loads, stores, arithmetic and what may not be offloaded.
class RandomBody {
 public:
  explicit RandomBody(uint32_t seed) : random_(seed) {
    floats_ = 2 + below(20);
    percent_guarded_ = below(3) * 20;
    percent_access_ = 20 + below(60);
    percent_rare_ = below(2) * 4;
  }

  std::string text() {
    std::string body = "  setp.lt.u32 %p1, %r1, %r2;\n  setp.eq.u32 %p2, %r1, %r3;\n";
    for (int label = 0; label < 3; ++label) {
      for (uint32_t n = below(25); n > 0; --n) body += "  " + statement();
      const std::string name = "L" + std::to_string(label);
      if (chance(70)) body += "  @%p" + std::to_string(1 + below(2)) + " bra " + name + ";\n";
      for (uint32_t n = below(25); n > 0; --n) body += "  " + statement();
      body += name + ":\n";
    }
    return body + "  st.global.f32 [%rd2], %f1;\n  ret;\n";
  }

 private:
  std::string statement() {
    std::string text;
    if (chance(percent_guarded_)) text = (chance(50) ? "@%p" : "@!%p") + number(2) + " ";
    if (chance(percent_rare_)) {
      static const char* const kRare[] = {"membar.gl", "bar.sync 0", "exit",
                                          "red.global.add.u32 [%rd1], %r1"};
      return text + kRare[below(4)] + ";\n";
    }
    const std::string place = "[%rd" + number(2) + "+" + std::to_string(4 * below(8)) + "]";
    if (chance(percent_access_)) {
      if (chance(50)) return text + "st.global.f32 " + place + ", " + f() + ";\n";
      if (chance(20)) return text + "st.global.u32 " + place + ", %r" + number(6) + ";\n";
      if (chance(20)) return text + "ld.global.u32 %r" + number(6) + ", " + place + ";\n";
      return text + "ld.global.f32 " + f() + ", " + place + ";\n";
    }
    switch (below(8)) {
      case 0:
        return text + "mov.u32 %r" + number(6) + ", " +
               (chance(50)   ? "%tid.x"
                : chance(50) ? "%ctaid.x"
                             : "%ntid.x") +
               ";\n";
      case 1:
        return text + "setp.gt.f32 %p" + number(2) + ", " + f() + ", " + f() + ";\n";
      case 2:
        return text + "mov.f32 " + f() + ", " + f() + ";\n";
      case 3:
        return text + "ld.param.f32 " + f() + ", [p2];\n";
      case 4:
        return text + "add.s64 %rd" + number(2) + ", %rd" + number(2) + ", 64;\n";
      default:
        return text + "add.f32 " + f() + ", " + f() + ", " + f() + ";\n";
    }
  }
  std::string f() { return "%f" + number(floats_); }
  std::string number(uint32_t limit) { return std::to_string(1 + below(limit)); }
  bool chance(uint32_t percent) { return below(100) < percent; }
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }

  std::mt19937 random_;
  uint32_t floats_, percent_guarded_, percent_access_, percent_rare_;
};

std::vector<OffloadModel> models() {
  std::vector<OffloadModel> models(4);
  models[1].miss_ld_percent = 100;
  models[1].coal_st_percent = 133;  // a quarter of it is no whole number of hundredths
  models[2].warp_size = 8;
  models[2].coal_ld_percent = 250;
  models[3].miss_ld_percent = 0;  // loads save nothing
  models[3].warp_size = 64;
  return models;
}

TEST(OffloadBlocks, PiecesAreThoseOfEveryRun) {
  size_t pieces = 0, several = 0, at_a_loss = 0;
  for (uint32_t seed = 0; seed < 500; ++seed) {
    const Kernel kernel = kernel_of(RandomBody(seed).text());
    for (const OffloadModel& model : models()) {
      const OffloadContext context(kernel, model);
      for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
        const std::vector<Piece> found = pieces_of_block(context, b);
        const Expected expected(context, b);
        ASSERT_EQ(found.size(), expected.pieces().size()) << "seed " << seed << ", block " << b;
        for (size_t i = 0; i < found.size(); ++i) {
          const auto& [best, resume] = expected.pieces()[i];
          const Crossings& crossings = best.crossings;
          ASSERT_EQ(found[i].first, kernel.blocks[b].first + best.run.first) << "seed " << seed;
          ASSERT_EQ(found[i].last, kernel.blocks[b].first + best.run.last) << "seed " << seed;
          ASSERT_EQ(found[i].resume, resume);
          ASSERT_EQ(found[i].entry, b);
          ASSERT_EQ(found[i].blocks, std::vector<BlockId>{b});
          ASSERT_EQ(found[i].live_ins,
                    std::vector<RegId>(crossings.live_ins.begin(), crossings.live_ins.end()));
          ASSERT_EQ(found[i].live_outs,
                    std::vector<RegId>(crossings.live_outs.begin(), crossings.live_outs.end()));
          ASSERT_EQ(found[i].specials, std::vector<ptx::SpecialReg>(crossings.specials.begin(),
                                                                    crossings.specials.end()));
          OffloadTerms terms = context.accesses(found[i].first, found[i].last);
          terms.reg_tx = static_cast<int64_t>(found[i].live_ins.size() + found[i].specials.size());
          terms.reg_rx = static_cast<int64_t>(found[i].live_outs.size());
          ASSERT_EQ(bw_total(model, terms).raw(), best.run.total) << "seed " << seed;
          at_a_loss += best.run.total >= 0;
        }
        pieces += found.size();
        several += found.size() > 1;
      }
    }
  }
  // The random kernels have enough pieces to compare.
  EXPECT_GT(pieces, 5000u);
  EXPECT_GT(several, 500u);
  EXPECT_GT(at_a_loss, 1'000u);
}

}  // namespace
}  // namespace nearwarp::compiler
