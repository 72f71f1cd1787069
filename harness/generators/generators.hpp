// Generators of values that break kernels.
//
//   const int n = draw(sizes({.max = 10'000}));
//   const auto values = draw(vectors(n, integers<int>()));
//   const LaunchConfig launch = draw(launches_covering(n));
//
// Each generator names the classes of values that it promises to draw ("prime", "warp edge",
// "NaN"): every class that its options admit occurs within 1,000 draws at full size.
//
// Only lengths grow with Draw::size(); numbers are drawn alike at every size, because the length of
// an input determines its cost, and the magnitude of its numbers does not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/generators/generators_bytes.hpp"
#include "harness/generators/generators_floats.hpp"
#include "harness/generators/generators_halves.hpp"
#include "harness/generators/generators_integers.hpp"
#include "harness/generators/generators_sums.hpp"
#include "harness/generators/generators_vectors.hpp"
#include "harness/input/draw.hpp"
#include "harness/input/launch_config.hpp"

namespace warpcheck {

struct SizeOptions {
  int min = 0;
  int max = 1024;
  int block = 0;  // threads of a block, if known: its multiples and their neighbours are drawn
};

// Numbers of elements, biased towards 0 and 1, odd, prime and power-of-two numbers and their
// neighbours, and the edges of warps and of blocks.  Up to `max` at size 100. Classes: "zero",
// "one", "odd", "prime", "power of two", "power of two +-1", "warp edge" (a multiple of 32, or one
// more or less), "multiple of 32", "not a multiple of 32", "block edge", "largest".  Throws
// std::invalid_argument unless 0 <= min <= max.
Gen<int> sizes(SizeOptions options = {});

// Only edges: one below, on and one above every power of two and every multiple of the block (of 32
// if no block is given) within [min, max], with equal probability.  They do not grow with
// Draw::size(), so that large edges are tested too. Classes: "around 1", "around 2", "around 4" ...
// for each power of two; "around 1 block", "around 2 blocks" ... for each multiple of a given
// block, if there are at most 32. Throws std::invalid_argument unless 0 <= min <= max and an edge
// lies in between.
Gen<int> edge_sizes(SizeOptions options = {});

// Threads of a block, 1 to max, biased towards the same edges.  Independent of Draw::size().
Gen<std::uint32_t> blocks(std::uint32_t max = 1024);

struct LaunchOptions {
  std::uint32_t block_max = 1024;   // threads of a block
  std::uint32_t blocks_max = 1024;  // blocks of the grid; more if n needs more
  int dims_max = 1;                 // dimensions of grid and block: 1, 2 or 3
};

// Launches with at least one thread for each of n elements: one block or several, exactly n
// threads or more, blocks that are no multiple of 32.  Dynamic shared memory is left at 0.
// Classes: "one block", "several blocks", "as many threads as elements", "idle threads",
// "idle blocks", "block of one thread", "largest block", "block not a multiple of 32",
// "two dimensions", "three dimensions".
Gen<LaunchConfig> launches_covering(std::int64_t n, LaunchOptions options = {});

// One of the given values, earlier ones being simpler.
template <class T>
Gen<T> elements_of(std::vector<T> values) {
  if (values.empty()) throw std::invalid_argument("elements_of: expected at least one value");
  return [values = std::move(values)](Draw& draw) { return values[draw.below(values.size())]; };
}
template <class T>
Gen<T> elements_of(std::initializer_list<T> values) {
  return elements_of(std::vector<T>(values));
}

// A value of one of the given generators, with equal probability, earlier ones being simpler.
template <class T>
Gen<T> one_of(std::vector<Gen<T>> generators) {
  if (generators.empty()) throw std::invalid_argument("one_of: expected at least one generator");
  const bool bounded = std::all_of(generators.begin(), generators.end(),
                                   [](const Gen<T>& generator) { return generator.has_domain(); });
  Gen<T> gen = [generators](Draw& draw) {
    return generators[draw.below(generators.size())].sample(draw);
  };
  if (!bounded) return gen;
  return gen.within([generators](const T& value) {
    return std::any_of(generators.begin(), generators.end(),
                       [&](const Gen<T>& generator) { return generator.contains(value); });
  });
}
template <class T, class... Others>
Gen<T> one_of(Gen<T> first, Others... others) {
  return one_of(std::vector<Gen<T>>{std::move(first), Gen<T>(std::move(others))...});
}

// Applies the function to values of the generator.
template <class T, class Function>
auto map(Gen<T> generator, Function function) -> Gen<std::invoke_result_t<Function&, T>> {
  return [generator = std::move(generator), function = std::move(function)](Draw& draw) mutable {
    return std::invoke(function, generator.sample(draw));
  };
}

// Always this value.
template <class T>
Gen<T> just(T value) {
  return [value = std::move(value)](Draw&) { return value; };
}

}  // namespace warpcheck
