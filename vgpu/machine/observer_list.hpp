// Observers in the order in which they are called, and which of them receive which events.
//
// An observer is asked what it watches when it is added, so a list that serves many launches asks
// only once.
#pragma once

#include <span>
#include <vector>

#include "vgpu/machine/observer.hpp"

namespace warpcheck::vgpu {

class ObserverList {
 public:
  ObserverList() = default;
  explicit ObserverList(std::span<Observer* const> observers) {
    for (Observer* const observer : observers) add(*observer);
  }

  // Adds an observer, which is called after the existing ones.  Not owned.
  void add(Observer& observer) {
    const Watched watched = observer.watches();
    all_.push_back(&observer);
    if (watched.launches) of_launches_.push_back(&observer);
    if (watched.blocks) of_blocks_.push_back(&observer);
    if (watched.memory) of_memory_.push_back(&observer);
    if (watched.trial_end) of_trial_end_.push_back(&observer);
    if (watched.collectives) of_collectives_.push_back(&observer);
    if (watched.frames) of_frames_.push_back(&observer);
    if (watched.steps) of_steps_.push_back(&observer);
    if (watched.tallies) of_tallies_.push_back(&observer);
    if (watched.accesses || watched.noncoherent_loads) of_accesses_.push_back({&observer, watched});
    if (UndefinedMemory* const plane = observer.undefined_memory()) undefined_memory_ = plane;
    unwritten_registers_ |= watched.unwritten_registers;
    following_.values |= watched.followed_values;
    following_.order |= watched.followed_order;
  }

  [[nodiscard]] std::span<Observer* const> all() const { return all_; }
  // Those that receive the events of Watched's member.
  [[nodiscard]] std::span<Observer* const> of_launches() const { return of_launches_; }
  [[nodiscard]] std::span<Observer* const> of_blocks() const { return of_blocks_; }
  [[nodiscard]] std::span<Observer* const> of_memory() const { return of_memory_; }
  [[nodiscard]] std::span<Observer* const> of_trial_end() const { return of_trial_end_; }
  [[nodiscard]] const std::vector<Observer*>& of_collectives() const { return of_collectives_; }
  [[nodiscard]] std::span<Observer* const> of_frames() const { return of_frames_; }
  [[nodiscard]] const std::vector<Observer*>& of_steps() const { return of_steps_; }
  [[nodiscard]] const std::vector<Observer*>& of_tallies() const { return of_tallies_; }
  // Adds those that watch the accesses of a launch to `watching`, or to `rows`.
  //   is_noncoherent: a load may find, past the coherent caches, what the launch has written
  void watch_accesses_of(const Program& program, bool is_noncoherent,
                         std::vector<Observer*>& watching, std::vector<Observer*>& rows) const {
    for (const auto& [observer, watched] : of_accesses_) {
      const bool watches_loads = watched.noncoherent_loads && is_noncoherent;
      if (watches_loads || (watched.accesses && observer->watches_accesses_of(program))) {
        (watched.rows ? rows : watching).push_back(observer);
      }
    }
  }
  // Whether registers that a thread has not written are undefined for one of them.
  [[nodiscard]] bool unwritten_registers() const { return unwritten_registers_; }
  // Returns the plane of undefined bits of memory that one of them needs; null: none does.
  [[nodiscard]] UndefinedMemory* undefined_memory() const { return undefined_memory_; }
  // Returns what they follow together.
  [[nodiscard]] Following following() const { return following_; }

 private:
  struct OfAccesses {
    Observer* observer;
    Watched watched;
  };
  std::vector<Observer*> all_, of_launches_, of_blocks_, of_memory_, of_trial_end_, of_collectives_,
      of_frames_, of_steps_, of_tallies_;
  std::vector<OfAccesses> of_accesses_;
  UndefinedMemory* undefined_memory_ = nullptr;
  bool unwritten_registers_ = false;
  Following following_{};
};

}  // namespace warpcheck::vgpu
