// Do the equations say what the TOM paper computes with them (sections 3.1.1 and 3.1.5)?
#include <gtest/gtest.h>

#include "host/mechanisms/tom/pass/equations.h"

namespace nearwarp::compiler {
namespace {

const OffloadModel kModel;  // the paper's assumptions

double total(const OffloadTerms& terms) {
  return (bw_tx(kModel, terms) + bw_rx(kModel, terms)).value();
}

TEST(OffloadEquations, WorkedExample) {
  const OffloadTerms base{.reg_tx = 5}, iteration{.n_ld = 1, .n_st = 1};
  EXPECT_EQ(total(with_iterations(base, iteration, 1)), 110.25);
  EXPECT_EQ(total(with_iterations(base, iteration, 3)), 10.75);
  EXPECT_EQ(total(with_iterations(base, iteration, 4)), -39.0);
  EXPECT_EQ(break_even_iterations(kModel, base, iteration), 4);
}

TEST(OffloadEquations, EachTerm) {
  EXPECT_EQ(bw_tx(kModel, {.reg_tx = 1}).value(), 32);
  EXPECT_EQ(bw_rx(kModel, {.reg_tx = 1}).value(), 0);
  EXPECT_EQ(bw_tx(kModel, {.reg_rx = 1}).value(), 0);
  EXPECT_EQ(bw_rx(kModel, {.reg_rx = 1}).value(), 32);
  EXPECT_EQ(bw_tx(kModel, {.n_ld = 1}).value(), -0.5);
  EXPECT_EQ(bw_rx(kModel, {.n_ld = 1}).value(), -16);
  EXPECT_EQ(bw_tx(kModel, {.n_st = 1}).value(), -33);
  EXPECT_EQ(bw_rx(kModel, {.n_st = 1}).value(), -0.25);
}

TEST(OffloadEquations, AssumptionsAreParameters) {
  OffloadModel model;
  model.miss_ld_percent = 100;
  model.coal_ld_percent = 250;
  model.coal_st_percent = 150;
  model.warp_size = 16;
  model.line_to_address_ratio = 8;
  const OffloadTerms terms{.reg_tx = 3, .reg_rx = 2, .n_ld = 4, .n_st = 5};
  EXPECT_EQ(bw_tx(model, terms).value(), 3 * 16 - (4 * 2.5 + 5 * (16 + 1.5)));
  EXPECT_EQ(bw_rx(model, terms).value(), 2 * 16 - (4 * 2.5 * 8 + 0.25 * 5 * 1.5));
}

TEST(OffloadEquations, ExactForOddPercentages) {
  OffloadModel model;
  model.miss_ld_percent = 33;
  model.coal_ld_percent = 101;
  EXPECT_EQ(bw_tx(model, {.n_ld = 1}).raw(), -3333);
  EXPECT_EQ(bw_rx(model, {.n_ld = 1}).raw(), -3333 * 32);
}

TEST(OffloadEquations, BreakEven) {
  const OffloadTerms load{.n_ld = 1}, nothing{};
  EXPECT_EQ(break_even_iterations(kModel, {.n_ld = 1}, nothing), 0);     // pays without iterations
  EXPECT_EQ(break_even_iterations(kModel, {.reg_tx = 1}, nothing), -1);  // never pays
  EXPECT_EQ(break_even_iterations(kModel, {}, load), 1);  // nothing to pay, but nothing saved yet
  EXPECT_EQ(break_even_iterations(kModel, {.reg_tx = 33}, load), 65);  // 64 loads only break even
}

TEST(OffloadEquations, Text) {
  EXPECT_EQ(Bandwidth::from_raw(1'102'500).text(), "+110.25");
  EXPECT_EQ(Bandwidth::from_raw(-390'000).text(), "-39");
  EXPECT_EQ(Bandwidth::from_raw(0).text(), "0");
  EXPECT_EQ(Bandwidth::from_raw(-5'000).text(), "-0.5");
  EXPECT_EQ(Bandwidth::from_raw(1).text(), "+0.0001");
}

}  // namespace
}  // namespace nearwarp::compiler
