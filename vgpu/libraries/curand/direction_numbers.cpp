#include "vgpu/libraries/curand/direction_numbers.hpp"

#include <bit>
#include <cstddef>
#include <vector>

#include "vgpu/schedule/prng.hpp"

// The file is described in pack_direction_numbers.py.
asm(R"(
  .section .rodata
  .global warpcheck_direction_numbers
  .hidden warpcheck_direction_numbers
warpcheck_direction_numbers:
  .incbin "vgpu/libraries/curand/direction_numbers.bin"
  .zero 8
  .text
)");
extern "C" const unsigned char warpcheck_direction_numbers[];

namespace warpcheck::libraries::random {
namespace {

constexpr unsigned kPolynomialBits = 19;

class PackedBits {
 public:
  std::uint64_t take(unsigned count) {
    std::uint64_t value = 0;
    for (unsigned bit = 0; bit < count; ++bit, ++at_) {
      value |= std::uint64_t{warpcheck_direction_numbers[at_ / 8] >> (at_ % 8) & 1U} << bit;
    }
    return value;
  }

 private:
  std::size_t at_ = 0;
};

struct Numbers64 {
  curandDirectionVectors64_t of_index;
};
struct Numbers32 {
  curandDirectionVectors32_t of_index;
};

// Computes the direction numbers by the recurrence of Bratley and Fox (ACM TOMS Algorithm 659).
// The numbers are left-aligned in their words.
std::vector<Numbers64> unpack() {
  std::vector<Numbers64> all(kSobolDimensionsMax);
  for (unsigned i = 0; i < 64; ++i) all[0].of_index[i] = std::uint64_t{1} << (63 - i);
  PackedBits packed;
  for (std::uint32_t dimension = 1; dimension < kSobolDimensionsMax; ++dimension) {
    auto& numbers = all[dimension].of_index;
    const std::uint64_t polynomial = packed.take(kPolynomialBits);
    const auto degree = static_cast<unsigned>(std::bit_width(polynomial)) - 1;
    for (unsigned i = 0; i < degree; ++i) {
      numbers[i] = (packed.take(i) << 1 | 1) << (63 - i);
    }
    for (unsigned i = degree; i < 64; ++i) {
      numbers[i] = numbers[i - degree] ^ (numbers[i - degree] >> degree);
      for (unsigned k = 1; k < degree; ++k) {
        if ((polynomial >> (degree - k) & 1) != 0) numbers[i] ^= numbers[i - k];
      }
    }
  }
  return all;
}

// The product of a number and the dimension's scrambling matrix over GF(2).  Row b of the matrix
// has a one at bit b and random bits at the more significant positions.
std::uint64_t scrambled(std::uint64_t number, std::uint32_t dimension) {
  std::uint64_t product = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t diagonal = std::uint64_t{1} << bit;
    const std::uint64_t above = ~(diagonal | (diagonal - 1));
    const std::uint64_t row =
        diagonal | (vgpu::Prng::at(std::uint64_t{dimension} * 64 + bit) & above);
    product |= static_cast<std::uint64_t>(std::popcount(number & row) & 1) << bit;
  }
  return product;
}

std::vector<Numbers64> scramble(std::vector<Numbers64> all) {
  for (std::uint32_t dimension = 0; dimension < kSobolDimensionsMax; ++dimension) {
    for (auto& number : all[dimension].of_index) number = scrambled(number, dimension);
  }
  return all;
}

std::vector<Numbers64>& numbers(bool is_scrambled) {
  static auto* const plain = new std::vector<Numbers64>(unpack());
  if (!is_scrambled) return *plain;
  static auto* const other = new std::vector<Numbers64>(scramble(*plain));
  return *other;
}

std::vector<Numbers32>* upper_halves(const std::vector<Numbers64>& all) {
  auto* const halves = new std::vector<Numbers32>(all.size());
  for (std::size_t dimension = 0; dimension < all.size(); ++dimension) {
    for (unsigned i = 0; i < 32; ++i) {
      (*halves)[dimension].of_index[i] =
          static_cast<std::uint32_t>(all[dimension].of_index[i] >> 32);
    }
  }
  return halves;
}

}  // namespace

curandDirectionVectors64_t* direction_vectors_64(bool scrambled) {
  return &numbers(scrambled)[0].of_index;
}

curandDirectionVectors32_t* direction_vectors_32(bool scrambled) {
  static auto* const plain = upper_halves(numbers(false));
  if (!scrambled) return &(*plain)[0].of_index;
  static auto* const other = upper_halves(numbers(true));
  return &(*other)[0].of_index;
}

unsigned long long* scramble_constants_64() {
  static auto* const constants = [] {
    auto* const all = new std::vector<unsigned long long>;
    for (std::uint64_t i = 0; i < kSobolDimensionsMax; ++i) {
      all->push_back(vgpu::Prng::at(~i));
    }
    return all;
  }();
  return constants->data();
}

unsigned int* scramble_constants_32() {
  static auto* const constants = [] {
    auto* const all = new std::vector<unsigned int>;
    for (std::uint32_t i = 0; i < kSobolDimensionsMax; ++i) {
      all->push_back(static_cast<unsigned int>(scramble_constants_64()[i] >> 32));
    }
    return all;
  }();
  return constants->data();
}

}  // namespace warpcheck::libraries::random
