#include "harness/process/protocol.hpp"

#include <fmt/format.h>

#include <utility>

#include "harness/input/json.hpp"

namespace warpcheck {
namespace {

constexpr std::size_t kQuotedMax = 300;

// Fits on one line of a terminal, for any bytes.
std::string quoted(std::string_view line) {
  std::string text;
  for (const char c : line.substr(0, kQuotedMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  if (line.size() > kQuotedMax) text += fmt::format("... ({} bytes)", line.size());
  return "'" + text + "'";
}

template <class T>
bool read_as(std::string_view tag, const Json& fields, Message& message) {
  if (tag != T::kTag) return false;
  message = warpcheck::from_json<T>(fields, T::kTag);
  return true;
}

template <std::size_t... index>
bool read_any(std::string_view tag, const Json& fields, Message& message,
              std::index_sequence<index...>) {
  return (read_as<std::variant_alternative_t<index, Message>>(tag, fields, message) || ...);
}

template <std::size_t... index>
bool is_tag(std::string_view tag, std::index_sequence<index...>) {
  return ((tag == std::variant_alternative_t<index, Message>::kTag) || ...);
}

constexpr std::make_index_sequence<std::variant_size_v<Message>> kAll{};

// A line without its line feed.
Message message_of(std::string_view line) {
  const std::size_t space = line.find(' ');
  const std::string_view tag = line.substr(0, space);
  if (!is_tag(tag, kAll))
    throw ProtocolError(line, fmt::format("no message has the tag '{}'", tag));
  if (space == std::string_view::npos) throw ProtocolError(line, "it has no fields");
  Message message;
  try {
    read_any(tag, Json::parse(line.substr(space + 1)), message, kAll);
  } catch (const Json::parse_error& error) {
    throw ProtocolError(line, fmt::format("its fields are no JSON from byte {} on", error.byte));
  } catch (const FieldError& error) {
    throw ProtocolError(line, error.what());
  }
  return message;
}

}  // namespace

void FieldTraits<vgpu::FindingKind>::write(Json& json, vgpu::FindingKind kind) {
  write_name(json, vgpu::name_of(kind));
}

vgpu::FindingKind FieldTraits<vgpu::FindingKind>::read(const Json& json, const FieldPath& path) {
  vgpu::FindingKind kind{};
  if (!json.is_string() || !vgpu::find_kind(json.get_ref<const std::string&>(), kind)) {
    throw_unexpected(path, "a kind of finding", json);
  }
  return kind;
}

void FieldTraits<vgpu::Lack>::write(Json& json, vgpu::Lack lack) {
  write_name(json, vgpu::name_of(lack));
}

vgpu::Lack FieldTraits<vgpu::Lack>::read(const Json& json, const FieldPath& path) {
  vgpu::Lack lack{};
  if (!json.is_string() || !vgpu::find_lack(json.get_ref<const std::string&>(), lack)) {
    throw_unexpected(path, "what a finding lacks", json);
  }
  return lack;
}

ProtocolError::ProtocolError(std::string_view line, std::string_view reason)
    : std::runtime_error(fmt::format("wrote {}: {}", quoted(line), reason)) {}

std::string internal_error(std::string_view what) {
  return fmt::format("internal error: {}", what);
}

std::string internal_error(const ProtocolError& error) {
  return internal_error(fmt::format("a worker {}", error.what()));
}

std::string line_of(const Message& message) {
  return std::visit(
      []<class T>(const T& typed) {
        return fmt::format("{} {}\n", T::kTag, to_json(typed).dump());
      },
      message);
}

ProtocolError unexpected(const Message& message) {
  const std::string line = line_of(message);
  return {std::string_view(line).substr(0, line.size() - 1), "it is no message of this worker"};
}

void MessageReader::add(std::string_view bytes) {
  if (foreign_) return;
  bytes_.erase(0, read_);
  searched_ -= std::exchange(read_, 0);
  bytes_ += bytes;
}

std::optional<Message> MessageReader::next() {
  if (foreign_) return std::nullopt;
  const std::size_t end = bytes_.find('\n', searched_);
  searched_ = end == std::string::npos ? bytes_.size() : end + 1;
  if (end == std::string::npos) return std::nullopt;
  const std::string_view line = std::string_view(bytes_).substr(read_, end - read_);
  read_ = end + 1;
  return begun_ ? message_of(line) : checked(line);
}

// Checks the first message.
Message MessageReader::checked(std::string_view line) {
  foreign_ = true;
  Message message = message_of(line);
  const auto* const hello = std::get_if<HelloMessage>(&message);
  if (hello == nullptr) throw ProtocolError(line, "hello has to come first");
  if (hello->version != kProtocolVersion) {
    throw ProtocolError(line, fmt::format("it speaks version {} of the protocol, and not {}",
                                          hello->version, kProtocolVersion));
  }
  foreign_ = false;
  begun_ = true;
  return message;
}

void MessageReader::end() {
  if (foreign_ || read_ == bytes_.size()) return;
  const std::string rest = bytes_.substr(read_);
  read_ = bytes_.size();
  throw ProtocolError(rest, "it ends within the line");
}

}  // namespace warpcheck
