// A number in exact arithmetic, for references of the certificate of equality: what a kernel
// calculates is the same function of its data as what the reference calculates with these
// (docs/use/proofs.md).
//
//   template <class T>
//   std::vector<T> prefix_sums(const std::vector<T>& in);        // a reference
//
//   .exact_reference = [](const ScanInput& in, const ExactData& exact) {
//     return prefix_sums(exact(in.values));
//   },
//
// Data of floats are numbers without rounding, data of integers numbers modulo a power of two.
// They have no order, only the least and the greatest of two, and sorted().  Whether two are equal
// can be asked where all finite data gives the same answer: a sum of powers is not 0, and a
// maximum of data is no infinity.
//
// The same reference gives the numbers for the agreement within_rounding(): then data are their
// values, and numbers have 106 bits.
#pragma once

#include <cstdint>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "vgpu/check/exact/exact_value.hpp"
#include "vgpu/check/precision/double_double.hpp"

namespace warpcheck {

namespace vgpu {
class ExactNumbers;
}

class Exact {
 public:
  Exact() : Exact(0) {}
  // Constants.  An integer is one of either kind.
  template <class T>
  requires std::is_integral_v<T>
  explicit(false) Exact(T constant)  // NOLINT(google-explicit-constructor): as arithmetic types
      : Exact(Constant{}, static_cast<double>(constant), static_cast<std::uint64_t>(constant)) {}
  explicit(false) Exact(double constant);
  explicit(false) Exact(float constant) : Exact(static_cast<double>(constant)) {}
  explicit Exact(const vgpu::ExactValue& datum, bool is_signed = true);
  explicit Exact(const vgpu::DoubleDouble& number, double bound = 0)
      : number_(number), bound_(bound) {}

  friend Exact operator+(const Exact& a, const Exact& b);
  friend Exact operator-(const Exact& a, const Exact& b);
  friend Exact operator*(const Exact& a, const Exact& b);
  friend Exact operator/(const Exact& a, const Exact& b);
  friend Exact operator-(const Exact& a);
  Exact& operator+=(const Exact& other) { return *this = *this + other; }
  Exact& operator-=(const Exact& other) { return *this = *this - other; }
  Exact& operator*=(const Exact& other) { return *this = *this * other; }
  Exact& operator/=(const Exact& other) { return *this = *this / other; }
  friend Exact min(const Exact& a, const Exact& b);
  friend Exact max(const Exact& a, const Exact& b);
  // Throws std::invalid_argument if the answer depends on data, or is not known.
  friend bool operator==(const Exact& a, const Exact& b);
  // In ascending order.
  friend std::vector<Exact> sorted(const std::vector<Exact>& list);
  friend Exact abs(const Exact& a);
  friend Exact sqrt(const Exact& a);
  friend Exact exp(const Exact& a);
  friend Exact log(const Exact& a);
  friend Exact exp2(const Exact& a);
  friend Exact log2(const Exact& a);
  friend Exact sin(const Exact& a);
  friend Exact cos(const Exact& a);
  friend Exact tanh(const Exact& a);

  // What the number is as a float's and as an integer's; of a datum only one of the two.
  [[nodiscard]] const vgpu::ExactValue& as_float() const { return of_float_; }
  [[nodiscard]] const vgpu::ExactValue& as_integer() const { return of_integer_; }
  [[nodiscard]] const vgpu::DoubleDouble& as_number() const { return number_; }
  [[nodiscard]] double bound() const { return bound_; }

 private:
  struct Constant {};
  Exact(Constant, double number, std::uint64_t bits);
  template <class Operation>
  static Exact both(const Exact& a, const Exact& b, Operation operation);
  static Exact function(const char* name, const Exact& a);

  vgpu::ExactValue of_float_, of_integer_;
  // Of within_rounding(): the number, and a bound of the error in an arithmetic that rounds.
  vgpu::DoubleDouble number_{};
  double bound_ = 0;
  bool is_signed_ = true;
};

// The arithmetic in which numbers of this thread are, while it exists.
class ExactScope {
 public:
  explicit ExactScope(vgpu::ExactNumbers& numbers);
  // Numbers of 106 bits; and what operations on them would lose if they were rounded.
  //   unit_roundoff: by this share of their results
  //   smallest_normal: or of this number, if the result is less
  ExactScope(double unit_roundoff, double smallest_normal);
  ~ExactScope();
  ExactScope(const ExactScope&) = delete;
  ExactScope& operator=(const ExactScope&) = delete;
};

// The data of an input: the elements of its lists.
class ExactData {
 public:
  void add(const void* at, const Exact& number) { numbers_.insert_or_assign(at, number); }
  // The numbers of a list that is a field of the input.  Throws std::invalid_argument for another
  // list, and for elements that are no numbers of 2, 4 or 8 bytes.
  template <class List>
  [[nodiscard]] std::vector<Exact> operator()(const List& list) const {
    std::vector<Exact> numbers;
    for (const auto& element : list) numbers.push_back(at(&element));
    return numbers;
  }

 private:
  [[nodiscard]] const Exact& at(const void* element) const;

  std::unordered_map<const void*, Exact> numbers_;
};

}  // namespace warpcheck
