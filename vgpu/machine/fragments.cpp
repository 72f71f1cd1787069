#include "vgpu/machine/fragments.hpp"

namespace warpcheck::vgpu {

namespace {

// Returns whether a fragment runs before one that is listed before it.
inline bool goes_first(const Fragment& one, const Fragment& before) {
  const std::size_t depth = one.callers.size(), depth_before = before.callers.size();
  return depth != depth_before ? depth > depth_before : one.pc < before.pc;
}

}  // namespace

// Merges the second of two fragments into the first.
inline void Fragments::reconverge(std::size_t first, std::size_t second) {
  Fragment& fragment = list_[first];
  fragment.mask |= list_[second].mask;
  fragment.local_top = std::max(fragment.local_top, list_[second].local_top);
  remove(second);
}

Fragments::Choice Fragments::choose_of_several() {
  if (list_.size() == 2) {  // the most frequent case is the two sides of an `if`
    const Fragment &first = list_.front(), &second = list_.back();
    if (first.is_runnable() && second.is_runnable() && first.callers == second.callers) {
      if (first.pc != second.pc) {
        return {.index = first.pc < second.pc ? 0u : 1u, .limit = std::max(first.pc, second.pc)};
      }
      reconverge(0, 1);
      return {.index = 0};
    }
  }
  Choice choice;
  bool any_held = false;
  for (std::size_t index = 0; index < list_.size(); ++index) {
    const Fragment& fragment = list_[index];
    if (!fragment.is_runnable()) {
      any_held |= fragment.is_ready();
      continue;
    }
    for (std::size_t later = list_.size() - 1; later > index; --later) {
      const Fragment& other = list_[later];
      if (other.pc != fragment.pc) continue;
      if (other.is_runnable() && other.callers == fragment.callers) reconverge(index, later);
    }
    if (choice.index == kNothing || goes_first(fragment, list_[choice.index])) choice.index = index;
  }
  if (choice.index == kNothing) {
    if (!any_held) return choice;
    hold_none();
    return choose();
  }
  const Fragment& chosen = list_[choice.index];
  for (const Fragment& other : list_) {
    if (other.pc >= choice.limit || &other == &chosen || !other.is_runnable()) continue;
    // A function may be called from several places.
    if (other.callers == chosen.callers) choice.limit = other.pc;
  }
  return choice;
}

bool Fragments::several_share_frame() const {
  const Fragment* first = nullptr;
  bool are_several = false;
  for (const Fragment& fragment : list_) {
    if (!fragment.is_runnable()) continue;
    if (first == nullptr) {
      first = &fragment;
      continue;
    }
    are_several = true;
    // A call through a register leads to several functions from one place.
    if (fragment.function != first->function || fragment.callers != first->callers ||
        fragment.local_top != first->local_top) {
      return false;
    }
  }
  return are_several;
}

}  // namespace warpcheck::vgpu
