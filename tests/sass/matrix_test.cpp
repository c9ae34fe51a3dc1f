// Do matrix instructions of traces take as long as their shapes, types and the machine's rate say?
#include <gtest/gtest.h>

#include "host/recording/accel_sim/program_reader.h"
#include "host/timing/program/instruction_class.h"
#include "tests/sass/trace_files.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::sass {
namespace {

using testing::TraceFolder;
using testing::TraceText;

TraceProgram read(const TraceText& text) {
  const TraceFolder folder;
  return read_program(folder.write("kernel-1.traceg", text.text()));
}

/// Cycles of a port for which a machine with this rate executes the opcode.
uint32_t cycles(const std::string& opcode, const std::string& rate = "512") {
  TraceText text;
  text.thread_block("0,0,0", {"0000 ffffffff 1 R4 " + opcode + " 3 R4 R8 R4 0\n"});
  const auto machine = config::load_machine(
      "v100", std::vector<std::string>{"sm.matrix_products_per_cycle=" + rate});
  const sm::ImageInstr image =
      sim::classify(read(text).recording.kernels[0]->instructions.at(0), machine);
  EXPECT_EQ(image.unit, sm::Unit::kSp) << opcode;
  return image.interval;
}

TEST(Matrix, IntervalsFollowFromShapeTypeAndRate) {
  // There are four ports, each of 128 products of f16 a cycle.
  EXPECT_EQ(cycles("HMMA.16816.F32"), 16u * 8 * 16 / 128);
  EXPECT_EQ(cycles("HMMA.1688.F32.BF16"), 16u * 8 * 8 / 128);
  EXPECT_EQ(cycles("HMMA.1688.F32.TF32"), 16u * 8 * 8 / 64);
  EXPECT_EQ(cycles("IMMA.16832.S8.S8"), 16u * 8 * 32 / 256);
  EXPECT_EQ(cycles("IMMA.8816.U8.U8.SAT"), 8u * 8 * 16 / 256);
  EXPECT_EQ(cycles("IMMA.16864.S4.S4"), 16u * 8 * 64 / 512);
  EXPECT_EQ(cycles("BMMA.168256.XOR.POPC"), 16u * 8 * 256 / 2048);
  EXPECT_EQ(cycles("QMMA.16832.F32.E4M3.E4M3"), 16u * 8 * 32 / 256);
  EXPECT_EQ(cycles("QMMA.SF.16832.F32.E4M3.E2M1.E8"), 16u * 8 * 32 / 256);
  EXPECT_EQ(cycles("OMMA.SF.16864.F32.E2M1.E2M1.E8"), 16u * 8 * 64 / 512);
  EXPECT_EQ(cycles("OMMA.SF.SP.168128.F32.E2M1.E2M1.E8"), 16u * 8 * 64 / 512);
  EXPECT_EQ(cycles("DMMA.884"), 8u * 8 * 4 / 8);
  EXPECT_EQ(cycles("HMMA.SP.16832.F32"), 16u * 8 * 16 / 128) << "of sparse factors, what is there";
  EXPECT_EQ(cycles("HMMA.16816.F32", "1024"), 8u);
  EXPECT_EQ(cycles("HMMA.16816.F32", "2048"), 4u);
  EXPECT_EQ(cycles("HMMA.884.F32.F32.STEP1", "4096"), 1u) << "a port takes a cycle at least";
}

TEST(Matrix, VoltasStepsAreQuartersAndHalves) {
  // A product of 16 x 16 x 16 takes 16 of these instructions, or 8 with sums of f16.
  EXPECT_EQ(16 * cycles("HMMA.884.F32.F32.STEP0"), 16u * 16 * 16 / 128);
  EXPECT_EQ(8 * cycles("HMMA.884.F16.F16.STEP0"), 16u * 16 * 16 / 128);
}

TEST(Matrix, OfAGroupOfWarpsEachDoesAQuarter) {
  // The number of cycles is more than a byte holds.
  EXPECT_EQ(cycles("HGMMA.64x256x16.F32"), 64u * 256 * 16 / 4 / 128);
  EXPECT_EQ(cycles("HGMMA.64x256x16.F32", "2048"), 64u * 256 * 16 / 4 / 512);
  EXPECT_EQ(cycles("QGMMA.64x64x32.F32.E4M3.E4M3"), 64u * 64 * 32 / 4 / 256);
  EXPECT_EQ(cycles("IGMMA.64x64x32.S8.S8"), 64u * 64 * 32 / 4 / 256);
}

TEST(Matrix, WithoutAMatrixUnitTheyAreMultiplyAdds) {
  const auto at = [](const char* opcode) { return cycles(opcode, "0"); };
  const uint32_t each = config::load_machine("v100").classes.fp32_mad.interval_cycles;
  EXPECT_EQ(at("HMMA.16816.F32"), 2 * each);
  EXPECT_EQ(at("HMMA.884.F32.F32.STEP0"), each);
}

TEST(Matrix, AnSmHasTheRateInTheSteadyState) {
  // The two programs' warps differ only in the number of products.
  const auto run = [](uint32_t products) {
    TraceText text;
    text.block = {512, 1, 1};
    std::string warp;
    for (uint32_t i = 0; i < products; ++i)
      warp += "0010 ffffffff 1 R" + std::to_string(4 + i % 8 * 4) + " HMMA.16816.F32 3 R40 R44 R" +
              std::to_string(4 + i % 8 * 4) + " 0\n";
    text.thread_block("0,0,0", std::vector<std::string>(16, warp + "0020 ffffffff 0 EXIT 0 0\n"));
    return sim::replay_on_cpu(read(text).recording, config::load_machine("v100"),
                              config::load_policy("baseline"), {})
        .cycles;
  };
  const auto more = static_cast<double>(run(300) - run(100));
  EXPECT_NEAR(16.0 * 200 * 16 * 8 * 16 / more, 512, 5);
}

TEST(Matrix, WhatIsNotModelledIsSaidOnceWithCounts) {
  TraceText text;
  text.thread_block(
      "0,0,0", {"0000 ffffffff 0 SYNCS.ARRIVE 1 R4 0\n0010 ffffffff 0 UCGABAR_ARV 0 0\n"
                "0020 ffffffff 0 SYNCS.PHASECHK 1 R4 0\n0030 ffffffff 0 UTMALDG.2D 1 R4 0\n"
                "0040 ffffffff 1 R4 HGMMA.64x64x16.F32 2 R4 R8 0\n0050 ffffffff 0 EXIT 0 0\n"});
  std::string all;
  for (const std::string& warning : read(text).warnings) all += warning + "\n";
  for (const char* part : {"SYNCS (2), UCGABAR_ARV (1): waits for", "UTMALDG (1): bulk copies",
                           "HGMMA (1): matrix units are not modelled but for their rate"})
    EXPECT_NE(all.find(part), std::string::npos) << part << "\n" << all;
}

}  // namespace
}  // namespace nearwarp::sass
