#include "vgpu/cudart/device/message_link.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace warpcheck::cudart {

MessageLink::MessageLink(const std::string& path)
    : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (socket_ < 0 ||
      ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    close();
    throw std::system_error(error, std::generic_category(), path);
  }
}

MessageLink::MessageLink(MessageLink&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), received_(std::move(other.received_)) {}

MessageLink& MessageLink::operator=(MessageLink&& other) noexcept {
  if (this != &other) {
    close();
    socket_ = std::exchange(other.socket_, -1);
    received_ = std::move(other.received_);
  }
  return *this;
}

void MessageLink::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

bool MessageLink::send(std::string_view line) const {
  std::string text(line);
  text += '\n';
  return send_bytes(std::as_bytes(std::span(text)));
}

bool MessageLink::send_bytes(std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

bool MessageLink::receive_more() {
  std::array<char, 65'536> part;
  ssize_t count = 0;
  do {
    count = ::recv(socket_, part.data(), part.size(), 0);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  received_.append(part.data(), static_cast<std::size_t>(count));
  return true;
}

std::optional<std::string> MessageLink::receive() {
  std::size_t searched = 0, end = 0;
  while ((end = received_.find('\n', searched)) == std::string::npos) {
    searched = received_.size();
    if (!receive_more()) return std::nullopt;
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

bool MessageLink::receive_bytes(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    if (received_.empty() && !receive_more()) return false;
    const std::size_t count = std::min(bytes.size(), received_.size());
    std::memcpy(bytes.data(), received_.data(), count);
    received_.erase(0, count);
    bytes = bytes.subspan(count);
  }
  return true;
}

bool MessageLink::has_line(int timeout_ms) const {
  if (received_.find('\n') != std::string::npos) return true;
  pollfd wanted{socket_, POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&wanted, 1, timeout_ms);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

}  // namespace warpcheck::cudart
