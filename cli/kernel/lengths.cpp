#include "cli/kernel/lengths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "cli/kernel/length_terms.hpp"

namespace warpcheck {
namespace {

constexpr std::int64_t kFactorMax = 16;  // channels of a pixel, rows of a small matrix
constexpr std::int64_t kExtraMax = 16;   // a halo, one element more
// A bound that is never reached says little.  Guarded kernels reach theirs where the grid covers
// it.
constexpr double kReachedMin = 0.2;

struct Most {
  std::int64_t factor = kFactorMax, extra = kExtraMax;
};

// An expression and its value for each sample.
struct Term {
  std::string text;
  std::vector<std::int64_t> values;
};

class Fit {
 public:
  Fit(const KernelDescription& kernel, const std::vector<Sample>& samples, Most most = {})
      : kernel_(kernel), samples_(samples), most_(most) {
    for (const ScalarParameter& scalar : kernel.scalars) {
      if (is_integer(scalar.element) && bytes_of(scalar.element) > 1) {
        names_.push_back(scalar.name);
      }
    }
  }

  [[nodiscard]] FittedLength best() const {
    if (const auto number = constant()) return {Expression::number(*number), true};
    const std::vector<Term> sizes = terms_of_sizes();
    auto found = reached(sizes);
    const std::vector<Term> launches = terms_of_launches();
    // Launches that are drawn have few blocks, and their number looks like a factor of a size.
    if (auto exact = found ? exactly(launches) : std::nullopt) return {*exact, true};
    if (!found) found = reached(launches);
    if (!found || !is_needed_by_most(kernel_, *found, samples_)) {
      const LengthTerms terms(kernel_, samples_);
      if (auto exact = terms.needed_by_most()) return {*exact, true};
    }
    // A function that few runs have tested may be near by chance.
    constexpr double kTouchingMin = 8;
    if (found) return {*found, touching() >= kTouchingMin};
    return {loose(sizes, launches), false};
  }

  // Of what data lead to: indices reach as far as their values, unless a size guards them.  Few
  // runs that touch the array say nothing of a size, and beside a constant any size comes near.
  [[nodiscard]] std::optional<Expression> best_of_indices(std::int64_t indices) const {
    const auto number = constant();
    if (!bounds(std::to_string(indices))) {
      if (number) return Expression::number(*number);
      if (auto found = reached(terms_of_sizes())) return found;
      return reached(terms_of_launches());
    }
    constexpr double kTouchingMin = 8;
    if (touching() < kTouchingMin) return Expression::number(indices);
    if (number) return Expression::number(*number);
    if (auto found = smallest(terms_of_sizes(), 1, 0)) return expression_of(*found);
    return Expression::number(indices);
  }

  // Whether an expression bounds all samples.
  [[nodiscard]] bool bounds(const std::string& text) const {
    const auto bound = term(text);
    if (!bound) return false;
    for (std::size_t s = 0; s < samples_.size(); ++s) {
      if (samples_[s].extent > bound->values[s]) return false;
    }
    return true;
  }

  // A product of two or three integers, or with one of them and one more, that bounds all samples
  // and that several need all of, and more than of the other expression.
  [[nodiscard]] std::optional<Expression> size_needed_more_often(const std::string& than) const {
    constexpr std::size_t kNeedingMin = 3;
    std::size_t most = std::max(kNeedingMin - 1, needing(*term(than)));
    std::optional<Expression> found;
    const auto offer = [&](const std::string& text) {
      const auto made = term(text);
      if (!made || !bounds(text) || needing(*made) <= most) return;
      most = needing(*made);
      found.emplace(text);
    };
    for (const std::string& a : names_) {
      for (const std::string& b : names_) {
        if (a == b) continue;
        if (a < b) offer(fmt::format("{} * {}", a, b));
        offer(fmt::format("({} + 1) * {}", a, b));
        for (const std::string& c : names_) {
          if (c == a || c <= b) continue;
          if (a < b) offer(fmt::format("{} * {} * {}", a, b, c));
          offer(fmt::format("({} + 1) * {} * {}", a, b, c));
        }
      }
    }
    return found;
  }

