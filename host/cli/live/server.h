// A small HTTP server on the loopback interface: it answers GET, to this machine alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace nearwarp::cli {

struct HttpAnswer {
  std::string type;  ///< e.g. "text/html; charset=utf-8"; empty: there is no such page
  std::string body;
};

/// The reply to an HTTP request, with status line and headers. `port`: the server's. The request's
/// Host must be a name of the loopback interface with this port, so that no page of another site
/// can read the answers (by a name of its own that it binds to the loopback address).
std::string http_reply(const std::string& request, uint16_t port,
                       const std::function<HttpAnswer(const std::string& path)>& answer);

/// Serves from construction to destruction, in a thread of its own.
class HttpServer {
 public:
  /// `port` 0: any that is free. Throws nearwarp::Error if it cannot be had. `answer` is called by
  /// the thread.
  HttpServer(uint16_t port, std::function<HttpAnswer(const std::string& path)> answer);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  uint16_t port() const { return port_; }
  /// The number of requests that have been answered so far.
  uint64_t asked() const { return asked_; }

 private:
  struct Client {
    int socket;
    std::string request, reply;
    size_t sent = 0;
    int64_t until;  ///< when the client is given up, in milliseconds of the steady clock
  };
  void serve();
  void accept_client();
  /// Reads from a client or writes to it. False: it has its answer, or has gone.
  bool go_on(Client& client, short events);

  std::function<HttpAnswer(const std::string&)> answer_;
  int socket_ = -1, wake_[2] = {-1, -1};
  uint16_t port_ = 0;
  std::atomic<uint64_t> asked_{0};
  std::vector<Client> clients_;
  int64_t accepts_from_ = 0;  ///< when clients are accepted again, in the same unit
  std::thread thread_;
};

}  // namespace nearwarp::cli
