// The observers of a device's memory and launches: the checkers of a trial, and the observers that
// the trial adds.
#pragma once

#include <algorithm>
#include <span>
#include <utility>

#include "vgpu/check/checkers.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/machine/observer_list.hpp"

namespace warpcheck::cudart {

class Observers {
 public:
  // Sets the observers: the checkers, then `others`.  All of them live as long as this object; if
  // they are those of the last trial, they are not asked again what they watch.
  void set(const vgpu::Checkers& checkers, std::span<vgpu::Observer* const> others) {
    current_ = &list_;
    const std::span<vgpu::Observer*const> first = checkers.observers(), known = list_.all();
    const bool are_known = !has_added_ && known.size() == first.size() + others.size() &&
                           std::ranges::equal(first, known.first(first.size())) &&
                           std::ranges::equal(others, known.subspan(first.size()));
    if (are_known) return;
    list_ = vgpu::ObserverList(first);
    for (vgpu::Observer* const observer : others) list_.add(*observer);
    has_added_ = false;
  }
  // Adds an observer of this trial, which is called after the existing ones.  Not owned.
  void add(vgpu::Observer& observer) {
    current_ = &list_;
    list_.add(observer);
    has_added_ = true;
  }
  // Removes an observer that was added.
  void remove(vgpu::Observer& observer) {
    vgpu::ObserverList rest;
    for (vgpu::Observer* const one : list_.all()) {
      if (one != &observer) rest.add(*one);
    }
    list_ = std::move(rest);
  }
  void clear() { current_ = &none_; }
  // Returns whether some were added: they must see every launch, as one machine runs it.
  [[nodiscard]] bool has_added() const { return has_added_; }

  [[nodiscard]] const vgpu::ObserverList& list() const { return *current_; }

  template <typename Call>
  void notify(Call&& call) const {
    for (vgpu::Observer* const observer : current_->all()) call(*observer);
  }
  // Tells those that watch memory.
  template <typename Call>
  void notify_of_memory(Call&& call) const {
    for (vgpu::Observer* const observer : current_->of_memory()) call(*observer);
  }
  // Tells those that receive the end of a trial.
  template <typename Call>
  void notify_of_trial_end(Call&& call) const {
    for (vgpu::Observer* const observer : current_->of_trial_end()) call(*observer);
  }

 private:
  vgpu::ObserverList list_;
  const vgpu::ObserverList none_{};
  const vgpu::ObserverList* current_ = &none_;
  bool has_added_ = false;  // list_ has observers that may be gone after the trial
};

}  // namespace warpcheck::cudart
