// The common parts of the engines in this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "vgpu/libraries/curand/distributions.hpp"
#include "vgpu/libraries/curand/engine.hpp"

namespace warpcheck::libraries::random {

// Uses one value of `Bits`, which is 32 or 64 bits wide, for each number; normal numbers by the
// inverse distribution function.
template <class Bits>
class InvertingEngine final : public Engine {
 public:
  //   drawn: the number of values of the sequence to skip; `bits` starts at the beginning
  InvertingEngine(Bits bits, std::uint64_t drawn) : bits_(std::move(bits)) {
    for (std::uint64_t i = 0; i < drawn; ++i) bits_();
  }

  void bits(std::span<std::uint32_t> values) override {
    draw(values, [](auto bits) { return static_cast<std::uint32_t>(bits); });
  }
  void long_bits(std::span<std::uint64_t> values) override {
    draw(values, [](auto bits) { return std::uint64_t{bits}; });
  }
  void uniform(std::span<float> values) override {
    draw(values, [](auto bits) { return _curand_uniform(native(bits)); });
  }
  void uniform(std::span<double> values) override {
    draw(values, [](auto bits) { return _curand_uniform_double(native(bits)); });
  }
  void normal(std::span<float> values) override {
    draw(values, [](auto bits) { return normal_of_bits(bits); });
  }
  void normal(std::span<double> values) override {
    draw(values, [](auto bits) { return normal_double_of_bits(bits); });
  }
  void poisson(std::span<std::uint32_t> values, double lambda) override {
    draw(values, [lambda](auto bits) { return poisson_of(bits, lambda); });
  }

 private:
  // The types that the toolkit's functions are overloaded for.
  static unsigned int native(std::uint32_t bits) { return bits; }
  static unsigned long long native(std::uint64_t bits) { return bits; }
  template <class T, class Convert>
  void draw(std::span<T> values, Convert convert) {
    for (T& value : values) {
      if constexpr (requires { typename Bits::result_type; }) {  // one of the C++ library's
        value = convert(static_cast<std::uint32_t>(bits_()));
      } else {
        value = convert(bits_());
      }
    }
  }

  Bits bits_;
};

std::unique_ptr<Engine> make_pseudo_engine(const EngineSettings& settings);
std::unique_ptr<Engine> make_quasi_engine(const EngineSettings& settings);

}  // namespace warpcheck::libraries::random
