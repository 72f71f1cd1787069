// Shadow memory of the initialisation checker: one state a byte of an allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace warpcheck::vgpu {

class InitShadow {
 public:
  // Chosen so that "all defined" is one AND over words of any width.
  enum State : std::uint8_t {
    kNeverWritten = 0x00,
    kUndefined = 0x01,  // written, with a value made from bytes that were never written
    kDefined = 0xff,
  };
  // What is known about the whole without looking at single bytes.
  enum class Extent : std::uint8_t { none, some, all };

  // Forgets everything: `bytes` bytes, none written.
  void begin(std::uint32_t bytes);
  [[nodiscard]] std::uint32_t bytes() const { return bytes_; }
  [[nodiscard]] Extent extent() const { return extent_; }

  // The states, for reading; a row's slack around them is readable and writable.  Only where
  // extent() is `some`.
  [[nodiscard]] const std::uint8_t* states() const { return states_; }
  // The states, for single bytes to be written; extent() becomes `some`.
  std::uint8_t* writable_states();

  // A range at once; the whole of the allocation costs nothing.
  //   state: kNeverWritten or kDefined
  void fill(std::uint32_t offset, std::uint32_t bytes, State state);
  // A range written with a value that comes from `origin` (an index of the checker's).
  //   bits: of each byte, that are undefined; not 0
  void taint(std::uint32_t offset, std::uint32_t bytes, std::uint32_t origin,
             std::uint8_t bits = 0xff);

  // Takes over what is known of a range of `source`, which may be this shadow.
  void copy(std::uint32_t offset, const InitShadow& source, std::uint32_t source_offset,
            std::uint32_t bytes);

  [[nodiscard]] State state_at(std::uint32_t offset) const;
  // Only where state_at(offset) is kUndefined.
  [[nodiscard]] std::uint32_t origin_at(std::uint32_t offset) const {
    return origins_[offset] >> 8;
  }
  // Which bits of a byte are undefined; only where extent() is `some`.
  [[nodiscard]] std::uint8_t undefined_bits_at(std::uint32_t offset) const {
    switch (states_[offset]) {
      case kDefined: return 0;
      case kUndefined: return static_cast<std::uint8_t>(origins_[offset]);
      default: return 0xff;
    }
  }
  // Offset of the first byte of the range that is not defined, or its end.
  [[nodiscard]] std::uint32_t find_undefined(std::uint32_t begin, std::uint32_t end) const;

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  void materialise();
  void make_origins();

  std::unique_ptr<std::uint8_t, Free> memory_;
  std::uint8_t* states_ = nullptr;
  std::unique_ptr<std::uint32_t, Free> origins_memory_;  // null until something is tainted
  std::uint32_t* origins_ = nullptr;  // of each byte: its origin << 8 | its undefined bits
  std::uint32_t bytes_ = 0;
  std::uint32_t capacity_ = 0;
  Extent extent_ = Extent::none;
};

}  // namespace warpcheck::vgpu
