// The bytes that a look-ahead has read: those that one warp polls, or those that all threads of a
// launch read from global memory.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "vgpu/machine/access.hpp"
#include "vgpu/machine/state.hpp"

namespace warpcheck::vgpu {

// What one warp polls.
class PolledReads {
 public:
  //   polled: receives the bytes
  //   shared: the shared memory of the warp's block
  void begin(std::vector<PolledBytes>& polled, const Allocation* shared);
  void end() { polled_ = nullptr; }
  [[nodiscard]] bool are_noted() const { return polled_ != nullptr; }
  // Returns whether the warp polls too many bytes, or bytes that may end before it does.
  [[nodiscard]] bool are_too_many() const { return are_too_many_; }
  void note(const Access& access);

 private:
  std::vector<PolledBytes>* polled_ = nullptr;
  const Allocation* shared_ = nullptr;
  bool are_too_many_ = false;
};

// What the threads of a launch read from global memory.
class LaunchReads {
 public:
  void begin() { are_noted_ = true; }
  [[nodiscard]] bool are_noted() const { return are_noted_; }
  [[nodiscard]] bool is_empty() const { return bytes_.empty(); }
  void note(const Access& access);
  // Returns the bytes; empty if there are too many.
  [[nodiscard]] std::vector<PolledBytes> list() const;

 private:
  bool are_noted_ = false;
  std::map<const std::byte*, PolledBytes> bytes_;
};

}  // namespace warpcheck::vgpu
