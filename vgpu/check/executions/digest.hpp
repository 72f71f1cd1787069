// 128-bit digests that name events and what came before them: equal digests name equal events.
#pragma once

#include <xxhash.h>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpcheck::vgpu {

struct Digest {
  std::uint64_t low = 0, high = 0;
  friend auto operator<=>(const Digest&, const Digest&) = default;
  // Adds a member to the digest of a set; the order of additions does not matter.
  Digest& operator+=(const Digest& other) {
    low += other.low;
    high += other.high;
    return *this;
  }
};

struct DigestHash {
  std::size_t operator()(const Digest& digest) const { return digest.low; }
};

class DigestMaker {
 public:
  DigestMaker& add(std::uint64_t number) {
    words_.push_back(number);
    return *this;
  }
  DigestMaker& add(const Digest& digest) { return add(digest.low).add(digest.high); }
  [[nodiscard]] Digest made() const {
    const XXH128_hash_t hash = XXH3_128bits(words_.data(), words_.size() * sizeof words_.front());
    return {hash.low64, hash.high64};
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace warpcheck::vgpu
