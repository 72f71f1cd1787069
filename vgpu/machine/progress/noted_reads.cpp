#include "vgpu/machine/progress/noted_reads.hpp"

#include <algorithm>
#include <cstring>

namespace warpcheck::vgpu {
namespace {

constexpr std::size_t kPolledMax = 64;
constexpr std::size_t kReadMax = 4096;  // recorded per launch

}  // namespace

void PolledReads::begin(std::vector<PolledBytes>& polled, const Allocation* shared) {
  polled.clear();
  polled_ = &polled;
  shared_ = shared;
}

void PolledReads::note(const Access& access) {
  if (access.space == ptx::Space::param || access.space == ptx::Space::constant) return;
  // Shared memory of another block may be released before that block's warps stop waiting.
  if (access.space != ptx::Space::global && access.allocation != shared_) {
    are_too_many_ = true;
  }
  for (std::uint32_t rest = access.mask; rest != 0 && !are_too_many_; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(__builtin_ctz(rest));
    PolledBytes bytes{access.allocation->data + access.offset[lane], access.bytes, {}};
    const bool is_known = std::ranges::any_of(*polled_, [&](const PolledBytes& other) {
      return other.at == bytes.at && other.count >= bytes.count;
    });
    if (is_known) continue;
    are_too_many_ = polled_->size() == kPolledMax;
    std::memcpy(bytes.value.data(), bytes.at, bytes.count);
    polled_->push_back(bytes);
  }
}

// Memory that a round itself has changed is unchanged again at the end of the round.
void LaunchReads::note(const Access& access) {
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(__builtin_ctz(rest));
    PolledBytes bytes{access.allocation->data + access.offset[lane], access.bytes, {}};
    if (bytes_.size() > kReadMax) return;
    PolledBytes& known = bytes_.try_emplace(bytes.at, bytes).first->second;
    known.count = std::max(known.count, bytes.count);
    std::memcpy(known.value.data(), known.at, known.count);
  }
}

std::vector<PolledBytes> LaunchReads::list() const {
  std::vector<PolledBytes> list;
  if (bytes_.size() > kReadMax) return list;
  for (const auto& [at, bytes] : bytes_) list.push_back(bytes);
  return list;
}

}  // namespace warpcheck::vgpu
