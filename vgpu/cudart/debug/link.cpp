#include "vgpu/cudart/debug/link.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace warpcheck::cudart {

DebugLink::DebugLink(const std::string& path)
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

DebugLink::DebugLink(DebugLink&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), received_(std::move(other.received_)) {}

DebugLink& DebugLink::operator=(DebugLink&& other) noexcept {
  if (this != &other) {
    close();
    socket_ = std::exchange(other.socket_, -1);
    received_ = std::move(other.received_);
  }
  return *this;
}

void DebugLink::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

bool DebugLink::send(std::string_view line) const {
  std::string text(line);
  text += '\n';
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t sent = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::optional<std::string> DebugLink::receive() {
  std::size_t searched = 0;
  while (true) {
    const std::size_t end = received_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    searched = received_.size();
    std::array<char, 65'536> part;
    const ssize_t count = ::recv(socket_, part.data(), part.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    received_.append(part.data(), static_cast<std::size_t>(count));
  }
}

bool DebugLink::has_line(int timeout_ms) const {
  if (received_.find('\n') != std::string::npos) return true;
  pollfd wanted{socket_, POLLIN, 0};
  return ::poll(&wanted, 1, timeout_ms) > 0;
}

}  // namespace warpcheck::cudart
