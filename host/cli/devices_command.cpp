// nearwarp devices: what simulated systems can be stepped on here.
#include <fmt/format.h>

#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/terminal.h"
#include "host/core/error.h"
#include "host/core/workers.h"
#include "host/timing/run/cuda_devices.h"

namespace nearwarp::cli {
namespace {

std::string device_text(const sim::DeviceInfo& d) {
  return fmt::format(
      "{} ({}), {} multiprocessors at {} MHz, {:.1f} GiB; steps {} systems at once, "
      "each by {} to {} warps",
      d.name, d.architecture, d.multiprocessors, d.clock_mhz,
      static_cast<double>(d.memory_bytes) / (1 << 30), d.blocks_at_once, d.warps_per_block,
      d.warps_per_block * d.largest_team);
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
  const unsigned here = processors();
  std::string text = row("cpu", fmt::format("{} processor{}", here, here == 1 ? "" : "s"));
  std::string why;
  try {
    for (const sim::DeviceInfo& d : sim::cuda_devices(why))
      text += row(fmt::format("cuda {}", d.index), device_text(d));
  } catch (const Error& error) {
    why = error.what();
  }
  if (!why.empty()) text += row("cuda", fmt::format("none: {}", why));
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
