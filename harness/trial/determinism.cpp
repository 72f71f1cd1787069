#include "harness/trial/determinism.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "harness/pair/agreement.hpp"
#include "harness/pair/source_path.hpp"
#include "harness/trial/schedule_search.hpp"
#include "harness/trial/shadow_results.hpp"
#include "harness/trial/watched_run.hpp"
#include "vgpu/check/precision/precision_domain.hpp"
#include "vgpu/check/proof/order_flow.hpp"
#include "vgpu/check/proof/order_reason.hpp"
#include "vgpu/schedule/replay.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck {
namespace {

using vgpu::OrderFlow;
using vgpu::OrderPoint;

constexpr unsigned kSchedules = 16, kSchedulesMin = 4;
constexpr std::uint64_t kStepsOfSpread = 200'000;

// Sees nothing but the bytes that come to the host.
class CopiedBytes final : public vgpu::Observer {
 public:
  [[nodiscard]] vgpu::Watched watches() const override {
    return {.accesses = false, .launches = false, .blocks = false};
  }
  void on_host_access(const vgpu::HostAccess& access) override {
    if (access.write || access.ahead) return;
    const std::byte* const bytes = access.allocation->data + access.offset;
    copies.emplace_back(bytes, bytes + access.bytes);
  }
  std::vector<std::vector<std::byte>> copies;
};

// What differs between two runs, as far as one of them has followed it.
struct Difference {
  std::set<std::uint32_t> marks;
  bool has_unmarked = false;
};

Difference difference_of(const std::vector<OrderFlow::Copy>& copies,
                         const std::vector<std::vector<std::byte>>& others) {
  Difference difference;
  for (std::size_t i = 0; i < std::min(copies.size(), others.size()); ++i) {
    const auto& [bytes, marks] = copies[i];
    if (bytes.size() != others[i].size()) return difference;  // the host goes on in another way
    for (std::uint32_t at = 0; at < bytes.size(); ++at) {
      if (bytes[at] == others[i][at]) continue;
      // The bytes of a float are marked together, but of an integer perhaps only those that differ.
      const auto mark = marks.find(at);
      if (mark != marks.end()) difference.marks.insert(mark->second);
      difference.has_unmarked = difference.has_unmarked || mark == marks.end();
    }
  }
  return difference;
}

void add_new(std::vector<OrderPoint>& to, const std::vector<OrderPoint>& points) {
  for (const OrderPoint& point : points) {
    if (std::ranges::find(to, point) == to.end()) to.push_back(point);
  }
}

}  // namespace

vgpu::OrderReason find_order_reason(const Case& a_case, const vgpu::Schedule& schedule,
                                    Engine& engine) {
  Case watched = a_case;
  watched.property.clear();
  CopiedBytes other;
  run_watched(watched, engine, other);
  std::vector<OrderPoint> sources;
  std::vector<OrderFlow::Decision> decisions;
  while (sources.size() < vgpu::kOrderSourcesMax) {
    OrderFlow flow(sources);
    vgpu::Replay replay(schedule);
    run_watched(watched, engine, flow, nullptr, &replay);
    const Difference difference = difference_of(flow.copies(), other.copies);
    if (sources.empty() && difference.has_unmarked) decisions = flow.decisions();
    const std::size_t known = sources.size();
    for (const std::uint32_t mark : difference.marks) add_new(sources, flow.sources_of(mark));
    if (sources.size() == known) break;
  }
  vgpu::OrderReason reason =
      sources.empty() ? reason_of(decisions) : vgpu::reason_of(std::move(sources));
  for (vgpu::AccessSide& side : reason.sides) {
    side.rename_files(repository_path);
  }
  return reason;
}

namespace {

// One number of the output under all schedules.
class Spread {
 public:
  explicit Spread(NumberPlace place) : place_(place) {}

  void add(const NumberPlace& now) {
    bits_.insert(bits_at(now.at, now.bytes));
    const double value = place_.is_float ? number_at(now) : integer_at(now);
    if (!std::isfinite(value)) is_number_ = false;
    least_ = std::min(least_, value + 0.0);  // one zero
    greatest_ = std::max(greatest_, value + 0.0);
  }

