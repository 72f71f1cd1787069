// Batches of transforms in every layout, compared element by element with the sums that define
// them; the places of the elements follow the formulas of cuFFT's guide.
#include "vgpu/libraries/cufft/transforms.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <set>
#include <vector>

namespace warpcheck::libraries::fourier {
namespace {

using Number = std::complex<long double>;

// Memory for the regions of a side; this byte fills the gaps between elements.
constexpr std::byte kGap{0xa5};

struct Memory {
  std::vector<std::byte> bytes;
  std::vector<Region> regions;
  std::vector<LibraryView> views;

  Memory(const Side& side, std::vector<std::byte>* shared = nullptr) {
    if (shared == nullptr) {
      bytes.assign(1 << 16, kGap);
      shared = &bytes;
    }
    regions = regions_of(side, shared->data());
    for (const Region& region : regions) {
      views.push_back({static_cast<std::byte*>(region.pointer), region.pitch, region.slice});
    }
  }
  [[nodiscard]] Transforms::Memory of() const { return {regions, views.data()}; }
};

// cuFFT's guide: input[b * idist + ((x * inembed[1] + y) * inembed[2] + z) * istride].
std::size_t place(const Side& side, std::int64_t b, std::int64_t x, std::int64_t y,
                  std::int64_t z) {
  const Storage& at = side.storage;
  return static_cast<std::size_t>(
      (b * at.dist + ((x * at.embed[1] + y) * at.embed[2] + z) * at.stride) * side.element_bytes);
}

template <class Visit>
void for_each(const Lengths& counts, std::int64_t batch, Visit visit) {
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t x = 0; x < counts[0]; ++x) {
      for (std::int64_t y = 0; y < counts[1]; ++y) {
        for (std::int64_t z = 0; z < counts[2]; ++z) visit(b, x, y, z);
      }
    }
  }
}

long double turns(std::int64_t j, std::int64_t k, std::int64_t length) {
  return static_cast<long double>(j * k % length) / static_cast<long double>(length);
}

// Returns element `at` of the transform of a box of numbers.
Number sum_over(const std::vector<Number>& box, const Lengths& counts, const Lengths& at,
                int direction) {
  Number sum;
  std::size_t next = 0;
  for_each(counts, 1, [&](auto, std::int64_t x, std::int64_t y, std::int64_t z) {
    const long double all =
        turns(x, at[0], counts[0]) + turns(y, at[1], counts[1]) + turns(z, at[2], counts[2]);
    sum += box[next++] * std::polar(1.0L, direction * 2 * std::numbers::pi_v<long double> * all);
  });
  return sum;
}

double next_random(std::uint32_t& state) {
  state = state * 1664525 + 1013904223;
  return static_cast<double>(state >> 8) / 0x1p24 - 0.5;
}

void put(std::vector<std::byte>& bytes, std::size_t at, Precision precision, double value) {
  const auto single = static_cast<float>(value);
  if (precision == Precision::double_) std::memcpy(&bytes[at], &value, sizeof value);
  if (precision == Precision::single) std::memcpy(&bytes[at], &single, sizeof single);
}

double get(const std::vector<std::byte>& bytes, std::size_t at, Precision precision) {
  double value = 0;
  float single = 0;
  if (precision == Precision::double_) std::memcpy(&value, &bytes[at], sizeof value);
  if (precision == Precision::single) std::memcpy(&single, &bytes[at], sizeof single);
  return precision == Precision::double_ ? value : single;
}

Number get_element(const std::vector<std::byte>& bytes, std::size_t at, const Shape& shape,
                   bool is_complex) {
  const auto re = static_cast<long double>(get(bytes, at, shape.precision));
  if (!is_complex) return re;
  return {re,
          static_cast<long double>(get(bytes, at + bytes_of(shape.precision), shape.precision))};
}

// Returns the results by the transform's definition, as whole complex boxes, batch after batch.
std::vector<std::vector<Number>> expected(const Shape& shape,
                                          const std::vector<std::vector<Number>>& inputs,
                                          int direction) {
  std::vector<std::vector<Number>> results;
  for (const auto& input : inputs) {
    auto& result = results.emplace_back();
    for_each(shape.lengths, 1, [&](auto, std::int64_t x, std::int64_t y, std::int64_t z) {
      result.push_back(sum_over(input, shape.lengths, {x, y, z}, direction));
    });
  }
  return results;
}

std::size_t at_box(const Lengths& counts, std::int64_t x, std::int64_t y, std::int64_t z) {
  return static_cast<std::size_t>((x * counts[1] + y) * counts[2] + z);
}

// Returns random boxes.  If the input is half of the transform of real numbers, they are such
// transforms.
std::vector<std::vector<Number>> boxes(const Shape& shape) {
  std::vector<std::vector<Number>> all(static_cast<std::size_t>(shape.batch));
  std::uint32_t state = 17;
  for (auto& box : all) {
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
      const double re = next_random(state);
      const bool is_real = shape.transform != Transform::complex_to_complex;
      box.emplace_back(re, is_real ? 0 : next_random(state));
    }
  }
  return shape.transform == Transform::complex_to_real ? expected(shape, all, -1) : all;
}

