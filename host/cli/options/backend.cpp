// The options that choose the backend which steps the simulated machines: --backend and --device.
#include "host/cli/options/backend.h"

#include <fmt/format.h>

#include "host/api/nearwarp.h"
#include "host/config/nearest.h"
#include "host/core/error.h"

namespace nearwarp::cli {

void declare_backend(CommandLine& line) {
  line.value("backend",
             "cpu, cuda (a GPU), or auto: the CPU, unless --device chooses a GPU; results are the "
             "same",
             "auto|cpu|cuda", "auto");
  line.value("device", "the CUDA device to use, as numbered by 'nearwarp devices'", "N", "0");
}

void declare_batch_backend(CommandLine& line) {
  declare_backend(line);
  line.flag("locate-fault",
            "after a GPU has failed, say which component it was stepping, and when (slow)");
}

void check_backend_name(const CommandLine& line) {
  const std::string name = line.text("backend");
  if (name == "auto" || name == "cpu" || name == "cuda") return;
  throw UsageError(fmt::format("there is no backend '{}'{}", name,
                               config::suggestion(name, {"auto", "cpu", "cuda"})));
}

Backend chosen_backend(const CommandLine& line) {
  check_backend_name(line);
  const std::string name = line.text("backend");
  const auto index = static_cast<int>(line.number("device", 0, 1023));
  if (name == "cpu") {
    if (line.given("device"))
      throw UsageError(line.given("backend") ? "--device chooses a GPU - leave --backend cpu out"
                                             : "--device chooses a GPU - give --backend cuda, too");
    return {};
  }
  // Measured (docs/backends.md): a GPU steps one system slower than a core does, and a thousand
  // about as fast as sixteen cores do.
  if (name == "auto" && !line.given("device")) return {};
  const Expected<int> devices = cuda_devices();
  if (!devices) throw Error(fmt::format("{} - use --backend cpu", devices.failure().what));
  if (index >= *devices) {
    throw Error(fmt::format("there is no CUDA device {} - 'nearwarp devices' lists those there are",
                            index));
  }
  Backend backend;
  backend.cuda = true;
  backend.device = index;
  return backend;
}

Backend chosen_batch_backend(const CommandLine& line) {
  Backend backend = chosen_backend(line);
  backend.locate_fault = line.given("locate-fault");
  if (backend.locate_fault && !backend.cuda)
    throw UsageError("--locate-fault is about a GPU, and the backend is the CPU");
  return backend;
}

}  // namespace nearwarp::cli
