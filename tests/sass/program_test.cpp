// Does a recording made from traces hold what the traces say, and behave like the program?
#include <gtest/gtest.h>

#include "device/trace/format.h"
#include "host/core/error.h"
#include "host/functional/device/virtual_device.h"
#include "host/functional/instructions/decoded.h"
#include "host/recording/accel_sim/program_reader.h"
#include "host/recording/recording_file.h"
#include "host/recording/trace_replay.h"
#include "tests/sass/trace_files.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::sass {
namespace {

using compiler::Instruction;
using ptx::Opcode;
using testing::AddressMode;
using testing::TraceFolder;
using testing::TraceText;

constexpr uint64_t kBase = exec::kDeviceBase;

/// One kernel of one warp with these lines, read.
TraceProgram read_warp(const std::string& lines, uint32_t version = 4) {
  const TraceFolder folder;
  TraceText text;
  text.version = version;
  text.thread_block("0,0,0", {lines});
  return read_program(folder.write("kernel-1.traceg", text.text()));
}

struct SeenAccess {
  Opcode op;
  ptx::Space space;
  uint32_t mask;
  std::vector<uint64_t> addresses;  ///< addresses of active lanes
};

std::vector<SeenAccess> accesses(const runtime::Recording& recording, uint32_t launch = 0) {
  std::vector<SeenAccess> seen;
  const compiler::Kernel& kernel = *recording.kernels[recording.launches[launch].kernel];
  runtime::TraceVisitor visitor;
  visitor.access = [&](const runtime::MemoryAccess& a) {
    const Instruction& in = kernel.instructions[a.instruction];
    SeenAccess s{in.op, in.mod.space, a.mask, {}};
    for (uint32_t m = a.mask; m != 0; m &= m - 1)
      s.addresses.push_back(a.address[__builtin_ctz(m)]);
    seen.push_back(std::move(s));
  };
  runtime::replay(recording, launch, visitor);
  return seen;
}

/// The instruction at `index` of the kernel's only block.
const Instruction& instruction(const TraceProgram& program, size_t index) {
  return program.recording.kernels[0]->instructions.at(index);
}

TEST(Program, BeforeVersion3LinesBeginWithThreadBlockAndWarp) {
  const TraceProgram p = read_warp(
      "0 0 0 0 0000 ffffffff 1 R1 IMAD.MOV.U32 2 R255 R255 0\n"
      "0 0 0 0 0010 00000003 1 R4 LDG.E 1 R2 4 1 0x7f0000000000 4\n",
      2);
  EXPECT_EQ(p.recording.warp_instructions, 2u);
  EXPECT_EQ(accesses(p.recording).at(0).addresses, (std::vector<uint64_t>{kBase, kBase + 4}));
  EXPECT_THROW(read_warp("0000 ffffffff 0 EXIT 0 0\n", 2), Error);
}

TEST(Program, MasksOfZeroAreIssuedButDoNothing) {
  const TraceProgram p = read_warp(
      "0000 ffffffff 1 R1 MOV 0 0\n"
      "0010 00000000 0 EXIT 0 0\n"
      "0020 00000000 1 R4 LDG.E 1 R2 4 0\n"
      "0030 0000000f 1 R4 LDG.E 1 R2 4 1 0x7f0000000000 4\n"
      "0040 ffffffff 0 EXIT 0 0\n");
  EXPECT_EQ(p.recording.warp_instructions, 5u);
  EXPECT_EQ(p.recording.thread_instructions, 32u + 1 + 1 + 4 + 32);
  runtime::validate(p.recording);
  const auto seen = accesses(p.recording);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].mask, 0xfu);
  // The summary counts lanes as they were.
  uint64_t threads = 0;
  for (const OpcodeCount& c : p.kernels[0].opcodes) threads += c.thread_instructions;
  EXPECT_EQ(threads, 32u + 4 + 32);
}

