// KERNEL_PAIR and PROPERTY: a kernel, its sequential reference, its inputs, its claims.
//
//   struct ReverseInput { std::vector<int> values; LaunchConfig launch; };
//   FIELDS(ReverseInput, values, launch);
//
//   KERNEL_PAIR(reverse, ReverseInput, std::vector<int>) = {
//     .family = "examples", .origin = "ours", .expects = {},
//     .domain    = [](const ReverseInput& in) { return covers(in.launch, in.values.size()); },
//     .arbitrary = [](Draw& draw) { ... return ReverseInput{...}; },
//     .kernel    = [](Device& device, const ReverseInput& in) { ... return out.download(); },
//     .reference = [](const ReverseInput& in) { ... },
//     .agreement = exactly(),
//   };
//
//   PROPERTY(reverse, twice_yields_the_original)(ReverseInput in) {
//     const ReverseInput again{run(in), in.launch};
//     EXPECT_EQ(run(again), in.values);
//   }
//
// Every pair is checked for agreement with its reference, for findings, and for the same answer
// under every schedule (unless its agreement is order-sensitive).
//
// Use both macros at namespace scope, outside unnamed namespaces: names are unique in a program.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/input/draw.hpp"
#include "harness/input/fields.hpp"
#include "harness/input/input_classes.hpp"
#include "harness/input/launch_config.hpp"
#include "harness/pair/agreement.hpp"
#include "harness/pair/any_pair.hpp"
#include "harness/pair/counters.hpp"
#include "harness/pair/device.hpp"
#include "harness/pair/expectations.hpp"
#include "harness/pair/registry.hpp"
#include "harness/pair/schedule_difference.hpp"
#include "harness/shrink/shrinks.hpp"

namespace warpcheck {

// For `.reference = none`: trials look for findings only.
inline constexpr std::nullptr_t none = nullptr;

namespace detail {

// A pair that says nothing about its reference is wrong, and must not pass as one without.
template <class Input, class Output>
Output missing_reference(const Input&) {
  throw std::logic_error("the pair has no .reference; `.reference = none` if it shall have none");
}

}  // namespace detail

// `.reference = same_as(kernel)`: the reference is another kernel, launched as `.kernel` is: an
// obviously right one.  It must be clean.
template <class Function>
struct SameAs {
  Function kernel;
};
template <class Function>
SameAs<Function> same_as(Function kernel) {
  return {std::move(kernel)};
}

// What a pair's output is compared with: what host code returns, or another kernel, or nothing.
template <class Input, class Output>
struct Reference {
  std::function<Output(const Input&)> on_host = {};
  std::function<Output(Device&, const Input&)> kernel = {};

  Reference(std::nullptr_t) {}  // NOLINT(google-explicit-constructor): `.reference = none`
  template <class Function>
  requires std::is_invocable_r_v<Output, Function&, const Input&> Reference(
      Function function)  // NOLINT(google-explicit-constructor): `.reference = [](...) {}`
      : on_host(std::move(function)) {}
  template <class Function>
  Reference(SameAs<Function> other)  // NOLINT(google-explicit-constructor)
      : kernel(std::move(other.kernel)) {}
};

template <class InputType, class OutputType>
struct Pair {
  static_assert(Reflected<InputType>, "KERNEL_PAIR: the input is a struct with FIELDS");

  using Input = InputType;
  using Output = OutputType;

  std::string family = {};                // the kernel family in lists
  std::string origin = {};                // origin of its code or algorithm
  std::vector<std::string> expects = {};  // finding kinds of a specimen; empty: must be clean
  // Holds for every input, whether drawn, shrunk or read from a file; default: always.
  std::function<bool(const Input&)> domain = {};
  std::function<Input(Draw&)> arbitrary = {};
  std::function<Output(Device&, const Input&)> kernel = {};
  // none: the kernel's output is not judged.
  Reference<Input, Output> reference = detail::missing_reference<Input, Output>;
  Agreement<Input, Output> agreement = exactly();
  // The reference in exact arithmetic, for the certificate of equality (exact.hpp): the numbers of
  // the output, in their order.  Default: there is no such certificate.
  std::function<std::vector<Exact>(const Input&, const ExactData&)> exact_reference = {};
  // The number of elements of an input, if it is not the number of elements of all its vectors.
  std::function<std::uint64_t(const Input&)> size = {};
  // The pair's own classes of inputs, for statistics.
  std::vector<ValueClass<Input>> classes = {};
  // Names of classes, the pair's own or those of input_classes.hpp, that a search must draw (`check
  // --statistics`): "in.size: zero", "in: contains NaN", "launch: several blocks".
  std::vector<std::string> required_classes = {};
};

namespace detail {

template <class Input, class Output>
class TypedPair final : public AnyPair {
 public:
  // `pair` may not be constructed yet: it is used only after main() has begun.
  TypedPair(std::string name, const Pair<Input, Output>* pair)
      : AnyPair(std::move(name)), pair_(pair) {}

