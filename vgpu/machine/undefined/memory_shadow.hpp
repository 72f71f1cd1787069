// Shadow memory of the initialisation checker: one state for each byte of an allocation.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "vgpu/machine/memory/host_pages.hpp"

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
  // What is known about all bytes without a look at single states.
  enum class Extent : std::uint8_t { none, some, all };

  // Starts anew with `bytes` bytes, none of them written.
  void begin(std::uint32_t bytes);
  // Called when the allocation is freed.  Releases the host memory if it is large.
  void release();
  [[nodiscard]] std::uint32_t bytes() const { return bytes_; }
  // Machines that run one launch together read one shadow, and one of them may write its first
  // state.  So the states exist before another machine can see `some`.
  [[nodiscard]] Extent extent() const {
    return std::atomic_ref(const_cast<Extent&>(extent_)).load(std::memory_order_acquire);
  }

  // Returns the states for reading.  The slack of a row before and after them is readable and
  // writable.  Only valid if extent() is `some`.
  [[nodiscard]] const std::uint8_t* states() const { return states_; }
  // Returns the states for writing single bytes; extent() becomes `some`.
  std::uint8_t* writable_states() {
    if (extent() != Extent::some) materialise();
    return states_;
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
    if (extent_ != Extent::some) return;
    settled_ = find_undefined(settled_, bytes_);
    if (settled_ == bytes_) extent_ = Extent::all;
  }

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
  // Returns which bits of a byte are undefined; only valid if extent() is `some`.
  [[nodiscard]] std::uint8_t undefined_bits_at(std::uint32_t offset) const {
    if (is_defined(states_[offset])) return 0;
    return states_[offset] == kUndefined ? taint_at(offset).bits : 0xff;
  }
  // Returns the offset of the first byte of the range that is not defined, or `end`.
  [[nodiscard]] std::uint32_t find_undefined(std::uint32_t begin, std::uint32_t end) const;
  // Returns the offset of the first byte of the range that was written, or `end`.
  [[nodiscard]] std::uint32_t find_written(std::uint32_t begin, std::uint32_t end) const;

 private:
  void materialise();
  void make_taints();
  void fill_states(std::uint32_t offset, std::uint32_t bytes, std::uint8_t state);

  HostPages pages_;
  std::uint8_t* states_ = nullptr;
  HostPages taint_pages_;            // empty until a byte is undefined
  std::uint32_t* taints_ = nullptr;  // per byte: see taint_at()
  std::uint32_t bytes_ = 0;
  std::uint32_t settled_ = 0;  // the number of leading bytes that settle() has found defined
  std::uint32_t capacity_ = 0;
  std::uint32_t ends_at_ = UINT32_MAX;  // where the slack behind the states begins
  Extent extent_ = Extent::none;
};

}  // namespace warpcheck::vgpu
