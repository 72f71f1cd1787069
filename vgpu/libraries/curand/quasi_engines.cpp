// Quasi-random sequences: one Sobol sequence for each dimension.
#include <span>
#include <utility>
#include <vector>

#include "vgpu/libraries/curand/direction_numbers.hpp"
#include "vgpu/libraries/curand/engines.hpp"

namespace warpcheck::libraries::random {
namespace {

// The sequence of values of one dimension.
template <class State, class Value>
struct SobolBits {
  State state;
  Value operator()() { return Value{curand(&state)}; }
};

// Orders the values of a request by dimension: all values of the first dimension, then all of the
// second, and so on.
template <class Bits>
class SobolEngine final : public Engine {
 public:
  explicit SobolEngine(std::vector<Bits> dimensions) {
    for (Bits& bits : dimensions) dimensions_.emplace_back(std::move(bits), 0);
  }
  void bits(std::span<std::uint32_t> values) override {
    split(values, [](auto& engine, auto part) { engine.bits(part); });
  }
  void long_bits(std::span<std::uint64_t> values) override {
    split(values, [](auto& engine, auto part) { engine.long_bits(part); });
  }
  void uniform(std::span<float> values) override {
    split(values, [](auto& engine, auto part) { engine.uniform(part); });
  }
  void uniform(std::span<double> values) override {
    split(values, [](auto& engine, auto part) { engine.uniform(part); });
  }
  void normal(std::span<float> values) override {
    split(values, [](auto& engine, auto part) { engine.normal(part); });
  }
  void normal(std::span<double> values) override {
    split(values, [](auto& engine, auto part) { engine.normal(part); });
  }
  void poisson(std::span<std::uint32_t> values, double lambda) override {
    split(values, [lambda](auto& engine, auto part) { engine.poisson(part, lambda); });
  }

 private:
  template <class T, class Draw>
  void split(std::span<T> values, Draw draw) {
    const std::size_t of_each = values.size() / dimensions_.size();
    for (auto& dimension : dimensions_) {
      draw(dimension, values.first(of_each));
      values = values.subspan(of_each);
    }
  }

  std::vector<InvertingEngine<Bits>> dimensions_;
};

template <class State, class Value, class Begin>
std::unique_ptr<Engine> sobol(const EngineSettings& settings, Begin begin) {
  using Bits = SobolBits<State, Value>;
  std::vector<Bits> dimensions(settings.dimensions);
  for (std::uint32_t i = 0; i < settings.dimensions; ++i) begin(i, &dimensions[i].state);
  return std::make_unique<SobolEngine<Bits>>(std::move(dimensions));
}

}  // namespace

std::unique_ptr<Engine> make_quasi_engine(const EngineSettings& settings) {
  const auto offset = static_cast<unsigned int>(settings.offset);
  const std::uint64_t long_offset = settings.offset;
  switch (settings.type) {
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
      return sobol<curandStateScrambledSobol32_t, std::uint32_t>(
          settings, [offset](std::uint32_t dimension, auto* state) {
            curand_init(direction_vectors_32(true)[dimension], scramble_constants_32()[dimension],
                        offset, state);
          });
    case CURAND_RNG_QUASI_SOBOL64:
      return sobol<curandStateSobol64_t, std::uint64_t>(
          settings, [long_offset](std::uint32_t dimension, auto* state) {
            curand_init(direction_vectors_64(false)[dimension], long_offset, state);
          });
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
      return sobol<curandStateScrambledSobol64_t, std::uint64_t>(
          settings, [long_offset](std::uint32_t dimension, auto* state) {
            curand_init(direction_vectors_64(true)[dimension], scramble_constants_64()[dimension],
                        long_offset, state);
          });
    default:
      return sobol<curandStateSobol32_t, std::uint32_t>(
          settings, [offset](std::uint32_t dimension, auto* state) {
            curand_init(direction_vectors_32(false)[dimension], offset, state);
          });
  }
}

std::unique_ptr<Engine> make_engine(const EngineSettings& settings) {
  if (settings.type >= CURAND_RNG_QUASI_DEFAULT) return make_quasi_engine(settings);
  return make_pseudo_engine(settings);
}

}  // namespace warpcheck::libraries::random
