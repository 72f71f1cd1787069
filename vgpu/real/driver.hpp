// The CUDA driver of a real GPU.  It is opened on demand, so a program that can use it also builds
// and runs where there is none.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace warpcheck::real {

// A failed call of the driver.
class DriverError : public std::runtime_error {
 public:
  DriverError(const char* call, CUresult result, const std::string& more);
  [[nodiscard]] CUresult result() const { return result_; }

 private:
  CUresult result_;
};

// The first device, with its context current in this thread.
class Driver {
 public:
  // Throws std::runtime_error if there is no driver or no device.
  Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // Calls a function of the driver; throws DriverError if it fails.
  template <class... Args>
  void call(const char* name, Args... args) {
    using Function = CUresult (*)(Args...);
    const CUresult result = reinterpret_cast<Function>(symbol(name))(args...);
    if (result != CUDA_SUCCESS) throw DriverError(name, result, {});
  }

  // Assembles PTX at this optimisation level (4: full).  A DriverError contains the assembler's
  // text.
  CUmodule load(const std::string& ptx, unsigned optimization = 4);

  int attribute(CUdevice_attribute which);
  int target();               // 90 of sm_90
  std::string description();  // name, target, driver

 private:
  void* symbol(const char* name) const;

  void* library_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

// Device memory.
class DeviceBuffer {
 public:
  DeviceBuffer(Driver& driver, std::size_t bytes) : driver_(driver) {
    driver_.call("cuMemAlloc_v2", &address_, bytes);
  }
  ~DeviceBuffer();
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  [[nodiscard]] CUdeviceptr address() const { return address_; }

 private:
  Driver& driver_;
  CUdeviceptr address_ = 0;
};

}  // namespace warpcheck::real
