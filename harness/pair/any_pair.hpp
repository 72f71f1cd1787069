// A pair without its types: what trial, shrinker, case file and command line work on.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/input/draw.hpp"
#include "harness/input/function_ref.hpp"
#include "harness/input/input_edits.hpp"
#include "harness/input/input_size.hpp"
#include "harness/input/json_values.hpp"
#include "harness/pair/plain_output.hpp"
#include "vgpu/check/finding.hpp"

namespace warpcheck {

// A value whose type only its pair knows.  Immutable, so cases share it.
using AnyInput = std::shared_ptr<const void>;
using AnyOutput = std::shared_ptr<const void>;

// A claim beside "agrees with its reference".  Its body may launch kernels; it fails by a failed
// expectation or by an exception.
struct PropertyEntry {
  std::string name;
  std::function<void(const AnyInput&)> body;
};

class AnyPair {
 public:
  explicit AnyPair(std::string name) : name_(std::move(name)) {}
  virtual ~AnyPair() = default;
  AnyPair(const AnyPair&) = delete;
  AnyPair& operator=(const AnyPair&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] virtual std::string_view family() const = 0;
  [[nodiscard]] virtual std::string_view origin() const = 0;
  // Names as declared: `expects()` has them resolved.
  [[nodiscard]] virtual const std::vector<std::string>& declared_expectations() const = 0;

  [[nodiscard]] virtual AnyInput draw(Draw& draw) const = 0;
  [[nodiscard]] virtual bool in_domain(const AnyInput& input) const = 0;
  [[nodiscard]] virtual bool identical(const AnyInput& a, const AnyInput& b) const = 0;
  [[nodiscard]] virtual InputSize size_of(const AnyInput& input) const = 0;
  [[nodiscard]] virtual Json to_json(const AnyInput& input) const = 0;
  // Throws FieldError.
  [[nodiscard]] virtual AnyInput from_json(const Json& json) const = 0;
  // The same input with that changed; it may be none of the domain.
  [[nodiscard]] virtual AnyInput edited(const AnyInput& input, const InputEdit& edit) const = 0;
  // "n=33, in[30]=1, rest 0; launch {grid 1, block 33}"
  [[nodiscard]] virtual std::string summary(const AnyInput& input) const = 0;
  // Offers simpler inputs of the domain, from candidate number `first` on, until `accept` returns
  // true; returns that candidate's number.
  virtual std::optional<std::size_t> for_each_shrink_from(
      std::size_t first, const AnyInput& input, FunctionRef<bool(AnyInput)> accept) const = 0;

  // Every class that an input may belong to, and whether this one does (input_classes.hpp), the
  // pair's own classes last.
  using ClassVisitor = FunctionRef<void(const std::string& name, bool holds)>;
  virtual void for_each_class(const AnyInput& input, ClassVisitor visitor) const = 0;
  // The names of all of them.
  [[nodiscard]] virtual std::vector<std::string> class_names() const = 0;
  // Those that a search has to meet, or it has not looked where this pair is likely to break.
  [[nodiscard]] virtual const std::vector<std::string>& required_classes() const = 0;

  // Runs the kernel within a trial.  Throws CudaError.
  [[nodiscard]] virtual AnyOutput run_kernel(const AnyInput& input) const = 0;
  [[nodiscard]] virtual AnyOutput run_reference(const AnyInput& input) const = 0;
  // "out[32] = 2, reference 1"; nothing when they agree.
  [[nodiscard]] virtual std::optional<std::string> difference(const AnyInput& input,
                                                              const AnyOutput& out,
                                                              const AnyOutput& reference) const = 0;
  // Whether neither has an element, so that they agree whatever the kernel does.
  [[nodiscard]] virtual bool compares_nothing(const AnyOutput& out,
                                              const AnyOutput& reference) const = 0;
  // Whether an output that agrees with the reference, or does not, may still depend on the schedule
  // and must not: not where the agreement is order-sensitive, nor where being equal to the same
  // reference, or unequal to it, says all.
  [[nodiscard]] virtual bool wants_schedule_comparison(bool agrees) const = 0;
  // How the output differs, byte for byte, from that under the default schedule: "out[3] = 1.5,
  // under the default schedule 1.25".  Nothing when they are the same.
  [[nodiscard]] virtual std::optional<std::string> schedule_difference(
      const AnyOutput& out, const AnyOutput& other) const = 0;

  // The output as bytes, and the rule it is judged by, for programs without the harness.
  [[nodiscard]] virtual std::optional<PlainOutput> plain_output(const AnyOutput& output) const = 0;
  [[nodiscard]] virtual PlainRule plain_rule(const AnyInput& input) const = 0;

  // Finding kinds that trials must show; empty: the pair is clean.  Sorted.
  [[nodiscard]] const std::vector<vgpu::FindingKind>& expects() const { return expects_; }
  [[nodiscard]] bool clean() const { return expects_.empty(); }
  // In order of name.
  [[nodiscard]] const std::vector<PropertyEntry>& properties() const { return properties_; }
  // Null when there is none of this name.
  [[nodiscard]] const PropertyEntry* find_property(std::string_view name) const;

 private:
  friend class Registry;
  std::string name_;
  std::vector<vgpu::FindingKind> expects_;
  std::vector<PropertyEntry> properties_;
};

}  // namespace warpcheck
