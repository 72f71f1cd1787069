#include "harness/prove/points.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>

#include "harness/case/case.hpp"
#include "harness/input/json.hpp"
#include "harness/search/search.hpp"

namespace warpcheck {
namespace {

constexpr std::uint64_t kSamples = 120;
constexpr std::uint32_t kBlockMax = 1'024;

std::uint64_t number_in(const Json& input, const std::string& field) {
  const Json& value = input.at(field);
  return value.is_number_integer() && value >= 0 ? value.get<std::uint64_t>() : UINT64_MAX;
}

std::vector<std::string> fields_of(const Json& input, bool (*holds)(const Json&)) {
  std::vector<std::string> names;
  for (const auto& item : input.items()) {
    if (holds(item.value())) names.push_back(item.key());
  }
  return names;
}

// For its arrays together: the number of distinct elements among the first ones, and of all
// elements.
std::pair<std::size_t, std::size_t> richness(const Json& input) {
  constexpr std::size_t kLookedAt = 1'000;
  std::size_t different = 0, count = 0;
  for (const Json& field : input) {
    if (!field.is_array()) continue;
    const std::size_t some = std::min(field.size(), kLookedAt);
    std::unordered_set<std::size_t> hashes;
    for (std::size_t i = 0; i < some; ++i) hashes.insert(std::hash<Json>{}(field[i]));
    different += hashes.size();
    count += field.size();
  }
  return {different, count};
}

// Returns how many times the product of two numbers the length of an array is in all samples; 0: it
// is no such multiple.
//   second: empty: the first number alone
std::uint64_t elements_each(const std::vector<Json>& samples, const std::string& array,
                            const std::string& first, const std::string& second) {
  std::uint64_t each = 0;
  for (const Json& one : samples) {
    const std::uint64_t a = number_in(one, first), b = second.empty() ? 1 : number_in(one, second);
    const std::uint64_t length = one.at(array).size();
    const std::uint64_t product = a > UINT32_MAX || b > UINT32_MAX ? 0 : a * b;
    if (product == 0 && length == 0) continue;
    if (product == 0 || length == 0 || length % product != 0) return 0;
    if (each != 0 && length / product != each) return 0;
    each = length / product;
  }
  return each;
}

// Returns each * number + plus of the length of an array in all samples; nothing: it is no such
// sum, or the number is the same in all of them.
struct Sum {
  std::uint64_t each = 0, plus = 0;
};
std::optional<Sum> sum_of(const std::vector<Json>& samples, const std::string& array,
                          const std::string& number) {
  const auto length_in = [&](const Json& one) { return std::uint64_t{one.at(array).size()}; };
  const auto [least, most] = std::ranges::minmax_element(
      samples, {}, [&](const Json& one) { return number_in(one, number); });
  const std::uint64_t low = number_in(*least, number), high = number_in(*most, number);
  const std::uint64_t shortest = length_in(*least), longest = length_in(*most);
  if (low == high || high > UINT32_MAX || longest <= shortest) return {};
  const Sum sum{(longest - shortest) / (high - low), 0};
  if (sum.each == 0 || sum.each * low > shortest) return {};
  const std::uint64_t plus = shortest - sum.each * low;
  const bool holds = std::ranges::all_of(samples, [&](const Json& one) {
    return length_in(one) == sum.each * number_in(one, number) + plus;
  });
  return holds ? std::optional<Sum>({sum.each, plus}) : std::nullopt;
}

bool is_same_in_all(const std::vector<Json>& samples, const std::string& array) {
  return std::ranges::all_of(samples, [&](const Json& one) {
    return one.at(array).size() == samples.front().at(array).size();
  });
}

}  // namespace

bool is_launch(const Json& field) {
  return field.is_object() && field.contains("block") && field.contains("grid");
}

std::vector<std::uint32_t> revealing_blocks() {
  std::set<std::uint32_t> blocks{5, 7, 48, 96, 100, 192, 384, 768, 1'000};
  for (std::uint32_t power = 1; power <= kBlockMax; power *= 2) {
    for (const std::uint32_t near : {power - 1, power, power + 1}) {
      if (near >= 1 && near <= kBlockMax) blocks.insert(near);
    }
  }
  return {blocks.begin(), blocks.end()};
}

std::vector<std::uint32_t> all_blocks() {
  std::vector<std::uint32_t> blocks;
  for (std::uint32_t block = 1; block <= kBlockMax; ++block) blocks.push_back(block);
  return blocks;
}

Points::Points(const AnyPair& pair, const PointOptions& options) : pair_(pair) {
  std::vector<AnyInput> inputs;
  std::vector<Json> samples;
  // The input with most distinct elements: a proof for a hundred equal elements says little.
  std::pair<std::size_t, std::size_t> richest;
  std::size_t base = 0;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    inputs.push_back(nth_case(pair, "", {}, 1, i).input);
    samples.push_back(pair.to_json(inputs.back()));
    const auto rich = richness(samples.back());
    if (rich <= richest) continue;
    richest = rich;
    base = i;
  }
  if (samples[base].is_object()) {
    base_ = inputs[base];
    learn_lengths(samples, samples[base]);
    learn_width(samples[base]);
  }
  blocks_ = options.blocks.empty() ? revealing_blocks() : options.blocks;
  if (width_ == Width::none) blocks_ = {0};
}

// One without a constant comes first: what all samples have in common may be chance.  A sum with a
// constant (the rows of a sparse matrix begin at n + 1 places) comes last.
Points::Length Points::length_of(const std::vector<Json>& samples, const std::string& array,
                                 const std::vector<std::string>& numbers) {
  Length found, with_constant;
  found.array = array;
  with_constant.array = array;
  const auto look_at = [&](const std::string& first, const std::string& second) {
    const std::uint64_t each = elements_each(samples, array, first, second);
    if (each != 0) with_constant = {array, first, second, each};
    if (each == 1) found = with_constant;
  };
  for (const std::string& first : numbers) {
    look_at(first, {});
    for (const std::string& second : numbers) look_at(first, second);
  }
  if (!found.first.empty()) return found;
  if (!with_constant.first.empty()) return with_constant;
  for (const std::string& number : numbers) {
    if (const std::optional<Sum> sum = sum_of(samples, array, number))
      return {array, number, {}, sum->each, sum->plus};
  }
  return with_constant;
}

void Points::learn_lengths(const std::vector<Json>& samples, const Json& base) {
  const std::vector<std::string> numbers =
      fields_of(base, [](const Json& value) { return value.is_number_integer(); });
  for (const std::string& array :
       fields_of(base, [](const Json& value) { return value.is_array(); })) {
    Length found = length_of(samples, array, numbers);
    if (!found.first.empty()) size_field_ = found.first;
    if (!found.second.empty()) {
      size_limit_ = 0;
      for (const Json& one : samples)
        size_limit_ = std::max(size_limit_, number_in(one, found.first));
    }
    lengths_.push_back(std::move(found));
  }
  // An array of one length, such as coefficients, is no size if there is another.
  const auto has_one_length = [&](const Length& length) {
    return length.first.empty() && is_same_in_all(samples, length.array);
  };
  if (!std::ranges::all_of(lengths_, has_one_length)) std::erase_if(lengths_, has_one_length);
}

void Points::learn_width(const Json& base) {
  for (const auto& item : base.items()) {
    if (is_launch(item.value())) {
      width_ = Width::launch;
      width_field_ = item.key();
      return;
    }
    const bool is_width = item.value().is_number_integer() && item.key() != size_field_;
    const bool is_named = item.key() == "block" || item.key() == "width" ||
                          item.key() == "threads" || item.key() == "lists";
    if (is_width && is_named) {
      width_ = Width::number;
      width_field_ = item.key();
    }
  }
}

AnyInput Points::edited(const AnyInput& input, const InputEdit& edit) const {
  AnyInput other = pair_.edited(input, edit);
  return other != nullptr && pair_.in_domain(other) ? other : nullptr;
}

// With any launch and width; null: there is none.  Caches the latest size.
const AnyInput& Points::of_size(std::uint32_t size) {
  if (latest_.input != nullptr && latest_.size == size) return latest_.input;
  latest_ = {size, nullptr};
  if (base_ == nullptr || size > size_limit_) return latest_.input;
  std::vector<InputEdit::Size> sizes;
  for (const Length& length : lengths_) {
    std::uint64_t elements = size * length.each;
    if (!length.first.empty()) sizes.push_back({length.first, size});
    if (!length.second.empty()) {
      sizes.push_back({length.second, size});
      elements *= size;
    }
    elements += length.plus;
    sizes.push_back({length.array, elements});
  }
  latest_.input = pair_.edited(base_, {.sizes = sizes});
  return latest_.input;
}

std::vector<Points::Input> Points::inputs(std::uint32_t size, std::uint32_t block) {
  std::vector<Input> found;
  const AnyInput& of = of_size(size);
  if (of == nullptr) return found;
  if (width_ != Width::launch) {
    const InputEdit::Size width{width_field_, block};
    const std::span<const InputEdit::Size> sizes(&width, width_ == Width::number ? 1 : 0);
    if (AnyInput input = edited(of, {.sizes = sizes}))
      found.push_back({{size, block, 0}, std::move(input)});
    return found;
  }
  const std::uint32_t needed = std::max(1u, (size + block - 1) / block);
  std::set<std::uint32_t> grids{needed, needed + 1, 1, (needed + 1) / 2};
  for (const std::uint32_t grid : grids) {
    const InputEdit edit{.launch = InputEdit::Shape{{grid, 1, 1}, {block, 1, 1}}};
    if (AnyInput input = edited(of, edit)) found.push_back({{size, block, grid}, std::move(input)});
    if (found.size() == 2) break;
  }
  return found;
}

}  // namespace warpcheck
