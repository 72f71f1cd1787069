#include "vgpu/check/exact/prime_field.hpp"

#include <bit>
#include <cmath>

namespace warpcheck::vgpu {

// The test of Miller and Rabin with the first twelve primes decides for all numbers below 3.3e24
// (Sorenson and Webster, Strong pseudoprimes to twelve prime bases, Math. Comp. 86, 2017).
bool PrimeField::is_prime(std::uint64_t number) {
  constexpr std::uint64_t kBases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  if (number < 2) return false;
  for (const std::uint64_t base : kBases) {
    if (number % base == 0) return number == base;
  }
  const int twos = std::countr_zero(number - 1);
  for (const std::uint64_t base : kBases) {
    std::uint64_t x = power(base, (number - 1) >> twos, number);
    bool is_witness = x != 1 && x != number - 1;
    for (int i = 1; i < twos && is_witness; ++i) {
      x = product(x, x, number);
      is_witness = x != number - 1;
    }
    if (is_witness) return false;
  }
  return true;
}

PrimeField::PrimeField(std::uint64_t above) : prime_(above | 1) {
  while (!is_prime(prime_)) prime_ += 2;
}

std::uint64_t PrimeField::value_of(double number) const {
  if (number == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(number), &exponent);
  const auto digits = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  exponent -= 53;
  const std::uint64_t scale =
      power(exponent < 0 ? inverse(2) : 2, static_cast<std::uint64_t>(std::abs(exponent)));
  const std::uint64_t value = product(digits % prime_, scale);
  return number < 0 ? negative(value) : value;
}

}  // namespace warpcheck::vgpu
