#include "harness/pair/exact.hpp"

#include <stdexcept>

#include "vgpu/check/exact/exact_numbers.hpp"

namespace warpcheck {
namespace {

using vgpu::ExactNumbers;
using vgpu::ExactValue;

thread_local ExactNumbers* numbers_of_thread = nullptr;

ExactNumbers& numbers() {
  if (numbers_of_thread == nullptr)
    throw std::logic_error("an Exact is used outside of an exact reference");
  return *numbers_of_thread;
}

constexpr unsigned kConstantBits = 64;

}  // namespace

Exact::Exact(double constant) : of_float_(numbers().float_of(constant)) {}

Exact::Exact(Constant, double number, std::uint64_t bits)
    : of_float_(numbers().float_of(number)),
      of_integer_(numbers().integer_of(bits, kConstantBits)) {}

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
  return Exact::both(a, b,
                     [](const ExactValue& x, const ExactValue& y) { return numbers().add(x, y); });
}

Exact operator-(const Exact& a) {
  return Exact::both(a, a,
                     [](const ExactValue& x, const ExactValue&) { return numbers().negative(x); });
}

Exact operator-(const Exact& a, const Exact& b) { return a + -b; }

Exact operator*(const Exact& a, const Exact& b) {
  return Exact::both(
      a, b, [](const ExactValue& x, const ExactValue& y) { return numbers().multiply(x, y); });
}

Exact operator/(const Exact& a, const Exact& b) {
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

Exact min(const Exact& a, const Exact& b) {
  return extremum(ExactNumbers::Extremum::least, a, b, a.is_signed_ && b.is_signed_);
}
Exact max(const Exact& a, const Exact& b) {
  return extremum(ExactNumbers::Extremum::greatest, a, b, a.is_signed_ && b.is_signed_);
}
Exact abs(const Exact& a) { return Exact(numbers().absolute(a.of_float_).value_or(ExactValue{})); }

Exact Exact::function(const char* name, const Exact& a) {
  return Exact(numbers().function(name, a.of_float_).value_or(ExactValue{}));
}
Exact sqrt(const Exact& a) { return Exact::function("sqrt", a); }
Exact exp2(const Exact& a) { return Exact::function("exp2", a); }
Exact log2(const Exact& a) { return Exact::function("log2", a); }
Exact sin(const Exact& a) { return Exact::function("sin", a); }
Exact cos(const Exact& a) { return Exact::function("cos", a); }
Exact tanh(const Exact& a) { return Exact::function("tanh", a); }

ExactScope::ExactScope(ExactNumbers& numbers) { numbers_of_thread = &numbers; }
ExactScope::~ExactScope() { numbers_of_thread = nullptr; }

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
