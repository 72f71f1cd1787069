#include "cli/kernel/assumed_lengths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/kernel/overruns.hpp"

namespace warpcheck {
namespace {

constexpr int kSamples = 60;
constexpr std::int64_t kUntouched = 64;    // elements of arrays that no trial run has accessed
constexpr std::int64_t kLong = 1'000'000;  // elements; a trial with more takes too long
// The last one is where the last row ends, and so the length of what the rows are in.
constexpr ValueRange kOffsets{0, 64};

// What runs with several contents touched, shape by shape the most of them.
struct Touched {
  std::vector<Probe> most, plain;  // plain: where all arrays are zero
  // Where only the beginnings of rows have values; and where these are all the largest, so that no
  // row has an element.  Empty: there are none.
  std::vector<Probe> by_rows, by_empty_rows;

  void add(Touched more) {
    const auto append = [](std::vector<Probe>& to, std::vector<Probe>& from) {
      std::ranges::move(from, std::back_inserter(to));
    };
    append(most, more.most);
    append(plain, more.plain);
    append(by_rows, more.by_rows);
    append(by_empty_rows, more.by_empty_rows);
  }
};

std::vector<Sample> samples_of(const std::vector<Probe>& seen, std::size_t array) {
  std::vector<Sample> samples;
  for (const auto& [input, extents] : seen) samples.push_back({input, extents.elements[array]});
  return samples;
}

std::int64_t most_of(const std::vector<Probe>& seen, std::size_t array) {
  std::int64_t most = 0;
  for (const Probe& run : seen) most = std::max(most, run.second.elements[array]);
  return most;
}

bool is_of_offsets(const ArrayParameter& array) {
  return array.values && array.order == ArrayParameter::Order::ascending;
}

class LengthSearch {
 public:
  LengthSearch(Prober& prober, KernelDescription& kernel, const KnownOfArrays& known)
      : prober_(prober), kernel_(kernel), known_(known) {}

  AssumedLengths all(const std::function<bool()>& lower_ranges) {
    Touched seen = touched_by_short_runs(lower_ranges);
    if (find_offsets(seen)) seen = touched(0);
    std::vector<FittedLength> fitted = fitted_to(seen);
    try_others(seen, fitted);
    for (std::size_t i = 0; i < fitted.size(); ++i) {
      ArrayParameter& array = kernel_.arrays[i];
      array.length = fitted[i].length;
      array.is_open = !fitted[i].is_known;
    }
    take_off_overruns(seen);
    for (std::size_t i = 0; i < fitted.size(); ++i) {
      if (!overruns_.contains(i)) note(seen, i);
    }
    fit_shared(seen.most);
    made_.written.assign(kernel_.arrays.size(), false);
    for (const Probe& run : seen.most) {
      for (std::size_t i = 0; i < made_.written.size(); ++i) {
        if (run.second.written[i]) made_.written[i] = true;
      }
    }
    return std::move(made_);
  }

 private:
  std::vector<Probe> of_all_builds(const std::vector<Fill>& fill, Drawn drawn) {
    if (has_drawn_items(kernel_.launch)) {
      // Blocks that do not come to the last item say nothing of a size.
      KernelDescription covered = kernel_;
      for (ScalarParameter& scalar : covered.scalars) scalar.range = coverable(scalar.range);
      try {
        return probes(prober_, covered, kSamples, fill, drawn, Builds::all);
      } catch (const NoInput&) {
        // Conditions exclude such small numbers.
      }
    }
    return probes(prober_, kernel_, kSamples, fill, drawn, Builds::all);
  }
  [[nodiscard]] std::vector<Fill> all(Fill fill) const { return all_of(kernel_, fill); }

