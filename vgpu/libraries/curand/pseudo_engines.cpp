// Pseudo-random sequences.  The order of the values is that of the toolkit's own host generators,
// and of the cuRAND guide (section "Order").
#include <array>
#include <functional>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "vgpu/libraries/curand/distributions.hpp"
#include "vgpu/libraries/curand/engine.hpp"
#include "vgpu/libraries/curand/engines.hpp"

namespace warpcheck::libraries::random {
namespace {

// The subsequences of a generator.  Each is initialised when it is first needed, because there are
// many and most programs use few of them.
template <class State>
class Streams {
 public:
  // begin(s) returns the initial state of subsequence s.
  template <class Begin>
  Streams(std::size_t count, Begin begin) : begin_(begin), states_(count) {}
  State& operator[](std::size_t number) {
    std::optional<State>& state = states_[number];
    if (!state) state = begin_(number);
    return *state;
  }
  [[nodiscard]] std::size_t size() const { return states_.size(); }

 private:
  std::function<State(std::size_t)> begin_;
  std::vector<std::optional<State>> states_;
};

double uniform_double(curandStateXORWOW_t& state) { return curand_uniform_double(&state); }
double uniform_double(curandStateMRG32k3a_t& state) { return curand_uniform_double(&state); }

Pair<float> draw_normals(curandStateXORWOW_t& state) {
  const std::uint32_t x = curand(&state);
  return normal_pair_of_bits(x, curand(&state));
}
Pair<float> draw_normals(curandStateMRG32k3a_t& state) {
  const float x = curand_uniform(&state);
  return normal_pair(x, curand_uniform(&state) * CURAND_2PI);
}
Pair<double> draw_double_normals(curandStateXORWOW_t& state) {
  std::array<std::uint32_t, 4> bits{};
  for (std::uint32_t& one : bits) one = curand(&state);
  return normal_pair_of_bits(bits[0], bits[1], bits[2], bits[3]);
}
Pair<double> draw_double_normals(curandStateMRG32k3a_t& state) {
  const double x = curand_uniform_double(&state);
  return normal_pair(x, curand_uniform_double(&state) * 2.0);
}

// The engine of XORWOW and MRG32k3a: value n (or pair n of normal values) is taken from subsequence
// n modulo the number of subsequences.
template <class State>
class InterleavedEngine final : public Engine {
 public:
  InterleavedEngine(const EngineSettings& settings, std::size_t streams)
      : streams_(streams,
                 [settings, streams](std::size_t number) {
                   const std::uint64_t drawn =
                       settings.offset / streams + (number < settings.offset % streams ? 1 : 0);
                   State state;
                   if (settings.ordering == CURAND_ORDERING_PSEUDO_SEEDED) {
                     curand_init(settings.seed + number * 0x9e3779b97f4a7c15U, 0, drawn, &state);
                   } else {
                     curand_init(settings.seed, number, drawn, &state);
                   }
                   return state;
                 }),
        next_(settings.offset) {}

  void bits(std::span<std::uint32_t> values) override {
    for (auto& value : values) value = curand(&next());
  }
  void long_bits(std::span<std::uint64_t>) override {}
  void uniform(std::span<float> values) override {
    for (auto& value : values) value = curand_uniform(&next());
  }
  void uniform(std::span<double> values) override {
    for (auto& value : values) value = uniform_double(next());
  }
  void normal(std::span<float> values) override {
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
      std::tie(values[i], values[i + 1]) = as_tuple(draw_normals(next()));
    }
  }
  void normal(std::span<double> values) override {
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
      std::tie(values[i], values[i + 1]) = as_tuple(draw_double_normals(next()));
    }
  }
  void poisson(std::span<std::uint32_t> values, double lambda) override {
    for (auto& value : values) value = poisson_of(std::uint32_t{curand(&next())}, lambda);
  }

 private:
  template <class T>
  static std::tuple<T, T> as_tuple(const Pair<T>& pair) {
    return {pair.first, pair.second};
  }
  State& next() { return streams_[next_++ % streams_.size()]; }

  Streams<State> streams_;
  std::uint64_t next_;
};

// The engine of Philox: the subsequences take turns, and each gives four values at a time.
class PhiloxEngine final : public Engine {
 public:
  static constexpr std::size_t kStreams = 65536;
  explicit PhiloxEngine(const EngineSettings& settings)
      : streams_(kStreams,
                 [settings](std::size_t number) {
                   const std::uint64_t group = settings.offset / 4;
                   curandStatePhilox4_32_10_t state;
                   const std::uint64_t drawn =
                       group / kStreams + (number < group % kStreams ? 1 : 0);
                   curand_init(settings.seed, number, 4 * drawn, &state);
                   return state;
                 }),
        position_(settings.offset) {}

