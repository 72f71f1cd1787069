#include "harness/pair/exact.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "vgpu/check/exact/exact_numbers.hpp"
#include "vgpu/check/precision/exact_operations.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck {
namespace {

using vgpu::DoubleDouble;
using vgpu::ExactNumbers;
using vgpu::ExactValue;

thread_local ExactNumbers* numbers_of_thread = nullptr;

ExactNumbers& numbers() {
  if (numbers_of_thread == nullptr)
    throw std::logic_error("an Exact is used outside of an exact reference");
  return *numbers_of_thread;
}

constexpr unsigned kConstantBits = 64;

// Whether numbers of this thread are values of 106 bits, and by which share results are rounded.
thread_local bool has_values = false;
thread_local double share_lost_of_thread = 0, smallest_of_thread = 0;

// A result of 106 bits, or what doubles give where that is no finite number.
Exact value_of(ptx::Opcode opcode, const DoubleDouble& result, double of_doubles,
               std::initializer_list<const Exact*> operands) {
  const bool is_finite = std::isfinite(of_doubles) && std::isfinite(result.hi + result.lo);
  const DoubleDouble value = is_finite ? result : DoubleDouble{of_doubles, 0};
  std::array<double, 3> sizes{}, bounds{};
  std::size_t i = 0;
  for (const Exact* const one : operands) {
    sizes[i] = vgpu::magnitude(one->as_number());
    bounds[i++] = one->bound();
  }
  const double reaching = is_finite ? vgpu::reached_error(opcode, sizes, bounds, value.hi) : 0;
  return Exact(value, reaching + share_lost_of_thread * (std::abs(value.hi) + smallest_of_thread));
}

Exact value_of_function(std::string_view name, const Exact& argument) {
  const DoubleDouble& a = argument.as_number();
  const double x = a.hi;
  const auto of = [&](ptx::Opcode opcode, const DoubleDouble& result, double of_doubles) {
    return value_of(opcode, result, of_doubles, {&argument});
  };
  if (name == "sqrt") return of(ptx::Opcode::sqrt_, vgpu::square_root(a), std::sqrt(x));
  if (name == "exp2") return of(ptx::Opcode::ex2_, vgpu::exp2(a), std::exp2(x));
  if (name == "log2") return of(ptx::Opcode::lg2_, vgpu::log2(a), std::log2(x));
  if (name == "tanh") return of(ptx::Opcode::tanh_, vgpu::tanh(a), std::tanh(x));
  if (name == "sin") return of(ptx::Opcode::sin_, {std::sin(x), std::cos(x) * a.lo}, std::sin(x));
  if (name == "cos") return of(ptx::Opcode::cos_, {std::cos(x), -std::sin(x) * a.lo}, std::cos(x));
  throw std::logic_error("a function of an Exact that has no value");
}

// log2(e)
Exact log2_of_e() {
  return has_values ? Exact(DoubleDouble{1, 0} / vgpu::kLn2, 0) : Exact(numbers().log2_of_e());
}

}  // namespace

Exact::Exact(double constant) : number_{constant, 0} {
  if (!has_values) of_float_ = numbers().float_of(constant);
}

Exact::Exact(Constant, double number, std::uint64_t bits) : number_{number, 0} {
  if (has_values) return;
  of_float_ = numbers().float_of(number);
  of_integer_ = numbers().integer_of(bits, kConstantBits);
}

Exact::Exact(const ExactValue& datum, bool is_signed) : is_signed_(is_signed) {
  (datum.is_ring() ? of_integer_ : of_float_) = datum;
}

// What is not defined of a kind is no number of that kind.
template <class Operation>
Exact Exact::both(const Exact& a, const Exact& b, Operation operation) {
  Exact result(ExactValue{}, a.is_signed_ && b.is_signed_);
  result.of_float_ = operation(a.of_float_, b.of_float_).value_or(ExactValue{});
  result.of_integer_ = operation(a.of_integer_, b.of_integer_).value_or(ExactValue{});
  return result;
}

Exact operator+(const Exact& a, const Exact& b) {
  if (has_values)
    return value_of(ptx::Opcode::add_, a.number_ + b.number_, a.number_.hi + b.number_.hi,
                    {&a, &b});
  return Exact::both(a, b,
                     [](const ExactValue& x, const ExactValue& y) { return numbers().add(x, y); });
}

Exact operator-(const Exact& a) {
  if (has_values) return Exact(-a.number_, a.bound_);
  return Exact::both(a, a,
                     [](const ExactValue& x, const ExactValue&) { return numbers().negative(x); });
}

Exact operator-(const Exact& a, const Exact& b) { return a + -b; }

Exact operator*(const Exact& a, const Exact& b) {
  if (has_values)
    return value_of(ptx::Opcode::mul_, a.number_ * b.number_, a.number_.hi * b.number_.hi,
                    {&a, &b});
  return Exact::both(
      a, b, [](const ExactValue& x, const ExactValue& y) { return numbers().multiply(x, y); });
}

Exact operator/(const Exact& a, const Exact& b) {
  if (has_values)
    return value_of(ptx::Opcode::div_, a.number_ / b.number_, a.number_.hi / b.number_.hi,
                    {&a, &b});
  return Exact::both(
      a, b, [](const ExactValue& x, const ExactValue& y) { return numbers().divide(x, y); });
}