  // Of kSamples shapes from the given one on.
  Touched touched(std::uint64_t first_shape) {
    const auto probed = [&](const std::vector<Fill>& fill, std::uint64_t seed = 0) {
      return of_all_builds(fill, {.seed = seed, .first_shape = first_shape});
    };
    Touched seen{.most = probed(all(Fill::drawn), first_shape),
                 .plain = probed(all(Fill::zeros)),
                 .by_rows = {},
                 .by_empty_rows = {}};
    const auto add = [&](const std::vector<Probe>& more) {
      for (std::size_t run = 0; run < more.size(); ++run) {
        widen_reach(seen.most[run].second, more[run].second);
        widen(seen.most[run].second, more[run].second);
      }
    };
    add(seen.plain);
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < kernel_.arrays.size(); ++i) {
      if (kernel_.arrays[i].values) indices.push_back(i);
    }
    if (indices.empty()) return seen;
    // The ends of what data may lead to: large indices beside small ones, and large ones alone.
    add(probed(all(Fill::drawn), first_shape + kSamples));
    add(probed(all(Fill::highest)));
    for (const std::size_t i : indices) {
      for (const Fill rest : {Fill::zeros, Fill::drawn}) {
        std::vector<Fill> fill = all(rest);
        fill[i] = Fill::highest;
        add(probed(fill));
      }
    }
    if (std::ranges::any_of(kernel_.arrays, is_of_offsets)) {
      seen.by_rows = probed(where_offsets_are(Fill::drawn), first_shape);
      seen.by_empty_rows = probed(where_offsets_are(Fill::highest));
      add(seen.by_rows);
      add(seen.by_empty_rows);
    }
    return seen;
  }

  [[nodiscard]] std::vector<Fill> where_offsets_are(Fill fill) const {
    std::vector<Fill> all = all_of(kernel_, Fill::zeros);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (is_of_offsets(kernel_.arrays[i])) all[i] = fill;
    }
    return all;
  }

  // More runs than those that chose the ranges: of `1 << n` few numbers are small enough, and a
  // product of many numbers is large.
  Touched touched_by_short_runs(const std::function<bool()>& lower_ranges) {
    const auto ends = [](const Probe& run) { return run.second.ends; };
    const auto is_long = [](const Probe& run) {
      return std::ranges::any_of(run.second.elements, [](auto one) { return one > kLong; });
    };
    for (;;) {
      Touched seen = touched(0);
      const bool are_short =
          std::ranges::all_of(seen.plain, ends) && std::ranges::none_of(seen.most, is_long);
      if (are_short || !lower_ranges()) return seen;
    }
  }

  // Indices with one more element than rows are where the rows begin.  Returns whether there are.
  bool find_offsets(const Touched& seen) {
    bool found = false;
    for (std::size_t i = 0; i < kernel_.arrays.size(); ++i) {
      ArrayParameter& array = kernel_.arrays[i];
      if (!array.values || known_.values.contains(array.name) || array.columns.size() > 1) continue;
      if (known_.counted.contains(array.name)) continue;
      const std::string text = fitted_length(kernel_, samples_of(seen.most, i)).length.text();
      if (text.find('?') != std::string::npos) continue;
      const bool has_too_many = text.ends_with(" + 2") && has_one_row_too_many(seen.plain, i);
      if (has_too_many) rows_too_many_.insert(i);
      if (!text.ends_with(" + 1") && !has_too_many) continue;
      const bool goes_too_far =
          !has_too_many &&
          length_without_overrun(kernel_, seen.plain, i, Expression(text), known_.bordered);
      if (goes_too_far) continue;
      array.order = ArrayParameter::Order::ascending;
      array.values = kOffsets;
      found = true;
    }
    return found;
  }

  std::vector<FittedLength> fitted_to(const Touched& seen) {
    std::vector<FittedLength> fitted;
    for (std::size_t i = 0; i < kernel_.arrays.size(); ++i) {
      const bool is_said = known_.lengths.contains(kernel_.arrays[i].name);
      fitted.push_back(is_said ? FittedLength{kernel_.arrays[i].length, true} : length_of(seen, i));
    }
    return fitted;
  }

