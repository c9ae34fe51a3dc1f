// The result of CODA's analysis of code as text.
#include <fmt/format.h>

#include "host/mechanisms/coda/pass/strides.h"

namespace nearwarp::compiler {

std::string factor_name(const Kernel& kernel, const Factor& f) {
  const char axis = "xyz"[f.index % 3];
  switch (f.kind) {
    case Factor::Kind::kParam:
      return fmt::format("p{}", f.index);
    case Factor::Kind::kVariable:
      return kernel.symbols[f.index].name;
    case Factor::Kind::kNtid:
      return fmt::format("ntid.{}", axis);
    case Factor::Kind::kNctaid:
      return fmt::format("nctaid.{}", axis);
    case Factor::Kind::kTid:
      return fmt::format("tid.{}", axis);
    case Factor::Kind::kCtaid:
      return fmt::format("ctaid.{}", axis);
    case Factor::Kind::kLoop:
      return "loop";
    case Factor::Kind::kOfBlock:
      return "of_block";
    case Factor::Kind::kLoaded:
      return "loaded";
  }
  return "?";
}

const char* pattern_name(AccessPattern pattern) {
  switch (pattern) {
    case AccessPattern::kRegular:
      return "regular";
    case AccessPattern::kShared:
      return "shared";
    case AccessPattern::kIrregular:
      return "irregular";
    case AccessPattern::kUnknown:
      break;
  }
  return "unknown";
}

std::string format_strides(const Kernel& kernel) {
  const auto name = [&](Factor f) { return factor_name(kernel, f); };
  std::string text = fmt::format("kernel {}\n", kernel.name);
  const std::vector<AccessStride> accesses = analyze_strides(kernel);
  if (accesses.empty()) return text + "  no access to global memory\n";
  for (const AccessStride& a : accesses) {
    const Instruction& in = kernel.instructions[a.instruction];
    text += fmt::format("  line {:<5} {:<5}  {:<9}  {}\n", in.ptx_line, a.store ? "write" : "read",
                        pattern_name(a.pattern), a.address.text(name));
  }
  for (const ObjectStride& o : strides_of_objects(accesses))
    text += fmt::format(
        "  object {}: {}{}\n", name(o.object), pattern_name(o.pattern),
        o.pattern == AccessPattern::kRegular ? ", B = " + o.block_bytes.text(name) + " bytes" : "");
  return text;
}

}  // namespace nearwarp::compiler