TEST(Program, GenericAccessesGoWhereTheirAddressesSay) {
  const TraceProgram p = read_warp(
      "0000 00000003 1 R4 LD.E 1 R2 4 0 0x7f3a00000010 0x7f3a00000014\n"  // shared
      "0010 00000003 1 R4 LD.E 1 R2 4 0 0x7f3a02000010 0x7f3a02000010\n"  // local
      "0020 00000003 0 ST.E 2 R2 R4 4 0 0x7f4400000010 0x7f4400000020\n");
  const auto seen = accesses(p.recording);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].addresses,
            (std::vector<uint64_t>{trace::kSharedWindow + 0x10, trace::kSharedWindow + 0x14}));
  EXPECT_EQ(seen[1].addresses[1] - seen[1].addresses[0], 4u);  // lanes' words are neighbours
  EXPECT_GT(seen[1].addresses[0], kBase + (uint64_t{100} << 30));
  EXPECT_EQ(seen[2].addresses, (std::vector<uint64_t>{kBase + 0x10, kBase + 0x20}));
  EXPECT_EQ(seen[2].op, Opcode::kSt);
}

TEST(Program, SharedAndLocalAddressesMayBeOffsets) {
  const TraceProgram p = read_warp(
      "0000 00000003 1 R4 LDS 1 R2 4 1 0x40 4\n"
      "0010 00000003 0 STS 2 R2 R4 4 1 0x7f3a00000040 4\n"
      "0020 00000003 0 STL 2 R2 R4 4 1 0xfffdc8 0\n"
      "0030 00000003 1 R4 LDL 1 R2 4 1 0xfffdcc 0\n");
  const auto seen = accesses(p.recording);
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen[0].space, ptx::Space::kShared);
  EXPECT_EQ(seen[0].addresses, (std::vector<uint64_t>{0x40, 0x44}));
  EXPECT_EQ(seen[1].addresses, (std::vector<uint64_t>{0x40, 0x44}));
  EXPECT_EQ(seen[3].addresses[0] - seen[2].addresses[0], 128u);  // the next word of 32 lanes
}

TEST(Program, DeviceMemoryMovesInPiecesOfAGibibyte) {
  const TraceFolder folder;
  TraceText text;
  text.thread_block("0,0,0", {"0000 1 1 R4 LDG.E 1 R2 4 0 0x7f8080000000\n"     // new: the next
                              "0010 1 1 R4 LDG.E 1 R2 4 0 0x7f2240001000\n"     // behind a copy's
                              "0020 1 1 R4 LDG.E 1 R2 4 0 0x7f2200002000\n"});  // of the copy
  folder.write("kernel-1.traceg", text.text());
  const TraceProgram p = read_program(
      folder.write("kernelslist.g", "MemcpyHtoD,0x00007f2200000000,4096\nkernel-1.traceg\n"));
  const auto seen = accesses(p.recording);
  constexpr uint64_t kPiece = uint64_t{1} << 30;
  EXPECT_EQ(seen[0].addresses[0], kBase + kPiece);
  EXPECT_EQ(seen[1].addresses[0], kBase + 2 * kPiece + 0x1000);
  EXPECT_EQ(seen[2].addresses[0], kBase + 0x2000);
  ASSERT_EQ(p.recording.allocations.size(), 4u);
  EXPECT_EQ(p.recording.allocations[0].address, kBase);
  EXPECT_EQ(p.recording.allocations[0].bytes, 4096u);
  EXPECT_EQ(p.recording.allocations[2].address, kBase + kPiece);
  EXPECT_EQ(p.recording.allocations[2].bytes, 4u);
}

TEST(Program, WidthsComeFromModifiersAndWideValuesTakeNeighbours) {
  const TraceProgram p = read_warp(
      "0000 1 1 R4 LDG.E.128.CONSTANT 1 R2 4 0 0x7f0000000000\n"
      "0010 1 0 STG.E.U8 2 R2 R5 4 0 0x7f0000000000\n"
      "0020 1 1 R8 DFMA 3 R4 R6 R255 0\n"
      "0030 1 1 R8 IMAD.WIDE.U32 3 R4 R6 R10 0\n");
  const auto registers = [&](size_t i) {
    std::vector<uint32_t> all = instruction(p, i).dsts;
    for (const compiler::Operand& o : instruction(p, i).srcs) all.push_back(o.reg);
    return all;
  };
  EXPECT_EQ(registers(0), (std::vector<uint32_t>{4, 5, 6, 7, 2, 3}));
  EXPECT_EQ(instruction(p, 0).mod.vector, 4);
  EXPECT_EQ(registers(1), (std::vector<uint32_t>{2, 3, 5}));
  EXPECT_EQ(instruction(p, 1).mod.type, ptx::Type::kB8);
  EXPECT_EQ(registers(2), (std::vector<uint32_t>{8, 9, 4, 5, 6, 7}));
  EXPECT_EQ(registers(3), (std::vector<uint32_t>{8, 9, 4, 6, 10, 11}));
}

