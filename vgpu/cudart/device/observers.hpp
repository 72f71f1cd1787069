// The observers of a device's memory and launches: the checkers of a trial, and the observers that
// the trial adds.
#pragma once

#include <span>
#include <vector>

#include "vgpu/machine/access.hpp"

namespace warpcheck::cudart {

class Observers {
 public:
  void set(std::span<vgpu::Observer* const> checkers) {
    list_.assign(checkers.begin(), checkers.end());
  }
  // Adds an observer, which is called after the existing ones.  Not owned.
  void add(vgpu::Observer& observer) { list_.push_back(&observer); }
  void clear() { list_.clear(); }

  [[nodiscard]] std::span<vgpu::Observer* const> list() const { return list_; }

  template <typename Call>
  void tell(Call&& call) const {
    for (vgpu::Observer* const observer : list_) call(*observer);
  }

 private:
  std::vector<vgpu::Observer*> list_;
};

}  // namespace warpcheck::cudart
