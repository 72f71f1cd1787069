// Draw: the only source of choice while an input is generated; Gen<T>: how to draw a T.
//
//   Gen<int> even = [](Draw& draw) { return 2 * static_cast<int>(draw.below(50)); };
//   const int n = draw(even);
//
// By convention choice 0 is the simplest, so a tape that has no more choices yields the simplest
// value.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/input/tape.hpp"

namespace warpcheck {

inline constexpr int kSizeMax = 100;  // RapidCheck's nominal size

class Draw {
 public:
  // `size` in [0, 100], as in RapidCheck: the larger it is, the larger the drawn values may be.
  explicit Draw(Tape& tape, int size = kSizeMax) : tape_(&tape), size_(size) {}
  Draw(const Draw&) = delete;
  Draw& operator=(const Draw&) = delete;

  // Draws from a Gen<T>, or from any type with a function draw_from(generator, Draw&) (rc::Gen<T>,
  // if rapidcheck_adaptor.hpp is included).  Records the classes of the value.
  template <class Generator>
  auto operator()(const Generator& generator) {
    return draw_from(generator, *this);
  }

  // Uniform in [0, limit); limit 0 means 2^64.
  std::uint64_t below(std::uint64_t limit) { return limit == 1 ? 0 : tape_->below(limit); }
  // Uniform in [low, high], simplest at low.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return static_cast<std::int64_t>(
        static_cast<std::uint64_t>(low) +
        below(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1));
  }
  // True with probability 1/n; false is the simpler value.
  bool once_in(std::uint64_t n) { return below(n) == n - 1; }

  // In [0, limit), as lean() chooses it by drawing from this object; see Tape::leaning().
  template <class Lean>
  std::uint64_t leaning(std::uint64_t limit, Lean lean) {
    return limit == 1 ? 0 : tape_->leaning(limit, lean);
  }
  [[nodiscard]] int size() const { return size_; }

  // Records that the value being drawn belongs to a class ("prime"), for statistics.
  void classify(std::string name) { classes_.push_back(std::move(name)); }
  [[nodiscard]] const std::vector<std::string>& classes() const { return classes_; }

 private:
  Tape* tape_;
  int size_;
  std::vector<std::string> classes_;
};

// A named set of values that a generator promises to draw: each occurs within 1,000 draws.
template <class T>
struct ValueClass {
  std::string name;
  std::function<bool(const T&)> contains;
};

template <class T>
class Gen {
 public:
  using Value = T;

  template <class Sample>
  requires(!std::is_same_v<std::remove_cvref_t<Sample>, Gen> &&
           std::is_invocable_r_v<T, Sample&, Draw&>) Gen(Sample sample)
      : sample_(std::move(sample)) {}  // NOLINT(google-explicit-constructor)

  // One value, without recording its classes (for the parts of a larger value).
  [[nodiscard]] T sample(Draw& draw) const { return sample_(draw); }

  // The same generator, with the promise that all its values satisfy `domain`.  Values of a
  // generator with a domain shrink as values within it; without a domain, their choices shrink.
  [[nodiscard]] Gen within(std::function<bool(const T&)> domain) const {
    Gen copy = *this;
    copy.domain_ = std::move(domain);
    return copy;
  }
  [[nodiscard]] bool has_domain() const { return static_cast<bool>(domain_); }
  // Precondition: has_domain().
  [[nodiscard]] bool contains(const T& value) const { return domain_(value); }

  [[nodiscard]] Gen with_classes(std::vector<ValueClass<T>> classes) const {
    Gen copy = *this;
    copy.classes_ = std::move(classes);
    return copy;
  }
  [[nodiscard]] const std::vector<ValueClass<T>>& classes() const { return classes_; }

 private:
  std::function<T(Draw&)> sample_;
  std::function<bool(const T&)> domain_;
  std::vector<ValueClass<T>> classes_;
};

template <class T>
T draw_from(const Gen<T>& generator, Draw& draw) {
  T value = generator.sample(draw);
  for (const ValueClass<T>& value_class : generator.classes()) {
    if (value_class.contains(value)) draw.classify(value_class.name);
  }
  return value;
}

}  // namespace warpcheck
