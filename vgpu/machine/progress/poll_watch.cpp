#include "vgpu/machine/progress/poll_watch.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

namespace warpcheck::vgpu {
namespace {

// The number of repetitions that count as polling: for a block; and for a warp, which is then
// examined more closely.
constexpr std::uint64_t kRepeatedMin = 128, kRepeatedMinOfWarp = 4;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{hash ^ value} * 0x9e3779b97f4a7c15u;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t mix_bytes(std::uint64_t hash, const std::byte* bytes, std::uint32_t count) {
  std::uint64_t found = 0;
  for (; count >= sizeof found; bytes += sizeof found, count -= sizeof found) {
    std::memcpy(&found, bytes, sizeof found);
    hash = mix(hash, found);
  }
  if (count == 0) return hash;
  found = 0;
  for (std::uint32_t byte = 0; byte < count; ++byte) {
    found |= std::to_integer<std::uint64_t>(bytes[byte]) << (8 * byte);
  }
  return mix(hash, found);
}

// Returns a hash of the access, and of the bytes that it finds.
std::uint64_t hash_of(const Access& access, bool with_bytes) {
  const std::byte* const data = access.allocation->data;
  std::uint64_t hash =
      mix(2 * access.pc + 1 + with_bytes, std::uint64_t{access.mask} << 32 | access.place.warp);
  hash = mix(hash, access.allocation->id);
  const auto mix_lane = [&](std::uint32_t lane, std::uint32_t lanes) {
    const std::uint32_t offset = access.offset[lane];
    hash = mix(hash, std::uint64_t{lanes} << 32 | offset);
    if (with_bytes) hash = mix_bytes(hash, data + offset, lanes * access.bytes);
  };
  const auto first = static_cast<std::uint32_t>(std::countr_zero(access.mask));
  if (access.pattern == Pattern::uniform) {
    mix_lane(first, 1);
  } else if (access.pattern == Pattern::strided && ~access.mask == 0) {
    mix_lane(first, kWarpLanes);
  } else {
    for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
      mix_lane(static_cast<std::uint32_t>(std::countr_zero(rest)), 1);
    }
  }
  return hash | 1;
}

}  // namespace

void PollWatch::begin(std::uint32_t block, std::uint64_t accesses_max) {
  block_ = block;
  warp_.reset();
  repeated_min_ = kRepeatedMin;
  accesses_max_ = accesses_max;
  accesses_ = new_until_ = new_place_until_ = 0;
  seen_.assign(std::bit_ceil(2 * accesses_max), 0);
}

void PollWatch::begin(std::uint32_t block, std::uint32_t warp, std::uint64_t accesses_max) {
  begin(block, 2 * accesses_max);  // two hashes for each access
  accesses_max_ = accesses_max;
  warp_ = warp;
  repeated_min_ = kRepeatedMinOfWarp;
}

PollWatch::Verdict PollWatch::verdict() const {
  if (repeats(accesses_, new_until_) && accesses_ != 0) return Verdict::polls;
  return accesses_ >= accesses_max_ ? Verdict::works : Verdict::undecided;
}

bool PollWatch::repeats(std::uint64_t accesses, std::uint64_t new_until) const {
  const std::uint64_t repeated = accesses - new_until;
  return accesses == 0 || (repeated >= repeated_min_ && repeated >= 2 * new_until);
}

void PollWatch::on_access(const Access& access) {
  const bool is_local = access.space == ptx::Space::local;
  if (warp_ && access.place.warp != *warp_) return;
  if (access.place.block != block_ || is_local || accesses_ >= accesses_max_) return;
  ++accesses_;
  if (insert(hash_of(access, true))) new_until_ = accesses_;
  if (warp_ && insert(hash_of(access, false))) new_place_until_ = accesses_;
}

// Returns whether the hash is new.
bool PollWatch::insert(std::uint64_t hash) {
  const std::size_t last = seen_.size() - 1;
  for (std::size_t at = hash >> 1 & last;; at = (at + 1) & last) {
    if (seen_[at] == hash) return false;
    if (seen_[at] != 0) continue;
    seen_[at] = hash;
    return true;
  }
}

}  // namespace warpcheck::vgpu
