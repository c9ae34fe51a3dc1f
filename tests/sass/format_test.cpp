// Are lines, modes of addresses, versions and compressions read as the format says?
#include <gtest/gtest.h>

#include "host/core/error.h"
#include "host/recording/accel_sim/instruction_line.h"
#include "host/recording/accel_sim/line_reader.h"
#include "host/recording/accel_sim/opcode_table.h"
#include "host/recording/accel_sim/trace_list.h"
#include "tests/sass/trace_files.h"

namespace nearwarp::sass {
namespace {

using testing::TraceFolder;
using testing::TraceText;

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Addresses, List) {
  uint64_t a[32] = {};
  const LineProblem p = parse_addresses(" 0 0x7f00 0x10 ff", 0x80000011, a);
  ASSERT_EQ(p.what, nullptr);
  EXPECT_EQ(a[0], 0x7f00u);
  EXPECT_EQ(a[4], 0x10u);
  EXPECT_EQ(a[31], 0xffu);
}

TEST(Addresses, BaseAndStride) {
  uint64_t a[32] = {};
  ASSERT_EQ(parse_addresses(" 1 0x7f0000001000 -8 ", 0xf0, a).what, nullptr);
  for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(a[4 + i], 0x7f0000001000 - 8 * i);
}

TEST(Addresses, EachDistanceIsFromTheActiveLaneBefore) {
  uint64_t a[32] = {};
  ASSERT_EQ(parse_addresses(" 2 0x1000 16 -4 4096 0x7 ", 0x1203, a).what, nullptr);
  EXPECT_EQ(a[0], 0x1000u);
  EXPECT_EQ(a[1], 0x1010u);
  EXPECT_EQ(a[9], 0x100cu);
  EXPECT_EQ(a[12], 0x200cu);
}

TEST(Addresses, OfNoLaneAreNotLookedFor) {
  uint64_t a[32] = {};
  for (const char* text : {" 0", " 1 0x0 0", " 2 0x0"})
    EXPECT_EQ(parse_addresses(text, 0, a).what, nullptr) << text;
}

TEST(Addresses, TooFewOrUnreadable) {
  uint64_t a[32] = {};
  for (const char* text : {"", " 3 0x0", " 0 0x1", " 1 0x1", " 2 0x1 4", " 0 0x1 0x2 zebra",
                           " 0 0x1 0x2 0x11111111111111111"})
    EXPECT_NE(parse_addresses(text, 7, a).what, nullptr) << text;
}

TEST(Lines, StaticPart) {
  StaticPart s;
  size_t length = 0;
  const std::string text = "1 R24 LDG.E.128.CONSTANT.SYS 3 R44 R255 UR4 16 1 0x100 4";
  ASSERT_EQ(parse_static(text, 4, &s, &length).what, nullptr);
  EXPECT_EQ(s.opcode, "LDG.E.128.CONSTANT.SYS");
  EXPECT_EQ(s.dsts, std::vector<uint8_t>{24});
  EXPECT_EQ(s.srcs, std::vector<uint8_t>{44});  // neither the zero register nor a uniform one
  EXPECT_EQ(s.memory_bytes, 16u);
  EXPECT_EQ(text.substr(length), " 1 0x100 4");
}

TEST(Lines, FrontOfEveryVersion) {
  KernelHeader h;
  DynamicPart d;
  h.tracer_version = 2;
  ASSERT_EQ(parse_front("3 2 1 0 0010 0000ffff 0 NOP 0 0", h, &d).what, nullptr);
  EXPECT_EQ(d.pc, 0x10u);
  EXPECT_EQ(d.mask, 0xffffu);
  EXPECT_EQ(d.rest, "0 NOP 0 0");
  h.tracer_version = 5;
  ASSERT_EQ(parse_front("00a0 00000000 0 NOP 0 0", h, &d).what, nullptr);
  EXPECT_EQ(d.pc, 0xa0u);
  EXPECT_EQ(d.mask, 0u);
  h.line_info = true;
  ASSERT_EQ(parse_front("117 00b0 ffffffff 0 NOP 0 0", h, &d).what, nullptr);
  EXPECT_EQ(d.pc, 0xb0u);
}

TEST(Header, AllThatASimulationNeeds) {
  const TraceFolder folder;
  TraceText text;
  text.name = "void f<int, 3>(A = B)";
  text.grid = {7, 2, 3};
  text.block = {16, 4, 1};
  text.shared = 4096;
  text.registers = 40;
  LineReader lines(folder.write("kernel-1.traceg", text.text()));
  const KernelHeader h = read_kernel_header(lines);
  EXPECT_EQ(h.name, "void f<int, 3>(A = B)");
  EXPECT_EQ(h.grid, (runtime::Dim3{7, 2, 3}));
  EXPECT_EQ(h.block, (runtime::Dim3{16, 4, 1}));
  EXPECT_EQ(h.shared_bytes, 4096u);
  EXPECT_EQ(h.registers, 40u);
  EXPECT_EQ(h.binary_version, 80u);
  EXPECT_EQ(h.tracer_version, 4u);
  EXPECT_EQ(h.shared_base, 0x7f3a00000000u);
  EXPECT_EQ(h.local_base, 0x7f3a02000000u);
}

TEST(Header, ImpossibleResourcesAreNotUsed) {
  const TraceFolder folder;
  TraceText text;
  text.registers = 21955;  // as a tracer wrote it that was built for another CUDA version
  text.shared = 1u << 30;
  LineReader lines(folder.write("kernel-1.traceg", text.text()));
  const KernelHeader h = read_kernel_header(lines);
  EXPECT_EQ(h.registers, 0u);
  EXPECT_EQ(h.shared_bytes, 0u);
  ASSERT_EQ(h.doubts.size(), 2u);
  EXPECT_NE(h.doubts[0].find("nregs = 21955"), std::string::npos);
}

TEST(Header, MistakesHaveFileAndLine) {
  const TraceFolder folder;
  const auto message = [&](const std::string& text) {
    const std::string path = folder.write("k.traceg", text);
    return message_of([&] {
      LineReader lines(path);
      read_kernel_header(lines);
    });
  };
  const std::string start = "-kernel name = f\n-grid dim = (1,1,1)\n";
  EXPECT_NE(message(start + "-block dim = (0,1,1)\n#\n").find("k.traceg:3"), std::string::npos);
  EXPECT_NE(message(start + "-block dim = (64,64,1)\n#\n").find("4096 threads"), std::string::npos);
  EXPECT_NE(message(start + "#\n").find("-block dim = (x,y,z)"), std::string::npos);
  EXPECT_NE(message(start + "-block dim = (1,1,1)\n-accelsim tracer version = 7\n#\n").find("6"),
            std::string::npos);
  EXPECT_NE(message(start).find("ends in its header"), std::string::npos);
  EXPECT_NE(message("-grid dim = (4294967295,4294967295,4294967295)\n").find("grid dim"),
            std::string::npos);
}

TEST(List, CopiesAndKernelsWhateverTheirCompression) {
  const TraceFolder folder;
  folder.write("kernel-1.traceg", "");
  folder.write("kernel-2.traceg.zst", "");
  const TraceList list = read_trace_list(
      folder.write("kernelslist.g",
                   "MemcpyHtoD,0x00007efe7b500000,2052\nMemcpyDtoH,0x1,4\n\nkernel-1.traceg.xz\r\n"
                   "kernel-2.traceg\n"));
  ASSERT_EQ(list.copies.size(), 1u);
  EXPECT_EQ(list.copies[0].address, 0x7efe7b500000u);
  EXPECT_EQ(list.copies[0].bytes, 2052u);
  EXPECT_EQ(list.kernels, (std::vector<std::string>{folder.file("kernel-1.traceg"),
                                                    folder.file("kernel-2.traceg.zst")}));
}

TEST(List, Mistakes) {
  const TraceFolder folder;
  const auto message = [&](const std::string& text) {
    const std::string path = folder.write("kernelslist.g", text);
    return message_of([&] { read_trace_list(path); });
  };
  EXPECT_NE(message("MemcpyHtoD,zebra,4\n").find("kernelslist.g:1"), std::string::npos);
  EXPECT_NE(message("\nkernel-9.traceg\n").find("kernelslist.g:2"), std::string::npos);
  EXPECT_NE(message("MemcpyHtoD,0x1,4\n").find("lists no kernel"), std::string::npos);
  EXPECT_NE(message_of([&] { read_trace_list(folder.file("no.g")); }).find("No such file"),
            std::string::npos);
}

TEST(Bytes, PlainAndCompressed) {
  const TraceFolder folder;
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "line " + std::to_string(i) + "\n";
  const std::string second = "the last line has no end";
  for (const auto& content : {text + second, testing::xz(text) + testing::xz(second),
                              testing::zstd(text) + testing::zstd(second)}) {
    LineReader lines(folder.write("x", content));
    std::string_view line;
    for (int i = 0; i < 100000; ++i) {
      ASSERT_TRUE(lines.next(&line));
      ASSERT_EQ(line, "line " + std::to_string(i));
    }
    ASSERT_TRUE(lines.next(&line));
    EXPECT_EQ(line, second);
    EXPECT_EQ(lines.line_number(), 100001u);
    EXPECT_FALSE(lines.next(&line));
    EXPECT_EQ(lines.position(), content.size());
  }
}

TEST(Bytes, CutOffOrDamagedIsAnError) {
  const TraceFolder folder;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i * 7919) + "\n";
  const auto read_all = [&](const std::string& content) {
    const std::string path = folder.write("x", content);
    return message_of([&] {
      LineReader lines(path);
      std::string_view line;
      while (lines.next(&line)) {
      }
    });
  };
  for (std::string content : {testing::xz(text), testing::zstd(text)}) {
    EXPECT_EQ(read_all(content), "");
    EXPECT_NE(read_all(content.substr(0, content.size() / 2)).find("ends early"),
              std::string::npos);
    content[content.size() / 2] = static_cast<char>(~content[content.size() / 2]);
    content[content.size() / 2 + 1] = static_cast<char>(~content[content.size() / 2 + 1]);
    EXPECT_NE(read_all(content).find("cannot decompress"), std::string::npos);
  }
  EXPECT_NE(read_all("\x1f\x8b\x08").find("gzip"), std::string::npos);
  EXPECT_NE(read_all(std::string(3 << 20, 'x')).find("longer than a mebibyte"), std::string::npos);
}

TEST(Opcodes, TableHasWhatItShould) {
  for (const char* name : {"FADD", "NOP", "LDG", "HMMA", "UTMALDG", "EXIT", "VIADD", "R2UR"})
    EXPECT_NE(find_opcode(name), nullptr) << name;
  for (const char* name : {"", "FAD", "FADDS", "ZEBRA"}) EXPECT_EQ(find_opcode(name), nullptr);
  EXPECT_EQ(find_opcode("DFMA")->type, ptx::Type::kF64);
  EXPECT_EQ(class_name(OpcodeClass::kUnknown), "unknown");
}

}  // namespace
}  // namespace nearwarp::sass
