#include "vgpu/check/exact/exact_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace warpcheck::vgpu {
namespace {

constexpr std::uint64_t kFieldLeast = std::uint64_t{1} << 60;
constexpr unsigned kDegreeMax = 0xffff;

std::uint16_t bounded(unsigned degree) {
  return static_cast<std::uint16_t>(std::min(degree, kDegreeMax));
}

// For sums and products of integers: their common number of bits.  A constant has 64 bits; 0: the
// two are different.
unsigned common_bits(const ExactValue& a, const ExactValue& b) {
  if (a.bits == b.bits) return a.bits;
  if (!a.is_data && a.bits > b.bits) return b.bits;
  if (!b.is_data && b.bits > a.bits) return a.bits;
  return 0;
}

}  // namespace

namespace {

constexpr std::uint64_t kSecondLeast = std::uint64_t{1} << 55;
constexpr std::uint64_t kFieldMost = std::uint64_t{1} << 62;
// Coefficients of exponents are ratios of numbers below this, which are degrees of the powers.
constexpr double kRatiosOfExponents = 0x1p26;

// Returns the first prime k * divisor + 1 from kFieldLeast on.
std::uint64_t prime_with(std::uint64_t divisor) {
  std::uint64_t number = (kFieldLeast / (2 * divisor) + 1) * (2 * divisor) + 1;
  while (number < kFieldMost && !PrimeField::is_prime(number)) number += 2 * divisor;
  return number;
}

// Returns a random field of which some field divides the powers, as below.
PrimeField second_field(std::mt19937_64& random) {
  for (;;) {
    const PrimeField field(kSecondLeast + random() % kSecondLeast);
    if (prime_with(field.prime()) < kFieldMost) return field;
  }
}

}  // namespace

ExactNumbers::ExactNumbers(std::uint64_t seed, ExactPowers powers)
    : random_(seed),
      powers_(powers),
      second_(powers == ExactPowers::named ? std::nullopt
                                           : std::optional<PrimeField>(second_field(random_))),
      field_(second_ ? PrimeField(prime_with(second_->prime()))
                     : PrimeField(kFieldLeast + random_() % (kFieldLeast - (kFieldLeast >> 20)))) {
  if (!second_) return;
  const std::uint64_t cofactor = (field_.prime() - 1) / second_->prime();
  do {
    generator_ = field_.power(2 + random_() % (field_.prime() - 2), cofactor);
  } while (generator_ == 1);
}

ExactValue ExactNumbers::new_float() {
  std::uint64_t drawn = 0;
  do {
    drawn = random_() >> 3;
  } while (drawn >= field_.prime());
  const Value value{.kind = Value::Kind::field,
                    .is_data = true,
                    .degree = 1,
                    .payload = drawn,
                    .range = {ExactRange::kNumber}};
  if (second_) set_second(value, random_() % second_->prime());
  return value;
}

