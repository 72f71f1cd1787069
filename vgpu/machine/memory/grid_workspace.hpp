// The workspace that cooperative groups expect in a cooperative launch: zeroed global memory in
// which the grid barrier keeps its state.
#pragma once

#include <cstdint>
#include <string_view>

#include "vgpu/machine/running_launch.hpp"

namespace warpcheck::vgpu {

// The name of its allocation; no variable of a program has such a name.
inline constexpr std::string_view kGridWorkspaceName = "grid workspace";

class GridWorkspace {
 public:
  explicit GridWorkspace(RunningLaunch& launch) : launch_(launch) {}

  // Allocates it if the program looks for one.
  void begin_launch();
  void end_launch();
  [[nodiscard]] std::uint64_t address() const {
    return allocation_ != nullptr ? allocation_->address : 0;
  }

 private:
  RunningLaunch& launch_;
  Allocation* allocation_ = nullptr;
};

}  // namespace warpcheck::vgpu
