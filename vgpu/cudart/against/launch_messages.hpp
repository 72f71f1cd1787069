// What a program under `exec --against gpu` and its launch worker say to each other, through one
// socket.  A message is a header of JSON and bytes.  The worker begins with a greeting; then it
// answers each request by one result.
#pragma once

#include <stdexcept>
#include <string>

#include "vgpu/cudart/against/launch_image.hpp"

namespace warpcheck::cudart {

// The other side has gone, or says what is no message.  what() is one line.
class LaunchMessageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Greeting {
  std::string device;   // "NVIDIA H200, sm_90, driver for CUDA 13.0"
  std::string problem;  // why there is none
};

struct LaunchRequest {
  LaunchImage image;
  unsigned optimization = 4;
};

// Each throws LaunchMessageError.
//   socket: a file descriptor
void send(int socket, const Greeting& greeting);
void send(int socket, const LaunchRequest& request);
void send(int socket, const LaunchResult& result);
//   seconds: how long to wait for the first byte; negative: for ever
Greeting receive_greeting(int socket, double seconds);
LaunchRequest receive_request(int socket);
LaunchResult receive_result(int socket, double seconds);

}  // namespace warpcheck::cudart
