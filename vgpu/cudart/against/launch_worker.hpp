// The real device, in a process of its own: the program's process has our libraries in place of the
// vendor's, and a CUDA context survives neither fork() nor a bad access.
#pragma once

#include <sys/types.h>

#include <stdexcept>
#include <string>

#include "vgpu/cudart/against/launch_image.hpp"
#include "vgpu/cudart/device/message_link.hpp"

namespace warpcheck::cudart {

// No worker can be started, or it has no device.  what() is one line.
class LaunchWorkerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class LaunchWorker final : public LaunchTarget {
 public:
  // program: the file of `warpcheck`, whose hidden command `launch-worker` is the other process
  // Throws LaunchWorkerError.
  explicit LaunchWorker(std::string program);
  ~LaunchWorker() override;
  LaunchWorker(const LaunchWorker&) = delete;
  LaunchWorker& operator=(const LaunchWorker&) = delete;

  // A launch that the device does not survive is a problem of its result; the next one gets a new
  // process.
  LaunchResult run(const LaunchImage& image, unsigned optimization) override;
  [[nodiscard]] const std::string& name() const override { return device_; }

 private:
  void start();
  void stop();

  std::string program_, device_;
  pid_t process_ = -1;
  MessageLink link_{-1};
};

}  // namespace warpcheck::cudart
