// What a word that is not known was meant to be: " (is it 'check'?)" for `chek`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpcheck {

// Levenshtein distance.
[[nodiscard]] inline std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

// Returns the text that asks whether the nearest of the known words was meant; empty if none is
// near.
[[nodiscard]] inline std::string is_it(std::string_view word,
                                       const std::vector<std::string>& known) {
  const std::string* nearest = nullptr;
  // The dashes of an option are in all of them, so they make none nearer.
  const std::size_t dashes = std::min(word.find_first_not_of('-'), word.size());
  std::size_t edits_least = (word.size() - dashes) / 3 + 2;
  for (const std::string& one : known) {
    const std::size_t edits = edits_between(word, one);
    if (edits < edits_least) {
      edits_least = edits;
      nearest = &one;
    }
  }
  return nearest == nullptr ? "" : " (is it '" + *nearest + "'?)";
}

}  // namespace warpcheck
