// The memory of the reference interpreter: every allocation has a unique address, whatever its
// space, so generic addresses need no windows.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <vector>

namespace warpcheck::vgpu {

class ReferenceMemory {
 public:
  using Bytes = std::vector<std::uint8_t>;

  std::uint64_t add(Bytes bytes) {
    const std::uint64_t address = next_;
    next_ += (bytes.size() + kGap) / kGap * kGap;
    blocks_.emplace(address, std::move(bytes));
    return address;
  }
  void remove(std::uint64_t address) { blocks_.erase(address); }
  [[nodiscard]] const Bytes& block(std::uint64_t address) const { return blocks_.at(address); }

  std::uint64_t load(std::uint64_t address, std::size_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, at(address, bytes), bytes);
    return value;
  }
  void store(std::uint64_t address, std::size_t bytes, std::uint64_t value) {
    std::memcpy(at(address, bytes), &value, bytes);
  }

 private:
  static constexpr std::uint64_t kGap = 4096;

  std::uint8_t* at(std::uint64_t address, std::size_t bytes) {
    auto found = blocks_.upper_bound(address);
    if (found != blocks_.begin()) {
      --found;
      const std::uint64_t offset = address - found->first;
      if (offset + bytes <= found->second.size()) return found->second.data() + offset;
    }
    throw std::logic_error("the reference has no such address");
  }

  std::map<std::uint64_t, Bytes> blocks_;
  std::uint64_t next_ = 0x10000;
};

}  // namespace warpcheck::vgpu
