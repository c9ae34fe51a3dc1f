// --live: a page on the loopback interface that shows how a run goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/live/server.h"
#include "host/cli/live/view.h"
#include "host/cli/options.h"

namespace nearwarp::cli {

/// The options --live and --live-port.
void declare_live(CommandLine& line);
/// The port that is asked for, 0 for any; nothing without --live. Throws UsageError for what it
/// does not go with.
std::optional<uint16_t> live_option(const CommandLine& line);

/// There from its beginning, which says on standard error where, to its end.
class LivePage {
 public:
  LivePage(uint16_t port, const Machine& machine, const Words& policies);
  LiveView& view() { return view_; }

 private:
  LiveView view_;
  HttpServer server_;
};

}  // namespace nearwarp::cli
