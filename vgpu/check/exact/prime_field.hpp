// Arithmetic modulo a prime of 61 bits.
#pragma once

#include <cstdint>

namespace warpcheck::vgpu {

class PrimeField {
 public:
  // The first prime from `above` on, which is less than 2^61.
  explicit PrimeField(std::uint64_t above);

  [[nodiscard]] std::uint64_t prime() const { return prime_; }
  [[nodiscard]] std::uint64_t add(std::uint64_t a, std::uint64_t b) const {
    const std::uint64_t sum = a + b;
    return sum >= prime_ ? sum - prime_ : sum;
  }
  [[nodiscard]] std::uint64_t negative(std::uint64_t a) const { return a == 0 ? 0 : prime_ - a; }
  [[nodiscard]] std::uint64_t product(std::uint64_t a, std::uint64_t b) const {
    return product(a, b, prime_);
  }
  [[nodiscard]] std::uint64_t power(std::uint64_t base, std::uint64_t exponent) const {
    return power(base, exponent, prime_);
  }
  // a is not 0
  [[nodiscard]] std::uint64_t inverse(std::uint64_t a) const { return power(a, prime_ - 2); }
  // Returns the value of a finite double.
  [[nodiscard]] std::uint64_t value_of(double number) const;

  [[nodiscard]] static bool is_prime(std::uint64_t number);

 private:
  static std::uint64_t product(std::uint64_t a, std::uint64_t b, std::uint64_t modulus) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(Wide{a} * b % modulus);
  }
  static std::uint64_t power(std::uint64_t base, std::uint64_t exponent, std::uint64_t modulus) {
    std::uint64_t result = 1;
    for (; exponent != 0; exponent >>= 1, base = product(base, base, modulus)) {
      if ((exponent & 1) != 0) result = product(result, base, modulus);
    }
    return result;
  }

  std::uint64_t prime_ = 0;
};

}  // namespace warpcheck::vgpu
