// Shadow values of the host's memory: what a test gives to the device, and what copies bring back.
//
// Host code is not followed.  The host's bytes at an address have a shadow value if a test has said
// so, or a copy from the device has brought it, and they still are the bytes of then.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <unordered_map>
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
           static_cast<std::uint8_t>(i)});
    }
  }
  // Returns what the bytes are; nothing: host code may have calculated them.
  [[nodiscard]] std::optional<ShadowReading<Value>> read(const void* at,
                                                         std::uint32_t bytes) const {
    Cells cells;
    for (std::uint32_t i = 0; i < bytes / 2; ++i) {
      const Cell* const cell =
          cell_at(address_of(at) + 2 * std::uint64_t{i}, static_cast<const std::byte*>(at) + 2 * i);
      if (cell == nullptr) return std::nullopt;
      cells.put(i, *cell);
    }
    return cells.read(0, bytes, 0);
  }
  [[nodiscard]] const std::vector<Unknown>& unknown() const { return unknown_; }
  // In their order.
  [[nodiscard]] const std::vector<Fetched>& fetched() const { return fetched_; }

  void copy_to_device(const HostAccess& access, Cells& memory) {
    memory.make_plain(access.offset, access.bytes, 0);
    ++copies_;
    Unknown unknown{.copy = copies_};
    if (access.brought == nullptr) return;
    for (std::uint32_t i = 0; i < access.bytes; i += 2) {
      const bool is_whole = access.offset % 2 == 0 && i + 2 <= access.bytes;
      const Cell* const cell = access.host == nullptr || !is_whole
                                   ? nullptr
                                   : cell_at(address_of(access.host) + i, access.brought + i);
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
    copy.cells.copy(0, memory, access.offset, access.bytes, 0);
    if (access.host == nullptr) return;
    for (std::uint32_t i = 0; i + 2 <= access.bytes; i += 2) {
      const bool is_aligned = access.offset % 2 == 0;
      const Cell cell = is_aligned ? memory.cell((access.offset + i) / 2) : Cell{};
      put(address_of(access.host) + i, access.allocation->data + access.offset + i, cell);
    }
  }

 private:
  struct Known {
    Cell cell;
    std::uint16_t bits = 0;  // what the bytes were
  };
  static std::uint64_t address_of(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }
  static std::uint16_t bits_at(const std::byte* at) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    return bits;
  }
  void put(std::uint64_t address, const std::byte* bytes, const Cell& cell) {
    known_[address] = {cell, bits_at(bytes)};
  }
  // Null: nothing is known of the bytes.
  [[nodiscard]] const Cell* cell_at(std::uint64_t address, const std::byte* bytes) const {
    const auto found = known_.find(address);
    const bool is_known = found != known_.end() && found->second.bits == bits_at(bytes);
    return is_known ? &found->second.cell : nullptr;
  }

  std::unordered_map<std::uint64_t, Known> known_;  // by address of two bytes
  std::vector<Unknown> unknown_;
  std::vector<Fetched> fetched_;
  std::uint32_t copies_ = 0;
};

}  // namespace warpcheck::vgpu
