#include "vgpu/program/flow/provenance_values.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace warpcheck::vgpu {
namespace {

constexpr std::size_t kDifferencesMax = 8;
constexpr std::int32_t kCountMax = 64;

RootSum added(const RootSum& a, const RootSum& b, std::int32_t factor) {
  RootSum sum;
  auto x = a.begin();
  for (const RootTerm& term : b) {
    while (x != a.end() && x->root < term.root) sum.push_back(*x++);
    RootTerm both{term.root, factor * term.count};
    if (x != a.end() && x->root == term.root) both.count += x++->count;
    if (both.count != 0) sum.push_back(both);
  }
  sum.insert(sum.end(), x, a.end());
  return sum;
}

// Normalises a sum: sums that are zero at the same time become equal.
RootSum normal(RootSum sum) {
  std::int32_t divisor = 0;
  for (const RootTerm& term : sum) divisor = std::gcd(divisor, term.count);
  if (!sum.empty() && sum.front().count < 0) divisor = -divisor;
  for (RootTerm& term : sum) term.count /= divisor;
  return sum;
}

void insert(Value& value, const RootSum& difference) {
  auto& all = value.made_from.differences;
  const auto at = std::ranges::lower_bound(all, difference);
  if (at == all.end() || *at != difference) all.insert(at, difference);
}

bool is_local(const Value& value) { return value.local.function != ptx::kNone; }

}  // namespace

Values::Values(const Program& program) : program_(program) {
  Value lost, unknown;
  lost.lost = true;
  unknown.unknown = true;
  values_.emplace_back();  // kUnset
  for (const Value& fixed : {Value{}, lost, unknown}) number_of(fixed);
}

std::uint32_t Values::number_of(const Value& value) {
  const auto [known, is_new] =
      numbers_.try_emplace(value, static_cast<std::uint32_t>(values_.size()));
  if (is_new) values_.push_back(value);
  return known->second;
}

std::uint32_t Values::of_root(std::uint32_t root) {
  Value value;
  value.made_from.sum = {{root, 1}};
  return number_of(value);
}

std::uint32_t Values::of_local(std::uint32_t function, std::int64_t offset) {
  Value value;
  value.local = {function, offset, true};
  value.unknown = true;
  return number_of(value);
}

std::uint32_t Values::join(std::uint32_t a, std::uint32_t b) {
  if (a == b || b == kUnset) return a;
  if (a == kUnset) return b;
  Value value = values_[a];
  const Value other = values_[b];
  if (value.part != other.part) return mix({a, b}, value.unknown || other.unknown);
  if (value.local != other.local) {
    if (value.local.function == other.local.function) {
      value.local = {value.local.function, 0, false};
    } else {
      escape(value);
      escape(other);
      value.local = {};
    }
  }
  if (value.word != other.word) value.word = 0;
  const LocalPlace local = std::exchange(value.local, {});
  take(value, {other.made_from, {}, other.part, 0, other.unknown, other.lost});
  value.local = local;
  value.unknown |= other.unknown;
  add_difference(value, added(other.made_from.sum, value.made_from.sum, -1));
  return finished(value);
}

std::uint32_t Values::sum(std::uint32_t a, std::uint32_t b, std::int32_t factor) {
  if (a == kUnset || b == kUnset) return kUnset;
  Value value = values_[a];
  Value other = values_[b];
  if (value.part != Part::whole || other.part != Part::whole) return mix({a, b});
  if (factor > 0 && is_local(other)) std::swap(value, other);
  if (is_local(other)) {  // the distance of two local variables, or nonsense
    if (value.local.function != other.local.function) escape(value), escape(other);
    return factor < 0 && is_local(value) ? kInteger : kLost;
  }
  if (factor < 0 && other.unknown) {
    escape(value);
    return kLost;
  }
  if (is_local(value)) value.local = {value.local.function, 0, false};
  value.word = 0;
  take(value, other);
  value.unknown |= other.unknown;
  value.made_from.sum = added(value.made_from.sum, other.made_from.sum, factor);
  return finished(value);
}

