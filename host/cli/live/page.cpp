// --live: a page on the loopback interface that shows the progress of a run.
#include "host/cli/live/page.h"

#include <fmt/format.h>

#include <cstdio>

#include "host/core/error.h"

namespace nearwarp::cli {

namespace live_page {
extern const char* const html;
}  // namespace live_page

void declare_live(CommandLine& line) {
  line.flag("live",
            "show how the run goes on, on a page that only this machine sees; its address is "
            "printed; on the CPU");
  line.value("live-port", "the page's port; 0: any that is free", "PORT", "0");
}

std::optional<uint16_t> live_option(const CommandLine& line) {
  if (!line.given("live")) {
    if (line.given("live-port")) throw UsageError("--live-port is of a page - add --live");
    return std::nullopt;
  }
  for (const char* other : {"profile", "timeline", "follow", "launches", "sample"})
    if (line.given(other))
      throw UsageError(fmt::format("--live does not go with --{} - leave one of them out", other));
  if (line.text("backend") == "cuda" || line.given("device"))
    throw UsageError("--live looks at a run on the CPU - leave --backend and --device out");
  return static_cast<uint16_t>(line.number("live-port", 0, 65535));
}

LivePage::LivePage(uint16_t port, const Machine& machine, const Words& policies)
    : view_(machine, policies), server_(port, [this](const std::string& path) -> HttpAnswer {
        if (path == "/") return {"text/html; charset=utf-8", live_page::html};
        if (path == "/state.json") return {"application/json", view_.json()};
        return {};
      }) {
  std::fprintf(stderr, "nearwarp: http://127.0.0.1:%u/ shows how the run goes on\n",
               unsigned{server_.port()});
}

}  // namespace nearwarp::cli
