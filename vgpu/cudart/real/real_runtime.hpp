// The real CUDA runtime behind the same entry points: a program that is linked with this library
// can run on a real device.
//
// Kernels and variables were registered with this library before main; they are registered with the
// real library when it is opened.  CUDA is not used before that, because a CUDA context does not
// survive fork(): a program that forks opens the library in the child.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpcheck::cudart {

// The real runtime, or its device, cannot be used. what() is one line.
class RealRuntimeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct RealDevice {
  std::string name;         // "NVIDIA H200"
  std::string library;      // the file of the runtime
  int runtime_version = 0;  // 13000
  int driver_version = 0;
};

// Opens `library` (empty: libcudart.so.13 from the loader's path or the usual directories), checks
// that there is a device, registers all kernels, and forwards every call to it from now on.  Throws
// RealRuntimeError; calls then go where they went before.
RealDevice use_real_runtime(const std::string& library = {});

// Directs every call to the virtual device again.
void use_virtual_device();

[[nodiscard]] bool uses_real_runtime();

// The launches on the real device since the last call.
struct RealLaunches {
  std::uint64_t count = 0;
  std::vector<std::string> kernels;  // mangled names, each once, in order
};
RealLaunches take_real_launches();

}  // namespace warpcheck::cudart
