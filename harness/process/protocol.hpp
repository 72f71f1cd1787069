// The protocol between workers and their parent: one message a line, its tag before its fields,
//
//   hello {"version":1}
//   trials {"count":500}
//   done {}
//
// the same on the pipe of a forked worker, of a program that was started afresh, and in a file of
// tasks.  Whatever is written is read to the letter: what is no message is an error that quotes the
// line, never silence and never another message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/process/messages.hpp"

namespace warpcheck {

// To be raised whenever a message changes: a program may be built anew while its workers start.
inline constexpr std::uint32_t kProtocolVersion = 3;

// A line that is no message.  what(): "wrote 'LINE': REASON".
class ProtocolError : public std::runtime_error {
 public:
  ProtocolError(std::string_view line, std::string_view reason);
};

// "internal error: WHAT": how an error is told that nobody foresaw.
std::string internal_error(std::string_view what);
// "internal error: a worker wrote 'LINE': REASON"
std::string internal_error(const ProtocolError& error);

// The message's line, with its end.
std::string line_of(const Message& message);

// A message that its receiver has no use for.
ProtocolError unexpected(const Message& message);

// Makes messages of the bytes that come.
class MessageReader {
 public:
  void add(std::string_view bytes);

  // The next message; nothing: no whole line is left.  Throws ProtocolError for a line that is
  // none, and goes on behind it; but a stream that does not begin with a hello of this version has
  // no further messages.
  std::optional<Message> next();

  // No more bytes are to come.  Throws ProtocolError where they end within a line.
  void end();

  // It does not begin as it should.
  [[nodiscard]] bool is_foreign() const { return foreign_; }

 private:
  Message checked(std::string_view line);

  std::string bytes_;
  std::size_t read_ = 0;      // of these
  std::size_t searched_ = 0;  // for the end of a line
  bool begun_ = false;        // with hello
  bool foreign_ = false;
};

}  // namespace warpcheck
