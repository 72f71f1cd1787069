// Transposes of a matrix, and what they claim about memory: all that is counted is claimed as any
// other property.  Those without padding and without a tile are right, and their claims fail.
#include <cstddef>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/pair/pair.hpp"
#include "kernels/specimens/transpose_slow.hpp"
#include "kernels/transpose.hpp"
#include "reference/transpose.hpp"

namespace warpcheck {

// The matrix has 8 * eight_rows rows of 8 * eight_columns elements, so that each row begins at a
// sector of memory: other rows cannot be moved without waste.  Its elements are `values`, as often
// as it takes, and its numbers of elements if there are none.
struct TransposeInput {
  int eight_rows = 1;
  int eight_columns = 1;
  std::vector<int> values;
};
FIELDS(TransposeInput, eight_rows, eight_columns, values);

namespace {

constexpr int kEightsMax = 12;

bool is_matrix(const TransposeInput& input) {
  const auto is_side = [](int eights) { return eights >= 1 && eights <= kEightsMax; };
  return is_side(input.eight_rows) && is_side(input.eight_columns);
}

TransposeInput draw_matrix(Draw& draw) {
  TransposeInput input;
  input.eight_rows = draw(integers<int>(1, kEightsMax));
  input.eight_columns = draw(integers<int>(1, kEightsMax));
  const int n = draw(sizes({.max = 100}));
  input.values = draw(vectors(n, integers<int>()));
  return input;
}

std::vector<int> matrix_of(const TransposeInput& input) {
  std::vector<int> matrix(std::size_t{64} * static_cast<std::size_t>(input.eight_rows) *
                          static_cast<std::size_t>(input.eight_columns));
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    matrix[i] = input.values.empty() ? static_cast<int>(i) : input.values[i % input.values.size()];
  }
  return matrix;
}

using Kernel = cudaError_t (*)(const int*, int*, int, int);

template <Kernel kernel>
std::vector<int> run_transpose(Device& device, const TransposeInput& input) {
  const std::vector<int> matrix = matrix_of(input);
  const auto in = device.upload(matrix);
  auto out = device.array<int>(matrix.size());
  device.check(kernel(in.data(), out.data(), 8 * input.eight_rows, 8 * input.eight_columns));
  return out.download();
}

std::vector<int> transposed(const TransposeInput& input) {
  return reference::transposed(matrix_of(input), std::size_t{8} * input.eight_columns);
}

}  // namespace

KERNEL_PAIR(transpose, TransposeInput, std::vector<int>) = {
    .family = "transpose",
    .origin = "ours, after Ruetsch and Micikevicius 2009: tiles with a column more than they need",
    .expects = {},
    .domain = is_matrix,
    .arbitrary = draw_matrix,
    .kernel = run_transpose<::transpose>,
    .reference = transposed,
};

KERNEL_PAIR(transpose_naive, TransposeInput, std::vector<int>) = {
    .family = "transpose",
    .origin = "published: without shared memory, right and held to the claims of the fast one",
    .expects = {"mismatch"},
    .domain = is_matrix,
    .arbitrary = draw_matrix,
    .kernel = run_transpose<::transpose_naive>,
    .reference = transposed,
};

KERNEL_PAIR(transpose_unpadded, TransposeInput, std::vector<int>) = {
    .family = "transpose",
    .origin = "published: tiles whose columns lie in one bank, held to the claims of the fast one",
    .expects = {"mismatch"},
    .domain = is_matrix,
    .arbitrary = draw_matrix,
    .kernel = run_transpose<::transpose_unpadded>,
    .reference = transposed,
};

PROPERTY(transpose, no_bank_conflicts)(TransposeInput in) {
  EXPECT_EQ(counters_of(in).shared_conflicts, 0U);
}
PROPERTY(transpose, rows_are_coalesced)(TransposeInput in) {
  const Counters counters = counters_of(in);
  EXPECT_GE(counters.coalescing("kernels/transpose.cu:13"), 0.9);
  EXPECT_GE(counters.coalescing("kernels/transpose.cu:18"), 0.9);
}
PROPERTY(transpose_naive, rows_are_coalesced)(TransposeInput in) {
  EXPECT_GE(counters_of(in).coalescing("transpose_slow.cu:10"), 0.9);
}
PROPERTY(transpose_unpadded, no_bank_conflicts)(TransposeInput in) {
  EXPECT_EQ(counters_of(in).shared_conflicts, 0U);
}

}  // namespace warpcheck
