#include "harness/input/draw.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/input/fields.hpp"
#include "harness/input/tape.hpp"

namespace warpcheck {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(ChoiceBytes, AreTheFewestThatHoldTheLargestChoice) {
  EXPECT_EQ(choice_bytes(1), 0U);
  EXPECT_EQ(choice_bytes(2), 1U);
  EXPECT_EQ(choice_bytes(256), 1U);
  EXPECT_EQ(choice_bytes(257), 2U);
  EXPECT_EQ(choice_bytes(std::uint64_t{1} << 32), 4U);
  EXPECT_EQ(choice_bytes((std::uint64_t{1} << 32) + 1), 5U);
  EXPECT_EQ(choice_bytes(0), 8U);
}

TEST(Tape, DecodesBytesFromTheFrontLittleEndian) {
  Tape tape = Tape::of_bytes(Bytes{0x07, 0x78, 0x56, 0x34, 0x12, 0xff});
  EXPECT_EQ(tape.below(10), 7U);
  EXPECT_EQ(tape.below(std::uint64_t{1} << 32), 0x12345678U);
  EXPECT_EQ(tape.bytes_read(), 5U);
  EXPECT_EQ(tape.below(100), 0xffU % 100);
}

TEST(Tape, GivesZerosPastItsEnd) {
  Tape tape = Tape::of_bytes(Bytes{0x34});
  EXPECT_EQ(tape.below(0), 0x34U);
  EXPECT_EQ(tape.below(0), 0U);
  EXPECT_EQ(tape.below(7), 0U);
  EXPECT_EQ(tape.bytes_read(), 1U);
}

TEST(Tape, StaysBelowItsLimit) {
  Tape tape = Tape::of_seed(1);
  for (int i = 0; i < 10'000; ++i) EXPECT_LT(tape.below(3), 3U);
}

TEST(Tape, OfTheSameSeedGivesTheSameChoices) {
  Tape a = Tape::of_seed(42);
  Tape b = Tape::of_seed(42);
  Tape other = Tape::of_seed(43);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t choice = a.below(0);
    EXPECT_EQ(choice, b.below(0));
    differs = differs || choice != other.below(0);
  }
  EXPECT_TRUE(differs);
}

TEST(Tape, GivesTheChoicesOfItsRecordAgain) {
  const Gen<std::vector<float>> generator = vectors(sizes({.max = 200}), floats<float>());
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Tape original = Tape::of_seed(seed);
    Draw draw(original);
    const auto values = draw(generator);

    Tape bytes = Tape::of_bytes(original.recorded());
    Draw draw_again(bytes);
    EXPECT_TRUE(identical(draw_again(generator), values));
    EXPECT_EQ(bytes.choices(), original.choices());
    EXPECT_EQ(bytes.bytes_read(), original.recorded().size());

    Tape choices = Tape::of_choices(original.choices());
    Draw draw_choices(choices);
    EXPECT_TRUE(identical(draw_choices(generator), values));
  }
}

TEST(Draw, BetweenCoversTheWholeRangeOfItsType) {
  Tape tape = Tape::of_bytes(Bytes(8, 0xff));
  Draw draw(tape);
  EXPECT_EQ(draw.between(INT64_MIN, INT64_MAX), INT64_MAX);
  EXPECT_EQ(draw.between(INT64_MIN, INT64_MAX), INT64_MIN);
  EXPECT_EQ(draw.between(-3, -3), -3);
  EXPECT_EQ(draw.between(-3, 5), -3);
}

TEST(Draw, NotesTheClassesOfWhatItDraws) {
  Tape tape = Tape::of_bytes(Bytes{});
  Draw draw(tape);
  EXPECT_EQ(draw(sizes({.min = 1, .max = 100})), 1);
  draw.classify("of mine");
  const std::vector<std::string> expected{"one", "odd", "power of two", "not a multiple of 32",
                                          "of mine"};
  EXPECT_EQ(draw.classes(), expected);
}

TEST(Draw, OfAnEmptyTapeIsTheSimplestValue) {
  Tape tape = Tape::of_bytes(Bytes{});
  Draw draw(tape);
  EXPECT_EQ(draw(sizes()), 0);
  EXPECT_EQ(draw(blocks()), 1U);
  EXPECT_EQ(draw(integers<int>()), 0);
  EXPECT_EQ(draw(integers<int>(5, 9)), 5);
  EXPECT_EQ(draw(integers<int>(-9, -5)), -5);
  EXPECT_EQ(draw(floats<double>()), 0.0);
  EXPECT_EQ(draw(vectors(3, integers<int>())), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(draw(launches_covering(33)), (LaunchConfig{.grid = 1, .block = 33}));
  EXPECT_EQ(draw(launches_covering(0)), (LaunchConfig{.grid = 1, .block = 1}));
  EXPECT_EQ(draw(elements_of({7, 8, 9})), 7);
}

// A fuzzer must be able to produce a number by writing its literal bytes.
TEST(Draw, TakesANumbersBytesLiterally) {
  const Bytes word{0xef, 0xbe, 0xad, 0xde};
  const auto drawn = [&](const auto& generator) {
    Tape tape = Tape::of_bytes(word);
    Draw draw(tape);
    return draw(generator);
  };
  EXPECT_EQ(drawn(integers<std::uint32_t>()), 0xdeadbeefU);
  EXPECT_EQ(drawn(integers<std::int32_t>()), static_cast<std::int32_t>(0xdeadbeefU));
  EXPECT_TRUE(identical(drawn(floats<float>()), std::bit_cast<float>(0xdeadbeefU)));
  EXPECT_EQ(drawn(sizes({.max = 0xffff})), 0xbeef);
}

TEST(Draw, RecordsOutcomesAndNotHowTheyCameAbout) {
  Tape tape = Tape::of_seed(17);
  Draw draw(tape);
  std::vector<Choice> expected;
  for (int i = 0; i < 100; ++i) {
    const auto value = draw(integers<std::uint32_t>());
    expected.push_back({value, std::uint64_t{1} << 32});
    const int n = draw(sizes({.min = 3, .max = 1000}));
    expected.push_back({static_cast<std::uint64_t>(n - 3), 998});
  }
  EXPECT_EQ(tape.choices(), expected);
}

TEST(Draw, ReadsAnyBytesAsValuesOfTheDomain) {
  const auto check = [](const auto& generator) {
    Tape random = Tape::of_seed(3);
    for (int i = 0; i < 1000; ++i) {
      Bytes bytes(8);
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
      Tape tape = Tape::of_bytes(bytes);
      Draw draw(tape);
      ASSERT_TRUE(generator.contains(draw(generator)));
    }
  };
  check(sizes({.min = 5, .max = 777}));
  check(integers<int>(-7, 100));
  check(integers<std::int64_t>(INT64_MIN, -5));
  check(floats<float>({.nan = false, .infinities = false, .magnitude_max = 1000}));
  check(floats<double>({.nan = false,
                        .infinities = false,
                        .subnormals = false,
                        .negative_zero = false,
                        .magnitude_max = 1e-300}));
  check(launches_covering(1000, {.block_max = 96, .dims_max = 3}));
}

}  // namespace
}  // namespace warpcheck
