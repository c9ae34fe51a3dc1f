// A text about the Accel-Sim traces of a program.
#include "host/cli/programs/trace_analysis.h"

#include <fmt/format.h>

#include <map>

#include "host/api/nearwarp/traces.h"
#include "host/cli/expected.h"
#include "host/cli/progress/notes.h"
#include "host/config/nearest.h"
#include "host/core/error.h"
#include "host/timing/report/columns.h"

namespace nearwarp::cli {
namespace {

constexpr size_t kShownOpcodes = 20;

std::string share(uint64_t part, uint64_t all) {
  const double percent = all == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(all);
  return fmt::format("{:5.1f} %", percent);
}

std::string kernel_text(const TracedKernel& kernel) {
  std::map<std::string, uint64_t> by_group;
  uint64_t warp_instructions = 0, thread_instructions = 0;
  for (const TracedOpcode& c : kernel.opcodes) {
    by_group[c.group] += c.warp_instructions;
    warp_instructions += c.warp_instructions;
    thread_instructions += c.thread_instructions;
  }
  std::string text = fmt::format("kernel {}\n", kernel.name);
  text += fmt::format("  binary version {}, {} registers, {} different instructions executed\n",
                      kernel.binary_version, kernel.registers, kernel.static_instructions);
  text += fmt::format("  {} launch{}, {} thread block{}\n", kernel.launches,
                      kernel.launches == 1 ? "" : "es", kernel.thread_blocks,
                      kernel.thread_blocks == 1 ? "" : "s");
  text += fmt::format("  {} warp-instructions, {} thread-instructions\n", warp_instructions,
                      thread_instructions);
  text += "  by class:\n";
  for (const std::string& group : kernel.groups)
    if (const uint64_t count = by_group[group]; count != 0)
      text += fmt::format("    {:<16} {}  {}\n", group, share(count, warp_instructions), count);
  text += "  most frequent opcodes:\n";
  for (size_t i = 0; i < kernel.opcodes.size() && i < kShownOpcodes; ++i)
    text += fmt::format("    {:<16} {}  {}\n", kernel.opcodes[i].name,
                        share(kernel.opcodes[i].warp_instructions, warp_instructions),
                        kernel.opcodes[i].warp_instructions);
  return text;
}

}  // namespace

std::string trace_analysis(const std::string& path, const std::string& kernel) {
  Notes notes;
  const TraceSummary program = taken(summarize_traces(path, notes.program_options()));
  std::string text;
  std::vector<std::string> names;
  for (const TracedKernel& k : program.kernels) {
    names.push_back(k.name);
    if (!kernel.empty() && k.name != kernel) continue;
    text += kernel_text(k) + "\n";
  }
  if (text.empty())
    throw Error(
        fmt::format("'{}' has no kernel '{}'{}", path, kernel, config::suggestion(kernel, names)));
  for (const std::string& warning : program.warnings)
    text += report::wrapped("approximated: " + warning, 80);
  return text + report::wrapped(
                    fmt::format("no offloading candidates: {}", why_traces_do_without_code()), 80);
}

}  // namespace nearwarp::cli
