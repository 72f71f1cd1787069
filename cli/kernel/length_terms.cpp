#include "cli/kernel/length_terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace warpcheck {
namespace {

constexpr int kFactorsMax = 4;              // batch, channel, row, column
constexpr std::size_t kNamesOfSumsMax = 6;  // more have too many sums

using SampleValues = std::vector<std::int64_t>;

// Nothing: one of them does not fit.
std::optional<SampleValues> combined(const SampleValues& a, const SampleValues& b,
                                     auto&& overflows) {
  SampleValues made(a.size());
  for (std::size_t s = 0; s < a.size(); ++s) {
    if (overflows(a[s], b[s], &made[s])) return std::nullopt;
  }
  return made;
}
std::optional<SampleValues> product(const SampleValues& a, const SampleValues& b) {
  return combined(a, b, [](auto x, auto y, auto* z) { return __builtin_mul_overflow(x, y, z); });
}
std::optional<SampleValues> sum(const SampleValues& a, const SampleValues& b) {
  return combined(a, b, [](auto x, auto y, auto* z) { return __builtin_add_overflow(x, y, z); });
}

}  // namespace

// The smallest function that was offered, of those that are needed by most.
class LengthTerms::Best {
 public:
  explicit Best(const std::vector<Sample>& samples) : samples_(samples) {}

  void offer(const SampleValues& values, auto&& text) {
    std::size_t touching = 0, needing = 0;
    double slack = 0;
    for (std::size_t s = 0; s < samples_.size(); ++s) {
      const std::int64_t extent = samples_[s].extent;
      if (extent == 0) continue;
      if (values[s] < extent) return;
      ++touching;
      if (values[s] == extent) ++needing;
      slack += static_cast<double>(values[s] - extent);
    }
    if (2 * needing < touching || slack >= slack_) return;
    slack_ = slack;
    text_ = text();
  }
  [[nodiscard]] std::optional<Expression> found() const {
    if (text_.empty()) return std::nullopt;
    return Expression(text_);
  }

 private:
  const std::vector<Sample>& samples_;
  double slack_ = std::numeric_limits<double>::max();
  std::string text_;
};

LengthTerms::LengthTerms(const KernelDescription& kernel, const std::vector<Sample>& samples)
    : kernel_(kernel), samples_(samples) {
  const auto widest = std::ranges::max_element(samples, {}, &Sample::extent);
  widest_ = static_cast<std::size_t>(widest - samples.begin());
  for (const ScalarParameter& scalar : kernel.scalars) {
    if (!is_integer(scalar.element) || bytes_of(scalar.element) == 1) continue;
    names_.push_back(scalar.name);
    factors_.push_back(term(scalar.name));
  }
  // An extent that is always 1 says nothing.
  constexpr std::array<std::string_view, 3> kAxes{"x", "y", "z"};
  for (int axis = 0; axis < 3; ++axis) {
    const std::string_view name = kAxes[static_cast<std::size_t>(axis)];
    const bool has_blocks = axis < std::max(kernel.launch.grid_dims, 1);
    const bool has_threads = axis < std::max(kernel.launch.block_dims, 1);
    if (has_blocks) factors_.push_back(term(fmt::format("gridDim.{}", name)));
    if (has_threads) factors_.push_back(term(fmt::format("blockDim.{}", name)));
    if (has_blocks && has_threads) {
      factors_.push_back(term(fmt::format("gridDim.{0} * blockDim.{0}", name)));
    }
  }
}

// A value that does not exist is as good as 0: the function is too small.
LengthTerms::Term LengthTerms::term(const std::string& text) const {
  Term made{.text = text, .values = {}};
  const Expression expression(text);
  for (const Sample& sample : samples_) {
    made.values.push_back(expression.value(names_of(kernel_, sample.input)).value_or(0));
  }
  return made;
}

std::optional<Expression> LengthTerms::needed_by_most() const {
  Best products(samples_);
  for (int factors = 1; factors <= kFactorsMax && !products.found(); ++factors) {
    offer_products(products, {}, 0, factors);
    if (factors == 1 && !products.found()) offer_one_more(products);
  }
  if (products.found()) return products.found();
  Best triangles(samples_);
  for (const std::string& name : names_) {
    for (const char* const form : {"{0} * ({0} + 1) / 2", "{0} * ({0} - 1) / 2"}) {
      const Term triangle = term(fmt::format(fmt::runtime(form), name));
      triangles.offer(triangle.values, [&] { return triangle.text; });
    }
  }
  if (triangles.found()) return triangles.found();
  Best windows(samples_);
  for (const Term& side : sides()) {
    const bool is_window = side.text.find(" + ") != side.text.npos && side.text.ends_with(" - 1");
    const bool is_of_tile = side.is_sum && side.text.find("blockDim") != side.text.npos;
    if (is_window || is_of_tile) offer_window(windows, side);
  }
  if (windows.found()) return windows.found();
  Best of_sums(samples_);
  offer_products_of_sums(of_sums);
  if (of_sums.found()) return of_sums.found();
  Best strided(samples_);
  offer_strided(strided);
  if (strided.found()) return strided.found();
  return with_border();
}

