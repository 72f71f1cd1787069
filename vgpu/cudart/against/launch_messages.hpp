// What a program under `exec --against gpu` and its launch worker say to each other, through one
// link.  A message is a line of JSON, which says what bytes of memory follow it.  The worker begins
// with a greeting; then it answers each request by one result.
#pragma once

#include <stdexcept>
#include <string>

#include "vgpu/cudart/against/launch_image.hpp"
#include "vgpu/cudart/device/message_link.hpp"

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
void send(MessageLink& link, const Greeting& greeting);
void send(MessageLink& link, const LaunchRequest& request);
void send(MessageLink& link, const LaunchResult& result);
//   seconds: how long to wait for the first byte; negative: for ever
Greeting receive_greeting(MessageLink& link, double seconds);
LaunchRequest receive_request(MessageLink& link);
LaunchResult receive_result(MessageLink& link, double seconds);

}  // namespace warpcheck::cudart
