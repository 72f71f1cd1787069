#include "cli/all_sizes/fitted_contract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace warpcheck {
namespace {

using vgpu::symbolic::Condition;
using vgpu::symbolic::ParameterContract;
using vgpu::symbolic::Range;
using vgpu::symbolic::Term;

constexpr std::size_t kLaunchesMin = 6;  // that a relation was observed in
constexpr std::int64_t kMax32 = 2'147'483'647;

// A term and its value in each launch.
struct Quantity {
  Term term;
  std::vector<std::int64_t> values;

  [[nodiscard]] bool is_constant() const {
    return std::ranges::all_of(values, [&](std::int64_t value) { return value == values[0]; });
  }
};

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

Quantity product(const Quantity& a, const Quantity& b) {
  Quantity result{a.term * b.term, {}};
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    result.values.push_back(a.values[i] * b.values[i]);
  }
  return result;
}

// c * term + d
Term scaled(std::int64_t c, const Term& term, std::int64_t d) {
  Term result = c == 1 ? term : Term::constant(c) * term;
  return d == 0 ? result : result + Term::constant(d);
}

class Fit {
 public:
  Fit(std::vector<const ObservedLaunch*> launches, const DomainLimits& limits)
      : launches_(std::move(launches)), limits_(limits) {}

  FittedKernel run() {
    const ObservedLaunch& first = *launches_[0];
    result_ = {first.kernel, first.ptx, {}, {}, launches_.size(), {}, {}};
    find_launch();
    for (std::size_t i = 0; i < first.layout.size(); ++i) find_scalar(i);
    find_products();
    for (std::size_t i = 0; i < first.layout.size(); ++i) find_array(i);
    result_.contract.launch.dynamic_shared_bytes = fitted(dynamic_shared());
    find_relations();
    return std::move(result_);
  }

  // Which parameters are addresses of arrays.
  static std::vector<bool> pointers_of(const std::vector<const ObservedLaunch*>& launches) {
    std::vector<bool> are_pointers;
    for (std::size_t i = 0; i < launches[0]->layout.size(); ++i) {
      bool is_pointer = false;
      for (const ObservedLaunch* launch : launches) {
        is_pointer |= launch->layout[i].bytes == 8 && extent_of(*launch, bits_of(*launch, i)) > 0;
      }
      are_pointers.push_back(is_pointer);
    }
    return are_pointers;
  }

  static std::uint64_t bits_of(const ObservedLaunch& launch, std::size_t parameter) {
    std::uint64_t bits = 0;
    const vgpu::Parameter& at = launch.layout[parameter];
    std::memcpy(&bits, launch.parameters.data() + at.offset, std::min<std::size_t>(at.bytes, 8));
    return bits;
  }

  // The bytes from an address to the end of its array; 0: it is in none.
  static std::int64_t extent_of(const ObservedLaunch& launch, std::uint64_t address) {
    auto after = launch.allocations.upper_bound(address);
    if (after == launch.allocations.begin()) return 0;
    --after;
    const std::uint64_t end = after->first + after->second;
    return address < end ? static_cast<std::int64_t>(end - address) : 0;
  }

 private:
  void add(const std::string& name, std::vector<std::int64_t> values) {
    Quantity quantity{Term::name(name), std::move(values)};
    if (!quantity.is_constant()) quantities_.push_back(std::move(quantity));
  }

  template <class Get>
  std::vector<std::int64_t> each(Get get) const {
    std::vector<std::int64_t> values;
    for (const ObservedLaunch* launch : launches_) {
      values.push_back(static_cast<std::int64_t>(get(*launch)));
    }
    return values;
  }

  [[nodiscard]] std::vector<std::int64_t> dynamic_shared() const {
    return each([](const ObservedLaunch& one) { return one.dynamic_shared_bytes; });
  }

