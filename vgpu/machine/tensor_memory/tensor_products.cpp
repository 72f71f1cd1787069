// tcgen05.mma (PTX ISA 9.0, 9.7.16.10).
//
// Of a product by a pair of blocks, each block has half of the rows of a and d, and half of the
// columns of b, in its own memories.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "vgpu/machine/matrix/element_products.hpp"
#include "vgpu/machine/tensor_memory/tensor_memory.hpp"
#include "vgpu/machine/tensor_memory/tensor_operands.hpp"

namespace warpcheck::vgpu {

using ptx::kNone, ptx::Type;

namespace {

constexpr std::uint32_t kDepthBytes = 32;  // of k, of every kind

// How the accumulator lies in tensor memory: layouts A to G (9.7.16.10.5).
struct AccumulatorLayout {
  std::uint32_t rows = 0;   // in a block
  std::uint32_t parts = 1;  // groups of columns, which lie in different lanes
  bool has_gaps = false;    // 16 of each 32 lanes
  std::uint32_t columns = 0;

  [[nodiscard]] std::uint32_t columns_of_part() const { return columns / parts; }
  [[nodiscard]] std::uint32_t lane(std::uint32_t row, std::uint32_t column) const {
    constexpr std::uint32_t kHalf = kLanesOfPart / 2;
    if (has_gaps) return row / kHalf * kLanesOfPart + row % kHalf;
    return row + column / columns_of_part() * rows;
  }
  [[nodiscard]] std::uint32_t column(std::uint32_t column) const {
    return column % columns_of_part();
  }
};

AccumulatorLayout layout_of(const TensorMemoryInstr& tensor, const ProductDescription& product) {
  AccumulatorLayout layout{.rows = product.rows / tensor.ctas, .columns = product.columns};
  const bool has_all = layout.rows == kTensorLanes;
  if (has_all) return layout;
  if (tensor.is_by_columns || (tensor.ctas == 2 && !tensor.is_sparse)) {
    layout.parts = kTensorLanes / layout.rows;
  } else {
    layout.has_gaps = true;
  }
  return layout;
}

void add_areas(std::vector<TensorArea>& areas, const AccumulatorLayout& layout, std::uint32_t block,
               const TensorAddress& at, std::uint32_t columns, bool writes) {
  if (!layout.has_gaps) {
    areas.push_back({block, at.lane, kTensorLanes, at.column, columns, writes});
    return;
  }
  for (std::uint32_t part = 0; part < kTensorLanes / kLanesOfPart; ++part) {
    areas.push_back(
        {block, at.lane + part * kLanesOfPart, kLanesOfPart / 2, at.column, columns, writes});
  }
}

// Returns what is wrong with the lane of an address; empty: nothing.
std::string error_of_lane(const AccumulatorLayout& layout, const TensorAddress& at) {
  if (at.lane == 0 || (layout.has_gaps && at.lane == kLanesOfPart / 2)) return {};
  return fmt::format("an address in tensor memory has lane {}, and must have lane {}", at.lane,
                     layout.has_gaps ? "0 or 16" : "0");
}

}  // namespace

struct TensorProduct {
  ProductDescription description;
  AccumulatorLayout layout;
  TensorAddress d, a, scale_a, scale_b, metadata;
  // By rows, and by columns.
  std::vector<std::uint32_t> a_elements{}, b_elements{};
  ElementProduct elements{};
  ColumnMask mask{};
  // Where the stored elements of sparse rows lie in them, by rows.
  std::vector<std::uint32_t> places{};
  // Of rows of a and columns of b with undefined elements, the origin of such an element; kNone:
  // all are defined.
  std::vector<std::uint32_t> origins_of_rows{}, origins_of_columns{};
  std::uint32_t pc = 0;
  bool finds_unwritten = false;  // words of tensor memory

