// --live: a page on the loopback interface that shows the progress of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/live/server.h"
#include "host/cli/live/view.h"
#include "host/cli/options.h"

namespace nearwarp::cli {

/// Declares --live and --live-port.
void declare_live(CommandLine& line);
/// The port that is asked for, 0 for any free one; empty without --live. Throws UsageError for
/// options that do not go with --live.
std::optional<uint16_t> live_option(const CommandLine& line);

/// Serves the page from construction, which prints the address on standard error, to destruction.
class LivePage {
 public:
  LivePage(uint16_t port, const Machine& machine, const Words& policies);
  LiveView& view() { return view_; }

 private:
  LiveView view_;
  HttpServer server_;
};

}  // namespace nearwarp::cli
