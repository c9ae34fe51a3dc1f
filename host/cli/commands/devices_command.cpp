// nearwarp devices: lists the CPU and GPUs on which simulations can run.
#include <fmt/format.h>

#include "host/api/nearwarp/catalogue.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/terminal.h"

namespace nearwarp::cli {
namespace {

std::string device_text(const CudaDevice& d) {
  return fmt::format(
      "{} ({}), {} multiprocessors at {} MHz, {:.1f} GiB; steps {} systems at once, "
      "each by {} to {} warps",
      d.name, d.architecture, d.multiprocessors, d.clock_mhz,
      static_cast<double>(d.memory_bytes) / (1 << 30), d.systems_at_once, d.least_warps,
      d.most_warps);
}

CommandLine declare_devices() {
  CommandLine line("devices", "", "List what simulated systems can be stepped on here");
  return line;
}

int run_devices(const CommandLine& /*line*/, const Words& /*application*/) {
  static constexpr size_t kIndent = 8;
  const auto row = [](const std::string& name, const std::string& text) {
    return fmt::format("{:<{}}{}\n", name, kIndent,
                       wrapped(text, output_width() - kIndent, std::string(kIndent, ' ')));
  };
  const Devices all = devices();
  std::string text =
      row("cpu", fmt::format("{} processor{}", all.processors, all.processors == 1 ? "" : "s"));
  for (const CudaDevice& d : all.cuda) text += row(fmt::format("cuda {}", d.index), device_text(d));
  if (!all.why_no_cuda.empty()) text += row("cuda", fmt::format("none: {}", all.why_no_cuda));
  print(text);
  return 0;
}

}  // namespace

Command devices_command() {
  return {.name = "devices",
          .uses = {{"", "what can be simulated on here"}},
          .declare = declare_devices,
          .least = 0,
          .most = 0,
          .run = run_devices};
}

}  // namespace nearwarp::cli
