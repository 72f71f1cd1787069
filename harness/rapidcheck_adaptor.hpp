// Our generators as RapidCheck's, and RapidCheck's as ours.
//
// The only header that needs RapidCheck (with gtest_adaptor.hpp): fuzz targets, which fuzzing
// services build with another C++ library, do without it.
//
//   RC_GTEST_PROP(Reverse, keeps_the_sum, ()) {
//     const auto values = *vectors(sizes({.max = 100}), integers<int>());   // our Gen, RapidCheck's *
//     ...
//   }
//   Gen<int> ours = [](Draw& draw) { return draw(rc::gen::inRange(0, 10)); };
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <rapidcheck.h>
#include <utility>
#include <vector>

#include "harness/draw.hpp"
#include "harness/fields.hpp"
#include "harness/shrinks.hpp"
#include "harness/tape.hpp"

namespace warpcheck {

// RapidCheck's own shrinking has no budget; ours stops offering candidates after as many.
inline constexpr std::size_t kRapidCheckShrinksMax = 5'000;

Tape tape_of(const rc::Random& random);

// Simpler tapes than this one: RapidCheck shrinks by them what has no typed domain.  Offered
// until `accept` returns true.
bool for_each_simpler_tape(const std::vector<Choice>& choices,
                           FunctionRef<bool(std::vector<Choice>&&)> accept);
// Fewer choices first, then smaller values from the front.
bool simpler_tape(const std::vector<Choice>& a, const std::vector<Choice>& b);

}  // namespace warpcheck
