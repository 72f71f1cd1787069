// Which pair is searched next: a bandit over new features per second, with a floor for every pair.
//
// To search many programs for a fixed time is the problem of Woo, Cha, Gottlieb and Brumley,
// "Scheduling black-box mutational fuzzing", CCS 2013: time is dealt in epochs, and an epoch goes
// to a program with a probability that grows with the rate at which it has paid.  What pays here
// is new coverage, and findings.  As the rate of a pair falls while it is searched, old payments
// are discounted (Garivier, Moulines, "On upper-confidence bound policies for switching bandit
// problems", ALT 2011): of what a pair paid, half is forgotten when a quarter of its own time has
// gone by again, and with every minute at the latest.  Most of what there is to find of a small
// kernel is found in its first second, and says little of the next.
//
// Time is what the processor gave: on a machine with other work slots are not shorter.
//
//   1. a pair that was never searched, in order of name;
//   2. every fourth time the floor: by turns the pair that was searched for the shortest time, and
//      the one that was run the fewest times, as a slow pair has seen less for its time;
//   3. else a pair drawn with probability in proportion to its rate.
//
// Pairs that fewer workers are on come before others.
//
// Several nodes of a campaign deal the pairs among themselves (nodes/share.hpp).  What is known of
// a pair is then the sum over all of them, and what it paid to one is old when others have searched
// it since; rules 1 and 2 are for the pairs of the own share, so
// that each has somebody who looks after it, and rule 3 is for all: time goes where it pays,
// whoever was dealt the pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "campaign/store/store.hpp"
#include "vgpu/schedule/prng.hpp"

namespace warpcheck::campaign {

inline constexpr std::int64_t kFloorEvery = 4;
inline constexpr double kHalfLifeSecondsMax = 60;
// What a finding is worth, in features.
inline constexpr double kFindingGain = 100;

struct Arm {
  const PairProgress* progress = nullptr;
  unsigned workers = 0;   // that search it now
  bool finished = false;  // nothing is left to do for it
  bool ours = true;       // of the own share
};

// Index of the arm to search next; `slots`: how many were dealt so far.  Nothing when all are
// finished.
std::optional<std::size_t> choose_arm(std::span<const Arm> arms, std::int64_t slots,
                                      vgpu::Prng& prng);

// Accounts for `seconds` of search that paid `gain`; other nodes have searched the pair for
// `seconds_of_others` so far.
void account(PairProgress& progress, double seconds, double gain, double seconds_of_others = 0);

// Other nodes have searched the pair for `seconds` more, `seconds_of_others` in all: what it paid
// to this node is as old as if this node had searched it so long.
void forget(PairProgress& progress, double seconds, double seconds_of_others);

// How long the next slot of a pair should be: a quarter of its time so far, so that the corpus is
// read seldom, within [1, 20].
std::uint64_t slot_seconds(const PairProgress& progress);

}  // namespace warpcheck::campaign
