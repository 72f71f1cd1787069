// The protocol between workers and their parent: one message a line, its tag before its fields,
//
//   hello {"version":1}
//   trials {"count":500}
//   done {}
//
// the same on the pipe of a forked worker, of a freshly started program, and in a file of tasks.
// Reading is strict: a line that is no message is an error that quotes the line; it is never
// ignored and never taken for another message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/process/messages.hpp"

namespace warpcheck {

// To be raised when a message changes: a program may be rebuilt while its workers start.
inline constexpr std::uint32_t kProtocolVersion = 3;

// A line is no message.  what(): "wrote 'LINE': REASON".
class ProtocolError : public std::runtime_error {
 public:
  ProtocolError(std::string_view line, std::string_view reason);
};

// "internal error: WHAT": the text for an unexpected error.
std::string internal_error(std::string_view what);
// "internal error: a worker wrote 'LINE': REASON"
std::string internal_error(const ProtocolError& error);

// The message's line, with its line feed.
std::string line_of(const Message& message);

// The error for a message that its receiver does not expect.
ProtocolError unexpected(const Message& message);

// Converts received bytes to messages.
class MessageReader {
 public:
  void add(std::string_view bytes);

  // The next message; empty: no whole line is left.  Throws ProtocolError for a line that is no
  // message; the next call continues after it.  If the stream does not begin with a hello of this
  // version, there are no further messages.
  std::optional<Message> next();

  // Call at the end of the bytes.  Throws ProtocolError if they end within a line.
  void end();

  // Whether the stream does not begin with a hello of this version.
  [[nodiscard]] bool is_foreign() const { return foreign_; }

 private:
  Message checked(std::string_view line);

  std::string bytes_;
  std::size_t read_ = 0;      // of the bytes
  std::size_t searched_ = 0;  // for the next line feed
  bool begun_ = false;        // a hello was read
  bool foreign_ = false;
};

}  // namespace warpcheck
