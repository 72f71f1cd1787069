#include "vgpu/machine/printf_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::string_view kFlags = "-+ #0";
constexpr std::string_view kLengths = "hlLqjzt";
constexpr int kWidthMax = 1 << 16;

class Formatter {
 public:
  Formatter(std::string_view format, const PrintArguments& arguments)
      : rest_(format), arguments_(arguments) {}

  PrintedText run() {
    out_.record_bytes = 8;
    while (!rest_.empty()) {
      const std::size_t plain = std::min(rest_.find('%'), rest_.size());
      out_.text += rest_.substr(0, plain);
      rest_.remove_prefix(plain);
      if (!rest_.empty()) convert();
    }
    return std::move(out_);
  }

 private:
  // Formats one conversion; the text is at its `%`.
  void convert() {
    const std::string_view begin = rest_;
    rest_.remove_prefix(1);
    spec_.assign(1, '%');
    while (!rest_.empty() && kFlags.find(rest_.front()) != std::string_view::npos) spec_ += take();
    read_width();
    if (!rest_.empty() && rest_.front() == '.') {
      spec_ += take();
      read_digits();
    }
    std::string length;
    while (!rest_.empty() && kLengths.find(rest_.front()) != std::string_view::npos) {
      length += take();
    }
    const char conversion = rest_.empty() ? '\0' : take();
    const bool known =
        conversion != '\0' &&
        std::string_view("diouxXcpsfFeEgGaA%n").find(conversion) != std::string_view::npos;
    if (conversion == '%') {
      out_.text += '%';
    } else if (conversion == 'n') {
      throw Refusal(
          "printf() in device code with %n is not supported: CUDA has no such conversion");
    } else if (!known || out_.arguments >= kPrintArgumentsMax) {
      out_.text += begin.substr(0, begin.size() - rest_.size());
    } else {
      write(length, conversion);
    }
  }

  void write(std::string_view length, char conversion) {
    const bool is_long = length.find_first_of("lqjzt") != std::string_view::npos;
    switch (conversion) {
      case 'd':
      case 'i':
        if (is_long) return print("ll", conversion, static_cast<long long>(next(8)));
        return print(length, conversion, static_cast<int>(next(4)));
      case 'o':
      case 'u':
      case 'x':
      case 'X':
        if (is_long) return print("ll", conversion, static_cast<unsigned long long>(next(8)));
        return print(length, conversion, static_cast<unsigned>(next(4)));
      case 'c': return print("", conversion, static_cast<int>(next(4)));
      // Printed as an integer, because a device address is no host pointer.
      case 'p': return write_address(next(8));
      case 's': return write_string(next(8));
      default: return print("", conversion, std::bit_cast<double>(next(8)));
    }
  }

  void write_address(std::uint64_t address) {
    if (address == 0) return print_string("(nil)");
    print_string(fmt::format("{:#x}", address));
  }

  void write_string(std::uint64_t address) {
    const std::string text = address == 0 ? "(null)" : arguments_.text(address);
    if (address != 0) out_.record_bytes += static_cast<std::uint32_t>(text.size() + 1);
    print_string(text);
  }

  void print_string(const std::string& text) { print("", 's', text.c_str()); }

  template <typename Value>
  void print(std::string_view length, char conversion, Value value) {
    spec_.append(length) += conversion;
    const int size = std::snprintf(nullptr, 0, spec_.c_str(), value);
    std::string text(static_cast<std::size_t>(std::max(size, 0)) + 1, '\0');
    std::snprintf(text.data(), text.size(), spec_.c_str(), value);
    text.pop_back();
    out_.text += text;
  }

  void read_width() {
    if (rest_.empty() || rest_.front() != '*') return read_digits();
    rest_.remove_prefix(1);
    spec_ += fmt::format("{}", std::clamp(static_cast<int>(next(4)), -kWidthMax, kWidthMax));
  }
  // Reads the digits of a precision.  CUDA does not support `.*`, so such a conversion is printed
  // unchanged.
  void read_digits() {
    if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') return;
    int number = 0;
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      number = std::min(number * 10 + (take() - '0'), kWidthMax);
    }
    spec_ += fmt::format("{}", number);
  }

  std::uint64_t next(std::uint32_t bytes) {
    offset_ = (offset_ + bytes - 1) / bytes * bytes;
    const std::uint64_t value = arguments_.value(offset_, bytes);
    offset_ += bytes;
    ++out_.arguments;
    out_.record_bytes += 8;
    return value;
  }

  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  std::string_view rest_;
  const PrintArguments& arguments_;
  PrintedText out_;
  std::string spec_;
  std::uint32_t offset_ = 0;
};

}  // namespace

PrintedText format_printf(std::string_view format, const PrintArguments& arguments) {
  return Formatter(format, arguments).run();
}

}  // namespace warpcheck::vgpu