  FittedLength length_of(const Touched& seen, std::size_t i) {
    const std::vector<Sample> most = samples_of(seen.most, i);
    const std::vector<Sample> plain = samples_of(seen.plain, i);
    if (most_of(seen.most, i) == 0) return {Expression::number(kUntouched), true};
    const bool data_decide = !std::ranges::equal(most, plain, {}, &Sample::extent, &Sample::extent);
    if (!data_decide) return fitted_length(kernel_, most);
    std::int64_t indices = 1;
    for (const ArrayParameter& array : kernel_.arrays) {
      if (!array.values || known_.counted.contains(array.name)) continue;
      indices = std::max(indices, array.values->high + (is_of_offsets(array) ? 0 : 1));
    }
    if (is_left_by_rows(seen, i, indices)) {
      left_by_rows_.insert(i);
      return {Expression::number(indices), true};
    }
    const bool holds_rows = kernel_.arrays[i].values && most_of(seen.most, i) == indices + 1 &&
                            most_of(seen.by_rows, i) == indices + 1;
    if (holds_rows) return {Expression::number(indices + 1), true};
    return fitted_length_by_data(kernel_, most, plain, indices);
  }

  // Whether rows lead one or two elements beyond the end of the last one: a defect, and no reason
  // for a longer array.  Such an array may hold where other rows begin, and end with an element
  // more.  Then nothing is accessed for a row without elements.
  [[nodiscard]] bool is_left_by_rows(const Touched& seen, std::size_t i,
                                     std::int64_t indices) const {
    const std::int64_t most = most_of(seen.most, i);
    if (most <= indices || most > indices + 2) return false;
    const bool is_data = !kernel_.arrays[i].values;
    return (is_data && most_of(seen.by_rows, i) == most) || most_of(seen.by_empty_rows, i) == most;
  }

  // A length that other shapes exceed was near by chance.  What the next ones exceed, too, is not
  // known.
  void try_others(Touched& seen, std::vector<FittedLength>& fitted) {
    constexpr int kRounds = 3;
    for (int round = 1; round <= kRounds; ++round) {
      Touched others = touched(static_cast<std::uint64_t>(round) * kSamples);
      std::vector<bool> is_exceeded;
      for (std::size_t i = 0; i < fitted.size(); ++i) {
        const bool is_fixed =
            known_.lengths.contains(kernel_.arrays[i].name) || left_by_rows_.contains(i);
        is_exceeded.push_back(!is_fixed && fitted[i].is_known &&
                              exceeds(others.most, i, fitted[i].length));
      }
      if (std::ranges::none_of(is_exceeded, std::identity{})) return;
      seen.add(std::move(others));
      const std::vector<FittedLength> again = fitted_to(seen);
      for (std::size_t i = 0; i < fitted.size(); ++i) {
        if (!is_exceeded[i]) continue;
        fitted[i] = again[i];
        fitted[i].is_known &= round < kRounds;
      }
    }
  }

  // An array that is longer only because the kernel goes one too far is as long as it should be, so
  // that this is found.
  void take_off_overruns(const Touched& seen) {
    std::vector<std::optional<Expression>> shorter;
    for (std::size_t i = 0; i < kernel_.arrays.size(); ++i) {
      shorter.push_back(known_.lengths.contains(kernel_.arrays[i].name) ? std::nullopt
                                                                        : shorter_length(seen, i));
    }
    for (std::size_t i = 0; i < shorter.size(); ++i) {
      if (!shorter[i]) continue;
      ArrayParameter& array = kernel_.arrays[i];
      made_.notes.push_back(fmt::format(
          "the kernel accesses {1} elements of {0}, the last ones as if by mistake; it has {2} "
          "(--length '{0}={1}' says that they are meant)",
          array.name, array.length.text(), shorter[i]->text()));
      array.length = *shorter[i];
      overruns_.insert(i);
    }
  }

  [[nodiscard]] static bool is_counted(const std::vector<Probe>& runs, std::size_t array) {
    return std::ranges::any_of(runs, [&](const Probe& run) {
      return std::ranges::any_of(run.second.reach[array].spans,
                                 [](const auto& one) { return one.second.is_atomic; });
    });
  }