void expect_transforms(const Shape& shape, bool in_place, Direction direction) {
  const Side from = input_side(shape, in_place);
  const Side to = output_side(shape, in_place);
  Memory input(from);
  Memory output(to, in_place ? &input.bytes : nullptr);
  std::vector<std::byte>& target = in_place ? input.bytes : output.bytes;
  const auto whole = boxes(shape);
  std::set<std::size_t> touched;
  for_each(from.counts, shape.batch, [&](std::int64_t b, auto x, auto y, auto z) {
    const Number value = whole[static_cast<std::size_t>(b)][at_box(shape.lengths, x, y, z)];
    const std::size_t at = place(from, b, x, y, z);
    put(input.bytes, at, shape.precision, static_cast<double>(value.real()));
    if (from.is_complex) {
      put(input.bytes, at + bytes_of(shape.precision), shape.precision,
          static_cast<double>(value.imag()));
    }
    if (in_place) {
      for (std::size_t i = 0; i < from.element_bytes; ++i) touched.insert(at + i);
    }
  });
  Transforms(shape).compute(input.of(), output.of(), direction);
  const auto results = expected(shape, whole, static_cast<int>(direction));
  const double tolerance =
      (shape.precision == Precision::single ? 1e-6 : 1e-15) * static_cast<double>(shape.elements());
  for_each(to.counts, shape.batch, [&](std::int64_t b, auto x, auto y, auto z) {
    const std::size_t at = place(to, b, x, y, z);
    const Number got = get_element(target, at, shape, to.is_complex);
    const Number want = results[static_cast<std::size_t>(b)][at_box(shape.lengths, x, y, z)];
    EXPECT_NEAR(static_cast<double>(std::abs(got - want)), 0, tolerance)
        << b << " " << x << " " << y << " " << z;
    for (std::size_t i = 0; i < to.element_bytes; ++i) touched.insert(at + i);
  });
  for (std::size_t i = 0; i < target.size(); ++i) {
    ASSERT_TRUE(target[i] == kGap || touched.contains(i)) << "byte " << i << " of a gap";
  }
}

void expect_all_types(Shape shape, bool in_place) {
  for (const Precision precision : {Precision::single, Precision::double_}) {
    shape.precision = precision;
    shape.transform = Transform::complex_to_complex;
    expect_transforms(shape, in_place, Direction::forward);
    expect_transforms(shape, in_place, Direction::inverse);
    shape.transform = Transform::real_to_complex;
    expect_transforms(shape, in_place, Direction::forward);
    shape.transform = Transform::complex_to_real;
    expect_transforms(shape, in_place, Direction::inverse);
  }
}

constexpr Lengths kLengths[] = {{1, 1, 1}, {1, 1, 2}, {1, 1, 8}, {1, 1, 15}, {1, 1, 67},
                                {1, 3, 4}, {1, 4, 7}, {2, 3, 4}, {5, 1, 6},  {3, 4, 5}};

TEST(Transforms, InTheBasicLayout) {
  for (const Lengths& lengths : kLengths) {
    for (const std::int64_t batch : {1, 3}) {
      SCOPED_TRACE(testing::Message() << lengths[0] << " x " << lengths[1] << " x " << lengths[2]
                                      << ", batch " << batch);
      expect_all_types({.lengths = lengths, .batch = batch}, false);
      expect_all_types({.lengths = lengths, .batch = batch}, true);
    }
  }
}

TEST(Transforms, InStorageWithGaps) {
  for (const Lengths& lengths : kLengths) {
    const Lengths wide{1, lengths[1] + 1, lengths[2] + 3};
    const std::int64_t box = lengths[0] * wide[1] * wide[2];
    for (const std::int64_t stride : {1, 2}) {
      const Storage input{wide, stride, box * stride + 5};
      const Storage output{{1, lengths[1], lengths[2] + 1}, 3, box * 3 + 1};
      expect_all_types({.lengths = lengths, .batch = 3, .input = input, .output = output}, false);
    }
    // Interleaved batches: the columns of a matrix.
    const Storage columns{{1, lengths[1], lengths[2]}, 4, 1};
    expect_all_types({.lengths = lengths, .batch = 4, .input = columns, .output = columns}, false);
  }
}

TEST(Layout, OfDenseBatchesIsOneRegion) {
  const Shape shape{.rank = 3, .lengths = {3, 4, 5}, .batch = 7};
  const auto regions = regions_of(input_side(shape, false), nullptr);
  ASSERT_EQ(regions.size(), 1U);
  EXPECT_EQ(regions[0].width, 3 * 4 * 5 * 7);
  EXPECT_EQ(regions[0].height * regions[0].depth, 1);
}

// Rows of 2 (n/2 + 1) reals, of which n are accessed.
TEST(Layout, OfRealsInPlaceHasPaddedRows) {
  const Shape shape{
      .rank = 2, .lengths = {1, 4, 6}, .batch = 2, .transform = Transform::real_to_complex};
  const auto regions = regions_of(input_side(shape, true), nullptr);
  ASSERT_EQ(regions.size(), 1U);
  EXPECT_EQ(regions[0].width, 6);
  EXPECT_EQ(regions[0].height, 8);
  EXPECT_EQ(regions[0].pitch, 8 * 4);
}

TEST(LineTransform, OfAnyLengthIsTheSum) {
  for (const std::size_t length : {61U, 64U, 67U, 97U, 128U, 210U, 1009U, 2048U, 3721U}) {
    std::vector<Complex> line(length);
    std::vector<Number> box;
    std::uint32_t state = 5;
    for (Complex& value : line) {
      value = {next_random(state), next_random(state)};
      box.emplace_back(value.re, value.im);
    }
    std::vector<Complex> scratch;
    LineTransform(length).transform(line, scratch, Direction::forward);
    const Lengths counts{1, 1, static_cast<std::int64_t>(length)};
    for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, counts[2] / 2, counts[2] - 1}) {
      const Number want = sum_over(box, counts, {0, 0, k}, -1);
      const Complex& got = line[static_cast<std::size_t>(k)];
      EXPECT_NEAR(static_cast<double>(std::abs(Number(got.re, got.im) - want)), 0, 2e-14) << length;
    }
  }
}

}  // namespace
}  // namespace warpcheck::libraries::fourier
