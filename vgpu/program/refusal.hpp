// What cannot run on the virtual GPU.
#pragma once

#include <stdexcept>

namespace warpcheck::vgpu {

// A kernel that cannot run here. what() names the instruction or function, file and line, and the
// reason.
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Code that is for other devices than the one that shall run it.
class WrongTarget : public Refusal {
 public:
  using Refusal::Refusal;
};

}  // namespace warpcheck::vgpu
