// Does the lexer read every form of token, and do its errors have the right line?
#include "host/functional/ptx/lexer.h"

#include <gtest/gtest.h>

#include <bit>

#include "host/core/error.h"

namespace nearwarp::ptx {
namespace {

Token only(const std::string& text) {
  Lexer lexer(text, "t.ptx");
  Token token = lexer.next();
  EXPECT_EQ(lexer.peek().kind, Token::Kind::kEnd) << text;
  token.text = {};  // points into the argument
  return token;
}

std::string error_of(const std::string& text) {
  try {
    Lexer lexer(text, "t.ptx");
    while (lexer.peek().kind != Token::Kind::kEnd) lexer.next();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Lexer, Integers) {
  EXPECT_EQ(only("0").value, 0u);
  EXPECT_EQ(only("1234U").value, 1234u);
  EXPECT_EQ(only("0xFfU").value, 255u);
  EXPECT_EQ(only("0XFF").value, 255u);
  EXPECT_EQ(only("017").value, 15u);
  EXPECT_EQ(only("0b1011").value, 11u);
  EXPECT_EQ(only("18446744073709551615").value, UINT64_MAX);
  EXPECT_EQ(only("0xffffffffffffffff").value, UINT64_MAX);
}

TEST(Lexer, FloatingPoint) {
  EXPECT_EQ(only("0f3F800000").kind, Token::Kind::kFloat32);
  EXPECT_EQ(only("0f3F800000").value, 0x3f800000u);
  EXPECT_EQ(only("0F3f800000").value, 0x3f800000u);
  EXPECT_EQ(only("0d400921FB54442D18").value, 0x400921fb54442d18u);
  EXPECT_EQ(only("1.5").value, std::bit_cast<uint64_t>(1.5));
  EXPECT_EQ(only("2.5e-3").value, std::bit_cast<uint64_t>(2.5e-3));
  EXPECT_EQ(only("1e3").kind, Token::Kind::kFloat64);
}

TEST(Lexer, NamesDirectivesAndPunctuation) {
  const std::string text = "%r1 %tid.x .b32 $L__BB0_1: _a$ \"a b\" @!%p|[%rd2+-8] // end\n.x/* */;";
  Lexer lexer(text, "t.ptx");
  std::vector<std::string> tokens;
  while (lexer.peek().kind != Token::Kind::kEnd) tokens.emplace_back(lexer.next().text);
  EXPECT_EQ(tokens,
            (std::vector<std::string>{"%r1", "%tid.x", ".b32", "$L__BB0_1", ":", "_a$", "a b", "@",
                                      "!", "%p", "|", "[", "%rd2", "+", "-", "8", "]", ".x", ";"}));
}

TEST(Lexer, MnemonicsKeepTheirDots) {
  Lexer lexer("ld.global.L1::no_allocate.v2.f32 {%f1, %f2}", "t.ptx");
  EXPECT_EQ(lexer.next_mnemonic().text, "ld.global.L1::no_allocate.v2.f32");
  EXPECT_TRUE(lexer.peek().is('{'));
  Lexer label("$L_x:\n", "t.ptx");
  EXPECT_EQ(label.next_mnemonic().text, "$L_x");
  EXPECT_TRUE(label.peek().is(':'));
}

TEST(Lexer, LinesAreCounted) {
  Lexer lexer("a // x\nb /* \n\n */ c\r\nd", "t.ptx");
  EXPECT_EQ(lexer.next().line, 1u);
  EXPECT_EQ(lexer.next().line, 2u);
  EXPECT_EQ(lexer.next().line, 4u);
  EXPECT_EQ(lexer.next().line, 5u);
}

TEST(Lexer, AFinalZeroByteIsIgnored) {
  EXPECT_EQ(only(std::string("abc\0", 4)).kind, Token::Kind::kName);
  EXPECT_NE(error_of(std::string("ab\0c", 4)), "");
}

TEST(Lexer, ErrorsNameTheLine) {
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"a\n0x", "malformed integer '0x' (t.ptx:2)"},
           {"\n\n0f12", "malformed floating-point constant '0f12' (t.ptx:3)"},
           {"0d12345678", "malformed floating-point constant '0d12345678' (t.ptx:1)"},
           {"12ab", "malformed number '12ab' (t.ptx:1)"},
           {"08", "malformed number '08' (t.ptx:1)"},
           {"1e400", "malformed number '1e400' (t.ptx:1)"},
           {"1.5e-400", "malformed number '1.5e-400' (t.ptx:1)"},
           {"18446744073709551616", "malformed integer '18446744073709551616' (t.ptx:1)"},
           {"a\n/* b", "unclosed comment (t.ptx:2)"},
           {"a\n\"b\nc\"", "unclosed string (t.ptx:2)"},
           {"a \xc3\xa9", "unexpected byte 0xc3 (t.ptx:1)"}}) {
    EXPECT_EQ(error_of(text).substr(0, message.size()), message);
  }
}

}  // namespace
}  // namespace nearwarp::ptx
