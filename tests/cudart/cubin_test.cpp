// Do we read from machine code how many registers its kernels take, and refuse damaged code?
// cubins/calls.cu says how the files were made; ptxas -v says the numbers.
#include "host/functional/cudart/code/cubin.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "host/core/error.h"
#include "tests/cudart/library.h"

namespace nearwarp::cudart {
namespace {

using Registers = std::map<std::string, uint32_t>;

const Registers kOf75 = {{"vector_add", 12},
                         {"use_variables", 16},
                         {"write_far", 4},
                         {"write_odd", 4},
                         {"fill_shared", 8}};
const Registers kOf90 = {{"vector_add", 12},
                         {"use_variables", 18},
                         {"write_far", 8},
                         {"write_odd", 8},
                         {"fill_shared", 10}};

/// The file without the attributes that give numbers of registers.
std::string without_attributes(std::string elf) {
  constexpr char kMark[] = {0x04, 0x2f, 0x08, 0x00};
  for (size_t at = 0; (at = elf.find(std::string(kMark, 4), at)) != elf.npos; ++at)
    elf[at + 1] = 0x7f;
  return elf;
}

TEST(Cubin, RegistersByAttribute) {
  const Cubin of75 = read_cubin(read_cubin_file("kernels.sm_75.cubin"));
  EXPECT_TRUE(of75.linked);
  EXPECT_EQ(of75.registers, kOf75);
  EXPECT_EQ(read_cubin(read_cubin_file("kernels.sm_90.cubin")).registers, kOf90);
}

TEST(Cubin, RegistersBySectionWhereThereIsNoAttribute) {
  EXPECT_EQ(read_cubin(without_attributes(read_cubin_file("kernels.sm_75.cubin"))).registers,
            kOf75);
  EXPECT_EQ(read_cubin(without_attributes(read_cubin_file("kernels.sm_90.cubin"))).registers,
            Registers{})
      << "they no longer stand there";
}

TEST(Cubin, TheLinkerCountsWhatIsCalled) {
  const Cubin unlinked = read_cubin(read_cubin_file("calls.unlinked.sm_75.cubin"));
  EXPECT_FALSE(unlinked.linked);
  EXPECT_EQ(unlinked.registers.at("caller"), 24u);
  const Cubin linked = read_cubin(read_cubin_file("calls.sm_75.cubin"));
  EXPECT_TRUE(linked.linked);
  EXPECT_EQ(linked.registers.at("caller"), 44u);
}

TEST(Cubin, OtherFilesAreRefused) {
  const auto why = [](const std::string& elf) {
    try {
      read_cubin(elf);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string whole = read_cubin_file("kernels.sm_75.cubin");
  EXPECT_NE(why("").find("ends early"), std::string::npos);
  EXPECT_NE(why(std::string(100, 'x')).find("no 64-bit ELF"), std::string::npos);
  std::string host = whole;
  host[18] = 62;  // x86-64
  EXPECT_NE(why(host).find("machine 62 instead of 190"), std::string::npos) << why(host);
  std::string many = whole;
  constexpr char kMark[] = {0x04, 0x2f, 0x08, 0x00};
  many[many.find(std::string(kMark, 4)) + 9] = 0x10;  // 4096 more
  EXPECT_NE(why(many).find("a kernel with 4"), std::string::npos) << why(many);
}

TEST(Cubin, DamageIsAnErrorNeverMore) {
  std::mt19937 random(1);
  for (const char* name : {"kernels.sm_75.cubin", "kernels.sm_90.cubin", "calls.sm_75.cubin"}) {
    const std::string whole = read_cubin_file(name);
    size_t section_table = 0;
    std::memcpy(&section_table, whole.data() + 40, sizeof(section_table));
    for (size_t n = 0; n < whole.size(); n += n < 128 ? 1 : 7) {
      // The part has memory of its own, so that a sanitizer sees reads beyond it.
      const std::string part(whole.data(), n);
      if (n <= section_table) {
        EXPECT_THROW(read_cubin(part), Error) << name << " " << n;
      }
      try {
        read_cubin(part);
      } catch (const Error&) {
      }
    }
    for (int i = 0; i < 3000; ++i) {
      std::string changed = whole;
      for (int k = 0; k < 3; ++k) {
        // The header and the table of sections are a small part of the file, so they get more
        // changes.
        const size_t in_table = section_table + random() % (whole.size() - section_table);
        const size_t at = i % 3 == 0   ? random() % whole.size()
                          : i % 3 == 1 ? random() % 64
                                       : in_table;
        changed[at] = static_cast<char>(random());
      }
      try {
        for (const auto& [kernel, count] : read_cubin(changed).registers) EXPECT_LE(count, 255u);
      } catch (const Error&) {
      }
    }
  }
}

}  // namespace
}  // namespace nearwarp::cudart