  // Returns the origin of a word in tensor memory that the product reads; kNone: it is defined.
  [[nodiscard]] std::uint32_t origin_of(const TensorBlock& block, std::size_t word) {
    const std::uint8_t state = block.states[word];
    if (state == TensorBlock::kUnwritten) finds_unwritten = true;
    return block.origin_of(state, pc);
  }
};

namespace {

// A factor in shared memory: lines are rows of a, or columns of b.
struct SharedFactor {
  MatrixDescriptor descriptor;
  Type type = Type::none;
  bool is_across = false;  // neighbours in memory have the same k
  std::uint32_t first = 0, count = 0;
  std::uint32_t shift = 0;  // the first line in shared memory
};

// Returns where the chunks of the lines of a factor lie that one block has: line by line; across: k
// by k.
std::vector<std::uint32_t> chunks_of(const SharedFactor& factor, std::uint32_t depth,
                                     std::uint32_t in_chunk) {
  std::vector<std::uint32_t> chunks;
  if (!factor.is_across) {
    for (std::uint32_t line = 0; line < factor.count; ++line) {
      for (std::uint32_t number = 0; number < depth / in_chunk; ++number) {
        chunks.push_back(factor.descriptor.place_along_k(factor.shift + line, number));
      }
    }
    return chunks;
  }
  for (std::uint32_t k = 0; k < depth; ++k) {
    for (std::uint32_t line = 0; line < factor.count; line += in_chunk) {
      chunks.push_back(factor.descriptor.place_across_k(line, in_chunk, k));
    }
  }
  return chunks;
}

// Reads the elements of these lines.
//   read(number): returns the chunk of that number
template <typename Read>
void read_lines(const SharedFactor& factor, ProductKind kind, std::uint32_t depth,
                std::uint32_t* elements, std::vector<std::uint32_t>& origins, Read read) {
  const std::uint32_t in_chunk = elements_of_chunk(kind, factor.type);
  std::uint32_t number = 0;
  ChunkElements of_chunk;
  const auto read_next = [&](std::uint32_t first_line, std::uint32_t lines) {
    const auto& chunk = read(number++);
    read_chunk(chunk.bytes, kind, factor.type, of_chunk);
    if (chunk.undefined_from == kNone) return;
    std::fill_n(&origins[factor.first + first_line], lines, chunk.undefined_from);
  };
  if (!factor.is_across) {
    for (std::uint32_t line = 0; line < factor.count; ++line) {
      std::uint32_t* const to = &elements[(factor.first + line) * depth];
      for (std::uint32_t k = 0; k < depth; k += in_chunk) {
        read_next(line, 1);
        std::copy_n(of_chunk.data(), in_chunk, to + k);
      }
    }
    return;
  }
  for (std::uint32_t k = 0; k < depth; ++k) {
    for (std::uint32_t line = 0; line < factor.count; line += in_chunk) {
      const std::uint32_t lines = std::min(in_chunk, factor.count - line);
      read_next(line, lines);
      for (std::uint32_t i = 0; i < lines; ++i) {
        elements[(factor.first + line + i) * depth + k] = of_chunk[i];
      }
    }
  }
}

// Reads a row of a in tensor memory.
void read_row_here(const TensorBlock& block, TensorProduct& product, ProductKind kind,
                   std::uint32_t line, std::uint32_t row) {
  const Type type = product.description.a;
  const std::uint32_t depth = product.description.a_depth;
  const std::size_t first =
      TensorBlock::index(product.a.lane + product.layout.lane(line, 0), product.a.column);
  const std::uint32_t in_chunk = elements_of_chunk(kind, type);
  for (std::uint32_t k = 0; k < depth; k += in_chunk) {
    TensorChunk chunk;
    const std::size_t at = first + k / in_chunk * (kTensorChunkBytes / 4);
    std::memcpy(chunk.data(), &block.words[at], chunk.size());
    for (std::uint32_t i = 0; i < in_chunk; ++i) {
      product.a_elements[row * depth + k + i] = element_in_chunk(chunk, kind, type, i, true);
    }
    for (std::size_t i = 0; i < kTensorChunkBytes / 4; ++i) {
      const std::uint32_t origin = product.origin_of(block, at + i);
      if (origin != kNone) product.origins_of_rows[row] = origin;
    }
  }
}

// The factors of 32 rows, or columns, lie in the lanes of a column of tensor memory.
std::uint32_t scale_at(const TensorBlock& block, const TensorAddress& at, std::uint32_t line,
                       std::uint32_t byte) {
  const std::size_t index =
      TensorBlock::index(at.lane + line % kLanesOfPart, at.column + line / kLanesOfPart);
  return block.words[index] >> 8 * byte & 0xff;
}

}  // namespace

// Reads chunks of a block's shared memory.
void TensorMemory::read_chunks(const Operation& op, const Slot& block,
                               std::span<const std::uint32_t> chunks, std::vector<Read>& bytes) {
  bytes.resize(chunks.size());
  const Allocation* const shared = block.shared;
  const auto is_outside = [&](std::uint32_t offset) {
    return std::uint64_t{offset} + kTensorChunkBytes > shared->limit();
  };
  const bool is_told =
      shared != nullptr && std::ranges::none_of(chunks, is_outside) &&
      dependencies_.current.report({.allocation = shared,
                                    .program = &launch_.program(),
                                    .place = launch_.place_of(op.run.slot, op.run.warp),
                                    .pc = op.run.pc,
                                    .chunks = chunks,
                                    .first_lane = static_cast<std::uint8_t>(op.lane())});
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (is_told) {
      std::memcpy(bytes[i].bytes.data(), shared->data + chunks[i], kTensorChunkBytes);
      bytes[i].undefined_from = kNone;
    } else {
      bytes[i] = read_shared(op, block.cluster_rank, chunks[i]);
    }
  }
}

