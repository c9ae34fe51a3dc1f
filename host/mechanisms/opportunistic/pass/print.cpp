// Chains as text.
#include <fmt/format.h>

#include <array>

#include "host/mechanisms/opportunistic/pass/chains.h"

namespace nearwarp::opportunistic {

namespace {

constexpr std::array<const char*, 10> kForm = {
    "",      "c = f(a, b)", "f(a, b)",     "c = a",         "c = f(a)",
    "a ? b", "a ? i",       "c = f(a, i)", "f(a, g(b, i))", "c = f(a, g(b, i))"};

const char* response_name(Response r) {
  return r == Response::kAck ? "ack" : r == Response::kData ? "data" : "bitmap";
}

}  // namespace

std::string format_chains(const compiler::Kernel& kernel) {
  const Chains found = find_chains(kernel);
  std::string text = fmt::format("kernel {}\n", kernel.name);
  if (found.chains.empty() && found.refused.empty()) return text + "  no load of global memory\n";
  const auto line = [&](compiler::InstrId i) { return kernel.instructions[i].ptx_line; };
  for (const Chain& c : found.chains)
    text += fmt::format("  line {:<5} pattern {}  {:<17}  {} instructions, {} moved, {}{}\n",
                        line(c.instructions[0]), c.pattern, kForm[c.pattern], c.instructions.size(),
                        c.hoisted.size() + c.sunk.size(), response_name(c.response),
                        c.splits_fma ? ", sum at home" : "");
  for (const Refused& r : found.refused)
    text += fmt::format("  line {:<5} no chain: {}\n", line(r.at), r.reason);
  size_t loads = 0;
  for (const Chain& c : found.chains) loads += c.loads.size();
  return text + fmt::format("  {} chains with {} of {} loads of global memory\n",
                            found.chains.size(), loads, loads + found.refused.size());
}

}  // namespace nearwarp::opportunistic
