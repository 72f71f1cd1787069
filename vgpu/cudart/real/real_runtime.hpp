// The real CUDA runtime behind the same entry points: a program that linked this library runs on a
// real device.
//
// Kernels and variables were registered with us before main; they are registered with the real
// library when it is opened.  Nothing of CUDA is touched before: a CUDA context does not survive
// fork(), so a program that forks opens the library in the child.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpcheck::cudart {

// The real runtime, or its device, that cannot be used.  what() is one line.
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

// Opens `library` (empty: libcudart.so.13 of the loader's path, or of the usual places), checks
// that there is a device, registers all kernels, and sends every call there from now on.
// Throws RealRuntimeError, and then calls go where they went before.
RealDevice use_real_runtime(const std::string& library = {});

// Sends every call to the virtual device again.
void use_virtual_device();

[[nodiscard]] bool uses_real_runtime();

// What was launched on the real device since the last call.
struct RealLaunches {
  std::uint64_t count = 0;
  std::vector<std::string> kernels;  // mangled names, each once, in order
};
RealLaunches take_real_launches();

}  // namespace warpcheck::cudart
