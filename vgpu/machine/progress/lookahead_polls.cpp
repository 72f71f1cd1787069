// Finds out whether one warp only polls: it is run ahead alone, round after round
// (lookahead_rounds.cpp).  If it only polls, it does nothing else until another thread changes what
// it reads.
#include <algorithm>
#include <cstring>

#include "vgpu/machine/progress/lookahead.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint64_t kStepsOfPoll = 512;
constexpr std::size_t kPolledMax = 64;
constexpr std::size_t kReadMax = 4096;  // recorded per launch

}  // namespace

bool Lookahead::polls(Slot& slot, Warp& warp, std::vector<PolledBytes>& polled) {
  save(slot, warp.index, 1);
  polled.clear();
  polled_ = &polled;
  polled_shared_ = slot.shared;
  steps_of_round_ = kStepsOfPoll;
  current_reads_ = &reads_[&warp];
  const Fate fate = run_indifferently(slot, warp);
  polled_ = nullptr;
  return fate == Fate::spins && !is_too_much_;
}

// Returns whether the instruction may release other warps, or depends on more than registers and
// accesses.
bool Lookahead::concerns_others(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::barrier:
    case InstrKind::cluster_barrier:
    case InstrKind::barrier_object:
    case InstrKind::group_pending:
    case InstrKind::texture: return true;
    default: return false;
  }
}

void Lookahead::note_polled(const Access& access) {
  if (access.space == ptx::Space::param || access.space == ptx::Space::constant) return;
  // Shared memory of another block may be released before that block's warps stop waiting.
  if (access.space != ptx::Space::global && access.allocation != polled_shared_) {
    is_too_much_ = true;
  }
  for (std::uint32_t rest = access.mask; rest != 0 && !is_too_much_; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(__builtin_ctz(rest));
    PolledBytes bytes{access.allocation->data + access.offset[lane], access.bytes, {}};
    const bool is_known = std::ranges::any_of(*polled_, [&](const PolledBytes& other) {
      return other.at == bytes.at && other.count >= bytes.count;
    });
    if (is_known) continue;
    is_too_much_ = polled_->size() == kPolledMax;
    std::memcpy(bytes.value.data(), bytes.at, bytes.count);
    polled_->push_back(bytes);
  }
}

// Memory that a round itself has changed is unchanged again at the end of the round.
void Lookahead::note_read(const Access& access) {
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(__builtin_ctz(rest));
    PolledBytes bytes{access.allocation->data + access.offset[lane], access.bytes, {}};
    if (read_bytes_.size() > kReadMax) return;
    PolledBytes& known = read_bytes_.try_emplace(bytes.at, bytes).first->second;
    known.count = std::max(known.count, bytes.count);
    std::memcpy(known.value.data(), known.at, known.count);
  }
}

std::vector<PolledBytes> Lookahead::read_bytes() const {
  std::vector<PolledBytes> list;
  if (read_bytes_.size() > kReadMax) return list;
  for (const auto& [at, bytes] : read_bytes_) list.push_back(bytes);
  return list;
}

}  // namespace warpcheck::vgpu
