#include "reference/transpose.hpp"

namespace reference {

std::vector<int> transposed(const std::vector<int>& matrix, std::size_t columns) {
  const std::size_t rows = matrix.size() / columns;
  std::vector<int> by_columns;
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t row = 0; row < rows; ++row) {
      by_columns.push_back(matrix[row * columns + column]);
    }
  }
  return by_columns;
}

}  // namespace reference
