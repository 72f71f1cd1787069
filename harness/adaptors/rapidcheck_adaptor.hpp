// Our generators as RapidCheck's, and RapidCheck's as ours.
//
// Only this header and gtest_adaptor.hpp need RapidCheck: fuzzing services build fuzz targets with
// another C++ library, so fuzz targets do not link RapidCheck.
//
//   RC_GTEST_PROP(Reverse, keeps_the_sum, ()) {
//     const auto values = *vectors(sizes({.max = 100}), integers<int>());   // our Gen,
//     RapidCheck's *
//     ...
//   }
//   Gen<int> ours = [](Draw& draw) { return draw(rc::gen::inRange(0, 10)); };
#pragma once

#include <rapidcheck.h>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "harness/input/draw.hpp"
#include "harness/input/fields.hpp"
#include "harness/input/tape.hpp"
#include "harness/shrink/shrinks.hpp"

namespace warpcheck {

// RapidCheck shrinks without a budget.  We offer it at most this many candidates for one
// counterexample, accepted and rejected ones together.
inline constexpr std::size_t kRapidCheckShrinksMax = 5'000;

Tape tape_of(const rc::Random& random);

// Fewer choices first, then smaller ones from the front (shortlex).
bool simpler_tape(const std::vector<Choice>& a, const std::vector<Choice>& b);

// Offers shorter and smaller tapes until `accept` returns true.  The value that a tape decodes to
// may not be simpler: the caller compares the values (minithesis).
bool for_each_smaller_tape(const std::vector<Choice>& choices,
                           FunctionRef<bool(std::vector<Choice>&&)> accept);

namespace rapidcheck_detail {

// A drawn value, with its choices if it cannot be shrunk as a value.
template <class T>
struct Drawn {
  T value;
  std::vector<Choice> choices;
  int size = 0;
};

template <class T>
Drawn<T> drawn_from(const Gen<T>& generator, Tape tape, int size) {
  Draw draw(tape, size);
  T value = draw(generator);
  return {std::move(value), tape.choices(), size};
}

// Whether T has ShrinkTraits.
template <class T>
concept Shrinkable = requires(const T& value, Take<T> take) {
  ShrinkTraits<T>::sizes(value, take);
};

// The next simpler value than `drawn`, from candidate number `first` on; `first` is advanced past
// it.
template <class T>
std::optional<Drawn<T>> next_simpler(const Gen<T>& generator, const Drawn<T>& drawn,
                                     std::size_t& first) {
  std::optional<Drawn<T>> next;
  if constexpr (Shrinkable<T>) {
    if (generator.has_domain()) {
      const auto found = for_each_shrink_from<T>(first, drawn.value, [&](T&& candidate) {
        if (!generator.contains(candidate)) return false;
        next = Drawn<T>{std::move(candidate), {}, drawn.size};
        return true;
      });
      if (found) first = *found + 1;
      return next;
    }
  }
  std::size_t number = 0;
  const bool found = for_each_smaller_tape(drawn.choices, [&](std::vector<Choice>&& choices) {
    if (number++ < first) return false;
    Drawn<T> candidate = drawn_from(generator, Tape::of_choices(std::move(choices)), drawn.size);
    if (!simpler_tape(candidate.choices, drawn.choices)) return false;
    next = std::move(candidate);
    return true;
  });
  if (found) first = number;
  return next;
}

// The lazy sequence that RapidCheck requires: one candidate after the other.
template <class T>
class SimplerValues {
 public:
  SimplerValues(Gen<T> generator, std::shared_ptr<const Drawn<T>> drawn,
                std::shared_ptr<std::size_t> budget)
      : generator_(std::move(generator)), drawn_(std::move(drawn)), budget_(std::move(budget)) {}

  rc::Maybe<rc::Shrinkable<T>> operator()();

 private:
  Gen<T> generator_;
  std::shared_ptr<const Drawn<T>> drawn_;
  std::shared_ptr<std::size_t> budget_;  // shared by all candidates of one drawn value
  std::size_t first_ = 0;
};

template <class T>
rc::Shrinkable<T> shrinkable(const Gen<T>& generator, Drawn<T> drawn,
                             const std::shared_ptr<std::size_t>& budget) {
  auto shared = std::make_shared<const Drawn<T>>(std::move(drawn));
  return rc::shrinkable::lambda(
      [shared] { return shared->value; },
      [=] { return rc::Seq<rc::Shrinkable<T>>(SimplerValues<T>(generator, shared, budget)); });
}

template <class T>
rc::Maybe<rc::Shrinkable<T>> SimplerValues<T>::operator()() {
  if (*budget_ == 0) return rc::Nothing;
  std::optional<Drawn<T>> next = next_simpler(generator_, *drawn_, first_);
  if (!next) return rc::Nothing;
  --*budget_;
  return shrinkable(generator_, std::move(*next), budget_);
}

}  // namespace rapidcheck_detail

// The same generator as RapidCheck's.  It shrinks values within the generator's domain if it has
// one, else its choices.
template <class T>
rc::Gen<T> to_rapidcheck(const Gen<T>& generator) {
  return [generator](const rc::Random& random, int size) {
    using namespace rapidcheck_detail;  // NOLINT(google-build-using-namespace)
    return shrinkable(generator, drawn_from(generator, tape_of(random), size),
                      std::make_shared<std::size_t>(kRapidCheckShrinksMax));
  };
}

// Inside a RapidCheck property, as with RapidCheck's own generators.
template <class T>
T operator*(const Gen<T>& generator) {
  return *to_rapidcheck(generator);
}

// draw(rc_generator): one choice of 64 bits seeds RapidCheck's Random.
template <class T>
T draw_from(const rc::Gen<T>& generator, Draw& draw) {
  return generator(rc::Random(draw.below(0)), draw.size()).value();
}

// A struct with FIELDS that has a function generator_of(const T*), which returns Gen<T>.
template <class T>
concept Generated = Reflected<T> && requires(const T* type) {
  { generator_of(type) } -> std::same_as<Gen<T>>;
};

}  // namespace warpcheck

template <warpcheck::Generated T>
struct rc::Arbitrary<T, void> {
  static rc::Gen<T> arbitrary() {
    return warpcheck::to_rapidcheck(generator_of(static_cast<const T*>(nullptr)));
  }
};