// Where the rows of as many blocks, or numbers, begin and end.
void LengthTerms::offer_one_more(Best& best) const {
  for (const Term& factor : factors_) {
    const auto values = sum(factor.values, SampleValues(samples_.size(), 1));
    if (values) best.offer(*values, [&] { return fmt::format("{} + 1", factor.text); });
  }
}

// A window of no elements over none is empty.
void LengthTerms::offer_window(Best& best, const Term& side) const {
  const bool may_be_negative = side.text.find("blockDim") == std::string::npos;
  SampleValues values = side.values;
  for (std::int64_t& value : values) value = std::max<std::int64_t>(value, 0);
  best.offer(values, [&] {
    return may_be_negative ? fmt::format("{0} > 0 ? {0} : 0", side.text) : side.text;
  });
}

// A matrix, or one with a row more, of which the kernel leaves out a border: its extents are less
// by a row and some elements, or by a plane, a row and some elements.
std::optional<Expression> LengthTerms::with_border() const {
  constexpr std::int64_t kElementsOfBorderMax = 4;  // of a border
  const std::size_t names = std::min(names_.size(), kNamesOfSumsMax);
  std::vector<const Term*> sizes;
  for (std::size_t i = 0; i < names; ++i) sizes.push_back(&factors_[i]);
  std::optional<Expression> found;
  const auto is_bordered = [&](const SampleValues& length, const SampleValues& less) {
    std::size_t touching = 0, needing = 0;
    std::optional<std::int64_t> elements;
    for (std::size_t s = 0; s < samples_.size(); ++s) {
      if (samples_[s].extent == 0) continue;
      ++touching;
      const std::int64_t rest = length[s] - less[s] - samples_[s].extent;
      if (rest < 0) return false;
      if (!elements && rest <= kElementsOfBorderMax) elements = rest;
      if (elements && rest == *elements) ++needing;
    }
    return 2 * needing >= touching && touching >= 8;
  };
  const auto offer = [&](const SampleValues& length, const std::vector<const Term*>& borders,
                         const std::string& text) {
    SampleValues less(samples_.size(), 0);
    for (const Term* const border : borders) {
      for (std::size_t s = 0; s < less.size(); ++s) less[s] += border->values[s];
      if (!found && is_bordered(length, less)) found.emplace(text);
    }
  };
  // By its rows, each `row` behind the one before; of planes, each `plane` behind the one before.
  const auto offer_matrix = [&](const Term& rows, const Term& row,
                                const std::vector<const Term*>& borders) {
    for (const std::int64_t more : {0, 1}) {
      SampleValues count = rows.values;
      for (std::int64_t& one : count) one += more;
      const auto length = product(count, row.values);
      if (!length) continue;
      offer(*length, borders,
            more == 0 ? fmt::format("{} * {}", rows.text, row.text)
                      : fmt::format("({} + 1) * {}", rows.text, row.text));
    }
  };
  for (const Term* const rows : sizes) {
    for (const Term* const row : sizes) {
      if (row == rows) continue;
      offer_matrix(*rows, *row, {row});
      for (const Term* const planes : sizes) {
        if (planes == rows || planes == row) continue;
        const auto values = product(rows->values, row->values);
        if (!values) continue;
        const Term plane{.text = fmt::format("{} * {}", rows->text, row->text), .values = *values};
        offer_matrix(*planes, plane, {row, &plane});
        offer_matrix(*planes, plane, {&plane, row});
      }
    }
  }
  return found;
}

// Products of that many more factors, in the order of the factors.
void LengthTerms::offer_products(Best& best, const Term& so_far, std::size_t first,
                                 int factors) const {
  if (factors == 0) return best.offer(so_far.values, [&] { return so_far.text; });
  for (std::size_t i = first; i < factors_.size(); ++i) {
    if (so_far.text.empty()) {
      offer_products(best, factors_[i], i, factors - 1);
    } else if (auto values = product(so_far.values, factors_[i].values)) {
      const Term longer{.text = fmt::format("{} * {}", so_far.text, factors_[i].text),
                        .values = std::move(*values)};
      offer_products(best, longer, i, factors - 1);
    }
  }
}

