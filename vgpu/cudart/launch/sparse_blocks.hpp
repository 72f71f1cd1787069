// Which blocks of a huge launch show a defect of its indices (`exec --sparse`).
//
// An index is a sum of products: of a block's number, the threads of a block, and a pitch or a size
// that the kernel is passed.  It leaves 31 or 32 bits, or a range of bytes, where such a product
// passes a power of two.  So the first and last blocks run, and those around each place where a
// product of a block's number passes one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/program/dim3.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {

// Launches of no more blocks are not huge.
inline constexpr std::uint64_t kWholeBlocksMax = 1024;

// The integers among a kernel's parameters that may be a pitch or a size, ascending.
[[nodiscard]] std::vector<std::uint64_t> possible_factors(std::span<const vgpu::Parameter> layout,
                                                          std::span<const std::byte> parameters);

// Returns numbers of blocks, ascending, at most some thousand.
[[nodiscard]] std::vector<std::uint32_t> sparse_blocks(const Dim3& grid, const Dim3& block,
                                                       const std::vector<std::uint64_t>& factors);

}  // namespace warpcheck::cudart
