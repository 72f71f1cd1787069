// The hidden command `launch-worker`: runs launches of a program under `exec --against gpu`.
#include <fmt/format.h>

#include <exception>
#include <memory>

#include "cli/against/real_launches.hpp"
#include "cli/cli.hpp"
#include "vgpu/cudart/against/launch_messages.hpp"

namespace warpcheck {
namespace {

int serve(cudart::MessageLink link) {
  std::unique_ptr<RealLaunches> device;
  try {
    device = std::make_unique<RealLaunches>();
    cudart::send(link, cudart::Greeting{device->description(), {}});
  } catch (const std::exception& error) {
    cudart::send(link, cudart::Greeting{{}, error.what()});
    return kCannot;
  }
  while (true) {
    cudart::LaunchRequest request;
    try {
      request = cudart::receive_request(link);
    } catch (const cudart::LaunchMessageError&) {
      return kNothingFound;  // the program has ended
    }
    cudart::LaunchResult result;
    try {
      result = device->run(request.image, request.optimization);
    } catch (const std::exception& error) {
      result = {.problem = fmt::format("on {}: {}", device->description(), error.what()),
                .memory = {}};
    }
    cudart::send(link, result);
  }
}

void add_launch_worker_to(CLI::App& command, Run& run) {
  const auto socket = std::make_shared<int>(0);
  command.add_option("SOCKET", *socket, "File descriptor of the program's socket")->required();
  command.callback(
      [&run, socket] { run = [socket] { return serve(cudart::MessageLink(*socket)); }; });
}

const RegisteredCommand kLaunchWorkerCommand{{.rank = 141,
                                              .name = "launch-worker",
                                              .help = "Runs launches for exec --against gpu",
                                              .add = add_launch_worker_to,
                                              .is_hidden = true}};

}  // namespace
}  // namespace warpcheck
