// A pair with its types erased: the interface for trials, shrinking, case files and commands.
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
#include "harness/pair/exact.hpp"
#include "harness/pair/numbers.hpp"
#include "harness/pair/plain_output.hpp"
#include "vgpu/check/finding.hpp"

namespace warpcheck {

// A value whose type only its pair knows.  Immutable, so that cases can share it.
using AnyInput = std::shared_ptr<const void>;
using AnyOutput = std::shared_ptr<const void>;

// A claim in addition to "agrees with its reference".  Its body may launch kernels; it fails by a
// failed expectation or an exception.
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
  // Names as declared; `expects()` has the kinds.
  [[nodiscard]] virtual const std::vector<std::string>& declared_expectations() const = 0;

  [[nodiscard]] virtual AnyInput draw(Draw& draw) const = 0;
  [[nodiscard]] virtual bool in_domain(const AnyInput& input) const = 0;
  [[nodiscard]] virtual bool identical(const AnyInput& a, const AnyInput& b) const = 0;
  [[nodiscard]] virtual InputSize size_of(const AnyInput& input) const = 0;
  [[nodiscard]] Json to_json(const AnyInput& input) const;
  // Throws FieldError.
  [[nodiscard]] virtual AnyInput from_json(const Json& json) const = 0;
  // The input with an edit applied; the result may be outside the domain.  Null: a field cannot
  // have the size that the edit names.
  [[nodiscard]] virtual AnyInput edited(const AnyInput& input, const InputEdit& edit) const = 0;
  // "n=33, in[30]=1, rest 0; launch {grid 1, block 33}"
  [[nodiscard]] virtual std::string summary(const AnyInput& input) const;
  // Passes simpler inputs of the domain to `accept`, from candidate number `first` on, until it
  // returns true; returns that candidate's number.
  virtual std::optional<std::size_t> for_each_shrink_from(
      std::size_t first, const AnyInput& input, FunctionRef<bool(AnyInput)> accept) const = 0;

  // Called for every class that an input may belong to, with whether this input does
  // (input_classes.hpp); the pair's own classes come last.
  using ClassVisitor = FunctionRef<void(const std::string& name, bool holds)>;
  virtual void for_each_class(const AnyInput& input, ClassVisitor visitor) const = 0;
  // The names of all these classes.
  [[nodiscard]] virtual std::vector<std::string> class_names() const = 0;
  // The classes that a search must draw, because this pair is likely to fail in them.
  [[nodiscard]] virtual const std::vector<std::string>& required_classes() const = 0;

  // Runs the kernel within a trial.  Throws CudaError.
  [[nodiscard]] virtual AnyOutput run_kernel(const AnyInput& input) const = 0;
  // False: trials look for findings only, and no output is compared with a reference.
  [[nodiscard]] virtual bool has_reference() const { return true; }
  // Precondition: has_reference(), as for the next two; and the reference is no kernel.
  [[nodiscard]] virtual AnyOutput run_reference(const AnyInput& input) const = 0;
  // A pair without a reference, whose kernel is this one's reference.  Null: that is no kernel.
  [[nodiscard]] virtual const AnyPair* reference_kernel() const { return nullptr; }
  // "out[32] = 2, reference 1"; empty if they agree.
  [[nodiscard]] virtual std::optional<std::string> difference(const AnyInput& input,
                                                              const AnyOutput& out,
                                                              const AnyOutput& reference) const = 0;
  // What the agreement is if it is within_rounding(), of which difference() only says whether both
  // are the same values (harness/trial/rounding.hpp).
  [[nodiscard]] virtual std::optional<RoundingRule> rounding() const { return std::nullopt; }
  // Whether both outputs are empty, so that they agree whatever the kernel does.
  [[nodiscard]] virtual bool compares_nothing(const AnyOutput& out,
                                              const AnyOutput& reference) const = 0;
  // Whether the output under another schedule must be compared with the default's.  It need not if
  // the agreement is order-sensitive, or if agreement (or disagreement) with the same reference
  // already says everything about the output.
  [[nodiscard]] virtual bool wants_schedule_comparison(bool agrees) const = 0;
  // The first byte difference from the output under the default schedule: "out[3] = 1.5, under the
  // default schedule 1.25".  Empty if they are the same.
  [[nodiscard]] virtual std::optional<std::string> schedule_difference(
      const AnyOutput& out, const AnyOutput& other) const = 0;

  // The output as bytes, and its rule of comparison, for programs without the harness.
  [[nodiscard]] virtual std::optional<PlainOutput> plain_output(const AnyOutput& output) const = 0;
  [[nodiscard]] virtual PlainRule plain_rule(const AnyInput& input) const = 0;

  // Sets `json`, which is null, to what a case file needs beside the name if no declaration in a
  // program makes the pair.  False: one does.
  //   unoptimized: the build of the case
  virtual bool write_definition(Json& /*json*/, bool /*unoptimized*/) const { return false; }

  // For the certificate of equality: the numbers in an input's lists, those of an output, and what
  // the exact reference calculates.
  [[nodiscard]] virtual bool has_exact_reference() const { return false; }
  [[nodiscard]] virtual NumberPlaces numbers_of_input(const AnyInput&) const { return {}; }
  [[nodiscard]] virtual NumberPlaces numbers_of_output(const AnyOutput&) const { return {}; }
  [[nodiscard]] virtual std::vector<Exact> run_exact_reference(const AnyInput&,
                                                               const ExactData&) const {
    return {};
  }

  // Finding kinds that trials must show, sorted; empty: the pair is clean.
  [[nodiscard]] const std::vector<vgpu::FindingKind>& expects() const { return expects_; }
  [[nodiscard]] bool clean() const { return expects_.empty(); }
  // In order of name.
  [[nodiscard]] const std::vector<PropertyEntry>& properties() const { return properties_; }
  // Null if there is none of this name.
  [[nodiscard]] const PropertyEntry* find_property(std::string_view name) const;

 private:
  friend class Registry;
  // Sets `json`, which is null.
  virtual void write(Json& json, const AnyInput& input) const = 0;

  std::string name_;
  std::vector<vgpu::FindingKind> expects_;
  std::vector<PropertyEntry> properties_;
};

}  // namespace warpcheck