  void bits(std::span<std::uint32_t> values) override {
    fill(values, [](auto& state) { return four(state); });
  }
  void long_bits(std::span<std::uint64_t>) override {}
  void uniform(std::span<float> values) override {
    fill(values, [](auto& state) {
      std::array<float, 4> result{};
      const auto bits = four(state);
      for (std::size_t i = 0; i < 4; ++i) result[i] = _curand_uniform(bits[i]);
      return result;
    });
  }
  void uniform(std::span<double> values) override {
    fill(values, [](auto& state) {
      const auto a = four(state);
      const auto b = four(state);
      return std::array{
          _curand_uniform_double_hq(a[0], a[1]), _curand_uniform_double_hq(a[2], a[3]),
          _curand_uniform_double_hq(b[0], b[1]), _curand_uniform_double_hq(b[2], b[3])};
    });
  }
  void normal(std::span<float> values) override {
    fill(values, [](auto& state) {
      const auto bits = four(state);
      const auto a = normal_pair_of_bits(bits[0], bits[1]);
      const auto b = normal_pair_of_bits(bits[2], bits[3]);
      return std::array{a.first, a.second, b.first, b.second};
    });
  }
  void normal(std::span<double> values) override {
    fill(values, [](auto& state) {
      const auto x = four(state);
      const auto y = four(state);
      const auto a = normal_pair_of_bits(x[0], x[1], x[2], x[3]);
      const auto b = normal_pair_of_bits(y[0], y[1], y[2], y[3]);
      return std::array{a.first, a.second, b.first, b.second};
    });
  }
  void poisson(std::span<std::uint32_t> values, double lambda) override {
    fill(values, [lambda](auto& state) {
      auto bits = four(state);
      for (std::uint32_t& value : bits) value = poisson_of(value, lambda);
      return bits;
    });
  }

 private:
  static std::array<std::uint32_t, 4> four(curandStatePhilox4_32_10_t& state) {
    const uint4 bits = curand4(&state);
    return {bits.x, bits.y, bits.z, bits.w};
  }
  // The state of a subsequence advances only when the last value of a group of four has been used.
  template <class T, class Draw>
  void fill(std::span<T> values, Draw draw) {
    for (std::size_t done = 0; done < values.size();) {
      auto& stream = streams_[position_ / 4 % kStreams];
      auto state = stream;
      const auto group = draw(state);
      for (std::size_t at = position_ % 4; at < 4 && done < values.size(); ++at, ++position_) {
        values[done++] = group[at];
        if (at == 3) stream = state;
      }
    }
  }

  Streams<curandStatePhilox4_32_10_t> streams_;
  std::uint64_t position_;
};

// One block of MTGP32: a Mersenne twister with its own parameters.
class Mtgp32 {
 public:
  Mtgp32(std::size_t number, std::uint64_t seed)
      : parameters_(&mtgp32dc_params_fast_11213[number]) {
    const auto folded = static_cast<std::uint32_t>(seed ^ (seed >> 32));
    mtgp32_init_state(state_.data(), parameters_, folded + static_cast<std::uint32_t>(number) + 1);
  }
  // Recursion and tempering as in curand_mtgp32_kernel.h.
  std::uint32_t draw() {
    const auto pos = static_cast<std::uint32_t>(parameters_->pos);
    std::uint32_t x = (at(0) & parameters_->mask) ^ at(1);
    x ^= x << parameters_->sh1;
    const std::uint32_t y = x ^ (at(pos) >> parameters_->sh2);
    const std::uint32_t value = y ^ parameters_->tbl[y & 0x0f];
    std::uint32_t temper = at(pos - 1);
    temper ^= temper >> 16;
    temper ^= temper >> 8;
    at(MTGPDC_N) = value;
    ++offset_;
    return value ^ parameters_->tmp_tbl[temper & 0x0f];
  }

 private:
  std::uint32_t& at(std::uint32_t ahead) { return state_[(offset_ + ahead) % state_.size()]; }

  const mtgp32_params_fast_t* parameters_;
  std::array<std::uint32_t, MTGP32_STATE_SIZE> state_{};
  std::uint32_t offset_ = 0;
};

// 256 values of each block in turn.
class Mtgp32Bits {
 public:
  Mtgp32Bits(const EngineSettings& settings, std::size_t blocks)
      : blocks_(blocks,
                [seed = settings.seed](std::size_t number) { return Mtgp32(number, seed); }) {}
  std::uint32_t operator()() { return blocks_[position_++ / 256 % blocks_.size()].draw(); }

 private:
  Streams<Mtgp32> blocks_;
  std::uint64_t position_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_pseudo_engine(const EngineSettings& settings) {
  const bool is_legacy = settings.ordering == CURAND_ORDERING_PSEUDO_LEGACY;
  switch (settings.type) {
    case CURAND_RNG_PSEUDO_MRG32K3A:
      return std::make_unique<InterleavedEngine<curandStateMRG32k3a_t>>(settings,
                                                                        is_legacy ? 4096 : 81920);
    case CURAND_RNG_PSEUDO_PHILOX4_32_10: return std::make_unique<PhiloxEngine>(settings);
    case CURAND_RNG_PSEUDO_MTGP32:
      return std::make_unique<InvertingEngine<Mtgp32Bits>>(
          Mtgp32Bits(settings, is_legacy ? 64 : 192), settings.offset);
    case CURAND_RNG_PSEUDO_MT19937:
      return std::make_unique<InvertingEngine<std::mt19937>>(
          std::mt19937(static_cast<std::uint32_t>(settings.seed ^ (settings.seed >> 32))),
          settings.offset);
    default: return std::make_unique<InterleavedEngine<curandStateXORWOW_t>>(settings, 4096);
  }
}

}  // namespace warpcheck::libraries::random
