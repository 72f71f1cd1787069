// The one pseudo-random generator of this project.
//
// splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
// It uses neither the distributions of <random> nor libm, because their results differ between
// libraries, and the same seed must give the same schedule on every machine.
#pragma once

#include <bit>
#include <cstdint>

namespace warpcheck::vgpu {

class Prng {
 public:
  explicit Prng(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() { return mixed(state_ += kStep); }

  // The number at `index`, from 0, of those that next() returns with the seed 0.
  static constexpr std::uint64_t at(std::uint64_t index) { return mixed((index + 1) * kStep); }

  // Returns a uniform number in [0, bound); 0 when bound is 0.  The bias is less than bound / 2^64.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((Wide{next()} * bound) >> 64);
  }

  // Returns true once in `count` times on average; always for 0 and 1.
  bool one_in(std::uint64_t count) { return below(count) == 0; }

  // Returns a number in [1, bound] whose order of magnitude is uniform: small numbers are as likely
  // as large ones.
  std::uint64_t magnitude(std::uint64_t bound) {
    const std::uint64_t top = std::uint64_t{1} << below(std::bit_width(bound));
    const std::uint64_t drawn = top + below(top);
    return drawn < bound ? drawn : bound;
  }

  // Returns the number of failing trials before the first success, if one trial in `mean + 1`
  // succeeds, rounded.  Computed in integers: floor(-log2(u) * ln 2 * mean) for u uniform in (0,
  // 1].
  std::uint64_t geometric(std::uint64_t mean) {
    std::uint64_t u = next() | 1;
    const auto whole = static_cast<unsigned>(std::countl_zero(u));
    u <<= whole;                                                // now u / 2^64 is in [1/2, 1)
    std::uint64_t log2_q16 = (std::uint64_t{whole} + 1) << 16;  // of 2^64 / u, from above
    std::uint64_t x = u >> 32;                                  // [2^31, 2^32)
    for (unsigned bit = 15; bit >= 5; --bit) {                  // squaring doubles the logarithm
      x = (x * x) >> 31;
      if (x >> 32 != 0) {
        log2_q16 -= std::uint64_t{1} << bit;
        x >>= 1;
      }
    }
    constexpr std::uint64_t kLn2Q16 = 45'426;
    const std::uint64_t ln_q16 = (log2_q16 * kLn2Q16) >> 16;
    return (ln_q16 * mean) >> 16;
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15u;
  static constexpr std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace warpcheck::vgpu
