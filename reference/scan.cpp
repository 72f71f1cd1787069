#include "reference/scan.hpp"

namespace reference {

std::vector<int> inclusive_scan(const std::vector<int>& in) {
  std::vector<int> out;
  out.reserve(in.size());
  unsigned sum = 0;  // unsigned: wraps around instead of overflowing
  for (const int x : in) {
    sum += static_cast<unsigned>(x);
    out.push_back(static_cast<int>(sum));
  }
  return out;
}

std::vector<float> inclusive_scan(const std::vector<float>& in) {
  std::vector<float> out;
  out.reserve(in.size());
  double sum = 0;
  for (const float x : in) {
    sum += static_cast<double>(x);
    out.push_back(static_cast<float>(sum));
  }
  return out;
}

}  // namespace reference
