#include "reference/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace reference {

namespace {

// Of two numbers; negative zero is the lesser one.
bool less(float a, float b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); }

std::vector<float> numbers(std::vector<float> in) {
  in.erase(std::remove_if(in.begin(), in.end(), [](float x) { return std::isnan(x); }), in.end());
  return in;
}

}  // namespace

int sum(const std::vector<int>& in) {
  unsigned sum = 0;  // unsigned: wraps around instead of overflowing
  for (const int x : in) sum += static_cast<unsigned>(x);
  return static_cast<int>(sum);
}

float sum(const std::vector<float>& in) {
  double sum = 0;
  for (const float x : in) sum += static_cast<double>(x);
  return static_cast<float>(sum);
}

int maximum(const std::vector<int>& in) {
  int result = std::numeric_limits<int>::min();
  for (const int x : in) result = std::max(result, x);
  return result;
}

int minimum(const std::vector<int>& in) {
  int result = std::numeric_limits<int>::max();
  for (const int x : in) result = std::min(result, x);
  return result;
}

float maximum(const std::vector<float>& in) {
  const std::vector<float> present = numbers(in);
  const auto found = std::max_element(present.begin(), present.end(), less);
  return found == present.end() ? std::numeric_limits<float>::quiet_NaN() : *found;
}

float minimum(const std::vector<float>& in) {
  const std::vector<float> present = numbers(in);
  const auto found = std::min_element(present.begin(), present.end(), less);
  return found == present.end() ? std::numeric_limits<float>::quiet_NaN() : *found;
}

}  // namespace reference