std::optional<std::uint64_t> ExactNumbers::second_of(const Value& a) const {
  const auto found = second_ && a.is_field() ? seconds_.find(a.payload) : seconds_.end();
  return found == seconds_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<ExactValue> ExactNumbers::power_of_two(const Value& exponent, double less) {
  if (!exponent.is_field()) return std::nullopt;
  has_powers_ = true;
  const ExactRange range = range_of_function(ExactRange::kPositive, exponent.range);
  const std::optional<std::uint64_t> second = second_of(exponent);
  if (!second) {
    greatest_degree_ = std::max<std::uint64_t>(greatest_degree_, exponent.degree + exponent.below);
    Value result = call("exp2 less " + std::to_string(less), {exponent.payload}, exponent);
    result.range = range;
    return result;
  }
  const std::uint64_t whole = second_->add(*second, second_->value_of(-less));
  const Value result{.kind = Value::Kind::field,
                     .is_data = exponent.is_data,
                     .degree = 1,
                     .payload = field_.power(generator_, whole),
                     .range = range};
  set_second(result, whole == 0 ? 1 : random_() % second_->prime());
  return result;
}

// The toolkit's functions have it in one or two parts.
ExactValue ExactNumbers::log2_of_e() {
  constexpr double kUpper = 0x1.715476p+0, kLower = 0x1.4ae0cp-26;
  switch (powers_) {
    case ExactPowers::named: break;
    case ExactPowers::of_expf: return *add(float_of(kUpper), float_of(kLower));
    case ExactPowers::of_fast: return float_of(kUpper);
  }
  Value result = *function("log2 of e", float_of(1));
  result.range = {ExactRange::kPositive};
  return result;
}

ExactValue ExactNumbers::ring(const GaloisElement& element, unsigned bits, bool is_data,
                              unsigned degree) {
  return {.kind = Value::Kind::ring,
          .is_data = is_data,
          .bits = static_cast<std::uint8_t>(bits),
          .degree = bounded(degree),
          .payload = elements_.number_of(modulo(element, bits))};
}

ExactValue ExactNumbers::new_integer(unsigned bits) {
  return ring(galois_bits(random_()), bits, true, 1);
}

ExactValue ExactNumbers::float_of(double number) {
  if (std::isnan(number)) return {.kind = Value::Kind::not_a_number};
  if (std::isinf(number)) {
    return {.kind = number > 0 ? Value::Kind::plus_infinity : Value::Kind::minus_infinity};
  }
  const Value value{
      .kind = Value::Kind::field, .payload = field_.value_of(number), .range = range_of(number)};
  if (second_) set_second(value, second_->value_of(number));
  return value;
}

ExactValue ExactNumbers::integer_of(std::uint64_t number, unsigned bits) {
  return ring(galois_integer(number), bits, false, 0);
}

std::optional<ExactValue> ExactNumbers::add(const Value& a, const Value& b) {
  const bool is_data = a.is_data || b.is_data;
  if (a.is_ring() && b.is_ring()) {
    const unsigned bits = common_bits(a, b);
    if (bits == 0) return std::nullopt;
    return ring(sum(elements_[a.payload], elements_[b.payload]), bits, is_data,
                std::max(a.degree, b.degree));
  }
  if (!a.is_field() || !b.is_field()) return std::nullopt;
  const Value result{.kind = Value::Kind::field,
                     .is_data = is_data,
                     .degree = bounded(std::max<unsigned>(a.degree + b.below, b.degree + a.below)),
                     .below = bounded(a.below + b.below),
                     .payload = field_.add(a.payload, b.payload),
                     .range = range_of_sum(a.range, b.range)};
  const auto of_a = second_of(a), of_b = second_of(b);
  if (of_a && of_b) set_second(result, second_->add(*of_a, *of_b));
  return result;
}

std::optional<ExactValue> ExactNumbers::negative(const Value& a) {
  Value result = a;
  switch (a.kind) {
    case Value::Kind::field:
      result.payload = field_.negative(a.payload);
      result.range = range_of_negative(a.range);
      if (const auto second = second_of(a)) set_second(result, second_->negative(*second));
      return result;
    case Value::Kind::ring:
      return ring(vgpu::negative(elements_[a.payload]), a.bits, a.is_data, a.degree);
    case Value::Kind::plus_infinity: result.kind = Value::Kind::minus_infinity; return result;
    case Value::Kind::minus_infinity: result.kind = Value::Kind::plus_infinity; return result;
    case Value::Kind::not_a_number:
    case Value::Kind::none: break;
  }
  return std::nullopt;
}

std::optional<ExactValue> ExactNumbers::multiply(const Value& a, const Value& b) {
  const bool is_data = a.is_data || b.is_data;
  if (a.is_ring() && b.is_ring()) {
    const unsigned bits = common_bits(a, b);
    if (bits == 0) return std::nullopt;
    return ring(product(elements_[a.payload], elements_[b.payload]), bits, is_data,
                unsigned{a.degree} + b.degree);
  }
  if (!a.is_field() || !b.is_field()) return std::nullopt;
  const Value result{.kind = Value::Kind::field,
                     .is_data = is_data,
                     .degree = bounded(unsigned{a.degree} + b.degree),
                     .below = bounded(unsigned{a.below} + b.below),
                     .payload = field_.product(a.payload, b.payload),
                     .range = range_of_product(a.range, b.range)};
  const auto of_a = second_of(a), of_b = second_of(b);
  if (of_a && of_b) set_second(result, second_->product(*of_a, *of_b));
  return result;
}

std::optional<ExactValue> ExactNumbers::divide(const Value& a, const Value& b) {
  if (!a.is_field() || !b.is_field() || b.payload == 0) return std::nullopt;
  const Value result{.kind = Value::Kind::field,
                     .is_data = a.is_data || b.is_data,
                     .degree = bounded(unsigned{a.degree} + b.below),
                     .below = bounded(unsigned{a.below} + b.degree),
                     .payload = field_.product(a.payload, field_.inverse(b.payload)),
                     .range = range_of_quotient(a.range, b.range)};
  const auto of_a = second_of(a), of_b = second_of(b);
  if (of_a && of_b && *of_b != 0)
    set_second(result, second_->product(*of_a, second_->inverse(*of_b)));
  return result;
}

ExactValue ExactNumbers::new_like(const Value& like) {
  return like.is_field() ? new_float() : new_integer(like.bits);
}

ExactValue ExactNumbers::call(const std::string& name, const Arguments& arguments,
                              const Value& like) {
  const auto [at, is_new] = calls_.try_emplace({name, arguments});
  if (is_new) {
    at->second = new_like(like);
    at->second.is_data = like.is_data;
    at->second.range = {};
  }
  return at->second;
}

// Of what is known by its name alone: nothing, but for functions of numbers.
static ExactRange range_of_named(const std::string& name, ExactRange argument) {
  if (name == "sqrt") return range_of_root(argument);
  if (name == "log2") return range_of_logarithm(argument);
  if (name == "abs") return range_of_absolute(argument);
  const bool is_total = name == "sin" || name == "cos" || name == "tanh";
  return is_total ? range_of_function(ExactRange::kNumber, argument) : ExactRange{};
}

std::optional<ExactValue> ExactNumbers::function(const std::string& name, const Value& argument) {
  if (!argument.is_field() && !argument.is_ring()) return std::nullopt;
  if (name == "exp2") return power_of_two(argument);
  greatest_degree_ = std::max<std::uint64_t>(greatest_degree_, argument.degree + argument.below);
  Value result = call(name, {argument.payload}, argument);
  result.range = range_of_named(name, argument.range);
  return result;
}

std::optional<ExactValue> ExactNumbers::function(const std::string& name,
                                                 std::span<const Value> arguments) {
  Arguments all;
  Value like{.kind = Value::Kind::field};
  for (const Value& one : arguments) {
    if (!one.is_field()) return std::nullopt;
    greatest_degree_ = std::max<std::uint64_t>(greatest_degree_, one.degree + one.below);
    like.is_data = like.is_data || one.is_data;
    all.push_back(one.payload);
  }
  return call(name, all, like);
}

std::optional<ExactValue> ExactNumbers::indicator(const std::string& comparison, const Value& a,
                                                  const Value& b, unsigned bits) {
  if ((!a.is_field() && !a.is_ring()) || a.kind != b.kind || a.bits != b.bits) return std::nullopt;
  greatest_degree_ =
      std::max<std::uint64_t>(greatest_degree_, std::max(a.degree + a.below, b.degree + b.below));
  Value like = integer_of(0, bits);
  like.is_data = true;
  return call(comparison, {a.payload, b.payload, a.bits, bits}, like);
}

// |x| is a function of the two numbers x and -x.
std::optional<ExactValue> ExactNumbers::absolute(const Value& a) {
  if (!a.is_field()) return std::nullopt;
  Value either = a;
  either.payload = std::min(a.payload, field_.negative(a.payload));
  return function("abs", either);
}

bool ExactNumbers::is_neutral(Extremum which, bool is_signed, const Value& a) {
  const bool is_greatest = which == Extremum::greatest;
  if (a.kind == Value::Kind::not_a_number) return true;
  if (a.kind == Value::Kind::minus_infinity) return is_greatest;
  if (a.kind == Value::Kind::plus_infinity) return !is_greatest;
  if (!a.is_ring() || a.is_data) return false;
  const std::uint64_t ones = ~std::uint64_t{0} >> (64 - a.bits);
  const std::uint64_t sign = std::uint64_t{1} << (a.bits - 1);
  const std::uint64_t neutral =
      is_greatest ? (is_signed ? sign : 0) : (is_signed ? sign - 1 : ones);
  return elements_[a.payload] == galois_integer(neutral);
}

static NumberOrder order_like(const ExactValue& number, bool is_signed) {
  return number.is_field() ? NumberOrder{} : NumberOrder{is_signed, number.bits};
}

// A value that is an extremum stands for the set of numbers of which it is one.
std::optional<ExactValue> ExactNumbers::extremum(Extremum which, bool is_signed, const Value& a,
                                                 const Value& b) {
  const bool is_number = (a.is_field() || a.is_ring()) && a.kind == b.kind && a.bits == b.bits;
  if (is_neutral(which, is_signed, a)) return b;
  if (is_neutral(which, is_signed, b)) return a;
  // What is neutral for the other one is the result.
  const Extremum other_one = which == Extremum::least ? Extremum::greatest : Extremum::least;
  if (is_neutral(other_one, is_signed, a)) return a;
  if (is_neutral(other_one, is_signed, b)) return b;
  if (!is_number) return std::nullopt;
  const std::string name = std::string(which == Extremum::least ? "min" : "max") +
                           (is_signed ? "s" : "u") + std::to_string(a.bits);
  const auto set_of = [&](const Value& value) {
    const auto known = sets_.find({name, value.payload});
    return known == sets_.end() ? Arguments{value.payload} : known->second;
  };
  const Arguments one = set_of(a), other = set_of(b);
  Arguments all;
  std::ranges::set_union(one, other, std::back_inserter(all));
  if (all.size() == 1) return a;
  greatest_degree_ =
      std::max<std::uint64_t>(greatest_degree_, std::max(a.degree + a.below, b.degree + b.below));
  Value like = a;
  like.is_data = a.is_data || b.is_data;
  Value result = all == one ? a : all == other ? b : call(name, all, like);
  result.range = range_of_extremum(which == Extremum::greatest, a.range, b.range);
  sets_.try_emplace({name, result.payload}, std::move(all));
  if (result.payload != a.payload && result.payload != b.payload) {
    network_.add_extremum(order_like(result, is_signed), which == Extremum::greatest,
                          result.payload, a.payload, b.payload);
  }
  return result;
}

std::vector<ExactValue> ExactNumbers::sorted(bool is_signed, const std::vector<Value>& list) {
  Arguments payloads;
  for (const Value& one : list) {
    const bool is_number = one.is_field() || one.is_ring();
    if (!is_number || one.kind != list[0].kind || one.bits != list[0].bits) return {};
    payloads.push_back(one.payload);
    greatest_degree_ = std::max<std::uint64_t>(greatest_degree_, one.degree + one.below);
  }
  if (list.size() < 2) return list;
  Value like = list[0];
  like.is_data = std::ranges::any_of(list, [](const Value& one) { return one.is_data; });
  const NumberOrder order = order_like(like, is_signed);
  std::ranges::sort(payloads);
  const Value whole =
      call("sorted" + std::to_string(order.is_signed) + std::to_string(order.bits), payloads, like);
  std::vector<Value> result;
  Arguments results;
  for (std::size_t rank = 0; rank < list.size(); ++rank) {
    result.push_back(call("element", {whole.payload, rank}, like));
    results.push_back(result.back().payload);
  }
  network_.add_statistics(order, payloads, results);
  return result;
}

std::optional<ExactValue> ExactNumbers::narrowed(const Value& a, unsigned bits) {
  if (!a.is_ring() || bits > a.bits) return std::nullopt;
  return ring(elements_[a.payload], bits, a.is_data, a.degree);
}

bool ExactNumbers::are_equal(const Value& a, const Value& b) {
  if (a.is_ring() && b.is_ring()) {
    const unsigned bits = common_bits(a, b);
    if (bits == 0) return false;
    compared_ += std::max(a.degree, b.degree);
    if (std::max(a.degree, b.degree) == kDegreeMax) return false;
    return modulo(elements_[a.payload], bits) == modulo(elements_[b.payload], bits);
  }
  if (a.kind != b.kind) return false;
  if (a.is_field()) {
    compared_ += std::max(a.degree + b.below, b.degree + a.below);
    const bool is_bounded = std::max({a.degree, a.below, b.degree, b.below}) < kDegreeMax;
    return is_bounded && a.payload == b.payload;
  }
  return a.kind != Value::Kind::none;
}

// The order in which one of two numbers is an expression of minima and maxima.
std::optional<NumberOrder> ExactNumbers::order_of(const Value& a, const Value& b) const {
  for (const Value& one : {a, b}) {
    for (const bool is_signed : {true, false}) {
      const NumberOrder order = order_like(one, is_signed);
      if (one.kind == a.kind && one.bits == b.bits && network_.has(order, one.payload))
        return order;
    }
  }
  return std::nullopt;
}

ExactNumbers::Comparison ExactNumbers::compare(std::span<const std::pair<Value, Value>> pairs) {
  std::map<NumberOrder, std::vector<std::size_t>> by_network;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto& [a, b] = pairs[i];
    if (are_equal(a, b)) continue;
    const bool are_numbers = a.kind == b.kind && a.bits == b.bits && (a.is_field() || a.is_ring());
    const std::optional<NumberOrder> order = are_numbers ? order_of(a, b) : std::nullopt;
    if (!order) return {.kind = Comparison::Kind::different, .pair = i};
    by_network[*order].push_back(i);
  }
  for (const auto& [order, numbers] : by_network) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> questions;
    for (const std::size_t i : numbers)
      questions.emplace_back(pairs[i].first.payload, pairs[i].second.payload);
    ComparisonNetwork::Answer answer = network_.compare(order, questions);
    if (answer.kind == ComparisonNetwork::Answer::Kind::same) continue;
    const bool is_too_large = answer.kind == ComparisonNetwork::Answer::Kind::too_large;
    return {.kind = is_too_large ? Comparison::Kind::not_comparable : Comparison::Kind::different,
            .pair = numbers[answer.pair],
            .inputs = std::move(answer.inputs)};
  }
  return {};
}

// The lemma of Schwartz and Zippel for each comparison, and for each pair of arguments of the same
// function.
double ExactNumbers::error() const {
  const auto arguments = static_cast<double>(calls_.size() + sets_.size());
  const double pairs = arguments * (arguments + 1) / 2;
  const double degrees = compared_ + pairs * static_cast<double>(greatest_degree_);
  return second_ ? degrees * kRatiosOfExponents / static_cast<double>(kSecondLeast)
                 : degrees / static_cast<double>(kFieldLeast);
}

}  // namespace warpcheck::vgpu