// Sides of a matrix: n, n + 2, n / 2, 2 * n + 1, n + 2 * k (a border), n + k - 1 (a window); or of
// a tile: of the threads of a block, or of all, in place of n.
std::vector<LengthTerms::Term> LengthTerms::sides() const {
  std::vector<Term> all(factors_.begin(), factors_.end());
  const std::size_t names = std::min(names_.size(), kNamesOfSumsMax);
  const auto add = [&](const Term& a, const SampleValues& more, std::string text) {
    auto values = sum(a.values, more);
    if (values)
      all.push_back({.text = std::move(text), .values = std::move(*values), .is_sum = true});
  };
  for (std::size_t i = 0; i < names; ++i) {
    for (const char* const form :
         {"{} + 1", "{} + 2", "{} + 4", "{} - 1", "2 * {} + 1", "{} / 2", "({} + 1) / 2"}) {
      all.push_back(term(fmt::format(fmt::runtime(form), names_[i])));
      all.back().is_sum = true;
    }
  }
  const auto is_extent = [](const Term& one) { return one.text.find("blockDim") != one.text.npos; };
  for (std::size_t i = 0; i < factors_.size(); ++i) {
    if (i >= names && !is_extent(factors_[i])) continue;
    const Term& a = factors_[i];
    if (i >= names) add(a, SampleValues(samples_.size(), 2), fmt::format("{} + 2", a.text));
    for (std::size_t j = 0; j < names; ++j) {
      if (i == j) continue;
      const Term& b = factors_[j];
      SampleValues less = b.values, twice = b.values;
      for (std::int64_t& value : less) --value;
      for (std::int64_t& value : twice) value *= 2;
      add(a, twice, fmt::format("{} + 2 * {}", a.text, b.text));
      if (j < i && i < names) continue;
      add(a, b.values, fmt::format("{} + {}", a.text, b.text));
      add(a, less, fmt::format("{} + {} - 1", a.text, b.text));
    }
  }
  return all;
}

// Of two sides, of which one is a sum at least, and a third factor.
void LengthTerms::offer_products_of_sums(Best& best) const {
  const std::vector<Term> all = sides();
  const auto shown = [](const Term& side) {
    return side.is_sum ? fmt::format("({})", side.text) : side.text;
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i; j < all.size(); ++j) {
      if (!all[i].is_sum && !all[j].is_sum) continue;
      const auto area = product(all[i].values, all[j].values);
      if (!area) continue;
      const auto text = [&] { return fmt::format("{} * {}", shown(all[i]), shown(all[j])); };
      best.offer(*area, text);
      for (const Term& factor : factors_) {
        const auto volume = product(*area, factor.values);
        if (volume)
          best.offer(*volume, [&] { return fmt::format("{} * {}", text(), factor.text); });
      }
    }
  }
}

// (count - 1) * stride + last: `last` elements behind each other one, a stride apart.
void LengthTerms::offer_strided(Best& best) const {
  std::vector<Term> lasts = factors_;
  for (std::size_t i = 0; i < factors_.size(); ++i) {
    for (std::size_t j = i; j < factors_.size(); ++j) {
      auto values = product(factors_[i].values, factors_[j].values);
      if (!values) continue;
      lasts.push_back({.text = fmt::format("{} * {}", factors_[i].text, factors_[j].text),
                       .values = std::move(*values)});
    }
  }
  for (const Term& count : factors_) {
    SampleValues steps = count.values;
    for (std::int64_t& step : steps) step = std::max<std::int64_t>(step - 1, 0);
    const bool is_one_at_least =
        count.text.starts_with("gridDim") || count.text.starts_with("block");
    const char* const form =
        is_one_at_least ? "({0} - 1) * {1} + {2}" : "{0} > 0 ? ({0} - 1) * {1} + {2} : 0";
    for (const Term& stride : lasts) {
      const auto begin = product(steps, stride.values);
      if (!begin) continue;
      for (const Term& last : lasts) {
        // Most are too small for the run that touched most.
        if ((*begin)[widest_] + last.values[widest_] < samples_[widest_].extent) continue;
        const auto end = sum(*begin, last.values);
        if (!end) continue;
        best.offer(*end, [&] {
          return fmt::format(fmt::runtime(form), count.text, stride.text, last.text);
        });
      }
    }
  }
}

}  // namespace warpcheck
