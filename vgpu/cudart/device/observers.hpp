// The observers of a device's memory and launches: the checkers of a trial, and the observers that
// the trial adds.
#pragma once

#include <span>
#include <vector>

#include "vgpu/check/checkers.hpp"
#include "vgpu/machine/access.hpp"

namespace warpcheck::cudart {

class Observers {
 public:
  void set(const vgpu::Checkers& checkers) {
    list_.assign(checkers.observers().begin(), checkers.observers().end());
    of_memory_.assign(checkers.observers_of_memory().begin(), checkers.observers_of_memory().end());
  }
  // Adds an observer, which is called after the existing ones.  Not owned.
  void add(vgpu::Observer& observer) {
    list_.push_back(&observer);
    if (observer.watches().memory) of_memory_.push_back(&observer);
  }
  void clear() {
    list_.clear();
    of_memory_.clear();
  }

  [[nodiscard]] std::span<vgpu::Observer* const> list() const { return list_; }

  template <typename Call>
  void tell(Call&& call) const {
    for (vgpu::Observer* const observer : list_) call(*observer);
  }
  // Tells those that watch memory.
  template <typename Call>
  void tell_of_memory(Call&& call) const {
    for (vgpu::Observer* const observer : of_memory_) call(*observer);
  }

 private:
  std::vector<vgpu::Observer*> list_, of_memory_;
};

}  // namespace warpcheck::cudart
