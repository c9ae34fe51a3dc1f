// Parses a line of a trace: an instruction that a warp executed.
#include "host/recording/accel_sim/instruction_line.h"

#include <algorithm>

#include "host/recording/accel_sim/tokens.h"

namespace nearwarp::sass {
namespace {

constexpr uint32_t kMostRegisters = 16;  // destinations, or sources, of an instruction
constexpr uint32_t kZeroRegister = 255;

/// Appends the number of a register such as "UR4", "P0" or "UP1"; nothing for the zero register and
/// the true predicate. Returns false if the word names no such register.
bool parse_other(std::string_view word, std::vector<uint32_t>* to) {
  const bool uniform = word.starts_with("U");
  const bool predicate = word.substr(uniform ? 1 : 0).starts_with("P");
  word.remove_prefix(std::min(word.size(), size_t{uniform} + 1));
  uint32_t number = 0;
  if (!parse_number(word, &number)) return word == "Z" || word == "T";
  if (predicate) {
    if (number >= kPredicates) return false;
    if (number + 1 != kPredicates)
      to->push_back(kUniformRegisters + (uniform ? kPredicates : 0) + number);
    return true;
  }
  // 63 is the zero register of Hopper and before.
  if (number >= kUniformRegisters) return false;
  if (number != 63 && number != kZeroRegister) to->push_back(number);
  return true;
}

/// Parses a number of operands and their names, as in "2 R4 R255". Numbers of uniform registers and
/// predicates are appended to `others`, if that is not null; `named` is increased by the number of
/// operands, and `vectors` by that of vector registers.
bool parse_registers(Tokens& words, std::vector<uint8_t>* to, std::vector<uint32_t>* others,
                     uint32_t* named, uint32_t* vectors = nullptr) {
  uint32_t count = 0;
  if (!parse_number(words.next(), &count) || count > kMostRegisters) return false;
  *named += count;
  for (uint32_t i = 0; i < count; ++i) {
    std::string_view word = words.next();
    if (word.empty()) return false;
    if (word[0] != 'R') {
      if (word[0] != 'U' && word[0] != 'P') return false;
      if (others != nullptr && !parse_other(word, others)) return false;
      continue;
    }
    word.remove_prefix(1);
    if (vectors != nullptr) *vectors += 1;
    if (word == "Z") continue;
    uint32_t number = 0;
    if (!parse_number(word, &number) || number > kZeroRegister) return false;
    if (number != kZeroRegister) to->push_back(static_cast<uint8_t>(number));
  }
  return true;
}

bool is_opcode(std::string_view word) { return !word.empty() && word[0] >= 'A' && word[0] <= 'Z'; }

}  // namespace

LineProblem parse_front(std::string_view line, const KernelHeader& header, DynamicPart* to) {
  Tokens words(line);
  if (header.tracer_version < 3) {
    for (int i = 0; i < 4; ++i) {
      uint32_t ignored = 0;
      if (!parse_number(words.next(), &ignored))
        return {"an instruction has no thread block and warp",
                "before tracer version 3, begin with four numbers: x y z warp"};
    }
  }
  if (header.line_info) {
    uint32_t ignored = 0;
    if (!parse_number(words.next(), &ignored))
      return {"an instruction has no source line", "begin with it, or say -enable lineinfo = 0"};
  }
  if (!parse_number(words.next(), &to->pc, 16))
    return {"an instruction has no address", "begin with its PC, a hexadecimal number"};
  if (!parse_number(words.next(), &to->mask, 16))
    return {"an instruction has no mask", "write eight hexadecimal digits behind its PC"};
  words.skip_spaces();
  to->rest = words.rest();
  return {};
}

LineProblem parse_static(std::string_view rest, uint32_t version, StaticPart* to, size_t* length) {
  Tokens words(rest);
  const bool others = version >= 6;  // tracers from version 6 on name other registers as well
  if (!parse_registers(words, &to->dsts, others ? &to->other_dsts : nullptr, &to->operands))
    return {"an instruction's destinations cannot be read",
            "write how many there are and their names, as in 1 R4"};
  const std::string_view opcode = words.next();
  if (!is_opcode(opcode))
    return {"an instruction has no opcode", "write it behind the destinations, as in LDG.E.64"};
  to->opcode = opcode;
  if (!parse_registers(words, &to->srcs, others ? &to->other_srcs : nullptr, &to->operands,
                       &to->vector_srcs))
    return {"an instruction's sources cannot be read",
            "write how many there are and their names, as in 2 R4 R5"};
  if (others && opcode.find("GMMA") != std::string_view::npos) {
    uint32_t commits = 0;
    if (!parse_number(words.next(), &commits) || commits > 1)
      return {"a product of a warp group does not say whether it ends its group",
              "write 0 or 1 behind the sources"};
    to->commits = commits != 0;
  }
  if (!parse_number(words.next(), &to->memory_bytes))
    return {"an instruction has no width of its memory access",
            "write the bytes of a lane, or 0, behind the sources"};
  *length = rest.size() - words.rest().size();
  return {};
}

LineProblem parse_addresses(std::string_view text, uint32_t mask, uint64_t* address,
                            std::string_view* behind) {
  constexpr LineProblem kShort = {"an access has too few addresses",
                                  "mode 0 has one for each active lane, mode 1 a base and a "
                                  "stride, mode 2 a base and a distance for each further lane"};
  Tokens words(text);
  const auto done = [&]() -> LineProblem {
    if (behind != nullptr) *behind = words.rest();
    return {};
  };
  uint32_t mode = 0;
  if (!parse_number(words.next(), &mode) || mode > 2)
    return {"an access has no mode of its addresses",
            "write 0 (list), 1 (base and stride) or 2 (base and distances)"};
  if (mask == 0) return done();
  uint64_t base = 0;
  int64_t stride = 0;
  if (mode != 0 && !parse_number(words.next(), &base, 16)) return kShort;
  if (mode == 1 && !parse_number(words.next(), &stride)) return kShort;
  bool first = true;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    if (mode == 0) {
      if (!parse_number(words.next(), &base, 16)) return kShort;
    } else if (!first) {
      if (mode == 2 && !parse_number(words.next(), &stride)) return kShort;
      base += static_cast<uint64_t>(stride);
    }
    first = false;
    address[__builtin_ctz(m)] = base;
  }
  return done();
}

}  // namespace nearwarp::sass
