#include "reference/kahan.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace reference {
namespace {

class KahanSum {
 public:
  void add(float value) {
    const float term = value - lost_;
    const float next = sum_ + term;
    lost_ = (next - sum_) - term;
    sum_ = next;
  }
  [[nodiscard]] float value() const { return sum_; }

 private:
  float sum_ = 0, lost_ = 0;
};

// Calls element(row, column) for each element of an n x n matrix, by rows.
template <class Element>
std::vector<float> matrix_of(int n, Element element) {
  std::vector<float> values;
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) values.push_back(element(row, column));
  }
  return values;
}

float at(const std::vector<float>& matrix, int n, int row, int column) {
  return matrix[static_cast<std::size_t>(row) * static_cast<std::size_t>(n) +
                static_cast<std::size_t>(column)];
}

}  // namespace

float kahan_sum(const std::vector<float>& values, int threads) {
  KahanSum all;
  const auto step = static_cast<std::size_t>(threads);
  for (std::size_t thread = 0; thread < step; ++thread) {
    KahanSum mine;
    for (std::size_t i = thread; i < values.size(); i += step) mine.add(values[i]);
    all.add(mine.value());
  }
  return all.value();
}

std::vector<float> kahan_matmul(const std::vector<float>& a, const std::vector<float>& b, int n) {
  return matrix_of(n, [&](int row, int column) {
    KahanSum sum;
    for (int k = 0; k < n; ++k) sum.add(at(a, n, row, k) * at(b, n, k, column));
    return sum.value();
  });
}

std::vector<float> published_host_matmul(const std::vector<float>& a, const std::vector<float>& b,
                                         int n) {
  return matrix_of(n, [&](int row, int column) {
    double sum = 0;
    for (int k = 0; k < n; ++k) {
      const float product = at(a, n, row, k) * at(b, n, k, column);
      sum += static_cast<double>(product);
    }
    return static_cast<float>(sum);
  });
}

RelativeErrors relative_errors(const std::vector<float>& out, const std::vector<double>& expected) {
  RelativeErrors errors;
  double sum = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (expected[i] == 0) continue;
    const double error = std::fabs((static_cast<double>(out[i]) - expected[i]) / expected[i]);
    errors.max = std::max(errors.max, error);
    sum += error;
  }
  if (!out.empty()) errors.average = sum / static_cast<double>(out.size());
  return errors;
}

std::vector<float> flushed(std::vector<float> values) {
  for (float& value : values) {
    if (std::fpclassify(value) == FP_SUBNORMAL) value = std::copysign(0.0F, value);
  }
  return values;
}

}  // namespace reference
