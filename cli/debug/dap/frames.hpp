// The framing of the Debug Adapter Protocol: a message is the header line "Content-Length: N", an
// empty line, and N bytes of JSON.  Lines of the header end with "\r\n".
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warpcheck::dap {

// What a client sent is no message.  what() says what was expected and found.
class DamagedMessage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Splits a stream of bytes into the texts of messages.
class FrameReader {
 public:
  // Of one message: an editor's largest request names some thousand breakpoints.
  static constexpr std::size_t kBytesMax = 16u << 20;

  void add(std::string_view bytes) { bytes_ += bytes; }
  // Returns the next message without its header; nothing: its end has not arrived.  Throws
  // DamagedMessage for a header that cannot be read, and for a message that is too long; the next
  // call goes on behind it.
  [[nodiscard]] std::optional<std::string> next();

 private:
  std::string bytes_;
  std::optional<std::size_t> length_;  // of the message whose header was read
  std::size_t to_skip_ = 0;            // bytes of a message that is too long
};

// Returns the message with its header.
[[nodiscard]] std::string framed(std::string_view message);

}  // namespace warpcheck::dap
