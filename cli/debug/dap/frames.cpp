#include "cli/debug/dap/frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace warpcheck::dap {
namespace {

constexpr std::string_view kEndOfHeader = "\r\n\r\n";
constexpr std::string_view kField = "Content-Length:";
constexpr std::string_view kLength = "content-length";
constexpr std::size_t kHeaderBytesMax = 4096;
constexpr std::size_t kShownBytesMax = 60;

// Names of header fields are the same in upper and lower case.
bool is_length_field(std::string_view name) {
  return std::ranges::equal(name, kLength, {}, [](unsigned char c) { return std::tolower(c); });
}

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::size_t length_of(std::string_view header) {
  for (std::string_view rest = header; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find("\r\n"));
    rest.remove_prefix(std::min(rest.size(), line.size() + 2));
    const std::size_t colon = line.find(':');
    if (colon == line.npos || !is_length_field(without_spaces(line.substr(0, colon)))) continue;
    const std::string_view number = without_spaces(line.substr(colon + 1));
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), length);
    if (error == std::errc{} && end == number.data() + number.size() && !number.empty()) {
      return length;
    }
    throw DamagedMessage(fmt::format("Content-Length: expected a number of bytes, found \"{}\"",
                                     number.substr(0, kShownBytesMax)));
  }
  throw DamagedMessage(
      fmt::format("expected a header with Content-Length before each message, found \"{}\"",
                  header.substr(0, std::min(header.find("\r\n"), kShownBytesMax))));
}

}  // namespace

std::optional<std::string> FrameReader::next() {
  const std::size_t skipped = std::min(to_skip_, bytes_.size());
  bytes_.erase(0, skipped);
  to_skip_ -= skipped;
  if (to_skip_ != 0) return std::nullopt;
  if (!length_) {
    const std::size_t end = bytes_.find(kEndOfHeader);
    if (end == bytes_.npos) {
      if (bytes_.size() <= kHeaderBytesMax) return std::nullopt;
      bytes_.clear();
      throw DamagedMessage(
          fmt::format("expected a header with Content-Length, found {} bytes without its end",
                      kHeaderBytesMax));
    }
    const std::string header = bytes_.substr(0, end);
    // The text of a message whose length was not understood stands in front of the next header.
    const std::size_t begin = header.rfind(kField);
    if (begin != header.npos && begin != 0 && header[begin - 1] != '\n') {
      bytes_.erase(0, begin);
      throw DamagedMessage(fmt::format("{} bytes in front of a header", begin));
    }
    bytes_.erase(0, end + kEndOfHeader.size());
    const std::size_t length = length_of(header);
    if (length > kBytesMax) {
      to_skip_ = length;
      throw DamagedMessage(
          fmt::format("a message of {} bytes; {} at most are expected", length, kBytesMax));
    }
    length_ = length;
  }
  if (bytes_.size() < *length_) return std::nullopt;
  std::string message = bytes_.substr(0, *length_);
  bytes_.erase(0, *length_);
  length_.reset();
  return message;
}

std::string framed(std::string_view message) {
  return fmt::format("Content-Length: {}{}{}", message.size(), kEndOfHeader, message);
}

}  // namespace warpcheck::dap
