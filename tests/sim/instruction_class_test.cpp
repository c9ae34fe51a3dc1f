// Has every instruction that the executor accepts a timing class that fits its trace?
#include "host/timing/program/instruction_class.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "host/config/config.h"
#include "host/core/error.h"
#include "host/functional/compiler/kernel.h"
#include "host/functional/decode/decoded_kernel.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::sim {
namespace {

std::vector<std::string> modules() {
  std::vector<std::string> paths;
  for (const char* folder : {"tests/runtime/breadth", "tests/runtime/kernels", "tests/ptx/data"})
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(NW_SOURCE_DIR "/") + folder))
      if (entry.path().extension() == ".ptx") paths.push_back(entry.path().string());
  return paths;
}

TEST(InstructionClass, EveryDecodedInstructionIsTimed) {
  const config::MachineConfig machine = config::load_machine("tom");
  std::vector<bool> seen(256, false);
  for (const std::string& path : modules()) {
    const compiler::Program program = compiler::compile_ptx_file(path);
    for (const compiler::Kernel& kernel : program.kernels) {
      if (!kernel.unsupported.empty()) continue;
      try {
        runtime::decode(kernel, path, [](const compiler::Symbol& s) { return s.offset; });
      } catch (const Error&) {
        continue;  // refused
      }
      for (const compiler::Instruction& in : kernel.instructions) {
        seen[static_cast<size_t>(in.op)] = true;
        const sm::ImageInstr image = classify(in, machine);
        const std::string where = path + ":" + std::to_string(in.ptx_line);
        EXPECT_EQ((image.flags & sm::kHasRecord) != 0, runtime::leaves_record(in)) << where;
        if (image.unit == sm::Unit::kSp || image.unit == sm::Unit::kSfu ||
            image.unit == sm::Unit::kDp) {
          EXPECT_GT(image.latency, 0) << where;
          EXPECT_GT(image.interval, 0) << where;
        }
        // Bulk copies are done by the copy engine, not by the load-store unit.
        if (image.accesses_data() && image.action < sm::Action::kExit) {
          EXPECT_EQ(image.unit, sm::Unit::kLsu) << where;
          EXPECT_GT(image.lane_bytes, 0) << where;
        }
        EXPECT_NO_THROW(energy_class(in)) << where;
      }
    }
  }
  for (const ptx::Opcode op : {ptx::Opcode::kMma, ptx::Opcode::kTex, ptx::Opcode::kSuld,
                               ptx::Opcode::kSust, ptx::Opcode::kSystem, ptx::Opcode::kAtom})
    EXPECT_TRUE(seen[static_cast<size_t>(op)]) << static_cast<int>(op);
}

/// The cycles for which the instruction occupies its port of an h100's matrix unit.
uint32_t matrix_cycles(const std::string& instruction) {
  const compiler::Program program = compiler::compile_ptx(
      ".version 9.0\n.target sm_120a\n.address_size 64\n.visible .entry k()\n{\n"
      ".reg .b32 %r<16>; .reg .f32 %f<130>; .reg .b64 %d<2>; .reg .pred %p;\n" +
          instruction + "\nret;\n}\n",
      "test.ptx");
  const config::MachineConfig machine = config::load_machine("h100");
  for (const compiler::Instruction& in : program.kernels.at(0).instructions)
    if (in.op == ptx::Opcode::kWarpMma) return classify(in, machine).interval;
  ADD_FAILURE() << instruction;
  return 0;
}

TEST(InstructionClass, NarrowAndSparseFactorsTakeTheirShareOfTheMatrixUnit) {
  const auto group = [](const std::string& shape, uint32_t n, const char* a, const char* tail) {
    std::string sums = "{";
    for (uint32_t i = 0; i < n / 2; ++i) sums += (i == 0 ? "%f" : ", %f") + std::to_string(i);
    return matrix_cycles("wgmma.mma_async" + shape + " " + sums + "}, " + a + ", %d1" + tail);
  };
  const std::string dense = ".sync.aligned.m64n", sparse = ".sp.sync.aligned.m64n";
  const char *const place = ", %r8, 0, 1, 1, 1, 0, 0;", *const registers = "{%r0, %r1, %r2, %r3}";
  // 512 products of f16 a cycle and port; 128 bytes of shared memory a cycle for a and b.
  EXPECT_EQ(group(dense + "8k16.f32.f16.f16", 8, "%d0", ", 1, 1, 1, 0, 0;"), 16u + 8 / 4);
  EXPECT_EQ(group(dense + "256k16.f32.f16.f16", 256, "%d0", ", 1, 1, 1, 0, 0;"), 256u / 2);
  EXPECT_EQ(group(sparse + "8k32.f32.f16.f16", 8, "%d0", place), 16u + 8 / 2);
  EXPECT_EQ(group(sparse + "256k32.f32.f16.f16", 256, "%d0", place), 16u + 256 / 2);
  EXPECT_EQ(group(sparse + "256k32.f32.f16.f16", 256, registers, ", %r8, 0, 1, 1, 1, 0;"),
            256u / 2);
  EXPECT_EQ(group(sparse + "8k64.f32.e4m3.e4m3", 8, "%d0", ", %r8, 0, 1, 1, 1;"), 16u + 8 / 2);
  const std::string sums = " {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, ";
  const std::string c = "{%f0, %f1, %f2, %f3}", scales = ", %r8, {0, 0}, %r9, {0, 0};";
  EXPECT_EQ(matrix_cycles("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32" +
                          sums + "{%r4, %r5}, " + c + ";"),
            16u * 8 * 32 / 1024);
  EXPECT_EQ(matrix_cycles("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1."
                          "f32.ue8m0" +
                          sums + "{%r4, %r5}, " + c + scales),
            16u * 8 * 64 / 2048);
  EXPECT_EQ(matrix_cycles("mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4."
                          "block_scale.f32.e2m1.e2m1.f32.ue8m0" +
                          sums + "{%r4, %r5, %r6, %r7}, " + c + ", %r10, 0" + scales),
            16u * 8 * 128 / 4096);
}

}  // namespace
}  // namespace nearwarp::sim