void TensorMemory::read_factors(const Operation& op, TensorProduct& product,
                                std::span<Slot* const> blocks) {
  const TensorMemoryInstr& tensor = op.tensor;
  const ProductDescription& description = product.description;
  const std::uint32_t depth = description.depth, a_depth = description.a_depth;
  product.a_elements.resize(std::size_t{description.rows} * a_depth);
  product.b_elements.resize(std::size_t{description.columns} * depth);
  product.origins_of_rows.assign(description.rows, kNone);
  product.origins_of_columns.assign(description.columns, kNone);
  const unsigned lane = op.lane();
  std::vector<Read> bytes;
  const auto read = [&](const Slot& block, const SharedFactor& factor, std::uint32_t of_line,
                        std::vector<std::uint32_t>& elements, std::vector<std::uint32_t>& origins) {
    read_chunks(op, block, chunks_of(factor, of_line, elements_of_chunk(tensor.kind, factor.type)),
                bytes);
    read_lines(factor, tensor.kind, of_line, elements.data(), origins,
               [&](std::uint32_t number) -> const Read& { return bytes[number]; });
  };
  dependencies_.current.begin_asynchronous(true);
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    const std::uint32_t rows = product.layout.rows;
    for (std::uint32_t line = 0; tensor.a_is_here && line < rows; ++line) {
      const std::uint32_t from = tensor.shifts_a && line + 1 < rows ? line + 1 : line;
      read_row_here(block_of(*blocks[i]), product, tensor.kind, from, i * rows + line);
    }
    if (!tensor.a_is_here) {
      read(*blocks[i],
           {MatrixDescriptor(lane_value(op.run, tensor.a, lane)), description.a,
            description.a_in_columns, i * rows, rows},
           a_depth, product.a_elements, product.origins_of_rows);
    }
    const std::uint32_t columns = description.columns / tensor.ctas;
    read(*blocks[i],
         {MatrixDescriptor(lane_value(op.run, tensor.b, lane)), description.b,
          description.b_in_rows, i * columns, columns, product.mask.shift},
         depth, product.b_elements, product.origins_of_columns);
  }
  dependencies_.current.end_asynchronous();
  for (std::uint32_t column = 0; column < product.mask.is_zero.size(); ++column) {
    if (!product.mask.is_zero[column]) continue;
    std::fill_n(product.b_elements.begin() + std::size_t{column} * depth, depth, 0);
    product.origins_of_columns[column] = kNone;
  }
}

