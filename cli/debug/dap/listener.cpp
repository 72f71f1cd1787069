#include "cli/debug/dap/listener.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/cli.hpp"

namespace warpcheck::dap {

Listener::Listener(std::uint16_t port) {
  const auto fail = [&](const char* what) {
    const int error = errno;
    if (socket_ >= 0) ::close(socket_);
    throw UsageError(fmt::format("--port {}: {}: {}", port, what, std::strerror(error)));
  };
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) fail("cannot make a socket");
  const int yes = 1;
  ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const general = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket_, general, sizeof address) != 0) fail("cannot bind");
  if (::listen(socket_, 1) != 0) fail("cannot listen");
  socklen_t size = sizeof address;
  if (::getsockname(socket_, general, &size) != 0) fail("cannot read its number");
  port_ = ntohs(address.sin_port);
}

Listener::~Listener() { ::close(socket_); }

int Listener::accept() const {
  int client = -1;
  do {
    client = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
  } while (client < 0 && errno == EINTR);
  if (client < 0) {
    throw UsageError(
        fmt::format("--port {}: cannot accept a client: {}", port_, std::strerror(errno)));
  }
  // Responses are small, and a client waits for each.
  const int yes = 1;
  ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return client;
}

}  // namespace warpcheck::dap
