// Registers per thread.
#include "host/timing/report/registers.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/timing/report/columns.h"
#include "host/timing/report/kernels.h"

namespace nearwarp::report {

std::string format_registers(const RunResult& run) {
  const std::vector<KernelSummary> kernels = summarize_kernels(run);
  std::vector<std::string> names;
  Column registers{"registers", {}}, from{"counted by", {}};
  const size_t shown = kernels.size() <= kMostKernels ? kernels.size() : kMostKernels - 1;
  for (size_t i = 0; i < shown; ++i) {
    names.push_back(short_name(kernels[i].kernel));
    registers.cells.push_back(std::to_string(kernels[i].registers));
    from.cells.push_back(kernels[i].registers_source);
  }
  if (names.empty()) return "";
  std::string text = "Registers per thread, by which thread blocks are placed:\n\n" +
                     columns_text(names, {std::move(registers), std::move(from)}, 80);
  if (shown < kernels.size())
    text += fmt::format("({} other kernels: --json)\n", kernels.size() - shown);
  return text;
}

}  // namespace nearwarp::report
