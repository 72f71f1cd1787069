#include "cli/kernel/overruns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace warpcheck {
namespace {

// Runs that needed all of the length; fewer say nothing.
constexpr std::size_t kRunsMin = 3;

using RunValues = std::vector<std::int64_t>;

// A product of integers, and what one more of a factor adds to it: n * m, and m.
struct Size {
  std::string text;
  std::vector<std::string> names;
  RunValues values;
};

RunValues values_of(const KernelDescription& kernel, const std::vector<Probe>& runs,
                    const Expression& length) {
  RunValues values;
  for (const Probe& run : runs) {
    values.push_back(length.value(names_of(kernel, run.first)).value_or(-1));
  }
  return values;
}

// n, n * m and n * m * k, the simplest ones first.
std::vector<Size> sizes_of(const KernelDescription& kernel, const std::vector<Probe>& runs) {
  constexpr std::size_t kFactors = 3;
  std::vector<Size> sizes, last{{}};
  for (std::size_t factors = 1; factors <= kFactors; ++factors) {
    std::vector<Size> longer;
    for (const Size& size : last) {
      for (const ScalarParameter& scalar : kernel.scalars) {
        if (!is_integer(scalar.element) || bytes_of(scalar.element) == 1) continue;
        Size more = size;
        more.names.push_back(scalar.name);
        more.text += (factors == 1 ? "" : " * ") + scalar.name;
        more.values = values_of(kernel, runs, Expression(more.text));
        longer.push_back(std::move(more));
      }
    }
    sizes.insert(sizes.end(), longer.begin(), longer.end());
    last = std::move(longer);
    if (last.size() > 40) break;  // of many integers
  }
  return sizes;
}

// Whether the length is that of a size and one element or one row more, in all runs that have some.
bool is_one_more(const RunValues& lengths, const Size& size, const std::vector<Probe>& runs,
                 std::size_t array, const std::optional<std::size_t>& factor,
                 const KernelDescription& kernel) {
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (runs[r].second.elements[array] == 0) continue;
    std::int64_t more = 1;
    for (std::size_t f = 0; factor && f < size.names.size(); ++f) {
      if (f == *factor) continue;
      more *= names_of(kernel, runs[r].first)(size.names[f]).value_or(0);
    }
    if (size.values[r] < 0 || lengths[r] != size.values[r] + more) return false;
  }
  return true;
}

std::optional<Size> size_of(const KernelDescription& kernel, const std::vector<Probe>& runs,
                            std::size_t array, const Expression& length) {
  const RunValues lengths = values_of(kernel, runs, length);
  for (const Size& size : sizes_of(kernel, runs)) {
    if (is_one_more(lengths, size, runs, array, std::nullopt, kernel)) return size;
    for (std::size_t f = 0; size.names.size() > 1 && f < size.names.size(); ++f) {
      if (is_one_more(lengths, size, runs, array, f, kernel)) return size;
    }
  }
  return std::nullopt;
}

// One instruction accesses all elements.
bool is_of_one_instruction(const Reach& reach, std::int64_t elements) {
  return std::ranges::any_of(reach.spans, [&](const auto& one) {
    return one.second.first == 0 && one.second.last == elements - 1;
  });
}

// It does so backwards, and nobody accesses the first one: in[n - i].  Of few blocks it does not
// come that far.
bool is_backwards(const Reach& reach, std::int64_t elements) {
  bool descends = false;
  for (const auto& [pc, span] : reach.spans) {
    if (span.first == 0) return false;
    descends |= span.last == elements - 1 && span.descends;
  }
  return descends;
}

// The kernel stores nothing into the first row of a matrix, and something into the last one, for
// which it reads a row behind: `for (z = 1; z < planes; ++z)` forgets a border.
bool leaves_one_border_out(const KernelDescription& kernel, const Extents& seen, std::size_t array,
                           std::int64_t elements, std::int64_t row) {
  for (std::size_t other = 0; other < kernel.arrays.size(); ++other) {
    if (other == array || !seen.written[other] || seen.elements[other] > elements ||
        seen.elements[other] <= elements - row) {
      continue;
    }
    std::int64_t first = elements;
    for (const auto& [pc, span] : seen.reach[other].spans) first = std::min(first, span.first);
    std::int64_t first_read = elements;
    for (const auto& [pc, span] : seen.reach[array].spans) {
      first_read = std::min(first_read, span.first);
    }
    if (first >= row && first < 2 * row && first_read < row) return true;
  }
  return false;
}

