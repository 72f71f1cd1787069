// The Galois ring GR(2^64, 61): polynomials in x over the integers modulo 2^64, modulo
// x^61 + x^5 + x^2 + x + 1, which is irreducible modulo 2.
//
// Elements whose coefficients are 0 or 1 are a set of 2^61 of which two different ones differ by a
// unit.  Modulo 2^32 it is GR(2^32, 61).  Cf. Wan, Lectures on Finite Fields and Galois Rings,
// 2003, chapter 14.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace warpcheck::vgpu {

inline constexpr unsigned kGaloisDegree = 61;
using GaloisElement = std::array<std::uint64_t, kGaloisDegree>;

[[nodiscard]] GaloisElement galois_integer(std::uint64_t number);
// coefficients: bit i is that of x^i
[[nodiscard]] GaloisElement galois_bits(std::uint64_t coefficients);
[[nodiscard]] GaloisElement sum(const GaloisElement& a, const GaloisElement& b);
[[nodiscard]] GaloisElement negative(const GaloisElement& a);
[[nodiscard]] GaloisElement product(const GaloisElement& a, const GaloisElement& b);
[[nodiscard]] GaloisElement modulo(const GaloisElement& a, unsigned bits);

// Elements by number, equal ones by the same number.
class GaloisElements {
 public:
  std::uint64_t number_of(const GaloisElement& element) {
    const auto [at, is_new] = numbers_.try_emplace(element, elements_.size());
    if (is_new) elements_.push_back(&at->first);
    return at->second;
  }
  [[nodiscard]] const GaloisElement& operator[](std::uint64_t number) const {
    return *elements_[number];
  }

 private:
  std::map<GaloisElement, std::uint64_t> numbers_;
  std::vector<const GaloisElement*> elements_;
};

}  // namespace warpcheck::vgpu