  void find_launch() {
    using Axis = std::uint32_t Dim3::*;
    constexpr std::pair<const char*, Axis> kAxes[] = {
        {"x", &Dim3::x}, {"y", &Dim3::y}, {"z", &Dim3::z}};
    for (std::size_t i = 0; i < 3; ++i) {
      const char* const name = kAxes[i].first;
      const Axis axis = kAxes[i].second;
      const auto range = [](const std::vector<std::int64_t>& values, std::int64_t high) {
        const auto [least, most] = std::ranges::minmax(values);
        return least == most ? Range{least, least} : Range{1, high};
      };
      const auto block = each([&](const ObservedLaunch& one) { return one.block.*axis; });
      const auto grid = each([&](const ObservedLaunch& one) { return one.grid.*axis; });
      result_.contract.launch.block[i] = range(block, i == 2 ? 64 : limits_.block_max);
      result_.contract.launch.grid[i] = range(grid, i == 0 ? limits_.grid_max : 65'535);
      add(fmt::format("blockDim.{}", name), block);
      add(fmt::format("gridDim.{}", name), grid);
    }
  }

  void find_scalar(std::size_t i) {
    const ObservedLaunch& first = *launches_[0];
    ParameterContract& made = result_.contract.parameters.emplace_back();
    made.name = fmt::format("arg{}", i);
    const std::uint32_t bytes = first.layout[i].bytes;
    if (pointers_of(launches_)[i]) {
      made.kind = ParameterContract::Kind::pointer;
      return;
    }
    if (bytes != 4 && bytes != 8) return;
    made.kind = ParameterContract::Kind::scalar;
    const auto values = each([&](const ObservedLaunch& one) {
      const std::uint64_t bits = bits_of(one, i);
      return bytes == 4 ? static_cast<std::int32_t>(bits) : static_cast<std::int64_t>(bits);
    });
    const auto [least, most] = std::ranges::minmax(values);
    // Numbers that are no sizes: a float, an unknown pointer.
    constexpr std::int64_t kSizeMax = 1 << 24;
    if (least < 0 || most > kSizeMax) {
      made.kind = bytes == 8 ? ParameterContract::Kind::unknown : made.kind;
      made.range = {-kMax32 - 1, kMax32};
      return;
    }
    if (least == most && values.size() >= kLaunchesMin) {
      made.range = {least, least};
      return;
    }
    made.range = {std::min<std::int64_t>(least, 1), limits_.elements_max};
    if (limits_.elements_max >= kMax32) result_.unlimited.push_back(i);
    add(made.name, values);
  }

  void find_products() {
    bases_ = quantities_;
    for (std::size_t i = 0; i < quantities_.size(); ++i) {
      for (std::size_t j = i; j < quantities_.size(); ++j) {
        bases_.push_back(product(quantities_[i], quantities_[j]));
      }
    }
  }

  // A term with these values, or, if there is none, the largest one that is nowhere larger.
  Term fitted(const std::vector<std::int64_t>& values) {
    if (std::ranges::all_of(values, [&](std::int64_t value) { return value == values[0]; })) {
      return Term::constant(values[0]);
    }
    for (const bool without_constant : {true, false}) {
      for (const Quantity& base : bases_) {
        if (auto found = affine(base, values, without_constant)) return *found;
      }
    }
    Term best = Term::constant(std::ranges::min(values));
    std::optional<double> least_slack;
    for (const Quantity& base : bases_) {
      for (const std::int64_t c : {16, 12, 8, 4, 2, 1}) {
        double slack = 0;
        bool fits = true;
        for (std::size_t i = 0; i < values.size(); ++i) {
          fits &= values[i] >= c * base.values[i];
          slack += static_cast<double>(values[i] - c * base.values[i]);
        }
        if (!fits) continue;
        if (!least_slack || slack < *least_slack) {
          least_slack = slack;
          best = scaled(c, base.term, 0);
        }
        break;
      }
    }
    return best;
  }

  static std::optional<Term> affine(const Quantity& base, const std::vector<std::int64_t>& values,
                                    bool without_constant) {
    std::optional<std::int64_t> c;
    for (std::size_t i = 1; i < values.size() && !c; ++i) {
      const std::int64_t run = base.values[i] - base.values[0];
      if (run != 0) c = (values[i] - values[0]) / run;
    }
    if (!c || *c < 1) return std::nullopt;
    const std::int64_t d = values[0] - *c * base.values[0];
    if (without_constant && d != 0) return std::nullopt;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] != *c * base.values[i] + d) return std::nullopt;
    }
    return scaled(*c, base.term, d);
  }

  // Pointers into one allocation share an array if they are the same address everywhere; otherwise
  // each array ends where the next one begins.
  void find_array(std::size_t i) {
    ParameterContract& made = result_.contract.parameters[i];
    if (made.kind != ParameterContract::Kind::pointer) return;
    const std::vector<bool> are_pointers = pointers_of(launches_);
    std::uint64_t alignment = 256;
    const auto extents = each([&](const ObservedLaunch& one) {
      const std::uint64_t address = bits_of(one, i);
      std::int64_t extent = extent_of(one, address);
      for (std::size_t j = 0; j < are_pointers.size(); ++j) {
        const std::uint64_t other = are_pointers[j] ? bits_of(one, j) : 0;
        if (other > address && extent_of(one, other) > 0) {
          extent = std::min(extent, static_cast<std::int64_t>(other - address));
        }
      }
      if (extent > 0) alignment = std::min(alignment, address & (~address + 1));
      return extent;
    });
    made.alignment = static_cast<std::uint32_t>(alignment);
    made.bytes = fitted(extents);
    for (std::size_t j = 0; j < i; ++j) {
      if (!are_pointers[j]) continue;
      const bool is_same = std::ranges::all_of(launches_, [&](const ObservedLaunch* one) {
        return bits_of(*one, i) == bits_of(*one, j) || extent_of(*one, bits_of(*one, i)) == 0;
      });
      if (!is_same) continue;
      result_.contract.parameters[j].array = made.array = static_cast<int>(j);
      break;
    }
  }

  void relate(const Quantity& left, Condition::Relation relation, const Quantity& right) {
    using Relation = Condition::Relation;
    if (launches_.size() < kLaunchesMin) return;
    for (std::size_t i = 0; i < left.values.size(); ++i) {
      const std::int64_t a = left.values[i], b = right.values[i];
      if (relation == Condition::Relation::equal ? a != b : a > b) return;
    }
    const Condition found{left.term, relation, right.term};
    const Condition same{left.term, Relation::equal, right.term};
    const auto is_known = [&](const Condition& one) { return one == found || one == same; };
    if (std::ranges::none_of(result_.relations, is_known)) result_.relations.push_back(found);
  }

  // c * a
  static Quantity times(std::int64_t c, const Quantity& a) {
    Quantity result{scaled(c, a.term, 0), a.values};
    for (std::int64_t& value : result.values) value *= c;
    return result;
  }
  // ceil(a / b), and (a + b - 1) / b as a term.
  static std::optional<Quantity> quotient(const Quantity& a, const Quantity& b) {
    Quantity result{Term::of(Term::Kind::divide, a.term + b.term - Term::constant(1), b.term), {}};
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      if (b.values[i] < 1) return std::nullopt;
      result.values.push_back(ceil_divide(a.values[i], b.values[i]));
    }
    return result;
  }

  void find_relations() {
    using Relation = Condition::Relation;
    for (std::size_t i = 0; i < quantities_.size(); ++i) {
      const Quantity& a = quantities_[i];
      const bool is_scalar = a.term.text.starts_with("arg");
      const bool is_grid = a.term.text.starts_with("gridDim");
      for (std::size_t j = 0; j < quantities_.size(); ++j) {
        const Quantity& b = quantities_[j];
        if (i == j) continue;
        if (i < j) relate(a, Relation::equal, b);
        // A grid that covers a size, of the blocks' width or a fixed one.
        if (is_grid || is_scalar) relate_quotients(a, b);
        if (!is_scalar && !is_grid) continue;
        const std::size_t before = result_.relations.size();
        for (const std::int64_t c : {1, 2}) {
          const bool is_extent = !b.term.text.starts_with("arg");
          if (is_extent && result_.relations.size() == before)
            relate(a, Relation::less_or_equal, times(c, b));
        }
      }
      if (is_grid) relate_to_fixed_blocks(a);
      if (!is_scalar) continue;
      for (std::size_t j = 0; j < quantities_.size(); ++j) {
        for (std::size_t k = j + 1; k < quantities_.size(); ++k) {
          const bool are_extents = !quantities_[j].term.text.starts_with("arg") &&
                                   !quantities_[k].term.text.starts_with("arg");
          if (are_extents) {
            relate(a, Relation::less_or_equal, product(quantities_[j], quantities_[k]));
          }
        }
      }
    }
  }

  void relate_quotients(const Quantity& a, const Quantity& b) {
    using Relation = Condition::Relation;
    for (const Quantity& width : quantities_) {
      for (const std::int64_t c : {1, 2, 4}) {
        if (width.term == a.term || width.term == b.term) continue;
        if (const auto q = quotient(b, times(c, width))) relate(a, Relation::equal, *q);
      }
    }
  }

  // A grid that covers a size, or a product of sizes, with blocks of one width.
  void relate_to_fixed_blocks(const Quantity& grid) {
    for (const Quantity& base : bases_) {
      for (const Range& block : result_.contract.launch.block) {
        if (block.low != block.high || block.low == 1) continue;
        for (const std::int64_t c : {1, 2, 4}) {
          const Quantity width{Term::constant(c * block.low),
                               std::vector<std::int64_t>(base.values.size(), c * block.low)};
          if (const auto q = quotient(base, width)) relate(grid, Condition::Relation::equal, *q);
        }
      }
    }
  }

  std::vector<const ObservedLaunch*> launches_;
  const DomainLimits& limits_;
  FittedKernel result_;
  std::vector<Quantity> quantities_;  // scalars and extents that vary
  std::vector<Quantity> bases_;       // and their products
};

