#include "vgpu/cudart/against/launch_messages.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

namespace warpcheck::cudart {
namespace {

using nlohmann::json;

struct Message {
  json header;
  std::vector<MemoryImage> memory;
};

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

void send(MessageLink& link, json header, const std::vector<MemoryImage>& memory) {
  header["memory"] = memory_json(memory);
  bool is_sent = link.send(header.dump());
  for (const MemoryImage& image : memory) is_sent = is_sent && link.send_bytes(image.bytes);
  if (!is_sent) throw LaunchMessageError("the other process has gone");
}

Message receive(MessageLink& link, double seconds) {
  const int milliseconds = seconds < 0 ? -1 : static_cast<int>(seconds * 1000);
  if (!link.has_line(milliseconds)) {
    throw LaunchMessageError(fmt::format("no answer within {} s", seconds));
  }
  const std::optional<std::string> line = link.receive();
  if (!line) throw LaunchMessageError("the other process has gone");
  Message message{.header = json::parse(*line), .memory = {}};
  for (const json& one : message.header.at("memory")) {
    MemoryImage image{.variable = one.at("variable"),
                      .address = one.at("address"),
                      .bytes = std::vector<std::byte>(one.at("bytes").get<std::size_t>()),
                      .is_constant = one.at("constant")};
    if (!link.receive_bytes(image.bytes)) throw LaunchMessageError("the other process has gone");
    message.memory.push_back(std::move(image));
  }
  return message;
}

json dim_json(const Dim3& dim) { return {dim.x, dim.y, dim.z}; }
Dim3 dim_of(const json& dim) {
  return {dim.at(0).get<unsigned>(), dim.at(1).get<unsigned>(), dim.at(2).get<unsigned>()};
}

// Calls read(message); an unexpected member is an error of the other process.
template <typename Read>
auto read(MessageLink& link, double seconds, Read read) {
  try {
    return read(receive(link, seconds));
  } catch (const json::exception& error) {
    throw LaunchMessageError(fmt::format("the other process sent no message: {}", error.what()));
  }
}

}  // namespace

void send(MessageLink& link, const Greeting& greeting) {
  send(link, {{"device", greeting.device}, {"problem", greeting.problem}}, {});
}

void send(MessageLink& link, const LaunchRequest& request) {
  const LaunchImage& image = request.image;
  json addresses = json::array();
  for (const VariableAddress& one : image.addresses) {
    addresses.push_back({{"at", one.at}, {"variable", one.variable}, {"offset", one.offset}});
  }
  std::vector<unsigned> parameters;
  for (const std::byte byte : image.parameters)
    parameters.push_back(std::to_integer<unsigned>(byte));
  send(link,
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
        {"optimization", request.optimization}},
       image.memory);
}

void send(MessageLink& link, const LaunchResult& result) {
  send(link, {{"problem", result.problem}}, result.memory);
}

Greeting receive_greeting(MessageLink& link, double seconds) {
  return read(link, seconds, [](Message message) {
    return Greeting{.device = message.header.at("device"), .problem = message.header.at("problem")};
  });
}

LaunchRequest receive_request(MessageLink& link) {
  return read(link, -1, [](Message message) {
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
    image.memory = std::move(message.memory);
    request.optimization = header.at("optimization");
    return request;
  });
}

LaunchResult receive_result(MessageLink& link, double seconds) {
  return read(link, seconds, [](Message message) {
    return LaunchResult{.problem = message.header.at("problem"),
                        .memory = std::move(message.memory)};
  });
}

}  // namespace warpcheck::cudart
