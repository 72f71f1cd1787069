#include "vgpu/ptx/parse/target_features.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "vgpu/text/trimmed.hpp"

namespace warpcheck::ptx {
namespace {

struct FeatureRow {
  std::string_view mnemonic, words, targets;
};
constexpr FeatureRow kFeatureRows[] = {
#define FEATURE(mnemonic, words, targets) {mnemonic, words, targets},
#include "vgpu/ptx/parse/target_features.def"
#undef FEATURE
};

// A target without "sm_": its number, and `a`, `f` or nothing.
struct Target {
  unsigned number = 0;
  char features = 0;
};

Target read_target(std::string_view text) {
  constexpr unsigned kOldNameOfThor = 101, kThor = 110;  // since PTX 9.0
  Target target;
  const char* const end = text.data() + text.size();
  const char* const rest = std::from_chars(text.data(), end, target.number).ptr;
  if (rest != end) target.features = *rest;
  if (target.number == kOldNameOfThor) target.number = kThor;
  return target;
}

bool has_features(const Target& target, const Target& wanted) {
  if (target.features == 0) return false;
  if (wanted.features == 'a') return target.features == 'a' && target.number == wanted.number;
  return target.number / 10 == wanted.number / 10 && target.number >= wanted.number;
}

bool is_named(const FeatureRow& row, std::string_view mnemonic) {
  if (!mnemonic.starts_with(row.mnemonic)) return false;
  const std::string_view rest = mnemonic.substr(row.mnemonic.size());
  if (!rest.empty() && rest.front() != '.') return false;
  if (row.words.empty()) return true;
  const std::vector<std::string_view> words = split(row.words, ' ');
  return std::ranges::any_of(split(rest, '.'), [&](std::string_view word) {
    return std::ranges::find(words, word) != words.end();
  });
}

}  // namespace

std::string lack_of_target(std::string_view mnemonic, std::string_view target) {
  constexpr std::string_view kPrefix = "sm_";
  if (!target.starts_with(kPrefix)) return {};
  const Target given = read_target(target.substr(kPrefix.size()));
  for (const FeatureRow& row : kFeatureRows) {
    if (!is_named(row, mnemonic)) continue;
    const std::vector<std::string_view> targets = split(row.targets, ' ');
    const bool has_one = std::ranges::any_of(
        targets, [&](std::string_view wanted) { return has_features(given, read_target(wanted)); });
    if (has_one) continue;
    std::string names;
    for (const std::string_view one : targets) {
      names += fmt::format("{}sm_{}", names.empty() ? "" : ", ", one);
    }
    return fmt::format("the target {} does not have it, but {}", target, names);
  }
  return {};
}

}  // namespace warpcheck::ptx