  [[nodiscard]] ScheduleSpread told(std::size_t index) const {
    ScheduleSpread spread{.index = index,
                          .values = bits_.size(),
                          .least = text(least_),
                          .greatest = text(greatest_),
                          .is_float = place_.is_float,
                          .is_number = is_number_};
    if (bits_.size() < 2) return spread;
    if (!is_number_) {
      spread.ulps = std::numeric_limits<double>::infinity();
      return spread;
    }
    const double larger = std::max(std::abs(least_), std::abs(greatest_));
    const ptx::Type type = place_.bytes == 8 ? ptx::Type::f64 : ptx::Type::f32;
    const double unit = place_.is_float ? vgpu::unit_in_last_place(larger, type) : 1;
    spread.ulps = (greatest_ - least_) / unit;
    return spread;
  }

 private:
  [[nodiscard]] double integer_at(const NumberPlace& now) const {
    const std::uint64_t bits = bits_at(now.at, now.bytes);
    const unsigned unused = 64 - 8u * now.bytes;
    if (!now.is_signed) return static_cast<double>(bits);
    return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
  }
  [[nodiscard]] std::string text(double value) const {
    if (!place_.is_float) return fmt::format("{:.0f}", value);
    return place_.bytes == 8 ? detail::show_number(value)
                             : detail::show_number(static_cast<float>(value));
  }

  NumberPlace place_;
  std::set<std::uint64_t> bits_;
  double least_ = std::numeric_limits<double>::infinity(), greatest_ = -least_;
  bool is_number_ = true;
};

}  // namespace

std::optional<ScheduleSpread> spread_over_schedules(const Case& a_case,
                                                    const vgpu::Schedule& schedule,
                                                    std::uint64_t steps_of_one, Engine& engine) {
  Case watched = a_case;
  watched.property.clear();
  const auto affordable = kStepsOfSpread / std::max<std::uint64_t>(steps_of_one, 1);
  const unsigned schedules =
      std::clamp(static_cast<unsigned>(std::min<std::uint64_t>(affordable, kSchedules)),
                 kSchedulesMin, kSchedules);
  std::vector<Spread> spreads;
  for (unsigned i = 0; i < schedules; ++i) {
    const StrategyChoice choice = policy(i < 2 ? 0 : i - 2);
    const std::unique_ptr<vgpu::Strategy> strategy =
        i == 0   ? std::make_unique<vgpu::Replay>(vgpu::Schedule{})
        : i == 1 ? std::make_unique<vgpu::Replay>(schedule)
                 : vgpu::make_strategy(choice.name, choice.seed);
    CopiedBytes unused;
    const WatchedRun run = run_watched(watched, engine, unused, nullptr, strategy.get());
    if (!run.error.empty() || run.output == nullptr) return std::nullopt;
    const NumberPlaces numbers = a_case.pair->numbers_of_output(run.output);
    if (i == 0) {
      for (const NumberPlace& place : numbers.places) spreads.emplace_back(place);
    }
    if (numbers.places.size() != spreads.size()) return std::nullopt;
    for (std::size_t k = 0; k < spreads.size(); ++k) spreads[k].add(numbers.places[k]);
  }
  ScheduleSpread worst;
  for (std::size_t k = 0; k < spreads.size(); ++k) {
    ScheduleSpread one = spreads[k].told(k);
    if (one.values > 1 && (worst.values < 2 || one.ulps > worst.ulps)) worst = std::move(one);
  }
  if (worst.values < 2) return std::nullopt;
  worst.schedules = schedules;
  return worst;
}

std::string text_of(const ScheduleSpread& spread) {
  std::string text = fmt::format("under {} schedules, out[{}] has {} values", spread.schedules,
                                 spread.index, spread.values);
  if (!spread.is_number) return text + ", not all of them numbers";
  if (spread.least == spread.greatest) return text;  // both zeros
  text += fmt::format(" from {} to {}", spread.least, spread.greatest);
  if (!spread.is_float) return text;
  return text +
         (spread.ulps == 1 ? ", 1 ulp apart" : fmt::format(", {:.3g} ulps apart", spread.ulps));
}

}  // namespace warpcheck
