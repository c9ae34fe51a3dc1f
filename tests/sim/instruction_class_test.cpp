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
        // Bulk copies are the copy engine's, which the load-store unit knows nothing of.
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

}  // namespace
}  // namespace nearwarp::sim
