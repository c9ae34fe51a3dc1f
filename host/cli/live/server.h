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

/// The answer to what a client has sent, with status line and headers; `port`: of the server, which
/// the client must have asked by a name of the loopback interface, so that no page of another site
/// reads what is here.
std::string http_reply(const std::string& request, uint16_t port,
                       const std::function<HttpAnswer(const std::string& path)>& answer);

/// Serves from its beginning to its end, in a thread of its own.
class HttpServer {
 public:
  /// `port` 0: any that is free. Throws nearwarp::Error if it cannot be had. `answer` is called by
  /// the thread.
  HttpServer(uint16_t port, std::function<HttpAnswer(const std::string& path)> answer);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  uint16_t port() const { return port_; }
  /// Pages that have been asked for so far.
  uint64_t asked() const { return asked_; }

 private:
  struct Client {
    int socket;
    std::string request, reply;
    size_t sent = 0;
    int64_t until;  ///< milliseconds of the steady clock: then it is given up
  };
  void serve();
  void accept_client();
  /// Go on with a client; false: it is done with, or gone.
  bool go_on(Client& client, short events);

  std::function<HttpAnswer(const std::string&)> answer_;
  int socket_ = -1, wake_[2] = {-1, -1};
  uint16_t port_ = 0;
  std::atomic<uint64_t> asked_{0};
  std::vector<Client> clients_;
  int64_t accepts_from_ = 0;  ///< milliseconds of the steady clock: before, nobody is let in
  std::thread thread_;
};

}  // namespace nearwarp::cli
