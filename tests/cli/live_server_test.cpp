// Does the server of --live answer what it should, and take what nobody should send?
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <ctime>
#include <new>
#include <thread>
#include <vector>

#include "host/cli/live/server.h"
#include "tests/cli/http_client.h"

namespace nearwarp::testing {
namespace {

cli::HttpAnswer one_page(const std::string& path) {
  return path == "/" ? cli::HttpAnswer{"text/plain", "here"} : cli::HttpAnswer{};
}

TEST(LiveServer, AnswersWhatItShouldAndNothingElse) {
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

TEST(LiveServer, TakesWhatIsNoRequest) {
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

TEST(LiveServer, ClientsThatSayNothingHoldUpNobody) {
  const cli::HttpServer server(0, one_page);
  std::vector<int> silent;
  for (int i = 0; i < 10; ++i) {
    silent.push_back(socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_TRUE(connect_to(silent.back(), server.port()));
  }
  EXPECT_EQ(body_of(asked(server.port(), "/")), "here");
  for (const int client : silent) close(client);
}

TEST(LiveServer, APageThatCannotBeMadeEndsNothing) {
  const cli::HttpServer server(0, [](const std::string& path) -> cli::HttpAnswer {
    if (path == "/large") throw std::bad_alloc();
    return one_page(path);
  });
  const std::string reply = asked(server.port(), "/large");
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 500 ")) << reply;
  EXPECT_EQ(body_of(asked(server.port(), "/large", "localhost", "HEAD")), "");
  EXPECT_EQ(body_of(asked(server.port(), "/")), "here");
}

/// The process may open no file more, until the end of this. `last` is the one it opened last, so
/// that all numbers below are taken.
class NoFileToSpare {
 public:
  explicit NoFileToSpare(int last) {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit less = before_;
    less.rlim_cur = static_cast<rlim_t>(last) + 1;
    setrlimit(RLIMIT_NOFILE, &less);
  }
  ~NoFileToSpare() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoFileToSpare(const NoFileToSpare&) = delete;
  NoFileToSpare& operator=(const NoFileToSpare&) = delete;

 private:
  rlimit before_ = {};
};

TEST(LiveServer, ClientsWaitInPeaceWhileNoFileIsToSpare) {
  const cli::HttpServer server(0, one_page);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_GE(client, 0);
  const std::clock_t before = std::clock();  // of all threads
  {
    const NoFileToSpare limit(client);
    ASSERT_LT(dup(client), 0);
    ASSERT_TRUE(connect_to(client, server.port()));
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
  }
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.06)
      << "its thread tries again and again";
  const std::string request =
      "GET / HTTP/1.1\r\nHost: localhost:" + std::to_string(server.port()) + "\r\n\r\n";
  ASSERT_EQ(send(client, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  EXPECT_EQ(body_of(received(client)), "here");
  close(client);
}

}  // namespace
}  // namespace nearwarp::testing