  [[nodiscard]] std::optional<Expression> shorter_length(const Touched& seen, std::size_t i) const {
    const std::vector<Probe>& plain = seen.plain;
    const std::string& text = kernel_.arrays[i].length.text();
    if (rows_too_many_.contains(i) && text.ends_with(" + 2")) {
      return Expression(text.substr(0, text.size() - 1) + "1");
    }
    if (is_of_offsets(kernel_.arrays[i]) || most_of(plain, i) == 0) return std::nullopt;
    const Expression base = fitted_length(kernel_, samples_of(plain, i)).length;
    // What indices lead to may be more than that.
    const std::string more = fmt::format("({0}) > ", base.text());
    if (base.text() != text && !text.starts_with(more)) {
      // Indices that a size guards: `id > rows` lets one row too many pass.  What is counted mostly
      // has a place more, for all that belongs nowhere.
      if (is_counted(seen.most, i)) return std::nullopt;
      return length_without_overrun(kernel_, seen.most, i, kernel_.arrays[i].length,
                                    known_.bordered);
    }
    const auto shorter = length_without_overrun(kernel_, plain, i, base, known_.bordered);
    if (!shorter || base.text() == text) return shorter;
    const std::string indices = text.substr(more.size(), text.find(' ', more.size()) - more.size());
    return Expression(fmt::format("({0}) > {1} ? ({0}) : {1}", shorter->text(), indices));
  }

  [[nodiscard]] bool exceeds(const std::vector<Probe>& runs, std::size_t array,
                             const Expression& length) const {
    return std::ranges::any_of(runs, [&](const Probe& run) {
      const auto value = length.value(names_of(kernel_, run.first));
      return run.second.elements[array] > value.value_or(0);
    });
  }

  void note(const Touched& seen, std::size_t i) {
    const ArrayParameter& array = kernel_.arrays[i];
    if (known_.lengths.contains(array.name)) return;
    if (most_of(seen.most, i) == 0) {
      made_.notes.push_back(fmt::format("{} was not accessed in trial runs; it has {} elements",
                                        array.name, kUntouched));
    } else if (array.is_open) {
      made_.notes.push_back(fmt::format(
          "trial runs do not show how long {0} must be: an access behind its end is not looked for "
          "(--length {0}=... gives its length)",
          array.name));
      made_.conditions.push_back(array.name + " is long enough");
    } else {
      note_extra(seen, i);
    }
  }

  // An array with an element, or a row, more than a size: the answer depends on it.
  void note_extra(const Touched& seen, std::size_t i) {
    const ArrayParameter& array = kernel_.arrays[i];
    // Rows begin and end somewhere.
    if (array.order == ArrayParameter::Order::ascending) return;
    const std::string& text = array.length.text();
    const std::size_t plus = text.rfind(" + ");
    const bool has_number = plus != std::string::npos &&
                            text.find_first_not_of("0123456789", plus + 3) == std::string::npos;
    if (has_number) {
      made_.notes.push_back(fmt::format(
          "{0} is accessed up to {1} elements: if it has {2}, that is a defect, and --length "
          "'{0}={2}' shows it",
          array.name, text, text.substr(0, plus)));
    } else if (text.find('?') != std::string::npos ||
               !is_one_more_than_a_size(kernel_, seen.plain, i, array.length)) {
      return;
    }
    made_.conditions.push_back(fmt::format("{} has {} elements", array.name, text));
  }

  void fit_shared(const std::vector<Probe>& seen) {
    if (kernel_.launch.shared_bytes.text() != "0") return;
    std::vector<Sample> samples;
    for (const auto& [input, extents] : seen) samples.push_back({input, extents.shared_bytes});
    if (const auto bytes = fitted_bytes(kernel_, samples)) {
      kernel_.launch.shared_bytes = *bytes;
      return;
    }
    kernel_.launch.shared_bytes = Expression::number(prober_.free_shared_bytes());
    made_.is_shared_guessed = true;
    made_.notes.push_back(
        "trial runs do not show how much dynamic shared memory the kernel needs: it has all that "
        "there is (--shared gives the bytes)");
    made_.conditions.emplace_back("the dynamic shared memory is large enough");
  }

  Prober& prober_;
  KernelDescription& kernel_;
  const KnownOfArrays& known_;
  // Arrays.
  std::set<std::size_t> left_by_rows_, rows_too_many_, overruns_;
  AssumedLengths made_;
};

}  // namespace

AssumedLengths assume_lengths(Prober& prober, KernelDescription& kernel, const KnownOfArrays& known,
                              const std::function<bool()>& lower_ranges) {
  return LengthSearch(prober, kernel, known).all(lower_ranges);
}

}  // namespace warpcheck
