#include "vgpu/cudart/against/launch_messages.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

namespace warpcheck::cudart {
namespace {

using nlohmann::json;

constexpr std::uint64_t kHeaderBytesMax = std::uint64_t{64} << 20;

struct Message {
  json header;
  std::vector<std::byte> bytes;
};

void write_all(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      throw LaunchMessageError(fmt::format("the other process has gone: {}", std::strerror(errno)));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void read_all(int socket, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw LaunchMessageError("the other process has gone");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void send(int socket, const json& header, const std::vector<MemoryImage>& memory) {
  const std::string text = header.dump();
  std::uint64_t bytes = 0;
  for (const MemoryImage& image : memory) bytes += image.bytes.size();
  const std::array<std::uint64_t, 2> sizes{text.size(), bytes};
  write_all(socket, std::as_bytes(std::span(sizes)));
  write_all(socket, std::as_bytes(std::span(text)));
  for (const MemoryImage& image : memory) write_all(socket, image.bytes);
}

Message receive(int socket, double seconds) {
  pollfd waits{.fd = socket, .events = POLLIN, .revents = 0};
  const int milliseconds = seconds < 0 ? -1 : static_cast<int>(seconds * 1000);
  int ready = 0;
  do {
    ready = ::poll(&waits, 1, milliseconds);
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) throw LaunchMessageError(fmt::format("no answer within {} s", seconds));
  std::array<std::uint64_t, 2> sizes{};
  read_all(socket, std::as_writable_bytes(std::span(sizes)));
  if (sizes[0] > kHeaderBytesMax) throw LaunchMessageError("the other process sent no message");
  std::string text(sizes[0], '\0');
  read_all(socket, std::as_writable_bytes(std::span(text)));
  Message message;
  message.header = json::parse(text, nullptr, false);
  if (message.header.is_discarded()) throw LaunchMessageError("a header is not JSON");
  message.bytes.resize(sizes[1]);
  read_all(socket, message.bytes);
  return message;
}

json dim_json(const Dim3& dim) { return {dim.x, dim.y, dim.z}; }
Dim3 dim_of(const json& dim) {
  return {dim.at(0).get<unsigned>(), dim.at(1).get<unsigned>(), dim.at(2).get<unsigned>()};
}

json memory_json(const std::vector<MemoryImage>& memory) {
  json list = json::array();
  for (const MemoryImage& image : memory) {
    list.push_back({{"variable", image.variable},
                    {"address", image.address},
                    {"bytes", image.bytes.size()},
                    {"constant", image.is_constant}});
  }
  return list;
}

std::vector<MemoryImage> memory_of(const Message& message) {
  std::vector<MemoryImage> memory;
  std::size_t at = 0;
  for (const json& one : message.header.at("memory")) {
    const auto bytes = one.at("bytes").get<std::size_t>();
    if (bytes > message.bytes.size() - at) throw LaunchMessageError("a message is too short");
    const auto begin = message.bytes.begin() + static_cast<std::ptrdiff_t>(at);
    memory.push_back({.variable = one.at("variable"),
                      .address = one.at("address"),
                      .bytes = {begin, begin + static_cast<std::ptrdiff_t>(bytes)},
                      .is_constant = one.at("constant")});
    at += bytes;
  }
  return memory;
}

// Calls read(message); an unexpected member is an error of the other process.
template <typename Read>
auto read(int socket, double seconds, Read read) {
  const Message message = receive(socket, seconds);
  try {
    return read(message);
  } catch (const json::exception& error) {
    throw LaunchMessageError(fmt::format("the other process sent no message: {}", error.what()));
  }
}

}  // namespace

void send(int socket, const Greeting& greeting) {
  send(socket, {{"device", greeting.device}, {"problem", greeting.problem}}, {});
}

void send(int socket, const LaunchRequest& request) {
  const LaunchImage& image = request.image;
  json addresses = json::array();
  for (const VariableAddress& one : image.addresses) {
    addresses.push_back({{"at", one.at}, {"variable", one.variable}, {"offset", one.offset}});
  }
  std::vector<unsigned> parameters;
  for (const std::byte byte : image.parameters)
    parameters.push_back(std::to_integer<unsigned>(byte));
  send(socket,
       {{"ptx", image.ptx},
        {"kernel", image.kernel},
        {"grid", dim_json(image.grid)},
        {"block", dim_json(image.block)},
        {"cluster", dim_json(image.cluster)},
        {"explicit_cluster", image.explicit_cluster},
        {"cooperative", image.cooperative},
        {"dynamic_shared_bytes", image.dynamic_shared_bytes},
        {"parameters", parameters},
        {"addresses", addresses},
        {"memory", memory_json(image.memory)},
        {"optimization", request.optimization}},
       image.memory);
}

void send(int socket, const LaunchResult& result) {
  send(socket, {{"problem", result.problem}, {"memory", memory_json(result.memory)}},
       result.memory);
}

Greeting receive_greeting(int socket, double seconds) {
  return read(socket, seconds, [](const Message& message) {
    return Greeting{.device = message.header.at("device"), .problem = message.header.at("problem")};
  });
}

LaunchRequest receive_request(int socket) {
  return read(socket, -1, [](const Message& message) {
    const json& header = message.header;
    LaunchRequest request;
    LaunchImage& image = request.image;
    image.ptx = header.at("ptx");
    image.kernel = header.at("kernel");
    image.grid = dim_of(header.at("grid"));
    image.block = dim_of(header.at("block"));
    image.cluster = dim_of(header.at("cluster"));
    image.explicit_cluster = header.at("explicit_cluster");
    image.cooperative = header.at("cooperative");
    image.dynamic_shared_bytes = header.at("dynamic_shared_bytes");
    for (const json& byte : header.at("parameters")) {
      image.parameters.push_back(static_cast<std::byte>(byte.get<unsigned>()));
    }
    for (const json& one : header.at("addresses")) {
      image.addresses.push_back({one.at("at"), one.at("variable"), one.at("offset")});
    }
    image.memory = memory_of(message);
    request.optimization = header.at("optimization");
    return request;
  });
}

LaunchResult receive_result(int socket, double seconds) {
  return read(socket, seconds, [](const Message& message) {
    return LaunchResult{.problem = message.header.at("problem"), .memory = memory_of(message)};
  });
}

}  // namespace warpcheck::cudart
