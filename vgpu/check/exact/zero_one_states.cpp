#include "vgpu/check/exact/zero_one_states.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace warpcheck::vgpu {
namespace {

using Bits = std::vector<std::uint64_t>;
constexpr std::size_t kWordBits = 64;

std::size_t words_for(std::size_t bits) { return (bits + kWordBits - 1) / kWordBits; }
bool bit_of(const Bits& bits, std::size_t at) {
  return (bits[at / kWordBits] >> at % kWordBits & 1) != 0;
}
void set_bit(Bits& bits, std::size_t at) {
  bits[at / kWordBits] |= std::uint64_t{1} << at % kWordBits;
}

// Sets bits [at, at + count).
void set_range(Bits& bits, std::size_t at, std::size_t count) {
  for (; count != 0;) {
    const std::size_t first = at % kWordBits, some = std::min(count, kWordBits - first);
    bits[at / kWordBits] |= (~std::uint64_t{0} >> (kWordBits - some)) << first;
    at += some;
    count -= some;
  }
}
// Adds the first `count` bits of `from` at `at`, where there are zeros.
void add_range(Bits& bits, std::size_t at, const Bits& from, std::size_t count) {
  for (std::size_t word = 0; word < words_for(count); ++word, at += kWordBits) {
    const std::size_t first = at % kWordBits;
    bits[at / kWordBits] |= from[word] << first;
    const std::uint64_t rest = first == 0 ? 0 : from[word] >> (kWordBits - first);
    if (rest != 0) bits[at / kWordBits + 1] |= rest;
  }
}

// Rows of a product of states: state a * others + b is state a of one and b of the other.
Bits repeat_each(const Bits& row, std::size_t states, std::size_t others) {
  Bits result(words_for(states * others));
  for (std::size_t state = 0; state < states; ++state) {
    if (bit_of(row, state)) set_range(result, state * others, others);
  }
  return result;
}
Bits repeat_all(const Bits& row, std::size_t states, std::size_t others) {
  Bits result(words_for(states * others));
  for (std::size_t i = 0; i < others; ++i) add_range(result, i * states, row, states);
  return result;
}

}  // namespace

void ZeroOneStates::add_free(Node node) {
  component_[node] = components_.size();
  Component& component = components_.emplace_back();
  component.states = 2;
  component.used[node] = component.free[node] = Bits{0b10};
}

void ZeroOneStates::drop(Node node) {
  const auto found = component_.find(node);
  Component& component = components_[found->second];
  component.used.erase(node);
  component.has_dropped = true;
  component_.erase(found);
}

void ZeroOneStates::count(Node node, std::uint32_t list, std::uint32_t times) {
  const std::size_t number = component_.at(node);
  Component& component = components_[number];
  std::vector<std::uint32_t>& ones = component.ones[list];
  ones.resize(component.states);
  for (std::size_t state = 0; state < component.states; ++state)
    if (bit_of(component.used.at(node), state)) ones[state] += times;
  auto& numbers = of_list_[list];
  if (std::ranges::find(numbers, number) == numbers.end()) numbers.push_back(number);
}

// States that differ in nothing that is used become one.
void ZeroOneStates::make_different(Component& component) {
  if (!component.has_dropped) return;
  component.has_dropped = false;
  const std::size_t words = words_for(component.used.size()), lists = component.ones.size();
  const std::size_t width = words + lists;
  std::vector<std::uint64_t> columns(component.states * width);
  std::size_t number = 0;
  for (const auto& [node, row] : component.used) {
    const std::uint64_t mask = std::uint64_t{1} << number % kWordBits;
    for (std::size_t word = 0; word < row.size(); ++word) {
      for (std::uint64_t rest = row[word]; rest != 0; rest &= rest - 1) {
        const std::size_t state =
            word * kWordBits + static_cast<std::size_t>(std::countr_zero(rest));
        columns[state * width + number / kWordBits] |= mask;
      }
    }
    ++number;
  }
  number = words;
  for (const auto& [list, ones] : component.ones) {
    for (std::size_t state = 0; state < component.states; ++state)
      columns[state * width + number] = ones[state];
    ++number;
  }
  const auto order_of = [&](std::uint32_t a, std::uint32_t b) {
    return std::memcmp(&columns[a * width], &columns[b * width], 8 * width);
  };
  std::vector<std::uint32_t> kept(component.states);
  std::iota(kept.begin(), kept.end(), 0U);
  if (width != 0) {
    std::ranges::sort(kept, [&](std::uint32_t a, std::uint32_t b) {
      const int order = order_of(a, b);
      return order != 0 ? order < 0 : a < b;
    });
    kept.erase(std::unique(kept.begin(), kept.end(),
                           [&](std::uint32_t a, std::uint32_t b) { return order_of(a, b) == 0; }),
               kept.end());
    std::ranges::sort(kept);
  } else {
    kept.resize(1);
  }
  keep_states(component, kept);
}

