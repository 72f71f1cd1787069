#include "reference/exact_sum.hpp"

#include <mpfr.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>

namespace reference {
namespace {

// Products of floats are multiples of 2^-298 and below 2^256; up to 2^60 of them fit into 614 bits.
constexpr mpfr_prec_t kBits = 640;

class ExactSum {
 public:
  ExactSum() {
    mpfr_init2(sum_, kBits);
    mpfr_set_zero(sum_, 1);
  }
  ExactSum(const ExactSum&) = delete;
  ExactSum& operator=(const ExactSum&) = delete;
  ~ExactSum() { mpfr_clear(sum_); }

  void clear() { mpfr_set_zero(sum_, 1); }

  // `value`: finite, a float or the product of two.
  void add(double value) {
    if (mpfr_add_d(sum_, sum_, value, MPFR_RNDN) != 0) {
      throw std::logic_error("exact_sum: a sum of floats did not fit into its bits");
    }
  }
  [[nodiscard]] double value() const { return mpfr_get_d(sum_, MPFR_RNDN); }

 private:
  mpfr_t sum_;
};

}  // namespace

double exact_sum(const std::vector<float>& values) {
  ExactSum sum;
  for (const float value : values) {
    if (!std::isfinite(value)) throw std::invalid_argument("exact_sum: expected finite values");
    sum.add(static_cast<double>(value));
  }
  return sum.value();
}

std::vector<double> exact_matmul(const std::vector<float>& a, const std::vector<float>& b, int n) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> products;
  products.reserve(size * size);
  ExactSum sum;
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column < size; ++column) {
      sum.clear();
      bool is_finite = true;
      for (std::size_t k = 0; k < size && is_finite; ++k) {
        // Exact: 24 and 24 bits, no less than 2^-298.
        const double product =
            static_cast<double>(a[row * size + k]) * static_cast<double>(b[k * size + column]);
        is_finite = std::isfinite(product);
        if (is_finite) sum.add(product);
      }
      products.push_back(is_finite ? sum.value() : std::numeric_limits<double>::quiet_NaN());
    }
  }
  return products;
}

}  // namespace reference