std::uint32_t Values::moved(std::uint32_t a, std::int64_t by) {
  if (a == kUnset || values_[a].part != Part::whole) return sum(a, kInteger, 1);
  const bool moves_local = is_local(values_[a]) && values_[a].local.is_known;
  if (by == 0 || (!moves_local && values_[a].word == 0)) return a;
  Value value = values_[a];
  value.word = 0;
  if (moves_local) value.local.offset += by;
  return number_of(value);
}

std::uint32_t Values::around(std::uint32_t value, std::uint8_t word_bytes) {
  if (value == kUnset) return value;
  Value word = values_[value];
  word.word = word_bytes;
  return number_of(word);
}

std::uint32_t Values::mix(std::span<const std::uint32_t> parts, bool unknown) {
  Value value;
  value.unknown = unknown;
  for (const std::uint32_t part : parts) {
    if (part == kUnset) return kUnset;
    if (part == kInteger || part == kUnknown) continue;
    take(value, values_[part]);
    add_difference(value, values_[part].made_from.sum);
  }
  return finished(value);
}

std::uint32_t Values::part_of(std::uint32_t whole, Part part) {
  if (whole == kUnset || whole == kInteger || whole == kLost) return whole;
  if (values_[whole].part != Part::whole) return mix({whole});
  Value value = values_[whole];
  value.part = part;
  return number_of(value);
}

std::uint32_t Values::joined(std::uint32_t low, std::uint32_t high) {
  if (low == kUnset || high == kUnset) return kUnset;
  Value value = values_[low];
  if (value.part == Part::low && values_[high].part == Part::high) {
    value.part = Part::high;
    if (value == values_[high]) {
      value.part = Part::whole;
      return number_of(value);
    }
  }
  return mix({low, high}, true);
}

std::uint32_t Values::with_differences(std::uint32_t value, std::uint32_t stored) {
  if (stored == kUnset || stored == kInteger) return value;
  Value read = values_[value];
  take(read, values_[stored]);
  return finished(read);
}

std::uint32_t Values::as_stored(std::uint32_t value) {
  if (value == kUnset || value == kInteger || value == kUnknown) return kInteger;
  Value stored;
  const Value& from = values_[value];
  stored.lost = from.lost;
  stored.made_from.differences = from.made_from.differences;
  const auto is_negative = [](const RootTerm& term) { return term.count < 0; };
  if (std::ranges::any_of(from.made_from.sum, is_negative)) {
    add_difference(stored, from.made_from.sum);
  }
  return finished(stored);
}

// Adds `other` to `value`.  If `other` is an address of local memory, it is no longer followed
// there.
void Values::take(Value& value, const Value& other) {
  escape(other);
  value.lost |= other.lost;
  for (const RootSum& one : other.made_from.differences) insert(value, one);
}

void Values::escape(const Value& value) {
  if (is_local(value)) escaped_.insert(value.local.function);
}

void Values::add_difference(Value& value, const RootSum& sum) const {
  if (sum.empty()) return;
  // A sum with parameters may turn out to be an integer, or to be of one object.
  const auto may_vanish = [&](const RootTerm& term) {
    return program_.roots[term.root].kind == Root::Kind::parameter;
  };
  value.lost |= std::ranges::none_of(sum, may_vanish);
  insert(value, normal(sum));
}

std::uint32_t Values::finished(const Value& value) {
  const auto is_large = [](const RootTerm& term) {
    return term.count > kCountMax || term.count < -kCountMax;
  };
  const bool is_lost = value.lost || value.made_from.differences.size() > kDifferencesMax ||
                       std::ranges::any_of(value.made_from.sum, is_large);
  if (is_lost) escape(value);
  if (!is_lost) return number_of(value);
  Value lost = values_[kLost];
  lost.part = value.word == 0 ? Part::whole : value.part;
  lost.word = value.word;
  return number_of(lost);
}

}  // namespace warpcheck::vgpu
