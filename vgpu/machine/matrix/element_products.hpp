// Products of matrices whose elements are given one by one, of any number of rows: those of tensor
// memory.  They are added like those of mma (warp_matrix.cpp): exact products, and one sum for all
// of k, aligned to the greatest exponent.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/program/matrix.hpp"

namespace warpcheck::vgpu {

struct ElementProduct {
  std::uint32_t rows = 0, columns = 0, depth = 0;  // columns: a multiple of 8
  ptx::Type a_type = ptx::Type::none, b_type = ptx::Type::none;
  ptx::Type d_type = ptx::Type::none;  // also of c
  bool negates_a = false, negates_b = false;
  bool saturates = false;         // integers
  std::uint32_t scale_shift = 0;  // c is multiplied with 2^-scale_shift
  // The bits of elements: a by rows, b by columns (all of k for a column), c by rows.
  std::span<const std::uint32_t> a, b, c;
  // Factors of a's rows and b's columns for each block of k, by row and column; blocks: of k.
  ptx::Type scale_type = ptx::Type::none;
  std::uint32_t blocks = 0;
  std::vector<std::uint32_t> scale_a, scale_b;
};

// Sets the bits of the result, by rows.
void multiply_elements(const ElementProduct& product, std::span<std::uint32_t> results);

}  // namespace warpcheck::vgpu
