// Has what was counted of a process saved while it runs, so that a process that is killed leaves
// it.  Saving takes at most a fiftieth of the processor's time.
#pragma once

#include <ctime>
#include <functional>
#include <utility>

#include "vgpu/machine/observer.hpp"

namespace warpcheck::cudart {

class CountsSaver final : public vgpu::Observer {
 public:
  // save: is called when the observers before this one have received what was counted
  explicit CountsSaver(std::function<void()> save) : save_(std::move(save)) {}

  [[nodiscard]] vgpu::Watched watches() const override {
    vgpu::Watched watched = vgpu::Watched::rare();
    watched.tallies = true;
    return watched;
  }
  void on_tally(const vgpu::Program&, std::span<const vgpu::InstrTally>) override {
    const std::clock_t begin = std::clock();
    if (kShare * spent_ > begin + kShare * kFree) return;
    save_();
    spent_ += std::clock() - begin;
  }

 private:
  static constexpr int kShare = 50;
  // The launches of a short program are all saved.
  static constexpr std::clock_t kFree = CLOCKS_PER_SEC / 50;

  std::function<void()> save_;
  std::clock_t spent_ = 0;
};

}  // namespace warpcheck::cudart
