// Are traces of asynchronous instructions timed as the programs that they are of?
#include <gtest/gtest.h>

#include "host/recording/accel_sim/program_reader.h"
#include "host/recording/accel_sim/trace_writer.h"
#include "host/recording/trace_replay.h"
#include "tests/runtime/breadth_kernels.h"
#include "tests/runtime/plane_map.h"
#include "tests/sass/trace_files.h"
#include "tests/sim/device_rig.h"

namespace nearwarp::sass {
namespace {

using testing::TraceFolder;

report::RunResult run(const runtime::Recording& recording) {
  return sim::replay_on_cpu(recording, config::load_machine("h100", {}),
                            config::load_policy("baseline"), {});
}

/// c = a b^T by blocks of 128 by 128, a producer and two consuming warp groups each.
runtime::Recording gemm(const std::string& kernel, uint32_t m, uint32_t n, uint32_t k) {
  runtime::BreadthDevice d("tile_kernels", {});
  const bool bytes = kernel == "gemm_e4m3";
  const uint32_t each = bytes ? 1 : 2;
  const uint64_t a = d.allocate(uint64_t{m} * k * each), b = d.allocate(uint64_t{n} * k * each),
                 c = d.allocate(uint64_t{m} * n * 4);
  const uint32_t type = bytes ? 0 : 6, box = 128 / each;
  const runtime::PlaneMap ma(a, type, k, m, box, 128, 3), mb(b, type, k, n, box, 128, 3);
  d.launch(d.module, kernel, {n / 128, m / 128}, {384}, 4 * 2 * 128 * 128,
           runtime::KernelArgs(ma, mb, c, static_cast<int>(n), static_cast<int>(k / box)));
  return d.take_recording("gemm");
}

void expect_same(const report::RunResult& read, const report::RunResult& wanted) {
  EXPECT_EQ(read.cycles, wanted.cycles);
  EXPECT_EQ(read.warp_instructions, wanted.warp_instructions);
  ASSERT_EQ(read.counters.size(), wanted.counters.size());
  for (size_t i = 0; i < read.counters.size(); ++i)
    EXPECT_EQ(read.counters[i].value, wanted.counters[i].value) << wanted.counters[i].name;
}

TEST(Hopper, AProgramsOwnTracesTakeItsTime) {
  for (const char* kernel : {"gemm_f16", "gemm_e4m3"}) {
    SCOPED_TRACE(kernel);
    const runtime::Recording original = gemm(kernel, 256, 256, 1024);
    const report::RunResult wanted = run(original);
    for (const TraceForm form : {TraceForm::kIndexed, TraceForm::kText}) {
      const TraceFolder folder;
      const TraceProgram p = read_program(write_traces(original, folder.file("t"), form));
      for (const std::string& w : p.warnings) std::cerr << w << "\n";
      runtime::validate(p.recording);
      expect_same(run(p.recording), wanted);
    }
  }
}

}  // namespace
}  // namespace nearwarp::sass
