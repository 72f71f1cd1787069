#include "vgpu/check/exact/galois_ring.hpp"

#include <algorithm>

namespace warpcheck::vgpu {

GaloisElement galois_integer(std::uint64_t number) {
  GaloisElement element{};
  element[0] = number;
  return element;
}

GaloisElement galois_bits(std::uint64_t coefficients) {
  GaloisElement element{};
  for (unsigned i = 0; i < kGaloisDegree; ++i) element[i] = coefficients >> i & 1;
  return element;
}

GaloisElement sum(const GaloisElement& a, const GaloisElement& b) {
  GaloisElement result;
  for (unsigned i = 0; i < kGaloisDegree; ++i) result[i] = a[i] + b[i];
  return result;
}

GaloisElement negative(const GaloisElement& a) {
  GaloisElement result;
  for (unsigned i = 0; i < kGaloisDegree; ++i) result[i] = 0 - a[i];
  return result;
}

GaloisElement product(const GaloisElement& a, const GaloisElement& b) {
  std::array<std::uint64_t, 2 * kGaloisDegree - 1> all{};
  for (unsigned i = 0; i < kGaloisDegree; ++i) {
    if (a[i] == 0) continue;
    for (unsigned j = 0; j < kGaloisDegree; ++j) all[i + j] += a[i] * b[j];
  }
  // x^61 = -(x^5 + x^2 + x + 1)
  for (std::size_t i = all.size(); i-- > kGaloisDegree;) {
    for (const unsigned power : {0u, 1u, 2u, 5u}) all[i - kGaloisDegree + power] -= all[i];
  }
  GaloisElement result;
  std::copy_n(all.begin(), kGaloisDegree, result.begin());
  return result;
}

GaloisElement modulo(const GaloisElement& a, unsigned bits) {
  GaloisElement result = a;
  if (bits < 64) {
    for (std::uint64_t& one : result) one &= (std::uint64_t{1} << bits) - 1;
  }
  return result;
}

}  // namespace warpcheck::vgpu