  [[nodiscard]] std::string_view family() const override { return pair_->family; }
  [[nodiscard]] std::string_view origin() const override { return pair_->origin; }
  [[nodiscard]] const std::vector<std::string>& declared_expectations() const override {
    return pair_->expects;
  }
  [[nodiscard]] AnyInput draw(Draw& draw) const override {
    return std::make_shared<const Input>(pair_->arbitrary(draw));
  }
  [[nodiscard]] bool in_domain(const AnyInput& input) const override {
    return !pair_->domain || pair_->domain(typed(input));
  }
  [[nodiscard]] bool identical(const AnyInput& a, const AnyInput& b) const override {
    return warpcheck::identical(typed(a), typed(b));
  }
  [[nodiscard]] InputSize size_of(const AnyInput& input) const override {
    InputSize size;
    measure(typed(input), size);
    if (pair_->size) size.elements = pair_->size(typed(input));
    return size;
  }
  [[nodiscard]] AnyInput from_json(const Json& json) const override {
    return std::make_shared<const Input>(FieldTraits<Input>::read(json, FieldPath("input")));
  }
  [[nodiscard]] AnyInput edited(const AnyInput& input, const InputEdit& edit) const override {
    Input other = typed(input);
    if (!apply_sizes(edit.sizes, other)) return nullptr;
    apply(edit, other);
    return std::make_shared<const Input>(std::move(other));
  }
  std::optional<std::size_t> for_each_shrink_from(
      std::size_t first, const AnyInput& input, FunctionRef<bool(AnyInput)> accept) const override {
    return warpcheck::for_each_shrink_from<Input>(first, typed(input), [&](Input&& candidate) {
      if (pair_->domain && !pair_->domain(candidate)) return false;
      return accept(std::make_shared<const Input>(std::move(candidate)));
    });
  }
  void for_each_class(const AnyInput& input, ClassVisitor visitor) const override {
    for_each_input_class(typed(input), visitor);
    for (const ValueClass<Input>& own : pair_->classes) {
      visitor(own.name, own.contains(typed(input)));
    }
  }
  [[nodiscard]] std::vector<std::string> class_names() const override {
    std::vector<std::string> names = input_class_names<Input>();
    for (const ValueClass<Input>& own : pair_->classes) names.push_back(own.name);
    return names;
  }
  [[nodiscard]] const std::vector<std::string>& required_classes() const override {
    return pair_->required_classes;
  }
  [[nodiscard]] AnyOutput run_kernel(const AnyInput& input) const override {
    Device device;
    return std::make_shared<const Output>(pair_->kernel(device, typed(input)));
  }
  [[nodiscard]] bool has_reference() const override {
    return pair_->reference.on_host != nullptr || pair_->reference.kernel != nullptr;
  }
  [[nodiscard]] AnyOutput run_reference(const AnyInput& input) const override {
    return std::make_shared<const Output>(pair_->reference.on_host(typed(input)));
  }
  [[nodiscard]] const AnyPair* reference_kernel() const override {
    if (pair_->reference.kernel == nullptr) return nullptr;
    if (of_reference_ == nullptr) {
      reference_ = std::make_unique<Pair<Input, Output>>(*pair_);
      reference_->kernel = pair_->reference.kernel;
      reference_->reference = none;
      reference_->exact_reference = {};
      reference_->expects = {};
      of_reference_ =
          std::make_unique<TypedPair>(std::string(name()) + ", its reference", reference_.get());
    }
    return of_reference_.get();
  }
  [[nodiscard]] std::optional<std::string> difference(const AnyInput& input, const AnyOutput& out,
                                                      const AnyOutput& reference) const override {
    return pair_->agreement.difference(typed(input), typed_output(out), typed_output(reference));
  }
  [[nodiscard]] std::optional<RoundingRule> rounding() const override {
    return pair_->agreement.rounding;
  }
  [[nodiscard]] bool compares_nothing(const AnyOutput& out,
                                      const AnyOutput& reference) const override {
    if constexpr (requires { typed_output(out).empty(); }) {
      return typed_output(out).empty() && typed_output(reference).empty();
    } else {
      return false;
    }
  }
  [[nodiscard]] bool wants_schedule_comparison(bool agrees) const override {
    if (pair_->agreement.order_sensitive) return false;
    if (!has_reference()) return true;
    const Agreement<Input, Output>& agreement = pair_->agreement;
    const bool tells_bytes = agreement.comparison == Comparison::same_bits;
    return !agreement.exact ||
           (agrees && !tells_bytes && has_equal_values_of_other_bytes<Output>());
  }
  [[nodiscard]] std::optional<std::string> schedule_difference(
      const AnyOutput& out, const AnyOutput& other) const override {
    return warpcheck::schedule_difference(typed_output(out), typed_output(other));
  }