namespace {

// The metadata of a row: four bits for each chunk.  Rows of 16 and 32-bit elements share words: of
// 16 rows, the first eight have the lower halves, and the second half of k lies eight lanes further
// on.  Rows of smaller elements have two words each.
struct MetadataWord {
  std::uint32_t lane = 0, column = 0, shift = 0;
};
MetadataWord metadata_of(const AccumulatorLayout& layout, ProductKind kind, std::uint32_t row,
                         std::uint32_t chunk) {
  const std::uint32_t lane = layout.lane(row, 0);
  if (kind != ProductKind::f16 && kind != ProductKind::tf32) {
    return {lane, chunk / 8, chunk % 8 * 4};
  }
  return {lane - row % 16 + row % 8 + chunk / 4 * 8, 0, row % 16 / 8 * 16 + chunk % 4 * 4};
}

std::uint32_t metadata_words(ProductKind kind) {
  return kind == ProductKind::f16 || kind == ProductKind::tf32 ? 1 : 2;
}

// Reads where the elements of a block's rows lie.  Returns bits that mean nothing; empty: none.
std::string read_places(const TensorBlock& block, ProductKind kind, std::uint32_t first_row,
                        TensorProduct& product) {
  for (std::uint32_t row = 0; row < product.layout.rows; ++row) {
    const std::uint32_t in_chunk = kind == ProductKind::tf32                             ? 2
                                   : is_scaled(kind) && product.description.depth == 128 ? 8
                                                                                         : 4;
    for (std::uint32_t chunk = 0; chunk < product.description.depth / in_chunk; ++chunk) {
      const MetadataWord at = metadata_of(product.layout, kind, row, chunk);
      const std::size_t word =
          TensorBlock::index(product.metadata.lane + at.lane, product.metadata.column + at.column);
      const std::uint32_t origin = product.origin_of(block, word);
      if (origin != kNone) product.origins_of_rows[first_row + row] = origin;
      const std::uint32_t bits = block.words[word] >> at.shift & 0xf;
      const std::vector<std::uint32_t> places = places_in_chunk(kind, bits);
      if (places.empty()) {
        return fmt::format("the metadata of row {} has the bits {:#x}, which have no meaning",
                           first_row + row, bits);
      }
      for (const std::uint32_t place : places) product.places.push_back(chunk * in_chunk + place);
    }
  }
  return {};
}

// Multiplies rows one by one with the elements of b that their metadata name.
void multiply_sparse(const ElementProduct& elements, std::uint32_t depth,
                     std::span<const std::uint32_t> places, std::span<std::uint32_t> results) {
  std::vector<std::uint32_t> b;
  const std::uint32_t stored = elements.depth;
  for (std::uint32_t row = 0; row < elements.rows; ++row) {
    ElementProduct one = elements;
    one.rows = 1;
    one.a = elements.a.subspan(std::size_t{row} * stored, stored);
    one.c = elements.c.subspan(std::size_t{row} * elements.columns, elements.columns);
    b.clear();
    for (std::uint32_t column = 0; column < elements.columns; ++column) {
      for (std::uint32_t k = 0; k < stored; ++k) {
        b.push_back(elements.b[column * depth + places[row * stored + k]]);
      }
    }
    one.b = b;
    if (elements.blocks != 0) {
      const auto first = elements.scale_a.begin() + std::ptrdiff_t{row} * elements.blocks;
      one.scale_a.assign(first, first + elements.blocks);
    }
    multiply_elements(one, results.subspan(std::size_t{row} * elements.columns, elements.columns));
  }
}

// Returns the origin of an undefined factor.  It must lie in all four parts of the lanes; the
// machine reads the first.
std::uint32_t origin_of_scale(TensorProduct& product, const TensorBlock& block,
                              const TensorAddress& at, std::uint32_t line) {
  for (std::uint32_t part = 0; part < kTensorLanes / kLanesOfPart; ++part) {
    const std::size_t index = TensorBlock::index(part * kLanesOfPart + line % kLanesOfPart,
                                                 at.column + line / kLanesOfPart);
    const std::uint32_t origin = product.origin_of(block, index);
    if (origin != kNone) return origin;
  }
  return kNone;
}

void read_scales(const TensorMemoryInstr& tensor, TensorProduct& product,
                 std::span<const TensorBlock* const> blocks, std::uint32_t number) {
  ElementProduct& elements = product.elements;
  elements.scale_type = product.description.scale;
  elements.blocks = tensor.scale_blocks;
  elements.scale_a.clear();
  elements.scale_b.clear();
  for (std::uint32_t row = 0; row < product.layout.rows; ++row) {
    const std::uint32_t origin = origin_of_scale(product, *blocks[number], product.scale_a, row);
    if (origin != kNone) {
      product.origins_of_rows[number * product.layout.rows + row] = origin;
    }
    for (std::uint32_t i = 0; i < tensor.scale_blocks; ++i) {
      elements.scale_a.push_back(
          scale_at(*blocks[number], product.scale_a, row, product.description.scale_a_byte + i));
    }
  }
  for (std::uint32_t column = 0; column < product.description.columns; ++column) {
    const std::uint32_t origin = origin_of_scale(product, *blocks[number], product.scale_b, column);
    if (origin != kNone) product.origins_of_columns[column] = origin;
    for (std::uint32_t i = 0; i < tensor.scale_blocks; ++i) {
      elements.scale_b.push_back(
          scale_at(*blocks[number], product.scale_b, column, product.description.scale_b_byte + i));
    }
  }
}

// Calls visit(first word, number of the element, count) for elements of the block's accumulator
// that are adjacent in tensor memory.
template <typename Visit>
void for_each_run(const TensorProduct& product, Visit visit) {
  const AccumulatorLayout& layout = product.layout;
  const std::uint32_t count = layout.columns_of_part();
  for (std::uint32_t row = 0; row < layout.rows; ++row) {
    for (std::uint32_t column = 0; column < layout.columns; column += count) {
      visit(TensorBlock::index(product.d.lane + layout.lane(row, column), product.d.column),
            row * layout.columns + column, count);
    }
  }
}

// Multiplies the rows that a block has, and writes them to its tensor memory.
//   disabled: lanes, as bits; empty: none
void multiply_in_block(TensorProduct& product, ElementProduct& elements, TensorBlock& block,
                       std::uint32_t number, bool adds, std::span<const std::uint32_t> disabled) {
  const AccumulatorLayout& layout = product.layout;
  const bool is_half = product.description.d == Type::f16;
  const std::size_t size = std::size_t{layout.rows} * layout.columns;
  const auto buffers = std::make_unique_for_overwrite<std::uint32_t[]>(2 * size);
  const std::span<std::uint32_t> c(buffers.get(), size), results(buffers.get() + size, size);
  if (adds) {
    for_each_run(product, [&](std::size_t at, std::uint32_t first, std::uint32_t count) {
      std::copy_n(&block.words[at], count, &c[first]);
    });
    for (std::size_t i = 0; is_half && i < c.size(); ++i) c[i] &= 0xffff;
  } else {
    std::ranges::fill(c, 0);
  }
  elements.c = c;
  const std::size_t stored = std::size_t{layout.rows} * elements.depth;
  if (product.places.empty()) {
    multiply_elements(elements, results);
  } else {
    multiply_sparse(elements, product.description.depth,
                    std::span(product.places).subspan(number * stored, stored), results);
  }
  const bool has_undefined_columns =
      std::ranges::any_of(product.origins_of_columns, [](auto origin) { return origin != kNone; });
  for_each_run(product, [&](std::size_t at, std::uint32_t first, std::uint32_t count) {
    const std::size_t lane = at / kTensorColumns;
    if (!disabled.empty() && (disabled[lane / 32] >> lane % 32 & 1) != 0) return;
    const std::uint32_t row = first / layout.columns, column = first % layout.columns;
    std::copy_n(&results[first], count, &block.words[at]);
    const std::span<std::uint8_t> states(&block.states[at], count);
    if (!adds) {
      std::ranges::fill(states, TensorBlock::kWritten);
    } else if (std::memchr(states.data(), TensorBlock::kUnwritten, count) != nullptr) {
      product.finds_unwritten = true;
      std::ranges::replace(states, TensorBlock::kUnwritten, block.state_of(product.pc));
    }
    const std::uint32_t of_row = product.origins_of_rows[number * layout.rows + row];
    if (of_row != kNone) std::ranges::fill(states, block.state_of(of_row));
    for (std::uint32_t i = 0; has_undefined_columns && i < count; ++i) {
      const std::uint32_t of_column = product.origins_of_columns[column + i];
      if (of_column != kNone) states[i] = block.state_of(of_column);
    }
  });
}

// The part of a block in the product, by its number among the blocks.
ElementProduct& part_of(TensorProduct& product, const TensorMemoryInstr& tensor,
                        std::uint32_t number) {
  const ProductDescription& description = product.description;
  ElementProduct& part = product.elements;
  part.rows = product.layout.rows;
  part.columns = description.columns;
  part.depth = description.a_depth;
  part.a_type = description.a;
  part.b_type = description.b;
  part.d_type = description.d;
  part.negates_a = description.negates_a;
  part.negates_b = description.negates_b;
  part.saturates = description.saturates;
  part.scale_shift = tensor.scale_shift;
  const std::size_t of_block = std::size_t{part.rows} * part.depth;
  part.a = std::span(product.a_elements).subspan(number * of_block, of_block);
  part.b = product.b_elements;
  return part;
}

}  // namespace

