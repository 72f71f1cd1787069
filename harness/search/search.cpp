#include "harness/search/search.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>

#include "vgpu/schedule/strategies.hpp"

namespace warpcheck {
namespace {

constexpr int kDrawsMax = 100;

}  // namespace

std::uint64_t mix(std::span<const std::uint64_t> numbers) {
  return XXH3_64bits(numbers.data(), numbers.size_bytes());
}

std::uint64_t hash_of_text(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

Case draw_case(const AnyPair& pair, std::string_view property, const Settings& settings, Tape tape,
               int size, DrawCount* count) {
  Draw draw(tape, size);
  Case drawn{.pair = &pair,
             .property = std::string(property),
             .input = nullptr,
             .schedule = {},
             .settings = settings,
             .tape = {}};
  for (int i = 0; i < kDrawsMax; ++i) {
    drawn.input = pair.draw(draw);
    const bool discarded = !pair.in_domain(drawn.input);
    if (count != nullptr) {
      ++count->drawn;
      count->discarded += discarded ? 1 : 0;
    }
    if (discarded) continue;
    const vgpu::StrategyRow& row = vgpu::drawn_strategy(draw.below(vgpu::draw_tickets()));
    // Few seeds suffice for a strategy; 64 bits would take eight bytes of a tape.
    const std::uint64_t seed = draw.below(1u << 24);
    const std::string_view name = vgpu::strategy_of_seed(row, seed).name;
    drawn.schedule = StrategyChoice{.name = std::string(name), .seed = seed};
    drawn.tape = tape.recorded();
    return drawn;
  }
  throw DomainError(fmt::format("pair '{}': .arbitrary drew {} inputs and none was in .domain",
                                pair.name(), kDrawsMax));
}

Case nth_case(const AnyPair& pair, std::string_view property, const Settings& settings,
              std::uint64_t seed, std::uint64_t trial, DrawCount* count) {
  const std::array<std::uint64_t, 5> numbers{
      seed, hash_of_text(fmt::format("{}.{}", pair.name(), property)),
      static_cast<std::uint64_t>(settings.build), static_cast<std::uint64_t>(settings.warp_model),
      trial};
  const int size = static_cast<int>(trial % (kSizeMax + 1));
  return draw_case(pair, property, settings, Tape::of_seed(mix(numbers)), size, count);
}

bool KnownFailures::add(const Verdict& verdict) {
  bool is_new = false;
  for (const std::string& place : failure_class(verdict).places) {
    is_new |= places_.insert(place).second;
  }
  return is_new;
}

bool FailureLog::add(const Failure& failure) {
  Entry entry{.failure = failure, .size = size_of(failure.a_case, failure.verdict.schedule)};
  auto [at, is_new] = by_class_.try_emplace(failure_class(failure.verdict).signatures, entry);
  if (!is_new && entry.size < at->second.size) {
    entry.failure.trial = at->second.failure.trial;  // of the first failure of the class
    at->second = std::move(entry);
  }
  return is_new;
}

std::vector<vgpu::FindingKind> FailureLog::kinds() const {
  std::set<vgpu::FindingKind> kinds;
  for (const auto& [signatures, entry] : by_class_) {
    for (const vgpu::FindingKind kind : failure_kinds(entry.failure.verdict)) kinds.insert(kind);
  }
  return {kinds.begin(), kinds.end()};
}

std::vector<const Failure*> FailureLog::worth_reporting() const {
  using Row = decltype(by_class_)::value_type;
  std::set<const Row*> chosen;
  for (const vgpu::FindingKind kind : kinds()) {
    const Row* best = nullptr;
    for (const Row& row : by_class_) {
      if (!std::ranges::count(failure_kinds(row.second.failure.verdict), kind)) continue;
      const auto rank = [](const Row& r) { return std::pair(r.first.size(), r.second.size); };
      if (best == nullptr || rank(row) < rank(*best)) best = &row;
    }
    chosen.insert(best);
  }
  std::vector<const Failure*> failures;
  for (const Row* row : chosen) {
    const bool part_of_another = std::ranges::any_of(chosen, [&](const Row* other) {
      return other != row && std::ranges::includes(other->first, row->first);
    });
    if (!part_of_another) failures.push_back(&row->second.failure);
  }
  std::ranges::sort(failures, [](const Failure* a, const Failure* b) {
    return std::pair(a->trial, failure_class(a->verdict).signatures) <
           std::pair(b->trial, failure_class(b->verdict).signatures);
  });
  return failures;
}

}  // namespace warpcheck
