// Transposes a matrix in row-major order.
#pragma once

#include <cstddef>
#include <vector>

namespace reference {

//   matrix: its size is a multiple of `columns`, which is not 0
std::vector<int> transposed(const std::vector<int>& matrix, std::size_t columns);

}  // namespace reference
