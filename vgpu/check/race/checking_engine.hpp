// Which engine checks the running launch: epochs, the general one, or both.
//
// A launch that others may overlap needs the general engine.  If that shows in the middle of a
// launch that epochs check, the general engine takes it over, except for its shared memory: no
// other launch can access that, and machine code keeps pointers to the epochs' logs.
#pragma once

#include <cstdint>
#include <utility>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

class CheckingEngine {
 public:
  // `split`: shared memory by epochs, everything else by the general engine.
  enum class By : std::uint8_t { none, epochs, split, general };

  // A launch begins.
  //   needs_general: epochs cannot check it
  void begin(bool needs_general) {
    by_ = needs_general || has_streams_ ? By::general : By::epochs;
    launch_ = launches_++;
  }
  // From now on launches of the trial may be unordered.  Returns whether that is new.
  bool begin_streams() { return !std::exchange(has_streams_, true); }
  // The general engine takes over a launch that is_by_epochs().
  void split() { by_ = By::split; }
  // The launch ends, or is suspended; returns what resume() expects.
  By leave() { return std::exchange(by_, By::none); }
  void resume(std::uint32_t launch, By by) {
    launch_ = launch;
    by_ = by;
  }

  [[nodiscard]] std::uint32_t launch() const { return launch_; }  // its number in the trial
  [[nodiscard]] bool is_running() const { return by_ != By::none; }
  [[nodiscard]] bool is_running(std::uint32_t launch) const {
    return is_running() && launch == launch_;
  }
  [[nodiscard]] bool has_streams() const { return has_streams_; }
  [[nodiscard]] bool is_by_epochs() const { return by_ == By::epochs; }
  // Returns whether an engine checks accesses of the launch in some space.
  [[nodiscard]] bool has_general() const { return by_ >= By::split; }
  [[nodiscard]] bool has_epochs() const { return by_ == By::epochs || by_ == By::split; }
  [[nodiscard]] bool is_general_in(ptx::Space space) const {
    return by_ == By::general || (by_ == By::split && space != ptx::Space::shared);
  }

 private:
  By by_ = By::none;
  bool has_streams_ = false;
  std::uint32_t launches_ = 0, launch_ = 0;
};

}  // namespace warpcheck::vgpu