Step TensorMemory::multiply(const Operation& op) {
  TensorProduct product;
  product.pc = op.run.pc;
  std::string misuse = read_description(op, product);
  const std::vector<Slot*> blocks = blocks_of(op);
  if (misuse.empty() && blocks.empty()) {
    misuse = "(1) needs a pair of blocks, and one of them does not exist";
  }
  if (misuse.empty()) misuse = read_descriptors(op, product);
  if (!misuse.empty()) return fail(op, Trap::Cause::tensor_rule, misuse);
  read_addresses(op, product);
  for (const TensorAddress& at : {product.d, product.a, product.metadata}) {
    if (misuse.empty()) misuse = error_of_lane(product.layout, at);
  }
  const std::vector<TensorArea> areas = areas_of_product(op, product, blocks);
  for (const TensorArea& area : areas) {
    if (misuse.empty()) misuse = lack_of(area);
  }
  if (!misuse.empty()) return fail(op, Trap::Cause::tensor_bounds, "(1): " + misuse);
  TensorMemoryEvent event = event_of(op, areas);
  event.accumulator = product.d.bits();
  event.rows = product.description.rows;
  event.columns = product.description.columns;
  event.kind = op.tensor.kind;
  notify(event);
  read_factors(op, product, blocks);
  return multiply_in_blocks(op, product, blocks);
}

