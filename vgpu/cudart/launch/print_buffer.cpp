#include "vgpu/cudart/launch/print_buffer.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstdio>

#include "vgpu/text/counted.hpp"

namespace warpcheck::cudart {

void PrintBuffer::on_print(const vgpu::Print& print) {
  records_.push_back({std::string(print.text), print.record_bytes, print.error});
  used_ += print.record_bytes;
  in_use_ = true;
  if (!print.error) {
    ++prints_;
    hash_ += XXH3_64bits(print.text.data(), print.text.size());
  }
  while (used_ > capacity_ && !records_.empty() && !records_.front().error) {
    used_ -= records_.front().bytes;
    records_.pop_front();
    ++lost_;
  }
}

void PrintBuffer::clear() {
  if (!records_.empty()) records_.clear();
  used_ = 0;
  lost_ = noted_ = prints_ = hash_ = 0;
  in_use_ = false;
}

void PrintBuffer::flush(std::string* output) {
  for (const Record& record : records_) {
    if (output != nullptr) {
      *output += record.text;
      continue;
    }
    std::fwrite(record.text.data(), 1, record.text.size(), record.error ? stderr : stdout);
  }
  if (!records_.empty()) records_.clear();
  used_ = 0;
  if (output == nullptr && lost_ != noted_) {
    fmt::print(stderr,
               "warpcheck: the text of {} was overwritten; the buffer has {} "
               "(cudaLimitPrintfFifoSize)\n",
               counted(lost_ - noted_, "printf() call"), counted(capacity_, "byte"));
    noted_ = lost_;
  }
}

}  // namespace warpcheck::cudart
