// Shadow memory of the initialisation checker: one state a byte of an allocation.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "vgpu/machine/memory/host_pages.hpp"

namespace warpcheck::vgpu {

class InitShadow {
 public:
  // Chosen so that "all defined" is one AND over words of any width: the highest bit says it.
  enum State : std::uint8_t {
    kNeverWritten = 0x00,
    kUndefined = 0x01,   // written, with a value made from bytes that were never written
    kFirstShape = 0x80,  // defined, by a store of that shape (store_shapes.hpp); kShapes of them
    kDefined = 0xff,     // defined, nobody remembers how: by the host, for example
  };
  static constexpr std::uint32_t kShapes = kDefined - kFirstShape;
  static constexpr bool is_defined(std::uint8_t state) { return (state & kFirstShape) != 0; }
  // What is known about the whole without looking at single bytes.
  enum class Extent : std::uint8_t { none, some, all };

  // Forgets everything: `bytes` bytes, none written.
  void begin(std::uint32_t bytes);
  // Gives back the host's memory if it is much; its allocation is gone.
  void release();
  [[nodiscard]] std::uint32_t bytes() const { return bytes_; }
  // Machines that run a launch together look at one shadow, and one of them may write its first
  // state, so the states are there before that is seen.
  [[nodiscard]] Extent extent() const {
    return std::atomic_ref(const_cast<Extent&>(extent_)).load(std::memory_order_acquire);
  }

  // The states, for reading; a row's slack around them is readable and writable.  Only where
  // extent() is `some`.
  [[nodiscard]] const std::uint8_t* states() const { return states_; }
  // The states, for single bytes to be written; extent() becomes `some`.
  std::uint8_t* writable_states() {
    if (extent() != Extent::some) materialise();
    return states_;
  }

  // A range at once; the whole of the allocation costs nothing.
  //   state: kNeverWritten or kDefined
  void fill(std::uint32_t offset, std::uint32_t bytes, State state);
  // What is known of a byte that was written with an undefined value.
  struct Taint {
    std::uint32_t origin = 0;  // an index of the checker's, below 1 << 23
    std::uint8_t bits = 0xff;  // those that are undefined; not 0
    // Other bits of the value were defined: the byte may be padding that was moved along.
    bool next_to_defined = false;
  };
  void taint(std::uint32_t offset, const Taint& taint);

  // Of memory whose bytes nobody copies with what is known of their shapes: extent() becomes `all`
  // where it is so.  Looks at each byte once, as long as defined ones stay so.
  void settle() {
    if (extent_ != Extent::some) return;
    settled_ = find_undefined(settled_, bytes_);
    if (settled_ == bytes_) extent_ = Extent::all;
  }

  // Takes over what is known of a range of `source`, which may be this shadow.
  void copy(std::uint32_t offset, const InitShadow& source, std::uint32_t source_offset,
            std::uint32_t bytes);

  // kDefined whatever the shape.
  [[nodiscard]] State state_at(std::uint32_t offset) const;
  [[nodiscard]] std::uint8_t raw_state_at(std::uint32_t offset) const;
  // Only where state_at(offset) is kUndefined.
  [[nodiscard]] Taint taint_at(std::uint32_t offset) const {
    const std::uint32_t taint = taints_[offset];
    return {taint >> 9, static_cast<std::uint8_t>(taint), (taint >> 8 & 1) != 0};
  }
  // Which bits of a byte are undefined; only where extent() is `some`.
  [[nodiscard]] std::uint8_t undefined_bits_at(std::uint32_t offset) const {
    if (is_defined(states_[offset])) return 0;
    return states_[offset] == kUndefined ? taint_at(offset).bits : 0xff;
  }
  // Offset of the first byte of the range that is not defined, or its end.
  [[nodiscard]] std::uint32_t find_undefined(std::uint32_t begin, std::uint32_t end) const;
  // The same, of the first that was written.
  [[nodiscard]] std::uint32_t find_written(std::uint32_t begin, std::uint32_t end) const;

 private:
  void materialise();
  void make_taints();
  void fill_states(std::uint32_t offset, std::uint32_t bytes, std::uint8_t state);

  HostPages pages_;
  std::uint8_t* states_ = nullptr;
  HostPages taint_pages_;            // empty until something is tainted
  std::uint32_t* taints_ = nullptr;  // of each byte: origin << 9 | next_to_defined << 8 | bits
  std::uint32_t bytes_ = 0;
  std::uint32_t settled_ = 0;  // bytes from the beginning that settle() has found defined
  std::uint32_t capacity_ = 0;
  Extent extent_ = Extent::none;
};

}  // namespace warpcheck::vgpu