void ZeroOneStates::keep_states(Component& component, const std::vector<std::uint32_t>& kept) {
  if (kept.size() == component.states) return;
  for (auto* const rows : {&component.used, &component.free}) {
    for (auto& [node, row] : *rows) {
      Bits fewer(words_for(kept.size()));
      for (std::size_t i = 0; i < kept.size(); ++i)
        if (bit_of(row, kept[i])) set_bit(fewer, i);
      row = std::move(fewer);
    }
  }
  for (auto& [list, ones] : component.ones) {
    std::vector<std::uint32_t> fewer;
    for (const std::uint32_t state : kept) fewer.push_back(ones[state]);
    ones = std::move(fewer);
  }
  component.states = kept.size();
}

bool ZeroOneStates::join(Node a, Node b) {
  return join_components(component_.at(a), component_.at(b));
}

bool ZeroOneStates::join_list(std::uint32_t list) {
  const std::vector<std::size_t> numbers = of_list_[list];
  for (const std::size_t number : numbers) {
    if (!join_components(numbers.front(), number)) return false;
  }
  return true;
}

bool ZeroOneStates::join_components(std::size_t into, std::size_t other) {
  if (into == other) return true;
  Component &a = components_[into], &b = components_[other];
  make_different(a);
  make_different(b);
  const std::size_t rows = a.used.size() + a.free.size() + b.used.size() + b.free.size() +
                           32 * (a.ones.size() + b.ones.size());
  if (a.states > states_max_ / b.states || a.states * b.states > kBitsMax / rows) return false;
  for (const auto part : {&Component::used, &Component::free}) {
    for (auto& [node, row] : a.*part) row = repeat_each(row, a.states, b.states);
    for (auto& [node, row] : b.*part) (a.*part).emplace(node, repeat_all(row, b.states, a.states));
  }
  std::map<std::uint32_t, std::vector<std::uint32_t>> ones;
  const auto add_ones = [&](const Component& from, auto state_of) {
    for (const auto& [list, counts] : from.ones) {
      std::vector<std::uint32_t>& sum = ones[list];
      sum.resize(a.states * b.states);
      for (std::size_t state = 0; state < sum.size(); ++state)
        sum[state] += counts[state_of(state)];
    }
  };
  add_ones(a, [&](std::size_t state) { return state / b.states; });
  add_ones(b, [&](std::size_t state) { return state % b.states; });
  for (const auto& [node, row] : b.used) component_[node] = into;
  for (const auto& [list, counts] : b.ones) {
    auto& numbers = of_list_[list];
    std::erase(numbers, other);
    if (std::ranges::find(numbers, into) == numbers.end()) numbers.push_back(into);
  }
  a.ones = std::move(ones);
  a.states *= b.states;
  b = {};
  return true;
}

void ZeroOneStates::add_extremum(Node node, bool is_greatest, Node a, Node b) {
  const std::size_t number = component_.at(a);
  Component& component = components_[number];
  const Bits &of_a = component.used.at(a), &of_b = component.used.at(b);
  Bits row(of_a.size());
  for (std::size_t word = 0; word < row.size(); ++word)
    row[word] = is_greatest ? of_a[word] | of_b[word] : of_a[word] & of_b[word];
  component.used.emplace(node, std::move(row));
  component_[node] = number;
}

void ZeroOneStates::add_statistic(Node node, std::uint32_t list, std::size_t ones) {
  const std::size_t number = of_list_.at(list).front();
  Component& component = components_[number];
  Bits row(words_for(component.states));
  const std::vector<std::uint32_t>& counts = component.ones.at(list);
  for (std::size_t state = 0; state < component.states; ++state)
    if (counts[state] >= ones) set_bit(row, state);
  component.used.emplace(node, std::move(row));
  component_[node] = number;
}

std::optional<std::vector<std::pair<ZeroOneStates::Node, bool>>> ZeroOneStates::difference(
    Node a, Node b) const {
  const Component& component = component_of(a);
  const Bits &of_a = component.used.at(a), &of_b = component.used.at(b);
  for (std::size_t state = 0; state < component.states; ++state) {
    if (bit_of(of_a, state) == bit_of(of_b, state)) continue;
    std::vector<std::pair<Node, bool>> inputs;
    for (const auto& [node, row] : component.free) inputs.emplace_back(node, bit_of(row, state));
    return inputs;
  }
  return std::nullopt;
}

}  // namespace warpcheck::vgpu
