// A TCP port of this host at which one client can connect.
#pragma once

#include <cstdint>

namespace warpcheck::dap {

class Listener {
 public:
  // At 127.0.0.1 alone: who connects can read the program and run others.
  //   port: 0: a free one is chosen.
  // Throws UsageError if it cannot be had.
  explicit Listener(std::uint16_t port);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  // Waits for a client; returns its socket, which is the caller's.  Throws UsageError.
  [[nodiscard]] int accept() const;

 private:
  int socket_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace warpcheck::dap
