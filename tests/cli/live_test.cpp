// Does a run with --live show how it goes on, to this machine alone, and change nothing?
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "host/cli/live/server.h"
#include "tests/cli/program.h"
#include "tests/experiment/browser.h"

namespace nearwarp::cli::live_page {
extern const char* const html;
}  // namespace nearwarp::cli::live_page

namespace nearwarp::testing {
namespace {

using Json = nlohmann::json;

/// What comes back on a connection to `port` for these bytes, in pieces of `piece`.
std::string sent(uint16_t port, const std::string& bytes, size_t piece = 1000) {
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  std::string reply;
  if (connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    for (size_t at = 0; at < bytes.size(); at += piece)
      if (send(client, bytes.data() + at, std::min(piece, bytes.size() - at), MSG_NOSIGNAL) < 0)
        break;
    char text[4096];
    for (ssize_t n = 0; (n = recv(client, text, sizeof text, 0)) > 0;)
      reply.append(text, static_cast<size_t>(n));
  }
  close(client);
  return reply;
}

std::string asked(uint16_t port, const std::string& path, const std::string& host = "localhost",
                  const std::string& method = "GET") {
  return sent(port, method + " " + path + " HTTP/1.1\r\nhost: " + host + ":" +
                        std::to_string(port) + "\r\n\r\n");
}

std::string body_of(const std::string& reply) {
  const size_t at = reply.find("\r\n\r\n");
  return at == reply.npos ? "" : reply.substr(at + 4);
}

cli::HttpAnswer one_page(const std::string& path) {
  return path == "/" ? cli::HttpAnswer{"text/plain", "here"} : cli::HttpAnswer{};
}

TEST(Live, AnswersWhatItShouldAndNothingElse) {
  const cli::HttpServer server(0, one_page);
  const uint16_t port = server.port();
  ASSERT_NE(port, 0);
  EXPECT_TRUE(asked(port, "/").starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(body_of(asked(port, "/?a=b", "127.0.0.1")), "here");
  EXPECT_TRUE(asked(port, "/other").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(asked(port, "/", "localhost", "POST").starts_with("HTTP/1.1 405 "));
  const std::string head = asked(port, "/", "localhost", "HEAD");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(body_of(head), "");
  // A page of another site whose name has been made to lead here.
  EXPECT_TRUE(asked(port, "/", "example.org").starts_with("HTTP/1.1 403 "));
  EXPECT_TRUE(sent(port, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 403 "));
}

TEST(Live, TakesWhatIsNoRequest) {
  const cli::HttpServer server(0, one_page);
  const uint16_t port = server.port();
  EXPECT_TRUE(sent(port, "nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(sent(port, "\r\n\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(sent(port, std::string("GET \0 HTTP", 10) + "\r\n\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_EQ(sent(port, std::string(100'000, 'a')), "") << "no end of a request";
  const std::string by_bytes =
      "GET / HTTP/1.1\r\nHost: localhost:" + std::to_string(port) + "\r\n\r\n";
  EXPECT_EQ(body_of(sent(port, by_bytes, 1)), "here");
}

TEST(Live, ClientsThatSayNothingHoldUpNobody) {
  const cli::HttpServer server(0, one_page);
  std::vector<int> silent;
  for (int i = 0; i < 10; ++i) {
    silent.push_back(socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(server.port());
    ASSERT_EQ(connect(silent.back(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  EXPECT_EQ(body_of(asked(server.port(), "/")), "here");
  for (const int client : silent) close(client);
}

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
  const cli::HttpServer server(0, [&](const std::string& path) -> cli::HttpAnswer {
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
  const cli::HttpServer other(0, one_page);
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
