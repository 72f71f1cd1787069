// Exact arithmetic at one random point, for the certificate of equality (docs/use/proofs.md).
//
// A float's number is a rational function of the data, and is represented by its value in a prime
// field: the prime and the data are drawn at random.  An integer's is a polynomial, represented by
// its value in a Galois ring, where each datum is an element of the set of 2^61 whose differences
// are units.  If two values are equal, the functions are, except with a small probability
// (error()).  Functions that are no such arithmetic have a random value for each new argument, as a
// variable of its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vgpu/check/exact/comparison_network.hpp"
#include "vgpu/check/exact/exact_value.hpp"
#include "vgpu/check/exact/galois_ring.hpp"
#include "vgpu/check/exact/prime_field.hpp"

namespace warpcheck::vgpu {

// What is known of powers of 2, beside their arguments.
//
// Beside its value, a float has a second one, at another random point of a field whose prime p
// divides that of the first less 1.  There the powers of an element g of order p are as many as the
// second field has elements, and g^(a + b) = g^a g^b: a power of 2 is g to the second value of its
// exponent.
enum class ExactPowers : std::uint8_t {
  named,    // nothing
  of_expf,  // 2^(a + b) = 2^a 2^b; exp(x) is 2^(c x) with the c of the toolkit's expf()
  of_fast,  // the same, with the c of __expf()
};

class ExactNumbers {
 public:
  using Value = ExactValue;
  using Result = std::optional<ExactValue>;

  explicit ExactNumbers(std::uint64_t seed, ExactPowers powers = ExactPowers::named);

  // A datum.
  [[nodiscard]] Value new_float();
  [[nodiscard]] Value new_integer(unsigned bits);
  // A constant.
  [[nodiscard]] Value float_of(double number);
  [[nodiscard]] Value integer_of(std::uint64_t number, unsigned bits);

  [[nodiscard]] bool is_integer(const Value& a, std::uint64_t number) const {
    return a.is_ring() && elements_[a.payload] == galois_integer(number);
  }

  // Nothing: the operands are of different kinds, or the operation is not defined for them.
  [[nodiscard]] Result add(const Value& a, const Value& b);
  [[nodiscard]] Result negative(const Value& a);
  [[nodiscard]] Result multiply(const Value& a, const Value& b);
  [[nodiscard]] Result divide(const Value& a, const Value& b);
  // 2^(exponent - less)
  [[nodiscard]] Result power_of_two(const Value& exponent, double less = 0);
  [[nodiscard]] Value log2_of_e();
  // Whether there are powers, which may be the same for different arguments.
  [[nodiscard]] bool has_powers() const { return has_powers_; }
  // A function that is known by its name alone.
  [[nodiscard]] Result function(const std::string& name, const Value& argument);
  // One of several floats, whose result is a float.
  [[nodiscard]] Result function(const std::string& name, std::span<const Value> arguments);
  [[nodiscard]] Result absolute(const Value& a);
  // The least or greatest number.  A NaN is a neutral element, as for the instructions without
  // .nan.
  enum class Extremum : std::uint8_t { least, greatest };
  [[nodiscard]] Result extremum(Extremum which, bool is_signed, const Value& a, const Value& b);
  // The numbers of a list in ascending order.  Empty: they are no numbers of one kind.
  [[nodiscard]] std::vector<Value> sorted(bool is_signed, const std::vector<Value>& list);
  // 1 if a comparison of two numbers holds, else 0, known by the comparison's name.
  [[nodiscard]] Result indicator(const std::string& comparison, const Value& a, const Value& b,
                                 unsigned bits);
  // The low bits of an integer.
  [[nodiscard]] Result narrowed(const Value& a, unsigned bits);

  // Whether two numbers are the same function of the data; counts the risk of an error.
  [[nodiscard]] bool are_equal(const Value& a, const Value& b);
  // Whether something is no arithmetic: different values may then be the same function.
  [[nodiscard]] bool has_functions() const { return !calls_.empty(); }

  // The first pair that are_equal() does not find equal, if there is one.
  struct Comparison {
    enum class Kind : std::uint8_t { equal, different, not_comparable };
    Kind kind = Kind::equal;
    std::size_t pair = 0;
    // different: zeros and ones for numbers, by payload, with which they differ; empty: not known
    std::vector<std::pair<std::uint64_t, bool>> inputs{};
  };
  // Numbers that are made by min, max and sorted() alone are compared by the 0-1 principle.
  [[nodiscard]] Comparison compare(std::span<const std::pair<Value, Value>> pairs);
  // Returns a bound of the probability that some answer of are_equal(), or of a function's
  // arguments, was wrong.
  [[nodiscard]] double error() const;

 private:
  using Arguments = std::vector<std::uint64_t>;

  [[nodiscard]] Value ring(const GaloisElement& element, unsigned bits, bool is_data,
                           unsigned degree);
  [[nodiscard]] Value new_like(const Value& like);
  [[nodiscard]] bool is_neutral(Extremum which, bool is_signed, const Value& a);
  [[nodiscard]] std::optional<NumberOrder> order_of(const Value& a, const Value& b) const;
  [[nodiscard]] Value call(const std::string& name, const Arguments& arguments, const Value& like);
  // Values in the second field, by those in the first; nothing: there is none.
  [[nodiscard]] std::optional<std::uint64_t> second_of(const Value& a) const;
  void set_second(const Value& a, std::uint64_t second) {
    if (second_) seconds_.try_emplace(a.payload, second);
  }

  std::mt19937_64 random_;
  ExactPowers powers_;
  std::optional<PrimeField> second_;
  PrimeField field_;
  std::uint64_t generator_ = 0;  // of order second_->prime()
  std::unordered_map<std::uint64_t, std::uint64_t> seconds_;
  bool has_powers_ = false;
  GaloisElements elements_;
  std::map<std::pair<std::string, Arguments>, Value> calls_;
  // By the name of an extremum and its value: what it is the extremum of.
  std::map<std::pair<std::string, std::uint64_t>, Arguments> sets_;
  ComparisonNetwork network_;
  double compared_ = 0;                // degrees of compared numbers, added up
  std::uint64_t greatest_degree_ = 1;  // of arguments
};

}  // namespace warpcheck::vgpu
