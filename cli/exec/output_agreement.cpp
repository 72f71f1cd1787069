#include "cli/exec/output_agreement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck {
namespace {

// "sum.cu:12 red.global.add.f32"
bool adds_floats(std::string_view instruction) {
  constexpr std::array<std::string_view, 6> kTypes{".f32",  ".f64",   ".f16",
                                                   ".bf16", ".f16x2", ".bf16x2"};
  return instruction.find(".add.") != std::string_view::npos &&
         std::ranges::any_of(kTypes,
                             [&](std::string_view type) { return instruction.ends_with(type); });
}

bool adds_floats_atomically(const RunOutput& run) {
  return std::ranges::any_of(run.processes, [](const RunOutput::Process& process) {
    return std::ranges::any_of(process.kernels, [](const RunOutput::Kernel& kernel) {
      return adds_floats(kernel.sees_order);
    });
  });
}

template <typename Float>
std::vector<Float> numbers_in(const std::string& bytes) {
  std::vector<Float> numbers(bytes.size() / sizeof(Float));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Float));
  return numbers;
}

// Returns whether bytes that differ are numbers of this type that are near each other.  Small
// integers are subnormal numbers, and are never near.
template <typename Float>
bool are_near(const std::string& a, const std::string& b) {
  if (a.size() % sizeof(Float) != 0) return false;
  const std::vector<Float> first = numbers_in<Float>(a), other = numbers_in<Float>(b);
  const auto is_number = [](Float x) { return std::isnormal(x) || x == 0; };
  Float largest = 0;
  for (const Float x : first) {
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  }
  const Float near = std::ldexp(largest, -std::numeric_limits<Float>::digits / 2);
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (std::memcmp(&first[i], &other[i], sizeof(Float)) == 0) continue;
    if (!is_number(first[i]) || !is_number(other[i])) return false;
    if (!(std::abs(first[i] - other[i]) <= near)) return false;
  }
  return true;
}

}  // namespace

bool differ_in_rounding(const RunOutput& a, const RunOutput& b, std::span<const OutputKey> keys) {
  if (!adds_floats_atomically(a)) return false;
  return std::ranges::all_of(keys, [&](const OutputKey& key) {
    if (key.kind != OutputKey::Kind::copy && key.kind != OutputKey::Kind::memory) return false;
    const std::string first = kept_bytes(a, key.process, arrival_of(a, key));
    const std::string other = kept_bytes(b, key.process, arrival_of(b, key));
    if (first.empty() || first.size() != other.size()) return false;
    return are_near<float>(first, other) || are_near<double>(first, other);
  });
}

bool agree(RunOutput& a, RunOutput& b, const RepeatBoth& repeat) {
  std::vector<OutputKey> keys = differences(a, b);
  if (keys.empty() || differ_in_rounding(a, b, keys)) return true;
  auto [first, other] = repeat(keys);
  keys = without(std::move(keys), differences(a, first));
  keys = without(std::move(keys), differences(b, other));
  keys = without_the_host_s(std::move(keys), first, other);
  const bool is_same = keys.empty() || differ_in_rounding(first, other, keys);
  a = std::move(first);
  b = std::move(other);
  return is_same;
}

}  // namespace warpcheck
