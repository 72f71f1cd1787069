// Gives a variable another value temporarily.
#pragma once

#include <utility>

namespace warpcheck::cudart {

// Restores the old value when it is destroyed.
template <typename T>
class Meanwhile {
 public:
  Meanwhile(T& variable, T value) : variable_(variable), before_(std::exchange(variable, value)) {}
  ~Meanwhile() { variable_ = before_; }
  Meanwhile(const Meanwhile&) = delete;
  Meanwhile& operator=(const Meanwhile&) = delete;

 private:
  T& variable_;
  T before_;
};

}  // namespace warpcheck::cudart