std::string TensorMemory::read_description(const Operation& op, TensorProduct& product) const {
  const Ref& ref = op.tensor.description;
  launch_.use_of_undefined(op.run, UndefinedUse::Kind::address, ref, op.lanes);
  product.description = describe(op.tensor, op.word(ref));
  if (product.description.error.empty()) {
    product.layout = layout_of(op.tensor, product.description);
    return {};
  }
  return fmt::format(
      "(1): the instruction descriptor {:#x} asks for {}, which this kind of product does not have",
      op.word(ref), product.description.error);
}

std::string TensorMemory::read_descriptors(const Operation& op, TensorProduct& product) const {
  const TensorMemoryInstr& tensor = op.tensor;
  const ProductDescription& description = product.description;
  for (const bool is_a : {true, false}) {
    if (is_a && tensor.a_is_here) continue;
    const Ref& ref = is_a ? tensor.a : tensor.b;
    launch_.use_of_undefined(op.run, UndefinedUse::Kind::address, ref, op.lanes);
    const MatrixDescriptor descriptor(lane_value(op.run, ref, op.lane()));
    if (const std::string error = descriptor.error(); !error.empty()) return "(1): " + error;
    const bool is_across = is_a ? description.a_in_columns : description.b_in_rows;
    if (is_across && descriptor.swizzles_by_32() != (tensor.kind == ProductKind::tf32)) {
      return "(1): transposed matrices of tf32, and no others, need the swizzling mode of 128 "
             "bytes "
             "in units of 32";
    }
  }
  if (tensor.zero_columns.bank == Bank::none) return {};
  launch_.use_of_undefined(op.run, UndefinedUse::Kind::address, tensor.zero_columns, op.lanes);
  product.mask = mask_of_columns(lane_value(op.run, tensor.zero_columns, op.lane()), description);
  if (product.mask.error.empty()) return {};
  return "(1): the descriptor of zero columns " + product.mask.error;
}

