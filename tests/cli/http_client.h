// A client as a browser or another program would be, of a server on the loopback interface.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace nearwarp::testing {

/// Connects a socket with `port` of the loopback interface; false: that failed.
inline bool connect_to(int client, uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

/// All that comes until the other end closes the connection.
inline std::string received(int client) {
  std::string all;
  char text[4096];
  for (ssize_t n = 0; (n = recv(client, text, sizeof text, 0)) > 0;)
    all.append(text, static_cast<size_t>(n));
  return all;
}

/// The reply on a connection to `port` to these bytes, in pieces of `piece`.
inline std::string sent(uint16_t port, const std::string& bytes, size_t piece = 1000) {
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  std::string reply;
  if (connect_to(client, port)) {
    for (size_t at = 0; at < bytes.size(); at += piece)
      if (send(client, bytes.data() + at, std::min(piece, bytes.size() - at), MSG_NOSIGNAL) < 0)
        break;
    reply = received(client);
  }
  close(client);
  return reply;
}

inline std::string asked(uint16_t port, const std::string& path,
                         const std::string& host = "localhost", const std::string& method = "GET") {
  return sent(port, method + " " + path + " HTTP/1.1\r\nhost: " + host + ":" +
                        std::to_string(port) + "\r\n\r\n");
}

inline std::string body_of(const std::string& reply) {
  const size_t at = reply.find("\r\n\r\n");
  return at == reply.npos ? "" : reply.substr(at + 4);
}

}  // namespace nearwarp::testing
