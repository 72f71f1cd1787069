#include "harness/generators/generators_matrices.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/input/tape.hpp"

namespace warpcheck {
namespace {

// The classes that occurred in 1,000 draws with each of 20 seeds; all values are in the domain.
template <class T>
std::set<std::string> seen_by(const Gen<T>& generator) {
  std::set<std::string> seen_by_all;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Tape tape = Tape::of_seed(seed);
    Draw draw(tape);
    for (int i = 0; i < 1'000; ++i) {
      const T value = draw(generator);
      EXPECT_TRUE(!generator.has_domain() || generator.contains(value));
    }
    const std::set<std::string> seen(draw.classes().begin(), draw.classes().end());
    if (seed == 0) seen_by_all = seen;
    EXPECT_EQ(seen, seen_by_all);
  }
  return seen_by_all;
}

using Names = std::set<std::string>;

TEST(MatrixSizes, VisitAllTheirClasses) {
  EXPECT_EQ(seen_by(matrix_sizes()), (Names{"zero", "one", "31", "33", "odd", "tile edge",
                                            "multiple of the tile", "largest"}));
  EXPECT_EQ(seen_by(matrix_sizes({.max = 9, .tile = 4})),
            (Names{"zero", "one", "odd", "tile edge", "multiple of the tile", "largest"}));
  EXPECT_EQ(seen_by(matrix_sizes({.max = 0})), (Names{"zero", "largest"}));
  EXPECT_THROW(matrix_sizes({.max = -1}), std::invalid_argument);
  EXPECT_THROW(matrix_sizes({.max = 4, .tile = 0}), std::invalid_argument);
}

TEST(Matrices, VisitAllTheirClasses) {
  for (const std::size_t n : {2U, 3U, 31U}) {
    EXPECT_EQ(seen_by(matrices(n, n, floats<float>())),
              (Names{"all zero", "identity", "diagonal", "constant", "swamped"}));
  }
  EXPECT_EQ(seen_by(matrices(2, 3, integers<int>())),
            (Names{"all zero", "identity", "diagonal", "constant"}));
}

TEST(Matrices, HaveTheSizeThatWasAskedFor) {
  Tape tape = Tape::of_seed(1);
  Draw draw(tape);
  for (const auto& [rows, columns] : {std::pair{0, 0}, {0, 3}, {1, 1}, {1, 33}, {31, 2}}) {
    const Gen<std::vector<float>> generator = matrices(
        static_cast<std::size_t>(rows), static_cast<std::size_t>(columns), floats<float>());
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(draw(generator).size(), static_cast<std::size_t>(rows * columns));
    }
  }
}

TEST(SwampedMatrices, VanishOneByOneAndNotTogether) {
  Tape tape = Tape::of_seed(1);
  Draw draw(tape);
  const std::vector<float> row = draw(swamped_matrices<float>(1, 33));
  float one_by_one = row[0], others = 0;
  one_by_one += row[1];
  EXPECT_EQ(one_by_one, row[0]);
  for (std::size_t i = 1; i < row.size(); ++i) others += row[i];
  EXPECT_GT(row[0] + others, row[0]);
}

}  // namespace
}  // namespace warpcheck
