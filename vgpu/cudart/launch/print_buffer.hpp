// The buffer of printf() and assert() of device code, until a host call outputs it.
//
// It behaves like CUDA's (CUDA C++ Programming Guide, "Formatted Output"): a buffer of
// cudaLimitPrintfFifoSize bytes, which launches and calls that wait output, and in which new text
// overwrites the oldest.  The size of a record is not documented; here it is 8 bytes for the format
// and for each argument, plus the bytes of strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "vgpu/machine/observer.hpp"

namespace warpcheck::cudart {

class PrintBuffer final : public vgpu::Observer {
 public:
  [[nodiscard]] vgpu::Watched watches() const override { return vgpu::Watched::rare(); }
  void on_print(const vgpu::Print& print) override;

  void set_capacity(std::size_t bytes) { capacity_ = bytes; }
  void clear();

  // Empties the buffer to `output`, or to stdout and stderr if it is null.
  void flush(std::string* output);
  // Returns the number of printf() calls whose text was overwritten.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  // Returns the number of printf() texts so far, and a hash of them that does not depend on their
  // order.
  [[nodiscard]] std::uint64_t prints() const { return prints_; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  // Returns whether anything was ever printed.
  [[nodiscard]] bool in_use() const { return in_use_; }

 private:
  struct Record {
    std::string text;
    std::uint32_t bytes = 0;
    bool error = false;
  };
  std::deque<Record> records_;
  std::size_t capacity_ = 0, used_ = 0;
  std::uint64_t lost_ = 0, noted_ = 0, prints_ = 0, hash_ = 0;
  bool in_use_ = false;
};

}  // namespace warpcheck::cudart