static Exact extremum(ExactNumbers::Extremum which, const Exact& a, const Exact& b,
                      bool is_signed) {
  const auto of = [&](const ExactValue& x, const ExactValue& y) {
    // A constant has as many bits as what it is compared with.
    const auto fitted = [](const ExactValue& one, const ExactValue& other) {
      return one.is_ring() && other.is_ring() && one.bits > other.bits && !one.is_data
                 ? numbers().narrowed(one, other.bits).value_or(one)
                 : one;
    };
    const bool is_of_signed = is_signed || !x.is_ring();
    return numbers()
        .extremum(which, is_of_signed, fitted(x, y), fitted(y, x))
        .value_or(ExactValue{});
  };
  const ExactValue number = of(a.as_float(), b.as_float());
  return Exact(number.kind != ExactValue::Kind::none ? number : of(a.as_integer(), b.as_integer()),
               is_signed);
}

// As fmin() and fmax(): a NaN is no number.
static Exact extremum_of_values(bool is_greatest, const Exact& a, const Exact& b) {
  const DoubleDouble &x = a.as_number(), &y = b.as_number();
  if (std::isnan(x.hi) || std::isnan(y.hi)) return std::isnan(x.hi) ? b : a;
  const bool is_less = x.hi != y.hi ? x.hi < y.hi : x.lo < y.lo;
  return is_less == is_greatest ? b : a;
}

bool operator==(const Exact& a, const Exact& b) {
  if (has_values) return a.number_.hi == b.number_.hi && a.number_.lo == b.number_.lo;
  const std::optional<bool> outcome = vgpu::outcome_of(ptx::Compare::eq, a.of_float_, b.of_float_);
  if (!outcome)
    throw std::invalid_argument("exact_reference: whether two numbers are equal depends on data");
  return *outcome;
}

Exact min(const Exact& a, const Exact& b) {
  if (has_values) return extremum_of_values(false, a, b);
  return extremum(ExactNumbers::Extremum::least, a, b, a.is_signed_ && b.is_signed_);
}
Exact max(const Exact& a, const Exact& b) {
  if (has_values) return extremum_of_values(true, a, b);
  return extremum(ExactNumbers::Extremum::greatest, a, b, a.is_signed_ && b.is_signed_);
}
std::vector<Exact> sorted(const std::vector<Exact>& list) {
  std::vector<Exact> result = list;
  if (has_values) {
    std::ranges::stable_sort(result, [](const Exact& a, const Exact& b) {
      return a.number_.hi != b.number_.hi ? a.number_.hi < b.number_.hi
                                          : a.number_.lo < b.number_.lo;
    });
    return result;
  }
  const bool is_signed = std::ranges::all_of(list, &Exact::is_signed_);
  const bool is_of_floats = std::ranges::all_of(
      list, [](const Exact& one) { return one.of_float_.kind != ExactValue::Kind::none; });
  std::vector<ExactValue> numbers_of_list;
  for (const Exact& one : list)
    numbers_of_list.push_back(is_of_floats ? one.of_float_ : one.of_integer_);
  numbers_of_list = numbers().sorted(is_of_floats || is_signed, numbers_of_list);
  numbers_of_list.resize(list.size());  // no numbers, if they have no order
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = Exact(numbers_of_list[i], is_signed);
  return result;
}
Exact abs(const Exact& a) {
  if (has_values) return a.number_.hi < 0 ? -a : a;
  return Exact(numbers().absolute(a.of_float_).value_or(ExactValue{}));
}

Exact Exact::function(const char* name, const Exact& a) {
  if (has_values) return value_of_function(name, a);
  return Exact(numbers().function(name, a.of_float_).value_or(ExactValue{}));
}
Exact sqrt(const Exact& a) { return Exact::function("sqrt", a); }
Exact exp2(const Exact& a) { return Exact::function("exp2", a); }
Exact exp(const Exact& a) { return exp2(a * log2_of_e()); }
Exact log(const Exact& a) { return log2(a) / log2_of_e(); }
Exact log2(const Exact& a) { return Exact::function("log2", a); }
Exact sin(const Exact& a) { return Exact::function("sin", a); }
Exact cos(const Exact& a) { return Exact::function("cos", a); }
Exact tanh(const Exact& a) { return Exact::function("tanh", a); }

ExactScope::ExactScope(ExactNumbers& numbers) { numbers_of_thread = &numbers; }
ExactScope::ExactScope(double unit_roundoff, double smallest_normal) {
  has_values = true;
  smallest_of_thread = smallest_normal;
  share_lost_of_thread = unit_roundoff;
}
ExactScope::~ExactScope() {
  numbers_of_thread = nullptr;
  has_values = false;
}

const Exact& ExactData::at(const void* element) const {
  const auto found = numbers_.find(element);
  if (found == numbers_.end()) {
    throw std::invalid_argument(
        "exact_reference: the list is no field of the input, or its elements are no numbers of 2, "
        "4 or 8 bytes");
  }
  return found->second;
}

}  // namespace warpcheck
