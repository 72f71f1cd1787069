// The operands of products and copies in shared memory: matrix descriptors, the instruction
// descriptor, and where each element of a matrix lies (PTX ISA 9.0, 9.7.16.4 and 9.7.16.10).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/program/tensor_memory.hpp"

namespace warpcheck::vgpu {

inline constexpr std::uint32_t kTensorChunkBytes = 16;  // swizzling moves these as a whole
using TensorChunk = std::array<std::byte, kTensorChunkBytes>;

// A matrix in shared memory (9.7.16.4.1).
class MatrixDescriptor {
 public:
  explicit MatrixDescriptor(std::uint64_t bits) : bits_(bits) {}

  // Returns what is wrong with it; empty: nothing.
  [[nodiscard]] std::string error() const;
  // 128 bytes in units of 32, for matrices of 32-bit elements whose neighbours have the same k.
  [[nodiscard]] bool swizzles_by_32() const { return swizzle() == Swizzle::b128_of_32; }
  // Returns the offset of chunk `chunk` of k in row `line` of a (or column of b).
  [[nodiscard]] std::uint32_t place_along_k(std::uint32_t line, std::uint32_t chunk) const;
  // Returns the offset of the chunk that begins with `line`, in a matrix whose neighbours in memory
  // have the same k.
  //   line_bytes: from one line to the next in a chunk, in bytes
  [[nodiscard]] std::uint32_t place_across_k(std::uint32_t line, std::uint32_t lines_of_chunk,
                                             std::uint32_t k) const;

 private:
  enum class Swizzle : std::uint8_t { none = 0, b128_of_32 = 1, b128 = 2, b64 = 4, b32 = 6 };
  [[nodiscard]] std::uint32_t field(unsigned first, unsigned count) const {
    return static_cast<std::uint32_t>(bits_ >> first & ((1u << count) - 1));
  }
  [[nodiscard]] std::uint32_t start() const { return field(0, 14) << 4; }
  [[nodiscard]] std::uint32_t leading() const { return field(16, 14) << 4; }
  [[nodiscard]] std::uint32_t stride() const { return field(32, 14) << 4; }
  [[nodiscard]] Swizzle swizzle() const { return static_cast<Swizzle>(field(61, 3)); }
  [[nodiscard]] std::uint32_t span() const;
  [[nodiscard]] std::uint32_t swizzled(std::uint32_t address) const;

  std::uint64_t bits_;
};

// What an instruction descriptor says (9.7.16.4.2).
struct ProductDescription {
  std::uint32_t rows = 0, columns = 0, depth = 0;  // M, N, K of all blocks together
  std::uint32_t a_depth = 0;                       // stored elements of a row of a
  ptx::Type a = ptx::Type::none, b = ptx::Type::none, d = ptx::Type::none;
  bool negates_a = false, negates_b = false, saturates = false;
  bool a_in_columns = false, b_in_rows = false;  // transposed: not K-major
  ptx::Type scale = ptx::Type::none;             // of the factors
  std::uint32_t scale_a_byte = 0, scale_b_byte = 0;
  std::uint32_t metadata_column = 0;  // the sparsity selector: the column of two (9.7.16.10.8.4)
  std::uint32_t shift_max = 0;        // .ws: of b's columns
  std::string error{};                // what the ISA forbids; empty: nothing
};
ProductDescription describe(const TensorMemoryInstr& tensor, std::uint32_t bits);

// Which columns of b a product by columns uses (9.7.16.4.3).
struct ColumnMask {
  std::vector<bool> is_zero;
  std::uint32_t shift = 0;  // the first column
  std::string error{};      // what the ISA forbids, or does not say; empty: nothing
};
ColumnMask mask_of_columns(std::uint64_t bits, const ProductDescription& product);

// Returns where the stored elements of a chunk of a sparse row lie in it, by its four bits of
// metadata; empty: the ISA gives these bits no meaning (9.7.16.10.8).
std::vector<std::uint32_t> places_in_chunk(ProductKind kind, std::uint32_t bits);

// Returns the elements in a chunk of 16 bytes of shared memory.
std::uint32_t elements_of_chunk(ProductKind kind, ptx::Type type);
// Returns the bits of an element of a chunk.
//   in_bytes: as in tensor memory, where each element of 6 or 4 bits has a byte of its own
std::uint32_t element_in_chunk(const TensorChunk& chunk, ProductKind kind, ptx::Type type,
                               std::uint32_t number, bool in_bytes);
// Reads all elements of a chunk of shared memory, each into a word.
using ChunkElements = std::array<std::uint32_t, 2 * kTensorChunkBytes>;
void read_chunk(const TensorChunk& chunk, ProductKind kind, ptx::Type type,
                ChunkElements& elements);

}  // namespace warpcheck::vgpu
