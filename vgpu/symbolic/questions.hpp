// Asks the solver whether something follows from what is known.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "vgpu/symbolic/linear.hpp"
#include "vgpu/symbolic/prove_kernel.hpp"
#include "vgpu/symbolic/symbols.hpp"

namespace warpcheck::vgpu::symbolic {

enum class Reply : std::uint8_t { holds, fails, unknown };

// Values of symbols, by index.
using Assignment = std::map<std::uint32_t, Integer>;

// All questions about a kernel have taken ProofLimits::units_of_kernel.
class LimitReached : public std::exception {
 public:
  explicit LimitReached(const ptx::SourceLocation& at) : at_(at) {}
  [[nodiscard]] const ptx::SourceLocation& at() const { return at_; }
  [[nodiscard]] const char* what() const noexcept override {
    return "the solver's limit was reached there";
  }

 private:
  ptx::SourceLocation at_;
};

// All that ask throw LimitReached.
class Questions {
 public:
  Questions(Symbols& symbols, const ProofLimits& limits)
      : symbols_(symbols),
        limits_(limits),
        known_(symbols.context()),
        values_of_known_(symbols.context()),
        units_of_question_(limits.units) {}

  // The line that the next questions are about.
  void set_place(const ptx::SourceLocation& place) { place_ = place; }

  // Something that is true of every launch.
  void assume(const z3::expr& fact);

  // Returns whether `goal` follows.  `fails` is certain only if a counterexample is asked for.
  [[nodiscard]] Reply follows(std::span<const z3::expr> given, const z3::expr& goal);
  // As follows(), with few units: something else will do if the answer is unknown.
  [[nodiscard]] Reply follows_easily(std::span<const z3::expr> given, const z3::expr& goal);
  // As follows(); with values that make `given` true and `goal` false, small ones if there are.
  [[nodiscard]] Reply refute(std::span<const z3::expr> given, const z3::expr& goal,
                             Assignment& counterexample);

  [[nodiscard]] std::uint32_t asked() const { return asked_; }
  // The solver's, and those of making its questions.
  [[nodiscard]] std::uint64_t units() const { return units_ + own_units_; }

 private:
  using Conditions = std::vector<z3::expr>;

  Conditions closed(Conditions conditions);
  // Those with the numbers that an equation of the contract gives instead of their symbols.
  [[nodiscard]] Conditions without_known(const Conditions& conditions) const;
  // Adds their values to those of other symbols.
  void add_known(Assignment& values);
  void note_equation(const z3::expr& symbol, const z3::expr& value);
  // Those on data that the goal does not depend on hardly ever decide.
  [[nodiscard]] Conditions without_other_data(std::span<const z3::expr> given,
                                              const z3::expr& goal);
  z3::check_result check(const Conditions& conditions, Assignment* values);
  // Splits by the values of one symbol; absent: there is none to split by.
  std::optional<z3::check_result> split(const Conditions& conditions, const Linear& linear,
                                        Assignment* values);
  z3::check_result solve(const Conditions& conditions, Linear& linear, Assignment* values);
  Reply reply_of(z3::check_result result) const;
  bool find_small(const Conditions& conditions, const Assignment& hint, Assignment& counterexample);
  [[nodiscard]] bool is_true(const Conditions& conditions, const Assignment& values);
  [[nodiscard]] Conditions substituted(const Conditions& conditions, const Assignment& values);

  Symbols& symbols_;
  ProofLimits limits_;
  Conditions assumed_;
  // Symbols of the launch, and what each is: a sum of others, none of which is one of them.
  z3::expr_vector known_, values_of_known_;
  std::uint32_t asked_ = 0;
  std::uint64_t units_ = 0, own_units_ = 0;
  std::uint32_t units_of_question_;
  ptx::SourceLocation place_{};
};

}  // namespace warpcheck::vgpu::symbolic
