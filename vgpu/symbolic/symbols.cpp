#include "vgpu/symbolic/symbols.hpp"

#include <algorithm>
#include <iterator>

namespace warpcheck::vgpu::symbolic {
namespace {

std::string digits_of(Integer value) {
  if (value == 0) return "0";
  const bool negative = value < 0;
  std::string text;
  for (unsigned __int128 rest = negative ? -static_cast<unsigned __int128>(value) : value;
       rest != 0; rest /= 10) {
    text += static_cast<char>('0' + static_cast<int>(rest % 10));
  }
  if (negative) text += '-';
  return {text.rbegin(), text.rend()};
}

// A product of bounds, absent if it may be too large for an Integer.
std::optional<Integer> product(std::optional<Integer> a, std::optional<Integer> b) {
  if (!a || !b) return std::nullopt;
  constexpr Integer kLarge = Integer{1} << 62;
  if (*a > kLarge || *a < -kLarge || *b > kLarge || *b < -kLarge) return std::nullopt;
  return *a * *b;
}

std::optional<Integer> sum(std::optional<Integer> a, std::optional<Integer> b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

Interval times(const Interval& a, const Interval& b) {
  const std::optional<Integer> corners[] = {product(a.low, b.low), product(a.low, b.high),
                                            product(a.high, b.low), product(a.high, b.high)};
  Interval result{corners[0], corners[0]};
  for (const auto& corner : corners) {
    if (!corner) return {};
    result.low = std::min(*result.low, *corner);
    result.high = std::max(*result.high, *corner);
  }
  return result;
}

Integer floor_divide(Integer a, Integer b) { return a / b - (a % b < 0 ? 1 : 0); }

Interval join(const Interval& a, const Interval& b) {
  Interval result;
  if (a.low && b.low) result.low = std::min(*a.low, *b.low);
  if (a.high && b.high) result.high = std::max(*a.high, *b.high);
  return result;
}

}  // namespace

std::optional<Integer> number_in(const z3::expr& term) {
  if (!term.is_numeral()) return std::nullopt;
  const std::string text = term.get_decimal_string(0);
  Integer value = 0;
  for (const char digit : text) {
    if (digit >= '0' && digit <= '9') value = value * 10 + (digit - '0');
  }
  return text[0] == '-' ? -value : value;
}

z3::expr both(const z3::expr& p, const z3::expr& q) {
  if (p.is_true() || q.is_false()) return q;
  if (q.is_true() || p.is_false() || p.id() == q.id()) return p;
  return p && q;
}
z3::expr opposite(const z3::expr& p) {
  if (p.is_true()) return p.ctx().bool_val(false);
  if (p.is_false()) return p.ctx().bool_val(true);
  return p.is_not() ? p.arg(0) : !p;
}
z3::expr either(const z3::expr& p, const z3::expr& q) {
  if (p.is_true() || q.is_false()) return p;
  if (q.is_true() || p.is_false() || p.id() == q.id()) return q;
  if (opposite(p).id() == q.id()) return p.ctx().bool_val(true);
  return p || q;
}
z3::expr choose(const z3::expr& condition, const z3::expr& a, const z3::expr& b) {
  if (condition.is_true() || a.id() == b.id()) return a;
  if (condition.is_false()) return b;
  return z3::ite(condition, a, b);
}

Symbols::Symbols() : kept_(context_) {}

z3::expr Symbols::number(Integer value) { return context_.int_val(digits_of(value).c_str()); }

z3::expr Symbols::symbol(const std::string& name, Level level, Integer low, Integer high) {
  const auto [place, is_new] =
      by_name_.try_emplace(name, static_cast<std::uint32_t>(symbols_.size()));
  if (is_new) {
    const z3::expr term = context_.int_const(name.c_str());
    by_declaration_[term.id()] = place->second;
    kept_.push_back(term);
    symbols_.push_back({.term = term, .level = level, .low = low, .high = high});
  }
  return symbols_[place->second].term;
}

std::optional<z3::expr> differs_from(const Symbol& one, const Symbol& other) {
  if (!one.element || !other.element || one.element->object != other.element->object) {
    return std::nullopt;
  }
  const Symbol::Element &a = *one.element, &b = *other.element;
  return z3::implies(a.is_inside && b.is_inside && a.place != b.place, one.term != other.term);
}

z3::expr Symbols::data(const std::string& name, const ptx::SourceLocation& read_at, Integer low,
                       Integer high) {
  const z3::expr term = symbol(name, Level::thread, low, high);
  Symbol& made = symbols_[index_of(term)];
  made.data = read_at;
  made.is_data = true;
  return term;
}

std::string Symbols::fresh_name(const std::string& stem) {
  return stem + "!" + std::to_string(fresh_++);
}

std::size_t Symbols::index_of(const z3::expr& constant) const {
  return by_declaration_.at(constant.id());
}

const std::vector<std::uint32_t>& Symbols::in(const z3::expr& term) {
  if (const auto known = in_.find(term.id()); known != in_.end()) return known->second;
  std::vector<std::uint32_t> found;
  if (const auto own = by_declaration_.find(term.id()); own != by_declaration_.end()) {
    found.push_back(own->second);
  } else if (term.is_app()) {
    for (unsigned i = 0; i < term.num_args(); ++i) {
      const std::vector<std::uint32_t>& part = in(term.arg(i));
      std::vector<std::uint32_t> all;
      std::ranges::set_union(found, part, std::back_inserter(all));
      found = std::move(all);
    }
  }
  kept_.push_back(term);
  return in_[term.id()] = std::move(found);
}

Level Symbols::level_of(const z3::expr& term) {
  Level level = Level::launch;
  for (const std::uint32_t index : in(term)) level = std::max(level, symbols_[index].level);
  return level;
}

const Symbol* Symbols::data_in(const z3::expr& term) {
  for (const std::uint32_t index : in(term)) {
    if (symbols_[index].is_data) return &symbols_[index];
  }
  return nullptr;
}

Interval Symbols::interval_of(const z3::expr& term) {
  if (const auto value = number_in(term)) return {*value, *value};
  if (const auto own = by_declaration_.find(term.id()); own != by_declaration_.end()) {
    return {symbols_[own->second].low, symbols_[own->second].high};
  }
  if (const auto known = intervals_.find(term.id()); known != intervals_.end())
    return known->second;
  Interval result;
  if (const auto operation = bitwise_of(term)) {
    result = {Integer{0}, power_of_two(operation->second) - 1};
    for (unsigned i = 0; operation->first == BitOp::and_ && i < 2; ++i) {
      const Interval part = interval_of(term.arg(i));
      if (part.low && *part.low >= 0 && part.high) result.high = std::min(*result.high, *part.high);
    }
  } else if (term.is_app()) {
    std::vector<Interval> parts;
    for (unsigned i = 0; i < term.num_args(); ++i) {
      parts.push_back(term.arg(i).is_int() ? interval_of(term.arg(i)) : Interval{});
    }
    switch (term.decl().decl_kind()) {
      case Z3_OP_ADD:
        result = {0, 0};
        for (const Interval& part : parts) {
          result = {sum(result.low, part.low), sum(result.high, part.high)};
        }
        break;
      case Z3_OP_UMINUS: result = times(parts[0], {-1, -1}); break;
      case Z3_OP_SUB:
        result = parts[0];
        for (std::size_t i = 1; i < parts.size(); ++i) {
          const Interval negated = times(parts[i], {-1, -1});
          result = {sum(result.low, negated.low), sum(result.high, negated.high)};
        }
        break;
      case Z3_OP_MUL:
        result = {1, 1};
        for (const Interval& part : parts) result = times(result, part);
        break;
      case Z3_OP_ITE: result = join(parts[1], parts[2]); break;
      case Z3_OP_IDIV:
        if (const auto by = number_in(term.arg(1)); by && *by > 0) {
          if (parts[0].low) result.low = floor_divide(*parts[0].low, *by);
          if (parts[0].high) result.high = floor_divide(*parts[0].high, *by);
        } else if (parts[0].low && *parts[0].low >= 0 && parts[1].low && *parts[1].low > 0) {
          result = {0, parts[0].high};
        }
        break;
      case Z3_OP_MOD:
        if (parts[1].low && *parts[1].low > 0) {
          result.low = 0;
          if (parts[1].high) result.high = *parts[1].high - 1;
          if (parts[0].low && *parts[0].low >= 0 && parts[0].high &&
              (!result.high || *parts[0].high < *result.high)) {
            result.high = parts[0].high;
          }
        }
        break;
      default: break;
    }
  }
  kept_.push_back(term);
  return intervals_[term.id()] = result;
}

namespace {

// A term with the same low bits: x, of x mod 2^m with m >= bits.
z3::expr with_low_bits_of(z3::expr term, unsigned bits) {
  while (term.is_app() && term.decl().decl_kind() == Z3_OP_MOD) {
    const auto modulus = number_in(term.arg(1));
    if (!modulus || *modulus <= 0 || *modulus % power_of_two(bits) != 0) break;
    term = term.arg(0);
  }
  return term;
}

}  // namespace

// The bits of a constant mask: each run of ones is a remainder of a quotient.
z3::expr Symbols::masked(const z3::expr& a, Integer mask, unsigned bits) {
  z3::expr result = number(0);
  for (unsigned low = 0; low < bits;) {
    if ((mask >> low & 1) == 0) {
      ++low;
      continue;
    }
    unsigned high = low;
    while (high < bits && (mask >> high & 1) != 0) ++high;
    const z3::expr whole = with_low_bits_of(a, high);
    const z3::expr shifted =
        low == 0 ? whole : z3::expr(whole / number(power_of_two(low))).simplify();
    const z3::expr run =
        z3::mod(with_low_bits_of(shifted, high - low), number(power_of_two(high - low)));
    result = result + run * number(power_of_two(low));
    low = high;
  }
  return result.simplify();
}

z3::expr Symbols::bitwise(BitOp op, const z3::expr& a, const z3::expr& b, unsigned bits) {
  const auto left = number_in(a), right = number_in(b);
  if (left && right) {
    return number(op == BitOp::and_  ? *left & *right
                  : op == BitOp::or_ ? *left | *right
                                     : *left ^ *right);
  }
  if (left) return bitwise(op, b, a, bits);
  if (right) {
    // a | m = a + m - (a & m); a ^ m = a + m - 2 (a & m)
    const z3::expr common = masked(a, *right, bits);
    if (op == BitOp::and_) return common;
    return a + b - number(op == BitOp::or_ ? 1 : 2) * common;
  }
  const char* const names[] = {"and.", "or.", "xor."};
  const z3::sort integer = context_.int_sort();
  const std::string name = names[static_cast<std::size_t>(op)] + std::to_string(bits);
  return context_.function(name.c_str(), integer, integer, integer)(a, b);
}

std::optional<std::pair<BitOp, unsigned>> Symbols::bitwise_of(const z3::expr& term) const {
  if (!term.is_app() || term.num_args() != 2) return std::nullopt;
  if (term.decl().decl_kind() != Z3_OP_UNINTERPRETED) return std::nullopt;
  const std::string name = term.decl().name().str();
  const auto bits = static_cast<unsigned>(std::stoul(name.substr(name.find('.') + 1)));
  const BitOp op = name[0] == 'a' ? BitOp::and_ : name[0] == 'o' ? BitOp::or_ : BitOp::xor_;
  return std::pair{op, bits};
}

}  // namespace warpcheck::vgpu::symbolic