void TensorMemory::read_addresses(const Operation& op, TensorProduct& product) {
  const TensorMemoryInstr& tensor = op.tensor;
  product.d = op.at(tensor.address, tensor.offset);
  if (tensor.a_is_here) product.a = op.at(tensor.a, tensor.a_offset);
  if (tensor.is_sparse) {
    const std::uint32_t column = product.description.metadata_column;
    product.metadata = op.at(tensor.metadata, tensor.metadata_offset + column);
  }
  if (!is_scaled(tensor.kind)) return;
  product.scale_a = op.at(tensor.scale_a, tensor.scale_a_offset);
  product.scale_b = op.at(tensor.scale_b, tensor.scale_b_offset);
}

std::vector<TensorArea> TensorMemory::areas_of_product(const Operation& op,
                                                       const TensorProduct& product,
                                                       std::span<Slot* const> blocks) {
  const TensorMemoryInstr& tensor = op.tensor;
  const AccumulatorLayout& layout = product.layout;
  std::vector<TensorArea> areas;
  for (const Slot* const slot : blocks) {
    const auto add = [&](const TensorAddress& at, std::uint32_t columns, bool writes) {
      add_areas(areas, layout, slot->block, at, columns, writes);
    };
    if (tensor.a_is_here) add(product.a, kDepthBytes / 4, false);
    if (tensor.is_sparse) add(product.metadata, metadata_words(tensor.kind), false);
    if (is_scaled(tensor.kind)) {
      const std::uint32_t of_a = layout.rows / kLanesOfPart;
      const std::uint32_t of_b = (product.description.columns + kLanesOfPart - 1) / kLanesOfPart;
      areas.push_back({slot->block, 0, kTensorLanes, product.scale_a.column, of_a, false});
      areas.push_back({slot->block, 0, kTensorLanes, product.scale_b.column, of_b, false});
    }
    add(product.d, layout.columns_of_part(), true);
  }
  return areas;
}

Step TensorMemory::multiply_in_blocks(const Operation& op, TensorProduct& product,
                                      std::span<Slot* const> blocks) {
  const TensorMemoryInstr& tensor = op.tensor;
  const bool adds = (read_predicate(op.run.banks, tensor.adds) >> op.lane() & 1) != 0;
  launch_.use_of_undefined(op.run, UndefinedUse::Kind::branch, tensor.adds, op.lanes);
  std::vector<std::uint32_t> disabled;
  for (const Ref& mask : tensor.disabled) disabled.push_back(op.word(mask));
  std::vector<const TensorBlock*> memories;
  for (Slot* const slot : blocks) memories.push_back(&block_of(*slot));
  for (std::uint32_t i = 0; tensor.is_sparse && i < blocks.size(); ++i) {
    const std::string lack =
        read_places(*memories[i], tensor.kind, i * product.layout.rows, product);
    if (!lack.empty()) return fail(op, Trap::Cause::tensor_rule, "(1): " + lack);
  }
  const std::size_t half = disabled.size() / blocks.size();
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    if (is_scaled(tensor.kind)) read_scales(tensor, product, memories, i);
    multiply_in_block(product, part_of(product, tensor, i), block_of(*blocks[i]), i, adds,
                      std::span(disabled).subspan(i * half, half));
  }
  if (product.finds_unwritten) report_unwritten(op);
  return Step::again;
}

}  // namespace warpcheck::vgpu
