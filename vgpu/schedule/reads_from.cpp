#include "vgpu/schedule/reads_from.hpp"

#include <algorithm>
#include <vector>

#include "vgpu/schedule/held_lanes.hpp"

namespace warpcheck::vgpu {
namespace {

ReadsFromPair pair_of(const Toucher& write, const Toucher& read) {
  using Relation = ReadsFromPair::Relation;
  if (write.site == 0) return {0, read.site, Relation::none};
  const Relation relation = write.warp.block != read.warp.block ? Relation::grid
                            : write.warp != read.warp           ? Relation::block
                            : write.lane != read.lane           ? Relation::warp
                                                                : Relation::lane;
  return {write.site, read.site, relation};
}

}  // namespace

std::optional<ReadsFromPair> ReadsFromSeen::aim(Prng& prng) {
  std::uint64_t least = UINT64_MAX;
  std::vector<std::map<ReadsFromPair, Count>::iterator> rarest;
  for (auto at = pairs_.begin(); at != pairs_.end(); ++at) {
    if (!at->second.is_free) continue;
    const std::uint64_t count = at->second.seen + at->second.aimed;
    if (count > least) continue;
    if (count < least) rarest.clear();
    least = count;
    rarest.push_back(at);
  }
  if (rarest.empty()) return std::nullopt;
  const auto chosen = rarest[prng.below(rarest.size())];
  ++chosen->second.aimed;
  return chosen->first;
}

void ReadsFrom::begin(std::uint32_t launch, std::uint32_t blocks, std::uint32_t warps_per_block) {
  Pos::begin(launch, blocks, warps_per_block);
  last_ = {};
  aim_.reset();
  if (!prng_.one_in(4)) aim_ = seen_->aim(prng_);
}

std::optional<Choice> ReadsFrom::decide(const SchedulePoint& point) {
  if (point.yielded) aim_.reset();  // it may wait for a thread that waits for the pair
  return Pos::decide(point);
}

bool ReadsFrom::waits(const Event& event) const {
  if (!aim_) return false;
  const std::uint64_t site = event.toucher.site;
  const bool is_read = event.reads && site == aim_->read;
  if (is_read && aim_->write == 0) return false;
  // Returns whether the write of the pair is the latest write of the word.
  const auto is_written = [&](std::uint64_t address) {
    const TouchedWords::Word* word = touched().find(address);
    if (aim_->write == 0) return word == nullptr || word->writer.site == 0;
    return word != nullptr && word->writer.site == aim_->write;
  };
  const bool some_written = std::ranges::any_of(event.words, is_written);
  if (is_read) return !some_written;
  return event.writes && (aim_->write == 0 || site != aim_->write) && some_written;
}

void ReadsFrom::note_read(const Event& event, const Toucher& reader,
                          const TouchedWords::Word* word) {
  const ReadsFromPair seen = pair_of(word == nullptr ? Toucher{} : word->writer, reader);
  if (seen != last_) seen_->add_seen(seen);
  last_ = seen;
  if (seen == aim_) aim_.reset();
  if (word == nullptr || word->writer.site == 0 || !is_unordered(word->writer, reader)) return;
  seen_->add_possible(seen);
  seen_->add_possible(pair_of({}, reader));
  const Toucher& other = word->other_writer;
  if (other.site != 0 && is_unordered(other, reader)) seen_->add_possible(pair_of(other, reader));
  if (event.writes && word->reader.site != 0 && is_unordered(word->reader, reader)) {
    seen_->add_possible(pair_of(reader, word->reader));
  }
}

void ReadsFrom::runs(const Event& event) {
  Toucher toucher = event.toucher;
  for (std::size_t i = 0; i < event.words.size(); ++i) {
    toucher.lane = event.lanes[i];
    const TouchedWords::Word* word = touched().find(event.words[i]);
    if (event.reads) {
      note_read(event, toucher, word);
    } else if (word != nullptr && word->reader.site != 0 && is_unordered(word->reader, toucher)) {
      seen_->add_possible(pair_of(toucher, word->reader));
      seen_->add_possible(pair_of(word->writer, word->reader));
    }
  }
}

// For a pair within a warp: the lanes held at the read find what the other lanes then write.
std::uint32_t ReadsFrom::lanes_behind(const SchedulePoint& point, const Event& event) {
  const bool is_aimed_at = aim_ && aim_->relation == ReadsFromPair::Relation::warp &&
                           (event.toucher.site == aim_->read || event.toucher.site == aim_->write);
  if (is_aimed_at && prng_.one_in(2))
    return draw_held_lanes(prng_, point.active, point.other_ready);
  return Pos::lanes_behind(point, event);
}

}  // namespace warpcheck::vgpu
