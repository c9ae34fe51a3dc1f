// Does damaged PTX either compile or end in an Error that names the file and a line, and never in a
// crash, a hang or exhausted memory? The test is deterministic.
#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "host/core/error.h"
#include "host/functional/compiler/kernel.h"

namespace nearwarp::compiler {
namespace {

std::string sample(const std::string& name) {
  std::ifstream file(std::string(NW_SOURCE_DIR) + "/tests/ptx/data/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Compiles; returns whether it was accepted. Anything but nearwarp::Error fails the test.
bool survives(const std::string& text) {
  try {
    const Program program = compile_ptx(text, "damaged.ptx");
    for (const Kernel& kernel : program.kernels) {
      EXPECT_TRUE(kernel.unsupported.empty() ||
                  kernel.unsupported.find("damaged.ptx:") != std::string::npos)
          << kernel.unsupported;
      for (const Instruction& instr : kernel.instructions) {
        for (const BlockId target : instr.targets) EXPECT_LT(target, kernel.blocks.size());
        for (const RegId r : instr.dsts) EXPECT_TRUE(r == kNone || r < kernel.registers.size());
      }
    }
    return true;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("damaged.ptx:"), std::string::npos) << error.what();
    return false;
  }
}

// Words, numbers, single characters and runs of blanks.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> tokens;
  const auto kind = [](char c) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%') return 1;
    return c == ' ' || c == '\t' || c == '\n' ? 2 : 0;
  };
  for (const char c : text) {
    if (!tokens.empty() && kind(c) != 0 && kind(tokens.back().back()) == kind(c)) {
      tokens.back() += c;
    } else {
      tokens.emplace_back(1, c);
    }
  }
  return tokens;
}

std::string join(const std::vector<std::string>& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += token;
  return text;
}

class Fuzz : public testing::TestWithParam<const char*> {};

TEST_P(Fuzz, TruncatedAtEveryPosition) {
  const std::string text = sample(GetParam());
  ASSERT_TRUE(survives(text));
  for (size_t length = 0; length < text.size(); ++length) survives(text.substr(0, length));
}

TEST_P(Fuzz, FlippedBytes) {
  const std::string text = sample(GetParam());
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = text;
    for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
      // Mostly printable, or nothing would get past the lexer.
      const unsigned byte = random() % 8 == 0 ? random() % 256 : 0x20 + random() % 0x5f;
      damaged[random() % damaged.size()] = static_cast<char>(byte);
    }
    survives(damaged);
  }
}

TEST_P(Fuzz, RearrangedTokens) {
  const std::vector<std::string> tokens = split(sample(GetParam()));
  std::mt19937 random(2);
  int accepted = 0;
  for (int round = 0; round < 1000; ++round) {
    std::vector<std::string> damaged = tokens;
    for (unsigned edits = 1 + random() % 3; edits > 0; --edits) {
      const auto at = static_cast<std::ptrdiff_t>(random() % damaged.size());
      const size_t other = random() % damaged.size();
      switch (random() % 5) {
        case 0:
          damaged.erase(damaged.begin() + at);
          break;
        case 1:
          damaged.insert(damaged.begin() + at, damaged[other]);
          break;
        case 2:
          std::swap(damaged[static_cast<size_t>(at)], damaged[other]);
          break;
        case 3:
          damaged[static_cast<size_t>(at)] = damaged[other];
          break;
        default:
          damaged[static_cast<size_t>(at)] =
              std::to_string((uint64_t{random()} << 32 | random()) >> random() % 64);
      }
    }
    accepted += survives(join(damaged));
  }
  EXPECT_GT(accepted, 0);  // some damage is only to names and numbers
}

INSTANTIATE_TEST_SUITE_P(Samples, Fuzz,
                         testing::Values("loops.ptx", "calls.ptx", "warp.ptx", "forms.ptx"),
                         [](const auto& sample_info) {
                           const std::string name = sample_info.param;
                           return name.substr(0, name.find('.'));
                         });

TEST(Fuzz, HugeOrDeepTextsAreRefusedQuickly) {
  const std::string head = ".version 9.0\n.target sm_75\n.address_size 64\n";
  const auto in_kernel = [&](const std::string& body) {
    return head + ".visible .entry k()\n{\n" + body + "\nret;\n}\n";
  };
  EXPECT_FALSE(survives(in_kernel(std::string(100000, '{'))));
  EXPECT_FALSE(survives(in_kernel("mov.u32 %r1, " + std::string(100000, '(') + "1;")));
  EXPECT_FALSE(survives(in_kernel("mov.u32 %r1, " + std::string(100000, '-') + "1;")));
  EXPECT_FALSE(survives(in_kernel(".reg .b32 %r<4000000000>;")));
  EXPECT_FALSE(survives(in_kernel(".local .b8 big[1000000000000];")));
  EXPECT_FALSE(survives(in_kernel(".shared .b8 big[4294967296][4294967296];")));
  EXPECT_FALSE(survives(head + ".global .b32 x[99999999999] = {1};"));
  EXPECT_FALSE(survives(head + ".global .b32 x[2] = " + std::string(100000, '{')));
  EXPECT_FALSE(survives(head + ".file 4000000000 \"x\""));
  EXPECT_FALSE(survives(in_kernel("mov.u32 " + std::string(1000000, 'a') + ";")));
  EXPECT_FALSE(survives(in_kernel("ret " + std::string(1000000, ','))));
  EXPECT_TRUE(survives(in_kernel(".reg .b32 %r<16000000>;\nmov.u32 %r15999999, 1;")));
  EXPECT_FALSE(survives(std::string(1000000, '\0')));
  EXPECT_FALSE(survives(""));
}

/// f0 calls f1 twice, f1 calls f2 twice, ...: 2^40 copies if nobody counts.
Kernel doubling_calls(const std::string& formal, const std::string& actual) {
  std::string text =
      ".version 9.0\n.target sm_75\n.address_size 64\n.func f40(" + formal + ") { ret; }\n";
  for (int i = 39; i >= 0; --i) {
    const std::string call = "call f" + std::to_string(i + 1) + actual + "; ";
    text += ".func f" + std::to_string(i) + "(" + formal + ") { " + call + call + "ret; }\n";
  }
  text += ".entry k() { call f0" + actual + "; ret; }\n";
  const Program program = compile_ptx(text, "damaged.ptx");
  return program.kernels.at(0);
}

TEST(Fuzz, DoublingCallsAreCalls) {
  const Kernel k = doubling_calls("", "");
  EXPECT_EQ(k.unsupported, "");
  EXPECT_LT(k.instructions.size(), 200'000u);
}

TEST(Fuzz, DoublingCallsThatMustBeInlinedAreRefused) {
  const Kernel k = doubling_calls(".reg .b32 %x", ", (7)");
  EXPECT_NE(k.unsupported.find("after inlining"), std::string::npos) << k.unsupported;
}

}  // namespace
}  // namespace nearwarp::compiler
