// One end of a connection between two processes over a Unix socket: lines of text, JSON mostly, and
// bytes of memory behind a line that says how many.
//
// The processes of a debuggee connect to the path of the debugger's socket themselves, because its
// checkpoints are forked long after it began, and each needs a connection of its own.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace warpcheck::cudart {

class MessageLink {
 public:
  // Connects to a socket of this path.  Throws std::system_error.
  explicit MessageLink(const std::string& path);
  // Takes over a connected socket.
  explicit MessageLink(int socket) : socket_(socket) {}
  ~MessageLink() { close(); }
  MessageLink(MessageLink&& other) noexcept;
  MessageLink& operator=(MessageLink&& other) noexcept;

  // Sends a line, or bytes.  False: the other side is gone.
  bool send(std::string_view line) const;
  bool send_bytes(std::span<const std::byte> bytes) const;
  // Waits for a line and returns it; none: the other side is gone.
  std::optional<std::string> receive();
  // Waits until all of `bytes` is filled.  False: the other side is gone.
  bool receive_bytes(std::span<std::byte> bytes);
  // Returns whether receive() has something to return or to wait for the rest of, or the other side
  // is gone; waits at most so long, without end if that is negative.
  [[nodiscard]] bool has_line(int timeout_ms) const;
  [[nodiscard]] int socket() const { return socket_; }
  void close();

 private:
  // Appends to received_.  False: the other side is gone.
  bool receive_more();

  int socket_ = -1;
  std::string received_;  // and not returned yet
};

}  // namespace warpcheck::cudart
