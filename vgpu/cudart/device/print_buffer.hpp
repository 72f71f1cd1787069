// What printf() and assert() of device code have written, until a call of the host brings it out.
//
// As CUDA's (CUDA C++ Programming Guide, "Formatted Output"): a buffer of cudaLimitPrintfFifoSize
// bytes, written out by launches and by calls that wait, where new text takes the place of the
// oldest.  What a record takes up is not documented; here it is 8 bytes for the format and for each
// argument, and the bytes of strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "vgpu/machine/access.hpp"

namespace warpcheck::cudart {

class PrintBuffer final : public vgpu::Observer {
 public:
  [[nodiscard]] bool watches_accesses() const override { return false; }
  [[nodiscard]] bool watches_blocks() const override { return false; }
  void on_print(const vgpu::Print& print) override;

  void set_capacity(std::size_t bytes) { capacity_ = bytes; }
  void clear();

  // Empties the buffer, to `output`, or, where it is null, to stdout and stderr.
  void flush(std::string* output);
  // printf() calls whose text was overwritten.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  // Texts of printf() so far, and a hash of them all that does not depend on their order.
  [[nodiscard]] std::uint64_t prints() const { return prints_; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  // Whether anything was ever printed.
  [[nodiscard]] bool in_use() const { return in_use_; }

 private:
  struct Record {
    std::string text;
    std::uint32_t bytes = 0;
    bool error = false;
  };
  std::deque<Record> records_;
  std::size_t capacity_ = 0, used_ = 0;
  std::uint64_t lost_ = 0, told_ = 0, prints_ = 0, hash_ = 0;
  bool in_use_ = false;
};

}  // namespace warpcheck::cudart
