// The valid handles of a library, so that handles that were never created or were destroyed are
// detected.
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
  // The object is not deleted, so its address is never reused for another handle.
  void remove(const Context* context) {
    const std::lock_guard lock(mutex_);
    all_.erase(context);
  }
  // Returns nullptr if the handle was not added, or was removed.
  [[nodiscard]] Context* find(Context* handle) {
    const std::lock_guard lock(mutex_);
    return all_.contains(handle) ? handle : nullptr;
  }

 private:
  std::mutex mutex_;
  std::unordered_set<const Context*> all_;
};

// The handles of the process; they outlive its exit handlers.
template <typename Context>
Handles<Context>& handles() {
  static auto* const all = new Handles<Context>;
  return *all;
}

}  // namespace warpcheck::libraries
