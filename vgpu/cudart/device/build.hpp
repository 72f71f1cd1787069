// The two builds of device code.
#pragma once

#include <cstdint>

namespace warpcheck::cudart {

// The build of the device code that a launch runs.
enum class Build : std::uint8_t {
  optimized,    // the PTX in the object's fatbinary: the shipped code
  unoptimized,  // the text of `nvcc -ptx -G`, registered by warpcheck_register_unoptimized()
};

}  // namespace warpcheck::cudart
