#include "vgpu/machine/tensor_memory/tensor_operands.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "vgpu/program/matrix.hpp"

namespace warpcheck::vgpu {

using ptx::Type;

std::string MatrixDescriptor::error() const {
  constexpr std::uint32_t kVersion = 1;
  if (field(46, 3) != kVersion) {
    return fmt::format("bits 46 to 48 of a matrix descriptor are {}, and must be 1", field(46, 3));
  }
  switch (swizzle()) {
    case Swizzle::none:
    case Swizzle::b128_of_32:
    case Swizzle::b128:
    case Swizzle::b64:
    case Swizzle::b32: break;
    default:
      return fmt::format("the swizzling mode of a matrix descriptor is {}, which does not exist",
                         field(61, 3));
  }
  if (field(53, 8) != 0) return "bits 53 to 60 of a matrix descriptor are not 0";
  if (field(52, 1) != 0) return "bit 52 of a matrix descriptor is set, which is for sm_103a";
  return {};
}

// Returns the bytes that swizzling stays within.
std::uint32_t MatrixDescriptor::span() const {
  switch (swizzle()) {
    case Swizzle::b128_of_32:
    case Swizzle::b128: return 128;
    case Swizzle::b64: return 64;
    case Swizzle::b32: return 32;
    default: return 16;
  }
}

std::uint32_t MatrixDescriptor::swizzled(std::uint32_t address) const {
  const std::uint32_t row = (address >> 7) - field(49, 3);  // the pattern begins at the base offset
  if (swizzle() == Swizzle::b128_of_32) return address ^ ((row & 3) << 5);
  return address ^ ((row & (span() / kTensorChunkBytes - 1)) << 4);
}

std::uint32_t MatrixDescriptor::place_along_k(std::uint32_t line, std::uint32_t chunk) const {
  const bool is_plain = swizzle() == Swizzle::none;
  return swizzled(start() + line % 8 * span() + line / 8 * stride() +
                  chunk * (is_plain ? leading() : kTensorChunkBytes));
}

std::uint32_t MatrixDescriptor::place_across_k(std::uint32_t line, std::uint32_t lines_of_chunk,
                                               std::uint32_t k) const {
  const bool is_plain = swizzle() == Swizzle::none;
  const std::uint32_t chunks = span() / kTensorChunkBytes, chunk = line / lines_of_chunk;
  const std::uint32_t tall = swizzle() == Swizzle::b128_of_32 ? 4 : 8;  // of k, in an atom
  return swizzled(start() + chunk % chunks * kTensorChunkBytes +
                  chunk / chunks * (is_plain ? stride() : leading()) + k % tall * span() +
                  k / tall * (is_plain ? leading() : stride()));
}

namespace {

struct DescriptionBits {
  std::uint32_t bits;
  [[nodiscard]] std::uint32_t field(unsigned first, unsigned count) const {
    return bits >> first & ((1u << count) - 1);
  }
};

Type factor_type(ProductKind kind, std::uint32_t field) {
  switch (kind) {
    case ProductKind::f16: return field == 0 ? Type::f16 : field == 1 ? Type::bf16 : Type::none;
    case ProductKind::tf32: return field == 2 ? Type::tf32 : Type::none;
    case ProductKind::i8: return field == 0 ? Type::u8 : field == 1 ? Type::s8 : Type::none;
    case ProductKind::mxf4:
    case ProductKind::mxf4nvf4: return field == 1 ? Type::e2m1x2 : Type::none;
    case ProductKind::f8f6f4:
    case ProductKind::mxf8f6f4: break;
  }
  switch (field) {
    case 0: return Type::e4m3x2;
    case 1: return Type::e5m2x2;
    case 3: return Type::e2m3x2;
    case 4: return Type::e3m2x2;
    case 5: return Type::e2m1x2;
    default: return Type::none;
  }
}

Type result_type(ProductKind kind, std::uint32_t field) {
  if (is_scaled(kind)) return Type::f32;
  switch (field) {
    case 0: return kind == ProductKind::f16 || kind == ProductKind::f8f6f4 ? Type::f16 : Type::none;
    case 1: return kind == ProductKind::i8 ? Type::none : Type::f32;
    case 2: return kind == ProductKind::i8 ? Type::s32 : Type::none;
    default: return Type::none;
  }
}

std::uint32_t depth_of(ProductKind kind) {
  switch (kind) {
    case ProductKind::f16: return 16;
    case ProductKind::tf32: return 8;
    case ProductKind::mxf4:
    case ProductKind::mxf4nvf4: return 64;
    default: return 32;
  }
}

// Returns whether the table of shapes has it (9.7.16.2.1).
bool has_shape(const TensorMemoryInstr& tensor, std::uint32_t rows, std::uint32_t columns) {
  constexpr std::uint32_t kColumnsMax = 256;
  if (columns == 0 || columns > kColumnsMax) return false;
  if (tensor.is_by_columns) {
    return (rows == 32 || rows == 64 || rows == 128) &&
           (columns == 64 || columns == 128 || (columns == 256 && !tensor.is_sparse));
  }
  if (tensor.is_sparse && tensor.ctas == 2 && is_scaled(tensor.kind) && rows != 256) return false;
  const bool has_rows = tensor.ctas == 2 ? rows == 128 || rows == 256
                                         : rows == 128 || (rows == 64 && !is_scaled(tensor.kind));
  if (tensor.kind == ProductKind::i8) {
    const bool is_small = tensor.ctas == 1 && (columns == 8 || columns == 24);
    return has_rows && (is_small || columns % (16 * tensor.ctas) == 0);
  }
  return has_rows && columns % (8 * tensor.ctas) == 0;
}

void describe_scale(const TensorMemoryInstr& tensor, DescriptionBits fields,
                    ProductDescription& product) {
  product.rows = fields.field(27, 2) << 7;
  product.scale = fields.field(23, 1) != 0 ? Type::ue8m0x2 : Type::e4m3x2;
  product.scale_b_byte = fields.field(4, 2);
  product.scale_a_byte = fields.field(29, 2);
  const bool is_e4m3 = product.scale == Type::e4m3x2;
  if (is_e4m3 && (tensor.kind != ProductKind::mxf4nvf4 || tensor.scale_blocks != 4)) {
    product.error = "the type of the scale factors, which is UE4M3";
  }
  for (const std::uint32_t byte : {product.scale_a_byte, product.scale_b_byte}) {
    if (byte % tensor.scale_blocks != 0) product.error = "the id of scale factors";
  }
}

// Returns the bits that are reserved (tables 42 to 44).
std::uint32_t reserved_bits(ProductKind kind) {
  if (!is_scaled(kind)) return 1u << 6 | 1u << 23 | 1u << 29;
  const std::uint32_t common = 3u | 1u << 3 | 1u << 6 | 7u << 24;
  return common | (kind == ProductKind::mxf8f6f4 ? 1u << 31 : 1u << 12);
}

}  // namespace

ProductDescription describe(const TensorMemoryInstr& tensor, std::uint32_t bits) {
  const DescriptionBits fields{bits};
  ProductDescription product;
  product.a_depth = depth_of(tensor.kind);
  product.depth = product.a_depth * (tensor.is_sparse ? 2 : 1);
  product.columns = fields.field(17, 6) << 3;
  product.rows = fields.field(24, 5) << 4;
  product.a = factor_type(tensor.kind, fields.field(7, 3));
  product.b = factor_type(tensor.kind, fields.field(10, 3));
  product.d = result_type(tensor.kind, fields.field(4, 2));
  product.negates_a = fields.field(13, 1) != 0;
  product.negates_b = fields.field(14, 1) != 0;
  product.a_in_columns = fields.field(15, 1) != 0;
  product.b_in_rows = fields.field(16, 1) != 0;
  product.saturates = fields.field(3, 1) != 0;
  if (is_scaled(tensor.kind)) {
    describe_scale(tensor, fields, product);
    product.saturates = false;
  }
  const bool is_integer = tensor.kind == ProductKind::i8;
  const bool is_packed = tensor.kind == ProductKind::mxf4 || tensor.kind == ProductKind::mxf4nvf4;
  const auto fail = [&](std::string what) {
    if (product.error.empty()) product.error = std::move(what);
  };
  if (product.a == Type::none) fail("the type of matrix A");
  if (product.b == Type::none) fail("the type of matrix B");
  if (product.d == Type::none) fail("the type of matrix D");
  if (product.d == Type::f16 && (product.a == Type::bf16 || product.b == Type::bf16)) {
    fail("a result of f16 from factors of bf16");
  }
  if (tensor.kind == ProductKind::f16 && product.a != product.b) {
    fail("matrices A and B of different types");
  }
  if (fields.field(2, 1) != (tensor.is_sparse ? 1 : 0)) {
    fail(tensor.is_sparse ? "a dense matrix" : "a sparse matrix");
  }
  if (tensor.is_sparse && !is_scaled(tensor.kind)) {
    const bool selects = tensor.kind == ProductKind::f16 || tensor.kind == ProductKind::tf32;
    product.metadata_column = fields.field(0, 2);
    if (product.metadata_column > (selects ? 1 : 0)) {
      fail(fmt::format("the sparsity selector {}", product.metadata_column));
    }
  }
  if (tensor.shifts_a && product.rows / tensor.ctas != kTensorLanes) {
    fail(fmt::format("shifted rows with M = {}", product.rows));
  }
  if (tensor.is_by_columns && fields.field(30, 2) != 0) {
    product.shift_max = 4u << fields.field(30, 2);
  }
  if ((bits & reserved_bits(tensor.kind)) != 0) {
    fail(fmt::format("the reserved bits {:#x}", bits & reserved_bits(tensor.kind)));
  }
  if (is_packed && fields.field(31, 1) != 0) fail("a depth of 96, which is for sm_103a");
  const bool has_bytes = elements_of_chunk(tensor.kind, product.b) == 16;
  if (product.b != Type::none && product.b_in_rows && has_bytes &&
      product.columns % (16 * tensor.ctas) != 0) {
    fail(fmt::format("a transposed matrix B of bytes with N = {}", product.columns));
  }
  if (is_integer && (product.negates_a || product.negates_b)) fail("negated integers");
  if (product.saturates && !is_integer) fail("saturation");
  if (is_packed && (product.a_in_columns || product.b_in_rows)) fail("a transposed matrix");
  if (!has_shape(tensor, product.rows, product.columns)) {
    fail(fmt::format("the shape M = {}, N = {}", product.rows, product.columns));
  }
  return product;
}

// A mask of the columns of each part of d: runs of used columns and of zero ones by turns.  The
// lengths of the runs are those of the examples of 9.7.16.4.3.
ColumnMask mask_of_columns(std::uint64_t bits, const ProductDescription& product) {
  const auto field = [&](unsigned first, unsigned count) {
    return static_cast<std::uint32_t>(bits >> first & ((1u << count) - 1));
  };
  ColumnMask mask{std::vector<bool>(product.columns), field(56, 6)};
  const std::uint32_t limit = std::min(product.shift_max, product.rows == 32 ? 16u : 32u);
  if (field(36, 3) != 0 || field(62, 2) != 0) mask.error = "has reserved bits";
  if (mask.shift > limit) {
    mask.error = fmt::format("shifts by {} columns, and at most {} are allowed", mask.shift, limit);
  }
  if (mask.shift != 0 && product.b_in_rows) mask.error = "shifts a transposed matrix";
  if (field(39, 1) == 0 || !mask.error.empty()) return mask;
  const std::uint32_t zeros = field(40, 8) + 1, used = field(48, 8) + 1;
  const std::uint32_t parts = kTensorLanes / product.rows, width = product.columns / parts;
  for (std::uint32_t part = 0; part < parts; ++part) {
    bool is_zero = field(32 + part, 1) != 0;
    std::uint32_t left = is_zero ? zeros : used;
    const std::uint32_t skipped = field(8 * part, 8);
    if (skipped >= left) {
      mask.error = fmt::format("skips {} columns of a first span of {}", skipped, left);
      return mask;
    }
    left -= skipped;
    for (std::uint32_t column = 0; column < width; ++column) {
      mask.is_zero[part * width + column] = is_zero;
      if (--left != 0) continue;
      is_zero = !is_zero;
      left = is_zero ? zeros : used;
    }
  }
  return mask;
}

std::vector<std::uint32_t> places_in_chunk(ProductKind kind, std::uint32_t bits) {
  const std::uint32_t first = bits & 3, second = bits >> 2;
  if (kind == ProductKind::tf32) {
    if (bits == 0x4) return {0};
    return bits == 0xe ? std::vector<std::uint32_t>{1} : std::vector<std::uint32_t>{};
  }
  constexpr std::uint32_t kSecondThenFirst = 0x6;  // the one descending pair that the ISA names
  if (first >= second && bits != kSecondThenFirst) return {};
  if (kind != ProductKind::mxf4 && kind != ProductKind::mxf4nvf4) return {first, second};
  return {2 * first, 2 * first + 1, 2 * second, 2 * second + 1};
}

std::uint32_t elements_of_chunk(ProductKind kind, Type type) {
  if (kind == ProductKind::mxf4 || kind == ProductKind::mxf4nvf4) return 32;
  if (is_byte_float(type) || type == Type::s8 || type == Type::u8) return 16;
  return type == Type::tf32 ? 4 : 8;
}

std::uint32_t element_in_chunk(const TensorChunk& chunk, ProductKind kind, Type type,
                               std::uint32_t number, bool in_bytes) {
  constexpr std::uint32_t kShiftInByte = 2;  // of an element of 4 bits
  const auto bits_at = [&](std::uint32_t first, std::uint32_t count) {
    std::uint32_t word = 0;
    const std::uint32_t byte = first / 8;
    std::memcpy(&word, chunk.data() + byte,
                byte + sizeof word <= chunk.size() ? sizeof word : chunk.size() - byte);
    const std::uint32_t mask = count == 32 ? ~0u : (1u << count) - 1;
    return word >> first % 8 & mask;
  };
  if (kind == ProductKind::mxf4 || kind == ProductKind::mxf4nvf4) return bits_at(4 * number, 4);
  switch (type) {
    case Type::tf32: return bits_at(32 * number, 32);
    case Type::f16:
    case Type::bf16: return bits_at(16 * number, 16);
    case Type::e2m3x2:
    case Type::e3m2x2: return bits_at((in_bytes ? 8 : 6) * number, 6);
    case Type::e2m1x2:
      return in_bytes ? bits_at(8 * number + kShiftInByte, 4) : bits_at(4 * number, 4);
    default: return bits_at(8 * number, 8);
  }
}

void read_chunk(const TensorChunk& chunk, ProductKind kind, Type type, ChunkElements& elements) {
  const auto read_as = [&](auto element) {
    for (std::size_t i = 0; i < chunk.size() / sizeof element; ++i) {
      std::memcpy(&element, chunk.data() + i * sizeof element, sizeof element);
      elements[i] = element;
    }
  };
  if (type == Type::f16 || type == Type::bf16) return read_as(std::uint16_t{});
  if (type == Type::tf32) return read_as(std::uint32_t{});
  const std::uint32_t count = elements_of_chunk(kind, type);
  for (std::uint32_t i = 0; i < count; ++i) {
    elements[i] = element_in_chunk(chunk, kind, type, i, false);
  }
}

}  // namespace warpcheck::vgpu
