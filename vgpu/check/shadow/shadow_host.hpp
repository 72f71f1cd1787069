// Shadow values of the host's memory: what a test gives to the device, and what copies bring back.
//
// Host code is not followed.  The host's bytes at an address have a shadow value if a test has said
// so, or a copy from the device has brought it, and they still are the bytes of then.  The host may
// have freed the buffer since, and another one at its address may hold some equal bytes by chance:
// what a copy brought counts only if most of it is still there.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "vgpu/check/shadow/shadow_cells.hpp"
#include "vgpu/machine/events.hpp"

namespace warpcheck::vgpu {

template <class Value>
class ShadowHost {
 public:
  using Cells = ShadowCells<Value>;
  using Cell = typename Cells::Cell;

  // Bytes that the host has copied to the device, and that have no shadow value: constants, or what
  // host code has calculated.
  struct Unknown {
    std::uint32_t copy = 0;  // its number, from 1
    std::uint64_t hash = 0;  // of such bytes of the copy
  };

  // A copy from the device.
  struct Fetched {
    std::vector<std::byte> bytes;
    Cells cells;
  };

  // bytes: 2, 4 or 8, whose present contents have the value
  void set(const void* at, std::uint32_t bytes, const Value& value) {
    for (std::uint32_t i = 0; i < bytes / 2; ++i) {
      put(address_of(at) + 2 * std::uint64_t{i}, static_cast<const std::byte*>(at) + 2 * i,
          {value, ptx::kNone, ShadowState::value, static_cast<std::uint8_t>(bytes),
           static_cast<std::uint8_t>(i)},
          kGiven);
    }
  }
  // Returns what the bytes are; nothing: host code may have calculated them.
  [[nodiscard]] std::optional<ShadowReading<Value>> read(const void* at,
                                                         std::uint32_t bytes) const {
    Cells cells;
    for (std::uint32_t i = 0; i < bytes / 2; ++i) {
      const Known* const known = known_at(address_of(at) + 2 * std::uint64_t{i},
                                          static_cast<const std::byte*>(at) + 2 * i);
      if (known == nullptr) return std::nullopt;
      cells.put(i, known->cell);
    }
    return cells.read(0, bytes, 0);
  }
  [[nodiscard]] const std::vector<Unknown>& unknown() const { return unknown_; }
  // In their order.
  [[nodiscard]] const std::vector<Fetched>& fetched() const { return fetched_; }

  void copy_to_device(const HostAccess& access, Cells& memory) {
    memory.make_plain(access.offset, access.bytes);
    ++copies_;
    Unknown unknown{.copy = copies_};
    if (access.brought == nullptr) return;
    const std::unordered_set<std::uint32_t> replaced = replaced_copies(access);
    for (std::uint32_t i = 0; i < access.bytes; i += 2) {
      const bool is_whole = access.offset % 2 == 0 && i + 2 <= access.bytes;
      const Known* const known = access.host == nullptr || !is_whole
                                     ? nullptr
                                     : known_at(address_of(access.host) + i, access.brought + i);
      const Cell* const cell =
          known == nullptr || replaced.contains(known->copy) ? nullptr : &known->cell;
      if (cell == nullptr) {
        for (std::uint32_t byte = i; byte < i + 2 && byte < access.bytes; ++byte) {
          unknown.hash = (unknown.hash ^ std::to_integer<std::uint64_t>(access.brought[byte]) ^
                          std::uint64_t{byte} << 8) *
                         0x100000001b3;
        }
      } else {
        memory.put((access.offset + i) / 2, *cell);
      }
    }
    unknown_.push_back(unknown);
  }
  // Called before the bytes move.
  void copy_to_host(const HostAccess& access, const Cells& memory) {
    Fetched& copy = fetched_.emplace_back();
    const std::byte* const bytes = access.allocation->data + access.offset;
    copy.bytes.assign(bytes, bytes + access.bytes);
    copy.cells.copy(0, memory, access.offset, access.bytes);
    if (access.host == nullptr) return;
    for (std::uint32_t i = 0; i + 2 <= access.bytes; i += 2) {
      const bool is_aligned = access.offset % 2 == 0;
      const Cell cell = is_aligned ? memory.cell((access.offset + i) / 2) : Cell{};
      put(address_of(access.host) + i, access.allocation->data + access.offset + i, cell,
          static_cast<std::uint32_t>(fetched_.size()));
    }
  }

 private:
  static constexpr std::uint32_t kGiven = 0;  // by a test
  struct Known {
    Cell cell;
    std::uint16_t bits = 0;       // what the bytes were
    std::uint32_t copy = kGiven;  // from the device that brought them, from 1
  };
  static std::uint64_t address_of(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }
  static std::uint16_t bits_at(const std::byte* at) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    return bits;
  }
  void put(std::uint64_t address, const std::byte* bytes, const Cell& cell, std::uint32_t copy) {
    known_[address] = {cell, bits_at(bytes), copy};
  }
  // Null: nothing is known of the bytes.
  [[nodiscard]] const Known* known_at(std::uint64_t address, const std::byte* bytes) const {
    const auto found = known_.find(address);
    const bool is_known = found != known_.end() && found->second.bits == bits_at(bytes);
    return is_known ? &found->second : nullptr;
  }
  // Returns the copies from the device most of whose bytes, among those that the host copies now,
  // are others.  Zeros that were zeros say nothing.
  [[nodiscard]] std::unordered_set<std::uint32_t> replaced_copies(const HostAccess& access) const {
    std::unordered_set<std::uint32_t> replaced;
    if (access.host == nullptr || known_.empty()) return replaced;
    std::unordered_map<std::uint32_t, std::int64_t> kept;  // less those that are others
    for (std::uint32_t i = 0; i + 2 <= access.bytes; i += 2) {
      const auto found = known_.find(address_of(access.host) + i);
      if (found == known_.end() || found->second.copy == kGiven) continue;
      const std::uint16_t bits = bits_at(access.brought + i), before = found->second.bits;
      if ((bits | before) != 0) kept[found->second.copy] += bits == before ? 1 : -1;
    }
    for (const auto& [copy, balance] : kept) {
      if (balance < 0) replaced.insert(copy);
    }
    return replaced;
  }

  std::unordered_map<std::uint64_t, Known> known_;  // by address of two bytes
  std::vector<Unknown> unknown_;
  std::vector<Fetched> fetched_;
  std::uint32_t copies_ = 0;
};

}  // namespace warpcheck::vgpu
