// Does a run with --live show how it goes on, to this machine alone, and change nothing?
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "host/cli/live/server.h"
#include "tests/cli/browser.h"
#include "tests/cli/http_client.h"
#include "tests/cli/program.h"

namespace nearwarp::cli::live_page {
extern const char* const html;
}  // namespace nearwarp::cli::live_page

namespace nearwarp::testing {
namespace {

using Json = nlohmann::json;

TEST(Live, SaysHowARunGoesOnAndEndsWithIt) {
  uint64_t first = 0, last = 0;
  size_t pages = 0;
  bool stopped = false;
  std::string page;
  Json state;
  Setting setting;
  setting.watch = [&](pid_t child, const std::string& err) {
    const size_t at = err.find("http://127.0.0.1:");
    if (at == err.npos || stopped) return;
    const auto port = static_cast<uint16_t>(std::atoi(err.c_str() + at + 17));
    if (page.empty()) page = body_of(asked(port, "/"));
    const Json now = Json::parse(body_of(asked(port, "/state.json")), nullptr, false);
    if (now.is_discarded() || now["runs"].empty()) return;
    pages += 1;
    state = now;
    last = state["runs"][0]["done"];
    if (first == 0) first = last;
    if (stopped || !state["runs"][0].contains("cycles") || last <= first) return;
    stopped = true;
    kill(child, SIGINT);
  };
  const Outcome outcome =
      run_program({"run", "gather", "--size", "large", "--policy", "baseline", "--live"}, setting);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.err, "interrupted: results are partial")) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "baseline*")) << outcome.out;
  EXPECT_TRUE(contains(page, "<title>nearwarp</title>"));
  EXPECT_FALSE(contains(page, "https://")) << "the page needs nothing from elsewhere";
  ASSERT_GT(pages, 1u) << outcome.err;
  EXPECT_EQ(state["program"], "gather");
  const Json& run = state["runs"][0];
  EXPECT_GT(last, first);
  EXPECT_LT(last, run["total"].get<uint64_t>());
  EXPECT_GT(run["cycles"].get<uint64_t>(), 0u);
  double most = 0;
  for (const Json& use : run["utilisation"]) {
    EXPECT_GE(use["mean"].get<double>(), 0) << use;
    EXPECT_LE(use["mean"].get<double>(), 1.01) << use;
    most = std::max(most, use["mean"].get<double>());
  }
  EXPECT_GT(most, 0.1) << "something is busy: " << run["utilisation"];
  double shares = 0;
  for (const Json& use : run["sm_cycles"][0]["uses"]) shares += use["share"].get<double>();
  EXPECT_NEAR(shares, 1, 1e-6);
}

TEST(Live, ThePageShowsIt) {
  const std::string browser = find_browser();
  if (browser.empty()) GTEST_SKIP() << "no Chromium is installed (tools/setup --browser)";
  const std::string state = R"({"program": "a<b>", "machine": "tom", "seconds": 61,
    "seconds_left": 5,
    "runs": [{"policy": "baseline", "done": 25, "total": 100, "over": false, "cycles": 12345,
              "ipc": 2.5, "launches": 3, "kernel": "k",
              "utilisation": [{"text": "RX links", "mean": 0.5, "most": 0.75},
                              {"text": "nothing", "mean": 0, "most": 0}],
              "sm_cycles": [{"sms": "stack_sm", "count": 4, "warps": 1.5,
                             "uses": [{"what": "issue", "share": 1.0}]}]},
             {"policy": "tom", "done": 0, "total": 100, "over": false}]})";
  bool failed = false;  // the first answer of each view does: it asks again
  const cli::HttpServer server(0, [&](const std::string& path) -> cli::HttpAnswer {
    if (path == "/state.json" && !std::exchange(failed, true)) throw std::bad_alloc();
    if (path == "/") failed = false;
    if (path == "/") return {"text/html; charset=utf-8", cli::live_page::html};
    if (path == "/state.json") return {"application/json", state};
    return {};
  });
  const TemporaryFolder folder;
  for (const unsigned width : {1200u, 400u}) {
    const PageView page = view_page(browser, "http://127.0.0.1:" + std::to_string(server.port()),
                                    "/", width, folder.path().string());
    EXPECT_FALSE(contains(page.log, "CONSOLE")) << page.log;
    for (const char* part :
         {"data-shown=\"yes\"", "a&lt;b&gt; on machine tom", "1:01 of host time, 0:05 left", "25 %",
          "12,345 core cycles", "RX links", "What 4 stack SMs do of late", ">tom</h2>"})
      EXPECT_TRUE(contains(page.dom, part)) << part << "\n" << page.dom.substr(0, 6000);
    EXPECT_FALSE(contains(page.dom, ">nothing<")) << "what is idle is left out";
  }
}

TEST(Live, ChangesNoResult) {
  const TemporaryFolder folder;
  const std::string a = folder.file("a.json"), b = folder.file("b.json");
  const Words run = {"run", "kmeans", "--policy", "baseline,tom", "--json"};
  ASSERT_EQ(run_program(run + Words{a}).exit_code, 0);
  const Outcome live = run_program(run + Words{b, "--live"});
  ASSERT_EQ(live.exit_code, 0) << live.err;
  const Outcome same = run_program({"compare", a, b, "--exit-code"});
  EXPECT_EQ(same.exit_code, 0) << same.out;
}

TEST(Live, MistakesAreSaid) {
  const cli::HttpServer other(0, [](const std::string&) { return cli::HttpAnswer(); });
  const auto fails = [](const Words& more, int code, const std::string& text) {
    const Outcome outcome = run_program(Words{"run", "vector-add"} + more);
    EXPECT_EQ(outcome.exit_code, code) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, text)) << outcome.err;
  };
  const std::string taken = std::to_string(other.port());
  fails({"--live", "--live-port", taken}, 1,
        "port " + taken + " of the loopback interface is taken - choose another one");
  fails({"--live-port", "8080"}, 2, "--live-port is of a page - add --live");
  fails({"--live", "--live-port", "70000"}, 2, "--live-port");
  fails({"--live", "--profile"}, 2, "--live does not go with --profile");
  fails({"--live", "--sample", "3"}, 2, "--live does not go with --sample");
}

}  // namespace
}  // namespace nearwarp::testing