 private:
  // How many samples need all of it.
  [[nodiscard]] std::size_t needing(const Term& term) const {
    std::size_t count = 0;
    for (std::size_t s = 0; s < samples_.size(); ++s) {
      if (samples_[s].extent > 0 && samples_[s].extent == term.values[s]) ++count;
    }
    return count;
  }

  // A function that some of the samples need all of.
  [[nodiscard]] std::optional<Expression> reached(const std::vector<Term>& terms) const {
    if (auto found = smallest(terms, 1, 0)) return expression_of(*found);
    if (auto found = smallest(terms, most_.factor, 0)) return expression_of(*found);
    // A halo is a sum that is needed exactly; beside a constant, a sum that merely bounds is none.
    const std::vector<Term> sums = with_sums(terms);
    const auto sum = smallest(sums, 1, 0);
    const auto one_more = smallest(terms, 1, most_.extra);
    if (sum && (!one_more || sum->slack <= one_more->slack)) return expression_of(*sum);
    if (one_more) return expression_of(*one_more);
    if (auto found = smallest(sums, 1, most_.extra)) return expression_of(*found);
    if (auto found = smallest(terms, most_.factor, most_.extra)) return expression_of(*found);
    if (auto found = one_for_several(terms)) return found;
    return all_but_few(terms);
  }

  // A function that all samples need all of, unless they touch nothing, if no size is one.
  [[nodiscard]] std::optional<Expression> exactly(const std::vector<Term>& launches) const {
    if (kernel_.launch.grid[0]) return std::nullopt;
    const auto is_exact = [&](const Term& term) {
      for (std::size_t s = 0; s < samples_.size(); ++s) {
        if (samples_[s].extent > 0 && samples_[s].extent != term.values[s]) return false;
      }
      return true;
    };
    const auto is_of_sizes = [&](const std::vector<Term>& terms) {
      return std::ranges::any_of(terms, is_exact);
    };
    const std::vector<Term> sizes = terms_of_sizes();
    if (is_of_sizes(sizes) || is_of_sizes(with_sums(sizes))) return std::nullopt;
    for (const std::vector<Term>& terms : {launches, rows_of_blocks()}) {
      const auto found = std::ranges::find_if(terms, is_exact);
      if (found != terms.end()) return Expression(found->text);
    }
    return std::nullopt;
  }

  // A row of `columns`, each `pitch` behind the one before, for each block.
  [[nodiscard]] std::vector<Term> rows_of_blocks() const {
    std::vector<Term> terms;
    for (const std::string& pitch : names_) {
      for (const std::string& columns : names_) {
        for (const char* const rows : {"gridDim.x", "gridDim.y"}) {
          add_of_launch(terms, fmt::format("({} - 1) * {} + {}", rows, pitch, columns));
        }
      }
    }
    return terms;
  }

  [[nodiscard]] std::optional<std::int64_t> constant() const {
    std::int64_t number = 0;
    for (const Sample& sample : samples_) {
      if (sample.extent == 0) continue;
      if (number != 0 && sample.extent != number) return std::nullopt;
      number = sample.extent;
    }
    return number;
  }

  [[nodiscard]] std::optional<Term> term(const std::string& text) const {
    Term made{text, {}};
    const Expression expression(text);
    for (const Sample& sample : samples_) {
      const auto value = expression.value(names_of(kernel_, sample.input));
      if (!value) return std::nullopt;
      made.values.push_back(*value);
    }
    return made;
  }

  void add(std::vector<Term>& terms, const std::string& text) const {
    if (auto made = term(text)) terms.push_back(std::move(*made));
  }

  // An extent that is always 1 says nothing.
  void add_of_launch(std::vector<Term>& terms, const std::string& text) const {
    const int dims = text.find(".z") != std::string::npos   ? 3
                     : text.find(".y") != std::string::npos ? 2
                                                            : 1;
    if (dims <= std::max(kernel_.launch.grid_dims, kernel_.launch.block_dims)) add(terms, text);
  }

