#include "vgpu/machine/printf_format.hpp"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

// A buffer of arguments with the layout that nvcc uses.
class Buffer {
 public:
  template <typename Value>
  Buffer& add(Value value) {
    bytes_.resize((bytes_.size() + sizeof value - 1) / sizeof value * sizeof value);
    bytes_.resize(bytes_.size() + sizeof value);
    std::memcpy(bytes_.data() + bytes_.size() - sizeof value, &value, sizeof value);
    return *this;
  }
  PrintedText print(std::string_view format) const {
    return format_printf(
        format, {[&](std::uint32_t offset, std::uint32_t bytes) {
                   std::uint64_t value = 0;
                   std::memcpy(&value, bytes_.data() + offset, bytes);
                   return value;
                 },
                 [](std::uint64_t address) { return "text at " + std::to_string(address); }});
  }

 private:
  std::vector<std::byte> bytes_;
};

TEST(PrintfFormat, ArgumentsLieAtMultiplesOfTheirSize) {
  const PrintedText printed =
      Buffer().add(7).add(2.5).add('x' + 0).add(-1ll).print("%d %g %c %lld");
  EXPECT_EQ(printed.text, "7 2.5 x -1");
  EXPECT_EQ(printed.arguments, 4);
  EXPECT_EQ(printed.record_bytes, 40u);
}

TEST(PrintfFormat, StringsAndAddresses) {
  const PrintedText printed =
      Buffer().add(40ull).add(0ull).add(0x1234ull).add(0ull).print("%s|%12s|%p|%p");
  EXPECT_EQ(printed.text, "text at 40|      (null)|0x1234|(nil)");
  EXPECT_EQ(printed.record_bytes, 8 + 4 * 8 + 11u);
}

TEST(PrintfFormat, WidthsAreArguments) {
  const PrintedText printed = Buffer().add(8).add(1.23456).add(-5).add(9).print("%*.3f|%*d|");
  EXPECT_EQ(printed.text, "   1.235|9    |");
  EXPECT_EQ(printed.arguments, 4);
}

TEST(PrintfFormat, PrecisionsAreNoArguments) {
  const PrintedText printed = Buffer().add(2).add(1.5).print("[%.*f]");
  EXPECT_EQ(printed.text, "[%.*f]");
  EXPECT_EQ(printed.arguments, 0);
}

TEST(PrintfFormat, ShortLengthsCutTheirValue) {
  EXPECT_EQ(Buffer().add(0x12345).add(0x12345).print("%hx %hhx").text, "2345 45");
}

TEST(PrintfFormat, WhatIsNoConversionStandsAsItIs) {
  EXPECT_EQ(Buffer().print("100%% %y %5 %").text, "100% %y %5 %");
}

TEST(PrintfFormat, ConversionsBeyondThirtyTwoStandAsTheyAre) {
  Buffer buffer;
  std::string format, expected;
  for (int i = 0; i < 33; ++i) {
    buffer.add(i);
    format += "%d ";
    expected += i < 32 ? std::to_string(i) + " " : "%d ";
  }
  const PrintedText printed = buffer.print(format);
  EXPECT_EQ(printed.text, expected);
  EXPECT_EQ(printed.arguments, 32);
}

TEST(PrintfFormat, CountsOfCharactersAreRefused) {
  EXPECT_THROW(Buffer().add(1ull).print("abc%n"), Refusal);
}

}  // namespace
}  // namespace warpcheck::vgpu
