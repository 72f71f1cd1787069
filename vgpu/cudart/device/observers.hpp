// Whom a device tells what happens in its memory and in its launches: the checkers of a trial, and
// what the trial adds to them.
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
  // Is called after those that are there.  Not owned.
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
