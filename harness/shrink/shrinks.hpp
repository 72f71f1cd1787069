// Shrinking a typed input, size before content, most aggressive steps first.
//
//   for_each_shrink(value, accept)      offers simpler values until one is accepted
//   shrink_value(value, fails, tries)   goes to a local minimum: no single candidate fails
//
// Values shrink by ShrinkTraits (shrink_traits.hpp), structs with FIELDS one field at a time and
// several together (struct_shrinks.hpp).
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "harness/input/function_ref.hpp"
#include "harness/shrink/shrink_traits.hpp"
#include "harness/shrink/struct_shrinks.hpp"

namespace warpcheck {

// Offers simpler values than `value`, from candidate number `first` on, until `accept` returns
// true; returns that candidate's number, or empty if none was accepted.
template <class T>
std::optional<std::size_t> for_each_shrink_from(
    std::size_t first, const T& value, FunctionRef<bool(std::type_identity_t<T>&&)> accept) {
  std::size_t number = 0;
  const auto take = [&](Candidate<T> make) {
    if (number >= first && accept(make())) return true;
    ++number;
    return false;
  };
  if (shrink_sizes<T>(value, take) || shrink_values<T>(value, take)) return number;
  return std::nullopt;
}

// The same from the beginning; returns whether a candidate was accepted.
template <class T>
bool for_each_shrink(const T& value, FunctionRef<bool(std::type_identity_t<T>&&)> accept) {
  return for_each_shrink_from<T>(0, value, accept).has_value();
}

template <class T>
struct Shrunk {
  T value;
  std::size_t tries = 0;    // calls of `fails`
  std::size_t shrinks = 0;  // of these, the accepted ones, which failed
  bool complete = false;    // no candidate of `value` fails; false: the budget was used up
};

// The domain of values without restriction.
inline constexpr auto kAnything = [](const auto&) { return true; };

// Replaces `value` by a simpler one of the domain that still `fails` until there is none, or
// tries_max calls were made.  After a success the search continues with the candidates of the same
// rank before it starts again: starting again at once would repeat every failed attempt at each
// step.
template <class T>
Shrunk<T> shrink_value(T value, FunctionRef<bool(const std::type_identity_t<T>&)> fails,
                       std::size_t tries_max,
                       FunctionRef<bool(const std::type_identity_t<T>&)> in_domain = kAnything) {
  Shrunk<T> shrunk{.value = std::move(value)};
  bool exhausted = false;
  std::size_t first = 0;
  bool progress = false;
  while (true) {
    std::optional<T> next;
    const auto accept = [&](T&& candidate) {
      if (!in_domain(candidate)) return false;
      if (shrunk.tries == tries_max) return exhausted = true;
      ++shrunk.tries;
      if (!fails(candidate)) return false;
      next = std::move(candidate);
      return true;
    };
    const auto accepted = for_each_shrink_from<T>(first, shrunk.value, accept);
    if (exhausted) return shrunk;
    if (accepted) {
      shrunk.value = std::move(*next);
      ++shrunk.shrinks;
      first = *accepted;
      progress = true;
    } else if (progress) {
      first = 0;
      progress = false;
    } else {
      shrunk.complete = true;
      return shrunk;
    }
  }
}

}  // namespace warpcheck