TEST(Program, LdmatrixCountsTheRowsThatItNames) {
  const TraceProgram p = read_warp("0000 ffffffff 1 R4 LDSM.16.M88.2 1 R2 4 1 0x0 16\n");
  const auto seen = accesses(p.recording);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].mask, 0xffffu);
  runtime::validate(p.recording);
}

TEST(Program, RepeatedRunsTakeOneControlWord) {
  std::string loop;
  for (int i = 0; i < 100; ++i)
    loop += "0010 ffffffff 1 R4 IADD3 2 R4 R5 0\n0020 ffffffff 0 BRA 0 0\n";
  const TraceProgram p = read_warp(loop + "0030 ffffffff 0 EXIT 0 0\n");
  EXPECT_EQ(p.recording.warp_instructions, 201u);
  EXPECT_EQ(p.recording.traces.total_words(), 3u);
  EXPECT_EQ(p.recording.kernels[0]->blocks.size(), 2u);
  EXPECT_EQ(compiler::source_text(p.recording.kernels[0]->machine_code), "trace");
}

TEST(Program, UnknownOpcodesAreSaidOnceWithTheirClass) {
  const TraceProgram p = read_warp(
      "0000 ffffffff 1 R4 ZEBRA.X 2 R4 R5 0\n0010 ffffffff 1 R4 ZEBRA.X 2 R4 R5 0\n"
      "0020 1 1 R4 GNU.64 1 R5 8 0 0x7f0000000000\n0030 ffffffff 1 R4 HMMA.16816.F32 3 R4 R8 R4 "
      "0\n");
  ASSERT_EQ(p.warnings.size(), 2u);
  EXPECT_NE(p.warnings[1].find("HMMA"), std::string::npos);
  EXPECT_NE(p.warnings[0].find("GNU (1), ZEBRA (2): not in the table"), std::string::npos);
  EXPECT_EQ(instruction(p, 0).op, Opcode::kAdd);
  EXPECT_EQ(accesses(p.recording).size(), 1u);
}

TEST(Program, KernelsOfDifferentStreamsOverlap) {
  const TraceFolder folder;
  TraceText text;
  text.thread_block("0,0,0", {"0000 ffffffff 0 EXIT 0 0\n"});
  std::string list;
  const auto add = [&](uint64_t stream) {
    text.stream = stream;
    const std::string name = "kernel-" + std::to_string(list.size()) + ".traceg";
    folder.write(name, text.text());
    list += name + "\n";
  };
  const auto read = [&] { return read_program(folder.write("kernelslist.g", list)); };
  constexpr uint64_t kA = 0x55d0c8a4e9b0, kB = 0x55d0c8a51230;
  add(kA);
  add(kA);
  EXPECT_TRUE(read().recording.launches[1].after_all);
  EXPECT_TRUE(read().warnings.empty());
  for (const uint64_t stream : {kB, kB, uint64_t{0}, kA, kB}) add(stream);
  list += "MemcpyHtoD,0x7f2200000000,4096\n";
  add(kA);
  add(kB);
  const TraceProgram p = read();
  const auto& l = p.recording.launches;
  using Indices = std::vector<uint32_t>;
  const Indices none;
  const std::vector<std::pair<bool, Indices>> expected = {
      {true, none}, {true, none}, {false, none}, {false, {2}},    {true, none},
      {true, none}, {false, {4}}, {true, none},  {false, {5, 6}},
  };
  ASSERT_EQ(l.size(), expected.size());
  for (size_t i = 0; i < l.size(); ++i) {
    EXPECT_EQ(l[i].after_all, expected[i].first) << i;
    EXPECT_EQ(l[i].after, expected[i].second) << i;
  }
  EXPECT_EQ(l[0].stream, 1u);
  EXPECT_EQ(l[2].stream, 2u);
  EXPECT_EQ(l[4].stream, 0u);
  ASSERT_EQ(p.warnings.size(), 1u);
  EXPECT_NE(p.warnings[0].find("kernels of 3 streams may overlap"), std::string::npos);
}

