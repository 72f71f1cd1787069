// Shadow memory of the initialisation checker: one state for each byte of an allocation.  The
// states of a large allocation are kept by sectors (sector_states.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "vgpu/machine/memory/host_pages.hpp"
#include "vgpu/machine/undefined/byte_states.hpp"
#include "vgpu/machine/undefined/sector_states.hpp"

namespace warpcheck::vgpu {

class MemoryShadow {
 public:
  // The values are chosen so that "all defined" is one AND over words of any width: the highest bit
  // means "defined".
  enum State : std::uint8_t {
    kNeverWritten = 0x00,
    kUndefined = 0x01,   // written with a value made from unwritten bytes
    kFirstShape = 0x80,  // defined by a store of a known shape (store_shapes.hpp); kShapes shapes
    kDefined = 0xff,     // defined by a write of no known shape, for example by the host
  };
  static constexpr std::uint32_t kShapes = kDefined - kFirstShape;
  static constexpr bool is_defined(std::uint8_t state) { return (state & kFirstShape) != 0; }
  // What is known about all bytes without a look at single states: none or all are defined; or the
  // states of bytes or of sectors say it.
  enum class Extent : std::uint8_t { none, bytes, sectors, all };
  // An allocation of at least this size has states of sectors.
  static constexpr std::uint32_t kSectoredMin = HostPages::kMappedMin;

  // Starts anew with `bytes` bytes, none of them written.
  void begin(std::uint32_t bytes);
  // Called when the allocation is freed.  Releases the host memory if it is large.
  void release();
  [[nodiscard]] std::uint32_t bytes() const { return bytes_; }
  // Machines that run one launch together read one shadow, and one of them may write its first
  // state.  So the states exist before another machine can see `bytes` or `sectors`.
  [[nodiscard]] Extent extent() const {
    return std::atomic_ref(const_cast<Extent&>(extent_)).load(std::memory_order_acquire);
  }

  [[nodiscard]] bool has_states() const {
    const Extent known = extent();
    return known == Extent::bytes || known == Extent::sectors;
  }
  // Creates the states if there are none.
  void make_states() {
    if (!has_states()) materialise();
  }
  // Only valid if extent() is `bytes`.  The slack of a row before and after the states is readable
  // and writable.
  [[nodiscard]] std::uint8_t* byte_states() const { return states_; }
  // Calls visit(ByteStates) or visit(SectorStates&); only valid if there are states.
  template <typename Visit>
  auto with_states(Visit visit) {
    if (extent() == Extent::bytes) {
      ByteStates states{states_};
      return visit(states);
    }
    return visit(sectors_);
  }
  // Sets the states of a range that exist.  Several machines may do it at the same time, with
  // defined states.
  void set(std::uint32_t offset, std::uint32_t bytes, std::uint8_t state) {
    with_states([&](auto& states) { states.set(offset, bytes, state); });
  }

  // Sets a range.  Setting the whole allocation has constant cost.
  //   state: kNeverWritten or kDefined
  void fill(std::uint32_t offset, std::uint32_t bytes, State state);
  // Details about a byte that was written with an undefined value.
  struct Taint {
    std::uint32_t origin = 0;  // index of a checker's origin, below 1 << 22
    std::uint8_t bits = 0xff;  // the undefined bits; not 0
    // Other bits of the value were defined, so the byte may be padding that was copied along.
    bool next_to_defined = false;
    bool calculated = false;  // part of the result of a calculation
  };
  void taint(std::uint32_t offset, const Taint& taint);

  // Sets extent() to `all` if all bytes are defined; their shapes are lost, so it is only for
  // memory whose bytes are never copied.  Looks at each byte once, as long as defined bytes stay
  // defined.
  void settle() {
    if (extent_ != Extent::bytes) return;
    settled_ = find_undefined(settled_, bytes_);
    if (settled_ == bytes_) extent_ = Extent::all;
  }

  // Copies the states of a range, one byte each; only valid if there are states.
  void read(std::uint32_t offset, std::uint32_t bytes, std::uint8_t* to) const;
  void write(std::uint32_t offset, std::uint32_t bytes, const std::uint8_t* from);
  // Returns the state of all bytes of a range, which begins and ends with sectors or with the
  // allocation; empty: they differ.  Only valid if there are states.
  [[nodiscard]] std::optional<std::uint8_t> common_state(std::uint32_t offset,
                                                         std::uint32_t bytes) const;
  // Copies the states of a range of `source`, which may be this shadow.
  void copy(std::uint32_t offset, const MemoryShadow& source, std::uint32_t source_offset,
            std::uint32_t bytes);

  // Returns kDefined for every shape.
  [[nodiscard]] State state_at(std::uint32_t offset) const;
  [[nodiscard]] std::uint8_t raw_state_at(std::uint32_t offset) const;
  // Only valid if state_at(offset) is kUndefined.
  [[nodiscard]] Taint taint_at(std::uint32_t offset) const {
    const std::uint32_t taint = taints_[offset];
    return {taint >> 10, static_cast<std::uint8_t>(taint), (taint >> 8 & 1) != 0,
            (taint >> 9 & 1) != 0};
  }
  // Returns the offset of the first byte of the range that is not defined, or `end`.
  [[nodiscard]] std::uint32_t find_undefined(std::uint32_t begin, std::uint32_t end) const;
  // Returns the offset of the first byte of the range that was written, or `end`.
  [[nodiscard]] std::uint32_t find_written(std::uint32_t begin, std::uint32_t end) const;

 private:
  void materialise();
  void make_taints();
  void fill_states(std::uint32_t offset, std::uint32_t bytes, std::uint8_t state);
  void copy_pieces(std::uint32_t offset, const MemoryShadow& source, std::uint32_t source_offset,
                   std::uint32_t bytes);

  HostPages pages_;
  std::uint8_t* states_ = nullptr;
  SectorStates sectors_;
  HostPages taint_pages_;            // empty until a byte is undefined
  std::uint32_t* taints_ = nullptr;  // per byte: see taint_at()
  std::uint32_t bytes_ = 0;
  std::uint32_t settled_ = 0;  // the number of leading bytes that settle() has found defined
  std::uint32_t capacity_ = 0;
  std::uint32_t ends_at_ = UINT32_MAX;  // where the slack behind the states begins
  Extent extent_ = Extent::none;
};

}  // namespace warpcheck::vgpu
