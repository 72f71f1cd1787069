// One end of the connection between a debugger and a process that it debugs: lines of text over a
// Unix socket.
//
// The processes of the debuggee connect to the path of the debugger's socket themselves, because
// its checkpoints are forked long after it began, and each needs a connection of its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace warpcheck::cudart {

class DebugLink {
 public:
  // Connects to the debugger.  Throws std::system_error.
  explicit DebugLink(const std::string& path);
  // Takes over a connected socket.
  explicit DebugLink(int socket) : socket_(socket) {}
  ~DebugLink() { close(); }
  DebugLink(DebugLink&& other) noexcept;
  DebugLink& operator=(DebugLink&& other) noexcept;

  // Sends a line.  False: the other side is gone.
  bool send(std::string_view line) const;
  // Waits for a line and returns it; none: the other side is gone.
  std::optional<std::string> receive();
  // Returns whether receive() has something to return, or the other side is gone; waits at most so
  // long.
  [[nodiscard]] bool has_line(int timeout_ms) const;
  [[nodiscard]] int socket() const { return socket_; }
  void close();

 private:
  int socket_ = -1;
  std::string received_;  // and not returned yet
};

}  // namespace warpcheck::cudart