TEST(Program, LaunchesOfOneKernelShareIt) {
  const TraceFolder folder;
  TraceText text;
  text.grid = {3, 2, 1};
  text.block = {48, 1, 1};
  const std::string warp = "0000 ffffffff 1 R1 MOV 0 0\n0010 ffffffff 0 EXIT 0 0\n";
  // Any order of thread blocks; warps may be empty or missing.
  for (const char* at : {"2,1,0", "0,0,0", "1,0,0", "2,0,0", "0,1,0"})
    text.thread_block(at, {warp, warp});
  text.thread_block("1,1,0", {""});
  folder.write("kernel-1.traceg.xz", testing::xz(text.text()));
  folder.write("kernel-2.traceg.zst", testing::zstd(text.text()));
  const TraceProgram p = read_program(
      folder.write("kernelslist.g", "kernel-1.traceg.xz\nkernel-2.traceg.zst\nkernel-1.traceg\n"));
  EXPECT_EQ(p.recording.kernels.size(), 1u);
  ASSERT_EQ(p.recording.launches.size(), 3u);
  EXPECT_EQ(p.recording.launches[1].blocks_recorded, 6u);
  EXPECT_EQ(p.recording.warp_instructions, 3 * 5 * 2 * 2u);
  EXPECT_EQ(p.kernels[0].launches, 3u);
  runtime::validate(p.recording);
  EXPECT_FALSE(testing::simulate(p.recording, "baseline").partial);
}

TEST(Program, PolicySayWhyTheyCannotOffload) {
  const TraceProgram p = read_warp("0000 ffffffff 0 EXIT 0 0\n");
  try {
    testing::simulate(p.recording, "tom");
    FAIL() << "offloading from a trace";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("analysis of PTX"), std::string::npos);
  }
}

TEST(Program, KeptInAFileItIsTheSame) {
  const TraceFolder folder;
  const TraceProgram p =
      read_warp("0000 1 1 R4 LDG.E 1 R2 4 0 0x7f0000000000\n0010 1 0 EXIT 0 0\n");
  const std::string path = folder.file("x.nwtrace");
  runtime::save_recording(p.recording, path);
  const runtime::Recording loaded = runtime::load_recording(path);
  EXPECT_EQ(loaded.no_offloading, p.recording.no_offloading);
  EXPECT_EQ(testing::simulate(loaded, "baseline").cycles,
            testing::simulate(p.recording, "baseline").cycles);
}

TEST(Program, ProgressCanStopIt) {
  const TraceFolder folder;
  TraceText text;
  text.thread_block("0,0,0", {"0000 ffffffff 0 EXIT 0 0\n"});
  ReadOptions options;
  options.progress = [](uint64_t, uint64_t) { return false; };
  EXPECT_THROW(read_program(folder.write("kernel-1.traceg", text.text()), options), Interrupted);
}

// --- traces made from recordings of the built-in workloads ---

class RoundTrip : public ::testing::TestWithParam<const char*> {};

/// Lines that loads of the L1 looked up.
uint64_t lines_read(const report::RunResult& r) {
  uint64_t sum = 0;
  for (const report::Counter& c : r.counters)
    if (c.name == "sm.l1.read_hits" || c.name == "sm.l1.read_misses" ||
        c.name == "sm.l1.read_merges")
      sum += c.value;
  return sum;
}

uint64_t counter(const report::RunResult& r, const std::string& name) {
  for (const report::Counter& c : r.counters)
    if (c.name == name) return c.value;
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

TEST_P(RoundTrip, TransactionsAreThoseOfTheProgram) {
  const runtime::Recording& original = testing::workload(GetParam());
  const report::RunResult wanted = testing::simulate(original, "baseline");
  uint32_t version = 2;
  for (const AddressMode mode : {AddressMode::kList, AddressMode::kStride, AddressMode::kDelta}) {
    const TraceFolder folder;
    const TraceProgram p = read_program(testing::write_traces(original, folder, mode, ++version));
    EXPECT_EQ(p.warnings.size(), 0u);
    EXPECT_EQ(p.recording.warp_instructions, original.warp_instructions);
    runtime::validate(p.recording);
    const report::RunResult r = testing::simulate(p.recording, "baseline");
    EXPECT_EQ(r.warp_instructions, wanted.warp_instructions);
    EXPECT_EQ(lines_read(r), lines_read(wanted));
    for (const char* name : {"sm.loads", "sm.stores", "sm.atomics", "sm.barriers",
                             "sm.shared_cycles", "link.gpu_to_memory.packets"})
      EXPECT_EQ(counter(r, name), counter(wanted, name)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, RoundTrip, ::testing::Values("vector-add", "reduction"));

}  // namespace
}  // namespace nearwarp::sass