  // (n + 3) / 4: a result of each group of elements.
  [[nodiscard]] std::optional<Expression> one_for_several(const std::vector<Term>& tier) const {
    std::vector<Term> terms;
    for (const Term& each : tier) {
      if (each.text.find_first_of("+?*") != std::string::npos) continue;
      for (const std::int64_t group : {2, 3, 4, 8, 16, 32, 64, 128, 256}) {
        add(terms, fmt::format("({} + {}) / {}", each.text, group - 1, group));
      }
    }
    const auto found = smallest(terms, 1, 0);
    if (!found) return std::nullopt;
    return expression_of(*found);
  }

  // A kernel that leaves out the last elements (a border) has arrays with them.
  [[nodiscard]] std::optional<Expression> all_but_few(const std::vector<Term>& tier) const {
    const Term* best = nullptr;
    std::int64_t fewest = kExtraMax + 1;
    for (const Term& each : tier) {
      std::int64_t left = std::numeric_limits<std::int64_t>::max();
      for (std::size_t s = 0; s < samples_.size(); ++s) {
        if (samples_[s].extent > 0) left = std::min(left, each.values[s] - samples_[s].extent);
      }
      if (left <= 0 || left >= fewest) continue;
      double reached = 0;
      for (std::size_t s = 0; s < samples_.size(); ++s) {
        const bool is_all = each.values[s] - samples_[s].extent == left;
        if (samples_[s].extent > 0 && is_all) reached += 1.0 / touching();
      }
      if (reached < kReachedMin) continue;
      best = &each;
      fewest = left;
    }
    if (best == nullptr) return std::nullopt;
    return Expression(best->text);
  }

  // n, n * m, a pitched matrix, n * m * k
  [[nodiscard]] std::vector<Term> terms_of_sizes() const {
    std::vector<Term> terms;
    for (const std::string& a : names_) add(terms, a);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      for (std::size_t j = i; j < names_.size(); ++j) {
        add(terms, fmt::format("{} * {}", names_[i], names_[j]));
      }
    }
    for (const std::string& a : names_) {
      for (const std::string& b : names_) {
        if (a == b) continue;
        add(terms, fmt::format("{0} > 0 ? ({0} - 1) * {1} + 1 : 0", a, b));
        for (const std::string& c : names_) {
          if (c != a && c != b)
            add(terms, fmt::format("{0} > 0 ? ({0} - 1) * {1} + {2} : 0", a, b, c));
        }
      }
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      for (std::size_t j = i + 1; j < names_.size(); ++j) {
        for (std::size_t k = j + 1; k < names_.size(); ++k) {
          add(terms, fmt::format("{} * {} * {}", names_[i], names_[j], names_[k]));
          for (std::size_t l = k + 1; l < names_.size(); ++l) {
            add(terms,
                fmt::format("{} * {} * {} * {}", names_[i], names_[j], names_[k], names_[l]));
          }
        }
      }
    }
    return terms;
  }

  [[nodiscard]] std::vector<Term> terms_of_launches() const {
    std::vector<Term> terms;
    for (const char* const text :
         {"gridDim.x", "gridDim.y", "gridDim.x * gridDim.y", "blockDim.x",
          "blockDim.x * blockDim.y", "gridDim.x * blockDim.x", "gridDim.y * blockDim.y",
          "gridDim.x * blockDim.x * blockDim.y", "gridDim.x * blockDim.x * gridDim.y * blockDim.y",
          "gridDim.x * blockDim.x * gridDim.y * blockDim.y * gridDim.z * blockDim.z"}) {
      add_of_launch(terms, text);
    }
    // A matrix of as many rows as columns, of which the launch has a thread or a block each.
    for (const std::string_view axis : {"x", "y"}) {
      for (const char* const form : {"gridDim.{0} * gridDim.{0}", "blockDim.{0} * blockDim.{0}",
                                     "gridDim.{0} * blockDim.{0} * gridDim.{0} * blockDim.{0}"}) {
        add_of_launch(terms, fmt::format(fmt::runtime(form), axis));
      }
    }
    for (const std::string& a : names_) {
      for (const char* const text : {"gridDim.x", "gridDim.y", "gridDim.x * blockDim.x",
                                     "gridDim.y * blockDim.y", "blockDim.x"}) {
        add_of_launch(terms, fmt::format("{} * {}", a, text));
      }
    }
    return terms;
  }

