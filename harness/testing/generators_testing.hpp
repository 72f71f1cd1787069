// For tests of generators: checks that they draw what they promise.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "harness/input/draw.hpp"

namespace warpcheck {

inline constexpr int kSeeds = 20;
inline constexpr int kDraws = 1'000;

template <class T>
std::set<std::string> declared_by(const Gen<T>& generator) {
  std::set<std::string> names;
  for (const ValueClass<T>& value_class : generator.classes()) names.insert(value_class.name);
  return names;
}

// Every declared class occurs in 1,000 draws, with each of 20 seeds, and every drawn value is in
// the domain.
template <class T>
void expect_all_classes(const Gen<T>& generator) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Tape tape = Tape::of_seed(seed);
    Draw draw(tape);
    for (int i = 0; i < kDraws; ++i) {
      const T value = draw(generator);
      if (generator.has_domain()) {
        ASSERT_TRUE(generator.contains(value));
      }
    }
    const std::set<std::string> seen(draw.classes().begin(), draw.classes().end());
    EXPECT_EQ(seen, declared_by(generator)) << "seed " << seed;
  }
}

}  // namespace warpcheck
