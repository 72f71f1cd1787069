#include "vgpu/schedule/pos.hpp"

#include <algorithm>

#include "vgpu/schedule/held_lanes.hpp"
#include "vgpu/schedule/start.hpp"

namespace warpcheck::vgpu {
namespace {

// What is known of the accesses with one number: the number of warps whose access raced with
// nothing, up to kQuiet; or kRaces: one of them raced.
constexpr std::uint8_t kQuiet = 4, kRaces = 255;
constexpr std::size_t kIndexesMax = 4096;
constexpr std::uint64_t kAskedMax = 256;
// Drawn priorities are hardly ever lower.
constexpr std::uint64_t kLowest = std::uint64_t{1} << 32;
// the number of contenders among which the highest priority is drawn
constexpr std::uint64_t kContendersMax = 64;
// larger launches do not wait until all events are known
constexpr std::uint64_t kFollowedMax = 64;

std::uint64_t number_of(WarpId warp) { return (std::uint64_t{warp.block} << 32) | warp.warp; }

}  // namespace

void Pos::begin(std::uint32_t, std::uint32_t blocks, std::uint32_t warps_per_block) {
  salt_ = prng_.next();
  top_ = UINT64_MAX;
  first_.reset();
  const std::uint64_t warps = std::uint64_t{blocks} * warps_per_block;
  const bool is_alone = warps == 1;
  follows_all_ = warps <= kFollowedMax;
  hold_odds_ = is_alone          ? 1 + prng_.below(4)
               : prng_.one_in(3) ? 0
                                 : std::uint64_t{2} << prng_.below(5);
  lowest_ = kLowest;
  time_ = asked_ = gap_ = 0;
  learned_.clear();
  events_.clear();
  waiting_.clear();
  touched_.clear();
}

// The warp that comes first is taken in turn, and gets the highest priority.
StartOrder Pos::choose_start(const StartPoint& point) {
  const StartOrder order = nth_start(seed_, point);
  first_ = order.first;
  const std::uint64_t contenders = std::uint64_t{point.blocks} * point.warps_per_block;
  top_ = 0;
  for (std::uint64_t i = std::min(contenders, kContendersMax); i > 0; --i) {
    top_ = std::max(top_, prng_.next());
  }
  return order;
}

std::uint64_t Pos::next_access(std::uint32_t, WarpId, std::uint64_t from) {
  while (from < learned_.size() && learned_[from] != kRaces && learned_[from] >= kQuiet) ++from;
  return gap_ == 0 ? from : from + prng_.geometric(gap_);
}

std::uint32_t Pos::choose_operation(const OperationPoint& point) {
  return point.ready[prng_.below(point.ready.size())];
}

std::uint64_t Pos::priority_of(WarpId warp) const {
  if (warp == first_) return top_;
  return Prng(Prng(salt_ ^ number_of(warp) * 0xd134'2543'de82'ef95u).next()).below(top_);
}

Pos::Event& Pos::event_of(WarpId warp) {
  const auto [at, is_new] = events_.try_emplace(number_of(warp));
  if (is_new) at->second.priority = priority_of(warp);
  at->second.toucher.warp = warp;
  return at->second;
}

void Pos::draw(Event& event) {
  event.priority = prng_.next();
  event.drawn_at = time_;
}

// Returns whether an access of another warp that races with the event was made since the event drew
// its priority.
bool Pos::has_raced(const Event& event) const {
  return std::ranges::any_of(event.words, [&](std::uint64_t address) {
    const TouchedWords::Word* word = touched_.find(address);
    if (word == nullptr) return false;
    const auto races = [&](const Toucher& other) {
      return other.site != 0 && other.time > event.drawn_at && other.warp != event.toucher.warp &&
             is_unordered(other, event.toucher) && !(other.commutes && event.toucher.commutes);
    };
    return races(word->writer) || (event.writes && races(word->reader));
  });
}

Pos::Event& Pos::arrive(const SchedulePoint& point) {
  Event& event = event_of(point.at);
  if (event.is_known && event.toucher.index < point.index) run(point.at);
  event.is_known = true;
  event.is_stuck = false;
  event.place = waiting_.size();
  waiting_.push_back(&event);
  event.toucher.index = point.index;
  event.words.clear();
  event.lanes.clear();
  event.reads = event.writes = false;
  if (const AccessedWords* touched = point.accessed) {
    event.reads = touched->reads;
    event.writes = touched->writes;
    event.toucher.commutes = touched->commutes;
    event.toucher.phase = touched->phase;
    event.toucher.site = touched->site;
    event.words.assign(touched->words.begin(), touched->words.end());
    event.lanes.assign(touched->lanes.begin(), touched->lanes.end());
    const auto [low, high] = std::ranges::minmax(touched->words);
    event.low = low;
    event.high = high;
  }
  if (has_raced(event)) draw(event);
  if (++asked_ == kAskedMax) {
    asked_ = 0;
    gap_ = gap_ == 0 ? 1 : 2 * gap_;
  }
  return event;
}

void Pos::learn(std::uint64_t index, bool races) {
  if (index >= kIndexesMax) return;
  if (learned_.size() <= index) learned_.resize(index + 1);
  if (races) {
    learned_[index] = kRaces;
  } else if (learned_[index] < kQuiet) {
    ++learned_[index];
  }
}

// Records that the event ran.  Returns whether it races with an earlier one.
bool Pos::touch(const Event& event) {
  bool races = false;
  Toucher toucher = event.toucher;
  toucher.time = time_;
  for (std::size_t i = 0; i < event.words.size(); ++i) {
    toucher.lane = event.lanes[i];
    TouchedWords::Word& word = touched_.at(event.words[i]);
    const auto meets = [&](const Toucher& other) {
      if (other.site == 0 || !is_unordered(other, toucher)) return;
      if (other.commutes && toucher.commutes) return;
      races = true;
      learn(other.index, true);
    };
    meets(word.writer);
    if (event.writes) meets(word.reader);
    if (event.reads) word.reader = toucher;
    if (!event.writes) continue;
    if (word.writer.site != toucher.site) word.other_writer = word.writer;
    word.writer = toucher;
  }
  return races;
}

bool Pos::Event::races_with(const Event& other) const {
  if (words.empty() || other.words.empty() || low > other.high || high < other.low) return false;
  if (!writes && !other.writes) return false;
  if (toucher.commutes && other.toucher.commutes) return false;
  if (!is_unordered(toucher, other.toucher)) return false;
  return std::ranges::any_of(words, [&](std::uint64_t word) {
    return std::ranges::find(other.words, word) != other.words.end();
  });
}

// Runs the pending event of a warp; events that race with it draw new priorities.
void Pos::run(WarpId warp) {
  Event& event = event_of(warp);
  if (!event.is_known) return;
  event.is_known = false;
  waiting_.back()->place = event.place;
  waiting_[event.place] = waiting_.back();
  waiting_.pop_back();
  runs(event);
  ++time_;
  learn(event.toucher.index, touch(event));
  draw(event);
  for (Event* other : waiting_) {
    if (event.races_with(*other)) draw(*other);
  }
}

std::uint32_t Pos::lanes_behind(const SchedulePoint& point, const Event&) {
  if (hold_odds_ == 0 || !prng_.one_in(hold_odds_)) return 0;
  return draw_held_lanes(prng_, point.active, point.other_ready);
}

// A warp whose next access is not known runs to it first, so that the next accesses of all ready
// warps are known.
Pos::Rank Pos::rank_of(WarpId warp) const {
  const auto at = events_.find(number_of(warp));
  if (at == events_.end()) return {true, follows_all_, priority_of(warp)};
  const Event& event = at->second;
  if (event.is_known) return {!waits(event), false, event.priority};
  return {true, follows_all_ && !event.is_stuck, event.priority};
}

// Returns the ready warp with the highest priority.  For a block that has not begun, one warp
// represents all its warps.
WarpId Pos::highest(const SchedulePoint& point) const {
  WarpId best = point.ready.front();
  Rank best_rank{};
  auto not_begun = point.not_begun.begin();
  for (WarpId warp : point.ready) {
    while (not_begun != point.not_begun.end() && *not_begun < warp.block) ++not_begun;
    if (not_begun != point.not_begun.end() && *not_begun == warp.block) {
      const std::uint64_t drawn = Prng(salt_ ^ warp.block).below(point.warps_per_block);
      warp.warp = static_cast<std::uint32_t>(drawn);
    }
    const Rank rank = rank_of(warp);
    if (rank < best_rank) continue;
    best_rank = rank;
    best = warp;
  }
  return best;
}

std::optional<Choice> Pos::decide(const SchedulePoint& point) {
  if (point.ready.empty()) return std::nullopt;
  if (point.point != Decision::Point::access) {
    run(point.at);
    Event& event = event_of(point.at);
    draw(event);
    // The threads that it waits for must get their turn.
    event.is_stuck = point.yielded;
    if (point.yielded) event.priority = --lowest_;
    const WarpId next = highest(point);
    run(next);
    return next == point.default_next ? std::nullopt : std::optional(Choice{0, next});
  }
  const Event& event = arrive(point);
  if (point.model == WarpModel::independent) {
    const std::uint32_t behind = lanes_behind(point, event);
    if (behind != 0) {
      run(point.at);
      return Choice{behind, point.at};
    }
  }
  const WarpId next = highest(point);
  run(next);
  if (next != point.at) return Choice{point.active, next};
  return std::nullopt;
}

}  // namespace warpcheck::vgpu
