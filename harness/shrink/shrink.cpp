#include "harness/shrink/shrink.hpp"

#include <xxhash.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "harness/input/draw.hpp"
#include "harness/input/json.hpp"
#include "harness/shrink/equal_integers.hpp"
#include "harness/shrink/shrinks.hpp"

namespace warpcheck {
namespace {

using Decisions = std::vector<vgpu::Decision>;

// What is kept of an input that was tried: 128 bits of a hash, because inputs of a million elements
// would fill the memory.
using Digest = std::pair<std::uint64_t, std::uint64_t>;
Digest digest_of(const AnyPair& pair, const AnyInput& input) {
  const std::string text = pair.to_json(input).dump();
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.low64, hash.high64};
}

class Shrinker {
 public:
  Shrinker(TrialRunner& runner, const ShrinkOptions& options)
      : runner_(runner), options_(options) {}

  ShrunkCase run(const Case& a_case) {
    start(a_case);
    if (!best_.kept) return std::move(best_);
    if (!takes_long() || !shrink_hang()) shrink_to_the_end();
    best_.trials = trials_;
    return std::move(best_);
  }

 private:
  void shrink_to_the_end() {
    if (best_.verdict.steps > options_.steps_max / 10'000) redraw_input();  // a large input
    // Until neither finds anything smaller.  The schedule first: trials are cheaper with fewer
    // decisions to replay.
    bool smaller = true;
    while (smaller && !exhausted()) {
      smaller = shrink_schedule();
      smaller = shrink_input() || smaller;
      if (!smaller) smaller = lower_equal_integers() || redraw_input();
    }
    best_.complete = !exhausted() && fruitless_trials_ < options_.fruitless_trials_max;
  }

  // A trial that hangs, or loops over bad accesses, takes as many steps as it is allowed, so a few
  // would use up the whole budget.  A hang is still a hang under a lower limit, but so is a slow
  // trial: the result must also hang under the case's own limit.
  bool shrink_hang() {
    for (const std::uint64_t steps_max : {10'000u, 100'000u, 1'000'000u, 10'000'000u}) {
      if (steps_max < best_.a_case.settings.limits.steps_max && shrink_cut_short(steps_max)) {
        return true;
      }
    }
    return false;
  }

  bool shrink_cut_short(std::uint64_t steps_max) {
    const vgpu::Limits limits = best_.a_case.settings.limits;
    const ShrunkCase before = best_;
    best_.a_case.settings.limits.steps_max = steps_max;
    best_.verdict = trial(best_.a_case);
    if (wanted(best_.verdict)) {
      shrink_to_the_end();
      best_.a_case.settings.limits = limits;
      best_.verdict = trial(best_.a_case);
      if (wanted(best_.verdict)) return true;
    }
    best_ = before;
    visited_.clear();
    redrawn_.clear();
    return false;
  }

  // A few hundred such trials would use up the whole budget.
  [[nodiscard]] bool takes_long() const { return best_.verdict.steps > options_.steps_max / 300; }

  void start(const Case& a_case) {
    best_.a_case = a_case;
    best_.verdict = trial(a_case);
    target_ = options_.target.value_or(failure_class(best_.verdict));
    // The case may have named a strategy; from now on its recorded decisions are the schedule.
    best_.a_case.schedule = best_.verdict.schedule;
    if (std::holds_alternative<StrategyChoice>(a_case.schedule)) {
      best_.verdict = trial(best_.a_case);
      best_.a_case.schedule = best_.verdict.schedule;
    }
    best_.kept = !target_.empty() && wanted(best_.verdict);
    needs_decisions_ = best_.kept && !decisions().empty() &&
                       failure_class(trial(with(best_.a_case.input, {}))).empty();
    if (!best_.kept && options_.target && best_.verdict.failed()) {
      best_.kept = search_schedules(best_.a_case.input);
    }
    best_.trials = trials_;
  }

  // --- trials ------------------------------------------------------------------------------------

  [[nodiscard]] bool exhausted() const {
    return trials_ >= options_.trials_max || steps_ >= options_.steps_max ||
           elements_ >= options_.elements_max;
  }

  Verdict trial(const Case& a_case) { return counted(runner_.run(a_case)); }
  Verdict trial(const Case& a_case, vgpu::Strategy& strategy) {
    return counted(runner_.run(a_case, strategy));
  }
  Verdict counted(Verdict verdict) {
    ++trials_;
    if (options_.on_trial) options_.on_trial(trials_, best_.shrinks);
    steps_ += verdict.steps;
    return verdict;
  }

  [[nodiscard]] bool wanted(const Verdict& verdict) const {
    const FailureClass found = failure_class(verdict);
    return verdict.refusals.empty() && keeps(target_, found) &&
           std::ranges::includes(found.places, options_.places);
  }

  // A part of the failure, and nothing else: another schedule may show the rest.  The default
  // schedule shows nothing of a failure that needs decisions.
  [[nodiscard]] bool partly_wanted(const Verdict& verdict) const {
    const FailureClass found = failure_class(verdict);
    return (!found.empty() || needs_decisions_) && verdict.refusals.empty() &&
           std::ranges::includes(target_.places, found.places);
  }

  void keep(AnyInput input, Verdict verdict) {
    if (input != best_.a_case.input) visited_.insert(digest_of(*best_.a_case.pair, input));
    best_.a_case.input = std::move(input);
    best_.a_case.schedule = verdict.schedule;
    best_.verdict = std::move(verdict);
    ++best_.shrinks;
  }

  [[nodiscard]] Case with(AnyInput input, vgpu::Schedule schedule) const {
    Case candidate = best_.a_case;
    candidate.input = std::move(input);
    candidate.schedule = std::move(schedule);
    return candidate;
  }

  // --- input and launch --------------------------------------------------------------------------

  // After a success the search continues with the candidates of the same rank before it starts
  // again: starting again at once would repeat every failed attempt at each step.  But not for
  // long: ranks shift as the input changes, and a step that halved may have become a step by one.
  bool shrink_input() {
    constexpr int kStridesMax = 16;
    bool any = false, progress = false;
    std::size_t first = 0;
    int strides = 0;
    while (true) {
      const AnyInput input = best_.a_case.input;
      const auto accepted = best_.a_case.pair->for_each_shrink_from(
          first, input, [&](AnyInput candidate) { return exhausted() || try_input(candidate); });
      if (exhausted()) return any;
      if (accepted) {
        any = progress = true;
        first = ++strides % kStridesMax == 0 ? 0 : *accepted;
      } else if (progress) {
        progress = false;
        first = 0;
      } else {
        return any;
      }
    }
  }

  // Looks at all elements, as everything does that makes or tries a candidate.
  [[nodiscard]] auto rank(const AnyInput& input) {
    const InputSize size = best_.a_case.pair->size_of(input);
    elements_ += size.elements;
    return std::tuple(size.elements, size.threads, size.blocks, size.magnitude);
  }

  // Never towards something larger, and never back to an earlier input: shrinking must end.
  [[nodiscard]] bool leads_down(const AnyInput& input) {
    const auto now = rank(best_.a_case.input);
    const auto then = rank(input);
    if (then != now) return then < now;
    return !visited_.contains(digest_of(*best_.a_case.pair, input));
  }

  bool try_input(const AnyInput& input) {
    if (!leads_down(input)) return false;
    Verdict verdict;
    if (try_known_schedules(input, verdict)) return true;
    return partly_wanted(verdict) && is_smaller(input, verdict) && search_schedules(input);
  }

  // Keeps the input if it fails under the present or the default schedule; otherwise `verdict` is
  // the last one's.
  bool try_known_schedules(const AnyInput& input, Verdict& verdict) {
    verdict = trial(with(input, best_.verdict.schedule));
    if (!wanted(verdict) && !partly_wanted(verdict) && !decisions().empty()) {
      // The decisions gave another result; the default schedule shows whether anything of the
      // failure is left.
      verdict = trial(with(input, {}));
    }
    if (!wanted(verdict)) return false;
    keep(input, std::move(verdict));
    return true;
  }

  // Fewer elements, threads or blocks, or a trial of three quarters of the steps (the number of
  // threads may be any integer of the input): then another schedule is searched for.
  [[nodiscard]] bool is_smaller(const AnyInput& input, const Verdict& verdict) const {
    if (verdict.steps <= best_.verdict.steps / 4 * 3) return true;
    const InputSize now = best_.a_case.pair->size_of(best_.a_case.input);
    const InputSize then = best_.a_case.pair->size_of(input);
    return std::tuple(then.elements, then.threads, then.blocks) <
           std::tuple(now.elements, now.threads, now.blocks);
  }

  bool lower_equal_integers() {
    const AnyPair& pair = *best_.a_case.pair;
    return for_each_lowering_of_equals(
        pair.to_json(best_.a_case.input), [&](const Json& candidate) {
          const AnyInput input = pair.from_json(candidate);
          elements_ += pair.size_of(input).elements;
          return exhausted() || (pair.in_domain(input) && try_input(input));
        });
  }

  // Some inputs get smaller only if several fields change at once: keys that collide in a smaller
  // table, values that lie in two blocks of a smaller launch.  They are drawn, within a small part
  // of the budget.
  bool redraw_input() {
    constexpr int kRedrawsMax = 2'000;
    constexpr int kSizeOfRedraws = 20;  // of Draw::size()
    const AnyPair& pair = *best_.a_case.pair;
    const std::uint64_t steps_end = steps_ + options_.steps_max / 20;
    for (int i = 0; i < kRedrawsMax && steps_ < steps_end && !exhausted(); ++i) {
      Tape tape = Tape::of_seed(++draws_);
      Draw draw(tape, i % kSizeOfRedraws);
      const AnyInput input = pair.draw(draw);
      if (!pair.in_domain(input) || rank(input) >= rank(best_.a_case.input)) continue;
      if (!redrawn_.insert(digest_of(pair, input)).second) continue;
      Verdict verdict;
      if (try_known_schedules(input, verdict)) return true;
    }
    return false;
  }

  bool search_schedules(const AnyInput& input) {
    const auto run = [&](const Case& candidate,
                         vgpu::Strategy* strategy) -> std::optional<Verdict> {
      if (exhausted()) return std::nullopt;
      return strategy == nullptr ? trial(candidate) : trial(candidate, *strategy);
    };
    if (fruitless_trials_ >= options_.fruitless_trials_max) return false;
    const Digest digest = digest_of(*best_.a_case.pair, input);
    if (fruitless_inputs_.contains(digest)) return false;
    const std::uint64_t trials_before = trials_;
    std::optional<Verdict> verdict =
        warpcheck::search_schedules(with(input, {}), options_.schedules, run,
                                    [&](const Verdict& found) { return wanted(found); });
    fruitless_trials_ = verdict ? 0 : fruitless_trials_ + trials_ - trials_before;
    if (!verdict) {
      fruitless_inputs_.insert(digest);
      return false;
    }
    keep(input, std::move(*verdict));
    return true;
  }

  // --- schedule ----------------------------------------------------------------------------------

  [[nodiscard]] const Decisions& decisions() const { return best_.verdict.schedule.decisions; }

  bool shrink_schedule() {
    if (decisions().empty()) return false;
    if (try_decisions({})) return true;
    bool any = drop_starts();
    any = drop_decisions() || any;
    any = try_single_decisions() || any;
    return simplify_decisions() || any;
  }

  // Keeps the schedule if it shows the failure and is simpler.
  bool try_decisions(const Decisions& candidate) {
    if (exhausted()) return false;
    Verdict verdict = trial(with(best_.a_case.input, {candidate}));
    if (!wanted(verdict) || !simpler(verdict.schedule.decisions, decisions())) return false;
    keep(best_.a_case.input, std::move(verdict));
    return true;
  }

  static bool simpler(const Decisions& a, const Decisions& b) {
    const auto rank = [](const Decisions& list) {
      std::uint64_t sum = 0;
      for (const vgpu::Decision& decision : list) sum += weight(decision);
      return std::pair(list.size(), sum);
    };
    return rank(a) < rank(b);
  }

  // Mostly it does not matter which warp came first.
  bool drop_starts() {
    Decisions others = decisions();
    const auto is_start = [](const vgpu::Decision& decision) {
      return decision.point == vgpu::Decision::Point::start;
    };
    return std::erase_if(others, is_start) != 0 && !others.empty() && try_decisions(others);
  }

  bool drop_decisions() {
    bool any = false;
    const auto drop_one_chunk = [&] {
      const Decisions all = decisions();
      return for_each_chunk(all.size(), [&](Chunk chunk) {
        return exhausted() || try_decisions(without(all, chunk));
      });
    };
    while (!decisions().empty() && drop_one_chunk() && !exhausted()) any = true;
    return any;
  }

  bool simplify_decisions() {
    bool any = false;
    for (std::size_t i = 0; i < decisions().size() && !exhausted();) {
      if (simplify_decision(i))
        any = true;
      else
        ++i;
    }
    return any;
  }

  bool simplify_decision(std::size_t i) {
    const Decisions all = decisions();
    const auto attempt = [&](const vgpu::Decision& simple) {
      if (weight(simple) >= weight(all[i])) return false;
      Decisions candidate = all;
      candidate[i] = simple;
      return try_decisions(candidate);
    };
    vgpu::Decision simple = all[i];
    if (simple.point == vgpu::Decision::Point::start) {
      const vgpu::WarpId first = simple.next;
      simple.index = 0;
      if (attempt(simple)) return true;
      for (const vgpu::WarpId& next : {vgpu::WarpId{first.block, 0}, vgpu::WarpId{0, first.warp},
                                       vgpu::WarpId{first.block / 2, first.warp / 2},
                                       vgpu::WarpId{first.block - (first.block != 0), first.warp},
                                       vgpu::WarpId{first.block, first.warp - (first.warp != 0)}}) {
        simple = all[i];
        simple.next = next;
        if (attempt(simple)) return true;
      }
      return false;
    }
    const bool is_past = simple.point == vgpu::Decision::Point::past;
    if (is_past) {
      simple.next.block = 1;
      if (attempt(simple)) return true;
      simple = all[i];
    }
    for (std::uint32_t lanes = all[i].held; lanes != 0; lanes &= lanes - 1) {
      simple.held = lanes & (~lanes + 1);
      if (!is_past) simple.next = simple.at;
      if (attempt(simple)) return true;
    }
    simple = all[i];
    for (std::uint64_t index = 0; index < all[i].index; index += 1 + (all[i].index - index) / 2) {
      simple.index = index;
      if (attempt(simple)) return true;
    }
    return false;
  }

  // Tries every single decision that is simpler than the schedule, simplest first.
  bool try_single_decisions() {
    if (exhausted()) return false;
    ScheduleProbe probe(options_.schedules.single_decisions_max);
    trial(with(best_.a_case.input, {}), probe);
    std::uint64_t left = options_.schedules.single_decisions_max;
    for (const vgpu::Decision& decision :
         single_decisions(probe.points(), best_.a_case.settings.warp_model)) {
      if (left-- == 0 || !simpler({decision}, decisions())) return false;
      if (try_decisions({decision})) return true;
    }
    return false;
  }

  TrialRunner& runner_;
  const ShrinkOptions& options_;
  FailureClass target_;
  ShrunkCase best_;
  std::set<Digest> visited_;  // inputs accepted so far
  std::uint64_t trials_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t elements_ = 0;  // of all candidates, compared with the smallest input so far
  std::uint64_t draws_ = 0;     // inputs drawn afresh; the seed of the next
  std::set<Digest> redrawn_;    // of these, the inputs that were tried
  // The default schedule shows nothing of the failure.
  bool needs_decisions_ = false;
  std::uint64_t fruitless_trials_ = 0;  // since a schedule search last succeeded
  std::set<Digest> fruitless_inputs_;   // inputs whose schedules have been searched
};

// Checkers that are on only because somebody asked for them make a trial several times as long.
// Returns the case without those that the failure does not need; nothing: it needs them all.
std::optional<Case> without_idle_checkers(const Case& a_case, TrialRunner& runner,
                                          const FailureClass& failure, std::uint64_t& trials) {
  Case lean = a_case;
  bool is_leaner = false;
  for (const vgpu::CheckerRow& row : vgpu::kCheckers) {
    bool& is_on = lean.settings.checkers.*row.enabled;
    if (row.by_default || !is_on) continue;
    is_on = false;
    ++trials;
    is_on = failure_class(runner.run(lean)) != failure;
    is_leaner = is_leaner || !is_on;
  }
  return is_leaner ? std::optional(std::move(lean)) : std::nullopt;
}

// Shrinks without the checkers that show nothing of the failure, and runs the result with them.
// Nothing: there are none, or they say more of the result than of the case.
std::optional<ShrunkCase> shrink_leaner(const Case& a_case, TrialRunner& runner,
                                        const ShrinkOptions& options) {
  const bool is_plain = std::ranges::none_of(vgpu::kCheckers, [&](const vgpu::CheckerRow& row) {
    return !row.by_default && a_case.settings.checkers.*row.enabled;
  });
  if (is_plain) return std::nullopt;
  std::uint64_t trials = 1;
  const FailureClass failure = failure_class(runner.run(a_case));
  const auto lean = without_idle_checkers(a_case, runner, failure, trials);
  if (failure.empty() || !lean) return std::nullopt;
  ShrunkCase shrunk = Shrinker(runner, options).run(*lean);
  shrunk.a_case.settings.checkers = a_case.settings.checkers;
  const FailureClass known = failure_class(shrunk.verdict);
  shrunk.verdict = runner.run(shrunk.a_case);
  shrunk.trials += trials + 1;
  if (failure_class(shrunk.verdict) != known) return std::nullopt;
  shrunk.a_case.schedule = shrunk.verdict.schedule;
  return shrunk;
}

}  // namespace

ShrunkCase shrink(const Case& a_case, TrialRunner& runner, const ShrinkOptions& options) {
  if (auto shrunk = shrink_leaner(a_case, runner, options)) return *std::move(shrunk);
  return Shrinker(runner, options).run(a_case);
}

}  // namespace warpcheck