// Which pointers are the same address, in words.
std::string sharing_of(const ObservedLaunch& launch, const std::vector<bool>& are_pointers) {
  std::string text;
  for (std::size_t i = 0; i < are_pointers.size(); ++i) {
    for (std::size_t j = i + 1; j < are_pointers.size(); ++j) {
      if (!are_pointers[i] || !are_pointers[j]) continue;
      const std::uint64_t a = Fit::bits_of(launch, i), b = Fit::bits_of(launch, j);
      if (a == b && Fit::extent_of(launch, a) > 0) text += fmt::format("{}={} ", i, j);
    }
  }
  return text;
}

}  // namespace

std::vector<FittedKernel> fit_contracts(const std::vector<ObservedLaunch>& launches,
                                        const DomainLimits& limits) {
  std::vector<std::pair<std::string, std::vector<const ObservedLaunch*>>> kernels;
  const auto add = [](auto& groups, const std::string& key, const ObservedLaunch& launch) {
    const auto known = std::ranges::find(groups, key, [](const auto& one) { return one.first; });
    if (known != groups.end()) return known->second.push_back(&launch);
    groups.push_back({key, {&launch}});
  };
  for (const ObservedLaunch& launch : launches) add(kernels, launch.kernel, launch);
  std::vector<FittedKernel> fitted;
  for (const auto& [kernel, all] : kernels) {
    const std::vector<bool> are_pointers = Fit::pointers_of(all);
    decltype(kernels) groups;
    for (const ObservedLaunch* launch : all)
      add(groups, sharing_of(*launch, are_pointers), *launch);
    for (const auto& [sharing, some] : groups) fitted.push_back(Fit(some, limits).run());
  }
  return fitted;
}

}  // namespace warpcheck
