// A small HTTP server on the loopback interface.
#include "host/cli/live/server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>

#include "host/core/error.h"

namespace nearwarp::cli {

namespace {

constexpr size_t kMostClients = 32, kMostRequest = 16384;
/// A client is given up unless it has sent its request and taken its answer within this time.
constexpr int64_t kPatienceMs = 10'000;
/// Time until the next try where a client cannot be accepted, since the process has no file
/// descriptor left. Clients wait in the socket's queue meanwhile.
constexpr int kPauseMs = 1000;

int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

bool is_complete(const std::string& request) { return request.find("\r\n\r\n") != request.npos; }

/// The value of a header, empty if there is none.
std::string header(const std::string& request, std::string_view name) {
  size_t at = request.find("\r\n");
  while (at != request.npos) {
    const size_t begin = at + 2, end = request.find("\r\n", begin);
    if (end == request.npos || end == begin) return "";
    const std::string line = request.substr(begin, end - begin);
    const size_t colon = line.find(':');
    const bool same = colon == name.size() &&
                      std::equal(name.begin(), name.end(), line.begin(), [](char a, char b) {
                        return std::tolower(static_cast<unsigned char>(a)) ==
                               std::tolower(static_cast<unsigned char>(b));
                      });
    if (same) {
      const size_t value = line.find_first_not_of(" \t", colon + 1);
      return value == line.npos ? "" : line.substr(value, line.find_last_not_of(" \t") + 1 - value);
    }
    at = end;
  }
  return "";
}

std::string reply(std::string_view status, const std::string& type, const std::string& body,
                  bool with_body) {
  return fmt::format(
             "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
             "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
             status, type, body.size()) +
         (with_body ? body : "");
}

[[noreturn]] void fail(uint16_t port, int why) {
  if (why == EADDRINUSE)
    throw Error(fmt::format(
        "port {} of the loopback interface is taken - choose another one with --live-port, or "
        "leave that out for one that is free",
        port));
  if (why == EACCES)
    throw Error(fmt::format("port {} may not be used: {} - ports from 1024 on may", port,
                            std::strerror(why)));
  throw Error(fmt::format("no page can be served on the loopback interface: {} - leave --live out",
                          std::strerror(why)));
}

}  // namespace

std::string http_reply(const std::string& request, uint16_t port,
                       const std::function<HttpAnswer(const std::string& path)>& answer) {
  constexpr const char* kText = "text/plain; charset=utf-8";
  const size_t first = request.find(' '), second = request.find(' ', first + 1),
               line = request.find("\r\n");
  if (first == request.npos || second == request.npos || second > line ||
      request.compare(second, 8, " HTTP/1.") != 0)
    return reply("400 Bad Request", kText, "This is no HTTP/1 request.\n", true);
  const std::string method = request.substr(0, first);
  if (method != "GET" && method != "HEAD")
    return reply("405 Method Not Allowed", kText, "Here is something to look at: GET.\n", true);
  const std::string host = header(request, "Host");
  if (host != fmt::format("127.0.0.1:{}", port) && host != fmt::format("localhost:{}", port))
    return reply("403 Forbidden", kText,
                 fmt::format("Ask for 127.0.0.1:{} or localhost:{}.\n", port, port), true);
  const std::string target = request.substr(first + 1, second - first - 1);
  try {
    const HttpAnswer page = answer(target.substr(0, target.find_first_of("?#")));
    if (page.type.empty())
      return reply("404 Not Found", kText, "There is no such page.\n", method == "GET");
    return reply("200 OK", page.type, page.body, method == "GET");
  } catch (const std::exception& e) {  // it must not end the simulation
    return reply("500 Internal Server Error", kText,
                 fmt::format("This page cannot be made now: {}.\n", e.what()), method == "GET");
  }
}

HttpServer::HttpServer(uint16_t port, std::function<HttpAnswer(const std::string& path)> answer)
    : answer_(std::move(answer)) {
  socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_ < 0) fail(port, errno);
  const int yes = 1;  // a port that another server has just given up can be had at once
  setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  const bool ready = bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     listen(socket_, 16) == 0 &&
                     getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
                     pipe2(wake_, O_CLOEXEC) == 0;
  if (!ready) {
    const int why = errno;
    close(socket_);
    fail(port, why);
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

HttpServer::~HttpServer() {
  close(wake_[1]);
  thread_.join();
  for (const Client& client : clients_) close(client.socket);
  close(wake_[0]);
  close(socket_);
}

void HttpServer::serve() {
  // Signals, such as that of Ctrl-C, go to the thread that simulates.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::vector<pollfd> waits;
  while (true) {
    const bool pauses = now_ms() < accepts_from_;
    const bool accepts = !pauses && clients_.size() < kMostClients;
    waits = {{wake_[0], POLLIN, 0}, {accepts ? socket_ : -1, POLLIN, 0}};
    for (const Client& client : clients_)
      waits.push_back(
          {client.socket, static_cast<short>(client.reply.empty() ? POLLIN : POLLOUT), 0});
    const int timeout = pauses ? kPauseMs : clients_.empty() ? -1 : 1000;
    if (poll(waits.data(), waits.size(), timeout) < 0 && errno != EINTR) return;
    if (waits[0].revents != 0) return;
    const int64_t now = now_ms();
    for (size_t i = clients_.size(); i-- > 0;) {
      if (go_on(clients_[i], waits[i + 2].revents) && now < clients_[i].until) continue;
      close(clients_[i].socket);
      clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if ((waits[1].revents & POLLIN) != 0) accept_client();
  }
}

void HttpServer::accept_client() {
  const int client = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (client >= 0)
    clients_.push_back({client, "", "", 0, now_ms() + kPatienceMs});
  else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
    accepts_from_ = now_ms() + kPauseMs;
}

bool HttpServer::go_on(Client& client, short events) {
  if ((events & (POLLIN | POLLHUP | POLLERR)) != 0 && client.reply.empty()) {
    char text[4096];
    const ssize_t n = recv(client.socket, text, sizeof text, 0);
    if (n <= 0) return n < 0 && (errno == EAGAIN || errno == EINTR);
    client.request.append(text, static_cast<size_t>(n));
    if (client.request.size() > kMostRequest) return false;
    if (!is_complete(client.request)) return true;
    client.reply = http_reply(client.request, port_, answer_);
    asked_ += 1;
  }
  if (client.reply.empty()) return true;
  const ssize_t n = send(client.socket, client.reply.data() + client.sent,
                         client.reply.size() - client.sent, MSG_NOSIGNAL);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  client.sent += static_cast<size_t>(n);
  return client.sent < client.reply.size();
}

}  // namespace nearwarp::cli
