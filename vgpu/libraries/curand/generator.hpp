// A generator of cuRAND's host API: its settings, and the operations that fill memory from it.
//
// A sequence advances when operations run, not when they are requested, so each launch of a
// captured graph draws new numbers.  A change of the settings starts a new engine at the place
// where the old one is, or will be, like the vendor's generators.
#pragma once

#include <curand.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "vgpu/libraries/curand/engine.hpp"
#include "vgpu/libraries/stand_in.hpp"

namespace warpcheck::libraries::random {

// A call that the documentation forbids.
struct Rejected {
  curandStatus_t status = CURAND_STATUS_OUT_OF_RANGE;
  std::string why;
};

// An engine that several operations use, one after the other.
struct SharedEngine {
  std::mutex mutex;
  std::unique_ptr<Engine> engine;
  template <class Draw>
  void draw(Draw draw) {
    const std::lock_guard lock(mutex);
    draw(*engine);
  }
};

class Generator {
 public:
  Generator(curandRngType_t type, bool on_host);

  void set_seed(std::uint64_t seed);
  void set_offset(std::uint64_t offset);
  void set_ordering(curandOrdering_t ordering);
  void set_dimensions(std::uint32_t dimensions);
  void set_stream(cudaStream_t stream) { stream_ = stream; }

  // Fills memory with numbers: draw(engine, span) fills a span of T.
  //   in_pairs: numbers come in pairs, like normal numbers of some generators
  template <class T, class Draw>
  void fill(Call call, T* output, std::size_t count, bool in_pairs, Draw draw);

  [[nodiscard]] bool is_quasi() const { return settings_.type >= CURAND_RNG_QUASI_DEFAULT; }
  [[nodiscard]] bool has_64_bits() const {
    return settings_.type == CURAND_RNG_QUASI_SOBOL64 ||
           settings_.type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
  }

  // Reports once that the vendor's generator gives other numbers of the same distribution, in an
  // undocumented order.
  void note_if_unlike(bool of_poisson) const;

 private:
  // Returns whether normal numbers come in pairs.
  [[nodiscard]] bool draws_pairs() const {
    return settings_.type == CURAND_RNG_PSEUDO_XORWOW ||
           settings_.type == CURAND_RNG_PSEUDO_MRG32K3A;
  }
  [[nodiscard]] bool can_skip() const {
    return settings_.type != CURAND_RNG_PSEUDO_MTGP32 &&
           settings_.type != CURAND_RNG_PSEUDO_MT19937;
  }
  [[nodiscard]] bool knows(curandOrdering_t ordering) const;
  void require_length(std::size_t count, bool in_pairs) const;
  void change();
  const std::shared_ptr<SharedEngine>& engine();

  EngineSettings settings_;
  bool on_host_;
  cudaStream_t stream_ = nullptr;
  std::shared_ptr<SharedEngine> engine_;
  std::uint64_t asked_for_ = 0;  // values of the engine, after all operations have run
};

template <class T, class Draw>
void Generator::fill(Call call, T* output, std::size_t count, bool in_pairs, Draw draw) {
  require_length(count, in_pairs);
  if (count == 0) return;
  note_if_unlike(false);
  const bool is_paired = in_pairs && draws_pairs();
  asked_for_ += is_quasi() ? count / settings_.dimensions : is_paired ? count / 2 : count;
  const auto compute = [engine = engine(), count, draw](T* values) {
    engine->draw([&](Engine& one) { draw(one, std::span<T>(values, count)); });
  };
  if (on_host_ && services().memory_at(output) != LibraryMemory::device) {
    compute(output);  // without the device
    return;
  }
  call.stream = stream_;
  Operation operation(call);
  Region region = array("output", output, sizeof(T), static_cast<std::int64_t>(count));
  region.on_host = on_host_;
  operation.write(std::move(region));
  operation.computes([compute](const Views& views) { compute(views.data<T>(0)); });
  if (on_host_) operation.waits();
  if (operation.enqueue() != cudaSuccess) {
    throw Rejected{CURAND_STATUS_LAUNCH_FAILURE, "its stream does not take it"};
  }
}

}  // namespace warpcheck::libraries::random
