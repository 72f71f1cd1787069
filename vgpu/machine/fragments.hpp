// The lanes of a warp: which of them run, where they diverge, and where they reconverge.
//
// Lanes at one place, that is, at one pc with one chain of callers, are a fragment.  A fragment is
// runnable if it is ready and not held.  The rule:
//   - Of the runnable fragments, the one that is deepest in calls runs; of several, the one with
//     the lowest pc; of several, the one that is listed first.  Code is laid out so that lanes then
//     reconverge at the earliest place (program/reconvergence.hpp).
//   - It runs up to the lowest pc at which another runnable fragment with the same callers is.
//   - Runnable fragments at one place become one, which is listed where the first of them was.
//   - Lanes that diverge from their fragment are listed last.
//   - Held fragments are not run until no other fragment is runnable; then none is held any longer.
// The interpreter, machine code, rounds of warps and the look-ahead all ask this class, so they
// cannot differ.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {

// A return address with the state of the calling function.
struct Return {
  std::uint32_t pc = 0;
  std::uint32_t function = 0;
  std::uint32_t local_base = 0, local_top = 0;
  friend bool operator==(const Return&, const Return&) = default;
};

// A fragment: lanes of one warp with the same pc and the same chain of callers.
struct Fragment {
  enum class State : std::uint8_t { ready, at_barrier, at_warp_operation, at_cluster_barrier };
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;
  State state = State::ready;
  bool held = false;           // not run until the rest of its warp cannot continue
  std::uint32_t barrier = 0;   // at_barrier: its number
  std::uint32_t members = 0;   // at_warp_operation: the operation's member mask
  std::uint32_t function = 0;  // index into Program::functions
  std::uint32_t word_base = 0, wide_base = 0, predicate_base = 0;  // byte offsets into the banks
  // The frame in each lane's local memory, in bytes: its begin, and its end including alloca.
  std::uint32_t local_base = 0, local_top = 0;
  std::vector<Return> callers;

  [[nodiscard]] bool is_ready() const { return state == State::ready; }
  [[nodiscard]] bool is_runnable() const { return is_ready() && !held; }
  [[nodiscard]] bool is_at_place_of(const Fragment& other) const {
    return pc == other.pc && callers == other.callers;
  }
  // Continues behind the instruction at which it has waited.
  void resume() {
    state = State::ready;
    ++pc;
  }
};

class Fragments {
 public:
  static constexpr std::size_t kNothing = SIZE_MAX;
  // The fragment that runs, and the pc up to which it runs.  kNothing: none can run.  ptx::kNone:
  // no other runnable fragment has its callers.
  struct Choice {
    std::size_t index = kNothing;
    std::uint32_t limit = ptx::kNone;
  };

  // Reconverges fragments, and chooses the one that runs.
  Choice choose() {
    if (list_.size() != 1) return choose_of_several();
    if (!list_.front().is_ready()) return {};
    list_.front().held = false;
    return {.index = 0};
  }
  // Lanes diverge from a fragment: they become one of their own, at the same place.  Returns its
  // index.
  std::size_t split(std::size_t index, std::uint32_t lanes) {
    list_.push_back(list_[index]);
    list_.back().mask = lanes;
    list_[index].mask &= ~lanes;
    return list_.size() - 1;
  }
  // Returns whether several fragments are runnable, all in one function with the same callers and
  // the same stack.
  [[nodiscard]] bool several_share_frame() const;
  void hold_none() {
    for (Fragment& fragment : list_) fragment.held = false;
  }

  // Becomes one fragment without callers; in place, since every warp begins so.
  void begin(std::uint32_t pc, std::uint32_t mask) {
    list_.clear();
    Fragment& only = list_.emplace_back();
    only.pc = pc;
    only.mask = mask;
  }
  void assign(Fragment only) {
    list_.clear();
    list_.push_back(std::move(only));
  }
  void add(const Fragment& fragment) { list_.push_back(fragment); }
  void remove(std::size_t index) {
    list_.erase(list_.begin() + static_cast<std::ptrdiff_t>(index));
  }
  template <class Predicate>
  void remove_if(Predicate predicate) {
    std::erase_if(list_, predicate);
  }
  void clear() { list_.clear(); }

  [[nodiscard]] bool any_ready() const {
    for (const Fragment& fragment : list_) {
      if (fragment.is_ready()) return true;
    }
    return false;
  }
  [[nodiscard]] std::uint32_t count_ready() const {
    return static_cast<std::uint32_t>(
        std::ranges::count(list_, Fragment::State::ready, &Fragment::state));
  }
  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] std::size_t size() const { return list_.size(); }
  [[nodiscard]] Fragment& operator[](std::size_t index) { return list_[index]; }
  [[nodiscard]] const Fragment& operator[](std::size_t index) const { return list_[index]; }
  [[nodiscard]] Fragment& front() { return list_.front(); }
  [[nodiscard]] const Fragment& front() const { return list_.front(); }
  [[nodiscard]] auto begin() { return list_.begin(); }
  [[nodiscard]] auto end() { return list_.end(); }
  [[nodiscard]] auto begin() const { return list_.begin(); }
  [[nodiscard]] auto end() const { return list_.end(); }

 private:
  Choice choose_of_several();
  void reconverge(std::size_t first, std::size_t second);

  std::vector<Fragment> list_;
};

}  // namespace warpcheck::vgpu