  // Sums of two, and of one and twice another one (a halo on both sides).
  [[nodiscard]] std::vector<Term> with_sums(const std::vector<Term>& terms) const {
    std::vector<Term> sums;
    constexpr std::size_t kTermsMax = 24;  // the simplest ones stand first
    const std::size_t count = std::min(terms.size(), kTermsMax);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < count; ++j) {
        if (i == j || terms[i].text.find('?') != std::string::npos ||
            terms[j].text.find('?') != std::string::npos) {
          continue;
        }
        for (const std::int64_t factor : {1, 2}) {
          if (factor == 1 && j < i) continue;
          Term sum{factor == 1 ? fmt::format("{} + {}", terms[i].text, terms[j].text)
                               : fmt::format("{} + 2 * {}", terms[i].text, terms[j].text),
                   {}};
          for (std::size_t s = 0; s < samples_.size(); ++s) {
            sum.values.push_back(terms[i].values[s] + factor * terms[j].values[s]);
          }
          sums.push_back(std::move(sum));
        }
      }
    }
    return sums;
  }

  // The least number that added to factor * term bounds all samples.
  [[nodiscard]] std::int64_t needed_extra(const Term& term, std::int64_t factor) const {
    std::int64_t extra = std::numeric_limits<std::int64_t>::min();
    for (std::size_t s = 0; s < samples_.size(); ++s) {
      // What a run that touches nothing needs is nothing.
      if (samples_[s].extent > 0) {
        extra = std::max(extra, samples_[s].extent - factor * term.values[s]);
      }
    }
    return std::max<std::int64_t>(extra, 0);
  }

  struct Candidate {
    std::string text;
    double slack = 0;    // all that is not needed
    double reached = 0;  // the share of samples that need all
  };

  [[nodiscard]] Candidate candidate(const Term& term, std::int64_t factor,
                                    std::int64_t extra) const {
    Candidate made{term.text};
    const bool is_sum = term.text.find_first_of("+?") != std::string::npos;
    if (is_sum && (factor != 1 || (extra != 0 && term.text.find('?') != std::string::npos))) {
      made.text = fmt::format("({})", made.text);
    }
    if (factor != 1) made.text += fmt::format(" * {}", factor);
    if (extra != 0) made.text += fmt::format(" + {}", extra);
    for (std::size_t s = 0; s < samples_.size(); ++s) {
      const std::int64_t rest = factor * term.values[s] + extra - samples_[s].extent;
      made.slack += static_cast<double>(rest);
      if (rest == 0 && samples_[s].extent > 0) made.reached += 1.0 / touching();
    }
    return made;
  }

  [[nodiscard]] double touching() const {
    return static_cast<double>(std::max<std::ptrdiff_t>(
        1,
        std::ranges::count_if(samples_, [](const Sample& sample) { return sample.extent > 0; })));
  }

  static Expression expression_of(const Candidate& candidate) { return Expression(candidate.text); }

  [[nodiscard]] std::optional<Candidate> smallest(const std::vector<Term>& terms,
                                                  std::int64_t factor_max,
                                                  std::int64_t extra_max) const {
    std::optional<Candidate> best;
    for (const Term& term : terms) {
      for (std::int64_t factor = factor_max == 1 ? 1 : 2; factor <= factor_max; ++factor) {
        const std::int64_t extra = needed_extra(term, factor);
        if (extra > extra_max) continue;
        Candidate found = candidate(term, factor, extra);
        if (found.reached < kReachedMin) continue;
        if (!best || found.slack < best->slack) best = std::move(found);
        break;  // a larger factor has more slack
      }
    }
    return best;
  }

  // The smallest bound, reached or not.
  [[nodiscard]] Expression loose(const std::vector<Term>& sizes,
                                 const std::vector<Term>& launches) const {
    std::int64_t most = 0;
    for (const Sample& sample : samples_) most = std::max(most, sample.extent);
    Candidate best{std::to_string(most)};
    best.slack = std::numeric_limits<double>::max();
    for (const auto& terms : {&sizes, &launches}) {
      for (const Term& term : *terms) {
        for (std::int64_t factor = 1; factor <= kFactorMax; ++factor) {
          if (needed_extra(term, factor) > kExtraMax) continue;
          Candidate found = candidate(term, factor, needed_extra(term, factor));
          if (found.slack < best.slack) best = std::move(found);
          break;
        }
      }
    }
    return Expression(best.text);
  }

  const KernelDescription& kernel_;
  const std::vector<Sample>& samples_;
  Most most_;
  std::vector<std::string> names_;
};

}  // namespace

