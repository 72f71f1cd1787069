// The features that inputs of a pair have covered.  libFuzzer derives features from the counters
// (fuzz/feedback.hpp) but does not report them, so they are derived here again.
//
// A feature is a counter and the order of magnitude that it reached: 1, 2, 3, 4-7, 8-15, 16-31,
// 32-127, 128 and more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/feedback.hpp"

namespace warpcheck::campaign {

class Coverage {
 public:
  // counters: of one execution, fuzz::kCounters of them.  Returns the number of new features.
  std::size_t add(std::span<const std::uint8_t> counters);

  [[nodiscard]] std::size_t features() const { return features_; }

 private:
  std::array<std::uint8_t, fuzz::kCounters> reached_{};  // a bit for each magnitude
  std::size_t features_ = 0;
};

}  // namespace warpcheck::campaign