// The last of so many, not their number: `for (k = 0; k <= degree; ++k)`.
bool names_the_last(std::string_view name) {
  constexpr std::array<std::string_view, 9> kWords{"last", "degree", "order", "max", "highest",
                                                   "hi",   "high",   "upper", "top"};
  std::string word;
  const auto is_one = [&] { return std::ranges::find(kWords, word) != kWords.end(); };
  for (const char c : name) {
    if (c == '_' || c == '.' || std::isupper(static_cast<unsigned char>(c)) != 0) {
      if (is_one()) return true;
      word.clear();
    }
    if (c != '_' && c != '.') {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return is_one();
}

// Whether the last element is meant: the array holds where something begins, and last its end (a
// size); or its last thread takes the last element of an array that is one shorter, as at the
// faces between cells; or an array of one element more lies around this one.
class Meaning {
 public:
  Meaning(const KernelDescription& kernel, const std::vector<Probe>& runs, std::size_t array,
          const Size& size)
      : kernel_(kernel), runs_(runs), array_(array), size_(size) {}

  // whole: runs that needed all; leave_border: they leave one border out, and no face has one
  [[nodiscard]] bool is_meant(const std::vector<std::size_t>& whole, bool leave_border) const {
    return std::ranges::any_of(size_.names, names_the_last) || ends_with_a_size(whole) ||
           (!leave_border && has_a_shorter_companion(whole)) || lies_in_a_halo();
  }

 private:
  [[nodiscard]] bool ends_with_a_size(const std::vector<std::size_t>& whole) const {
    for (std::size_t s = 0; s < kernel_.scalars.size(); ++s) {
      const ScalarParameter& scalar = kernel_.scalars[s];
      if (!is_integer(scalar.element) || std::ranges::count(size_.names, scalar.name) != 0)
        continue;
      const bool holds_it = std::ranges::all_of(whole, [&](std::size_t r) {
        return runs_[r].second.written[array_] &&
               runs_[r].second.reach[array_].last_value == runs_[r].first.integers[s];
      });
      if (holds_it) return true;
    }
    return false;
  }

  [[nodiscard]] bool has_a_shorter_companion(const std::vector<std::size_t>& whole) const {
    for (std::size_t other = 0; other < kernel_.arrays.size(); ++other) {
      const bool is_one = other != array_ && std::ranges::all_of(whole, [&](std::size_t r) {
                            const Extents& seen = runs_[r].second;
                            return seen.elements[other] == size_.values[r] &&
                                   std::ranges::includes(seen.reach[other].last_threads,
                                                         seen.reach[array_].last_threads);
                          });
      if (is_one) return true;
    }
    return false;
  }

  [[nodiscard]] bool lies_in_a_halo() const {
    return std::ranges::any_of(kernel_.arrays, [&](const ArrayParameter& other) {
      return !other.values && other.length.text() == size_.text + " + 2";
    });
  }

  const KernelDescription& kernel_;
  const std::vector<Probe>& runs_;
  std::size_t array_;
  const Size& size_;
};

}  // namespace

std::optional<Expression> length_without_overrun(const KernelDescription& kernel,
                                                 const std::vector<Probe>& runs, std::size_t array,
                                                 const Expression& length,
                                                 const std::set<std::string>& bordered) {
  const RunValues lengths = values_of(kernel, runs, length);
  const std::optional<Size> size = size_of(kernel, runs, array, length);
  const auto has_border = [&](const std::string& name) { return bordered.contains(name); };
  if (!size || std::ranges::any_of(size->names, has_border)) return std::nullopt;
  std::vector<std::size_t> whole;  // runs that needed all
  std::size_t to_the_second = 0;   // backwards
  bool leave_border = true;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const Extents& seen = runs[r].second;
    if (seen.elements[array] != lengths[r] || size->values[r] < 2) continue;
    const Reach& reach = seen.reach[array];
    const bool leaves_border =
        leaves_one_border_out(kernel, seen, array, size->values[r], lengths[r] - size->values[r]);
    const bool goes_too_far = leaves_border || is_of_one_instruction(reach, lengths[r]);
    leave_border &= leaves_border;
    if (!goes_too_far && !is_backwards(reach, lengths[r])) return std::nullopt;
    const auto reaches_second = [](const auto& one) { return one.second.first == 1; };
    if (goes_too_far || std::ranges::any_of(reach.spans, reaches_second)) ++to_the_second;
    whole.push_back(r);
  }
  if (to_the_second < kRunsMin ||
      Meaning(kernel, runs, array, *size).is_meant(whole, leave_border)) {
    return std::nullopt;
  }
  return Expression(size->text);
}

bool is_one_more_than_a_size(const KernelDescription& kernel, const std::vector<Probe>& runs,
                             std::size_t array, const Expression& length) {
  return size_of(kernel, runs, array, length).has_value();
}

bool has_one_row_too_many(const std::vector<Probe>& runs, std::size_t array) {
  const auto is_one = [&](const Probe& run) {
    const std::int64_t elements = run.second.elements[array];
    bool begins = false, ends = false;
    for (const auto& [pc, span] : run.second.reach[array].spans) {
      begins |= span.first == 0 && span.last == elements - 2;
      ends |= span.first == 1 && span.last == elements - 1;
    }
    return elements < 4 || (begins && ends);
  };
  return std::ranges::all_of(runs, is_one);
}

}  // namespace warpcheck