FittedLength fitted_length(const KernelDescription& kernel, const std::vector<Sample>& samples) {
  FittedLength fitted = Fit(kernel, samples).best();
  const bool is_of_launch = std::ranges::any_of(fitted.length.names(), is_launch_name);
  if (is_of_launch) fitted.is_known &= is_needed_by_most(kernel, fitted.length, samples);
  return fitted;
}

std::optional<Expression> fitted_bytes(const KernelDescription& kernel,
                                       std::vector<Sample> samples) {
  const FittedLength plain = fitted_length(kernel, samples);
  if (plain.is_known && is_needed_by_most(kernel, plain.length, samples)) return plain.length;
  for (const std::int64_t bytes : {16, 8, 4, 2}) {
    if (std::ranges::any_of(samples, [&](const auto& one) { return one.extent % bytes != 0; })) {
      continue;
    }
    for (Sample& sample : samples) sample.extent /= bytes;
    const auto found = LengthTerms(kernel, samples).needed_by_most();
    for (Sample& sample : samples) sample.extent *= bytes;
    if (found) return Expression(fmt::format("({}) * {}", found->text(), bytes));
  }
  return std::nullopt;
}

bool is_needed_by_most(const KernelDescription& kernel, const Expression& length,
                       const std::vector<Sample>& samples) {
  std::size_t touching = 0, needing = 0;
  for (const Sample& sample : samples) {
    if (sample.extent == 0) continue;
    ++touching;
    if (length.value(names_of(kernel, sample.input)) == sample.extent) ++needing;
  }
  return 2 * needing >= touching;
}

FittedLength fitted_length_by_data(const KernelDescription& kernel, const std::vector<Sample>& most,
                                   const std::vector<Sample>& plain, std::int64_t indices) {
  constexpr std::int64_t kIndicesMax = 1024;  // more factors are not tried one by one
  const std::int64_t tried = std::clamp(indices, kFactorMax, kIndicesMax);
  const Fit fit(kernel, most, {.factor = tried, .extra = tried});
  if (auto found = fit.best_of_indices(indices)) return {*found, true};
  // The most of what the code touches in any case, and of indices; or one after the other.
  const std::string base = Fit(kernel, plain).best().length.text();
  for (const std::string& text :
       {base, fmt::format("({0}) > {1} ? ({0}) : {1}", base, indices),
        fmt::format("({}) + {}", base, indices), fmt::format("({}) * {}", base, indices)}) {
    if (!fit.bounds(text)) continue;
    // A size that guards the indices bounds what they lead to, too, and is needed more often.
    if (auto size = fit.size_needed_more_often(text)) return {*size, true};
    return {Expression(text), true};
  }
  std::int64_t largest = 0;
  for (const Sample& sample : most) largest = std::max(largest, sample.extent);
  return {Expression::number(2 * largest), false};
}

}  // namespace warpcheck
