// Why trials that found nothing had no chance to find anything (harness/search/health.hpp).
#pragma once

#include <string>

namespace warpcheck {

struct HealthProblem {
  std::string check;    // "no-launch": those of health.hpp
  std::string message;  // one sentence: the observation and the remedy
  friend bool operator==(const HealthProblem&, const HealthProblem&) = default;
};

}  // namespace warpcheck
