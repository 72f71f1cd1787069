// Handles of a library, so that one that was never created, or that is gone, is known.
#pragma once

#include <mutex>
#include <unordered_set>

namespace warpcheck::libraries {

template <typename Context>
class Handles {
 public:
  void add(const Context* context) {
    const std::lock_guard lock(mutex_);
    all_.insert(context);
  }
  // What it pointed to is not deleted: its address is given to no other handle.
  void remove(const Context* context) {
    const std::lock_guard lock(mutex_);
    all_.erase(context);
  }
  // nullptr: none that has been added and not removed.
  [[nodiscard]] Context* find(Context* handle) {
    const std::lock_guard lock(mutex_);
    return all_.contains(handle) ? handle : nullptr;
  }

 private:
  std::mutex mutex_;
  std::unordered_set<const Context*> all_;
};

// Those of the process; they outlive its exit handlers.
template <typename Context>
Handles<Context>& handles() {
  static auto* const all = new Handles<Context>;
  return *all;
}

}  // namespace warpcheck::libraries