  [[nodiscard]] bool has_exact_reference() const override {
    return static_cast<bool>(pair_->exact_reference);
  }
  [[nodiscard]] NumberPlaces numbers_of_input(const AnyInput& input) const override {
    NumberPlaces found;
    find_numbers(typed(input), false, found);
    return found;
  }
  [[nodiscard]] NumberPlaces numbers_of_output(const AnyOutput& output) const override {
    NumberPlaces found;
    find_numbers(typed_output(output), true, found);
    return found;
  }
  [[nodiscard]] std::vector<Exact> run_exact_reference(const AnyInput& input,
                                                       const ExactData& data) const override {
    return pair_->exact_reference(typed(input), data);
  }

  [[nodiscard]] std::optional<PlainOutput> plain_output(const AnyOutput& output) const override {
    return warpcheck::plain_output(typed_output(output));
  }
  [[nodiscard]] PlainRule plain_rule(const AnyInput& input) const override {
    const Agreement<Input, Output>& agreement = pair_->agreement;
    return {agreement.comparison,
            agreement.bounds ? agreement.bounds(typed(input)) : std::vector<double>{},
            agreement.ulps, agreement.order_sensitive};
  }

 private:
  void write(Json& json, const AnyInput& input) const override {
    FieldTraits<Input>::write(json, typed(input));
  }

  static const Input& typed(const AnyInput& input) {
    return *static_cast<const Input*>(input.get());
  }
  static const Output& typed_output(const AnyOutput& output) {
    return *static_cast<const Output*>(output.get());
  }

  const Pair<Input, Output>* pair_;
  // The reference as a kernel of its own, once it is asked for.
  mutable std::unique_ptr<Pair<Input, Output>> reference_;
  mutable std::unique_ptr<TypedPair> of_reference_;
};

template <class Input, class Output>
struct PairRegistration {
  PairRegistration(std::string name, const Pair<Input, Output>* pair) {
    Registry::global().add(std::make_unique<TypedPair<Input, Output>>(std::move(name), pair));
  }
};

// Functions for the body of a property.
template <class PairType, const PairType* pair>
class PropertyBody {
 public:
  using Input = typename PairType::Input;
  using Output = typename PairType::Output;

 protected:
  // Launches the pair's kernel, in the trial of the property.
  [[nodiscard]] static Output run(const Input& in) {
    Device device;
    return pair->kernel(device, in);
  }
  // The same, and returns what the launches do to memory.
  [[nodiscard]] static Counters counters_of(const Input& in) {
    return counters_of_launches([&] { static_cast<void>(run(in)); });
  }
};

template <class Body, class Input>
struct PropertyRegistration {
  PropertyRegistration(std::string pair, std::string property) {
    Registry::global().add_property(
        std::move(pair), {.name = std::move(property), .body = [](const AnyInput& input) {
                            Body{}.body(*static_cast<const Input*>(input.get()));
                          }});
  }
};

}  // namespace detail
}  // namespace warpcheck

#define KERNEL_PAIR(name, ...)                                                                \
  extern const ::warpcheck::Pair<__VA_ARGS__> warpcheck_pair_##name;                          \
  static const ::warpcheck::detail::PairRegistration<__VA_ARGS__> warpcheck_registers_##name{ \
      #name, &warpcheck_pair_##name};                                                         \
  const ::warpcheck::Pair<__VA_ARGS__> warpcheck_pair_##name

#define PROPERTY(pair, name)                                                                 \
  struct warpcheck_property_##pair##_##name                                                  \
      : ::warpcheck::detail::PropertyBody<std::remove_cv_t<decltype(warpcheck_pair_##pair)>, \
                                          &warpcheck_pair_##pair> {                          \
    void body(Input in);                                                                     \
  };                                                                                         \
  static const ::warpcheck::detail::PropertyRegistration<                                    \
      warpcheck_property_##pair##_##name, warpcheck_property_##pair##_##name::Input>         \
      warpcheck_registers_##pair##_##name{#pair, #name};                                     \
  void warpcheck_property_##pair##_##name::body
