// The shadows of one warp's registers, and of its predicates.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/check/shadow/shadow_cells.hpp"
#include "vgpu/check/shadow/shadow_domain.hpp"
#include "vgpu/machine/state.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

// Where operands of one warp's running instruction are.
struct ShadowFrame {
  const LaneBanks* banks = nullptr;
  const Warp* warp = nullptr;

  // Returns the byte of a lane's register in its bank of the warp.
  [[nodiscard]] std::uint64_t byte_of(const Ref& ref, unsigned lane) const {
    const bool is_wide = ref.bank == Bank::wide;
    const RowBank& bank = is_wide ? warp->wides : warp->words;
    const std::byte* const row = row_of(*banks, ref);
    return static_cast<std::uint64_t>(row - bank.data()) + std::uint64_t{lane} * (is_wide ? 8 : 4);
  }
  [[nodiscard]] std::size_t index_of_predicate(const Ref& ref) const {
    const std::byte* const row = row_of(*banks, ref);
    return static_cast<std::size_t>(row - warp->predicates.data()) / 4;
  }
  // Returns the bits of a lane's operand: the low `bytes` from byte `from` on.
  [[nodiscard]] std::uint64_t bits_of(const Ref& ref, unsigned lane, std::uint32_t from,
                                      std::uint32_t bytes) const {
    const std::byte* const row = row_of(*banks, ref);
    const bool is_wide =
        ref.bank == Bank::wide || (ref.bank == Bank::constant && bytes == 8) || from >= 4;
    std::uint64_t bits = 0;
    std::memcpy(&bits, row + lane * (is_wide ? std::size_t{8} : std::size_t{4}) + from, bytes);
    return bits;
  }
  [[nodiscard]] std::uint32_t predicate_of(const Ref& ref) const {
    std::uint32_t bits = 0;
    std::memcpy(&bits, row_of(*banks, ref), sizeof bits);
    return bits;
  }
};

inline bool is_register(const Ref& ref) { return ref.bank == Bank::word || ref.bank == Bank::wide; }

// Predicates of a row whose value depends on data.
template <class Value>
struct ShadowPredicates {
  std::uint32_t lost = 0;  // lanes
  std::uint32_t site = ptx::kNone;
  // What the lanes have compared, for the lanes of `lost`; null: nothing is known.
  std::unique_ptr<std::array<ShadowComparison<Value>, kWarpLanes>> compared;

  void make_plain(std::uint32_t lanes) { lost &= ~lanes; }
  void lose(std::uint32_t lanes, std::uint32_t where) {
    if (lanes == 0) return;
    lost |= lanes;
    site = where;
    if (compared == nullptr) return;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if ((lanes >> lane & 1u) != 0) (*compared)[lane].is_known = false;
    }
  }
  void set(unsigned lane, const ShadowComparison<Value>& comparison, std::uint32_t where) {
    lost |= 1u << lane;
    site = where;
    if (compared == nullptr)
      compared = std::make_unique<std::array<ShadowComparison<Value>, kWarpLanes>>();
    (*compared)[lane] = comparison;
  }
};

template <class Value>
class ShadowRegisters {
 public:
  using Cells = ShadowCells<Value>;

  void clear() {
    words_.clear();
    wides_.clear();
    predicates_.clear();
  }
  // Returns whether no register is anything but plain.
  [[nodiscard]] bool is_empty() const { return words_.empty() && wides_.empty(); }
  [[nodiscard]] Cells& cells(const Ref& ref) { return ref.bank == Bank::wide ? wides_ : words_; }
  [[nodiscard]] ShadowPredicates<Value>& predicates(std::size_t index) {
    if (index >= predicates_.size()) predicates_.resize(index + 1);
    return predicates_[index];
  }

  // Reads a lane's operand; a constant is plain.
  [[nodiscard]] ShadowReading<Value> read(const ShadowFrame& frame, const Ref& ref, unsigned lane,
                                          std::uint32_t from, std::uint32_t bytes,
                                          std::uint32_t site) {
    if (!is_register(ref)) return {};
    return cells(ref).read(frame.byte_of(ref, lane) + from, bytes, site);
  }
  void make_plain(const ShadowFrame& frame, const Ref& ref, unsigned lane) {
    if (is_register(ref)) cells(ref).make_plain(frame.byte_of(ref, lane), bytes_of(ref));
  }
  void lose(const ShadowFrame& frame, const Ref& ref, unsigned lane, std::uint32_t site) {
    if (is_register(ref)) cells(ref).lose(frame.byte_of(ref, lane), bytes_of(ref), site);
  }
  // Returns whether nothing of a lane's register is influenced by data; sets `site` if something
  // is.
  [[nodiscard]] bool is_plain(const ShadowFrame& frame, const Ref& ref, unsigned lane,
                              std::uint32_t& site) {
    const ShadowReading<Value> all = read(frame, ref, lane, 0, bytes_of(ref), site);
    if (all.state == ShadowState::lost) site = all.site;
    return all.state == ShadowState::plain;
  }
  static std::uint32_t bytes_of(const Ref& ref) { return ref.bank == Bank::wide ? 8 : 4; }

 private:
  Cells words_, wides_;
  std::vector<ShadowPredicates<Value>> predicates_;
};

}  // namespace warpcheck::vgpu
