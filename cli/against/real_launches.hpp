// Runs captured launches on a real GPU by the driver API, with their memory at the same addresses.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "vgpu/cudart/against/launch_image.hpp"
#include "vgpu/real/driver.hpp"

namespace warpcheck {

class RealLaunches {
 public:
  // Throws std::runtime_error if there is no driver or no device.
  RealLaunches();

  // Returns "NVIDIA H200, sm_90, driver for CUDA 13.0".
  [[nodiscard]] std::string description() { return driver_.description(); }

  // Throws std::runtime_error.  After an error of the launch itself, the device is lost to this
  // process.
  cudart::LaunchResult run(const cudart::LaunchImage& image, unsigned optimization);

 private:
  CUmodule module_of(const cudart::LaunchImage& image, unsigned optimization);
  void reserve(std::uint64_t address, std::uint64_t bytes);
  void provide(std::uint64_t address, std::uint64_t bytes);
  void upload(CUmodule module, const cudart::LaunchImage& image);
  void launch(CUmodule module, const cudart::LaunchImage& image);
  // Returns the address of a variable and its size; 0: the assembler has left it out.
  std::pair<CUdeviceptr, std::size_t> variable(CUmodule module, const std::string& name);

  real::Driver driver_;
  std::size_t granularity_ = 0;                    // of memory that is mapped
  std::set<std::uint64_t> reserved_;               // begins of ranges of addresses
  std::map<std::uint64_t, std::uint64_t> mapped_;  // begin and end, apart from each other
  std::map<std::pair<std::string, unsigned>, CUmodule> modules_;  // by PTX and optimisation
};

}  // namespace warpcheck
