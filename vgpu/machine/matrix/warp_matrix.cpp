// Matrix products: PTX ISA 9.0, 9.7.14.
//
// Integer products are exact, and the result wraps or saturates once at the end.  For floats, the
// ISA promises little more than about single precision.  Here they are added as on an sm_90
// (observed there; the model is that of Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of
// NVIDIA tensor cores", PeerJ Computer Science 7, 2021): products are exact; the products and the
// addend are truncated toward zero, 25 bits below the greatest exponent among them, and added; the
// sum is truncated to an f32.
#include "vgpu/machine/matrix/warp_matrix.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "vgpu/machine/compute/exact.hpp"
#include "vgpu/machine/compute/narrow_floats.hpp"
#include "vgpu/machine/matrix/double_products.hpp"
#include "vgpu/machine/matrix/matrix_elements.hpp"
#include "vgpu/machine/matrix/matrix_layout.hpp"
#include "vgpu/machine/matrix/matrix_loops.hpp"
#include "vgpu/program/matrix.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Type;
using Operand = MatrixOperand;

// The most elements of a (in registers) and of b and c, which a warpgroup's product has.
constexpr std::uint32_t kRowElementsMax = 1024;
constexpr std::uint32_t kColumnElementsMax = 32 * kMatrixColumnsMax;
constexpr std::uint32_t kSumElementsMax = 16 * kMatrixColumnsMax;

template <class T, std::uint32_t kCount>
struct Elements {
  alignas(64) std::array<T, kCount> value;
  alignas(64) std::array<int, kCount> exponent;
};

// The operands of a product of floats.
template <class T>
struct FloatMatrices {
  Elements<T, kRowElementsMax> a;
  Elements<T, kColumnElementsMax> b;
  Elements<T, kSumElementsMax> c;
};

using Element = MatrixElement;

// The number of bits kept for 8-bit floats of a warpgroup product, which are added as one sum; an
// f32 addend keeps no more bits either (observed on an H200:
// vgpu/cudart/programs/matrix/warpgroup_sums.cu).
constexpr int kKeptBitsOfBytes = 13;

// The bits of the result, by rows.
using Results = std::array<std::uint32_t, kSumElementsMax>;

std::uint32_t read_word(const LaneBanks& banks, const Ref& first, std::uint32_t reg,
                        std::uint32_t lane) {
  std::uint32_t word = 0;
  const std::byte* base = banks.base[static_cast<std::size_t>(first.bank)] + first.offset;
  std::memcpy(&word, base + reg * kWordRowBytes + lane * sizeof word, sizeof word);
  return word;
}

std::uint32_t bits_of(const MatrixProduct& product, std::int64_t x) {
  if (product.saturates) x = std::clamp<std::int64_t>(x, INT32_MIN, INT32_MAX);
  return static_cast<std::uint32_t>(x);
}

std::optional<RegisterFloat> register_float(Type type) {
  switch (type) {
    case Type::f16: return RegisterFloat::f16;
    case Type::bf16: return RegisterFloat::bf16;
    case Type::f32: return RegisterFloat::f32;
    case Type::tf32: return RegisterFloat::tf32;
    default: return std::nullopt;
  }
}

const std::uint32_t* words_of(const LaneBanks& banks, const Ref& first) {
  const std::byte* base = banks.base[static_cast<std::size_t>(first.bank)];
  return reinterpret_cast<const std::uint32_t*>(base + first.offset);
}

// Calls visit(bits, index) for each element of an operand, with its index in `places`.
template <class Visit>
void for_each_element(const LaneBanks& banks, const Ref& first, std::uint32_t bits,
                      const std::vector<std::uint16_t>& places, Visit visit) {
  const std::uint32_t* words = words_of(banks, first);
  const std::uint32_t parts = 32 / bits, mask = bits == 32 ? 0xffffffffu : (1u << bits) - 1;
  for (std::size_t i = 0; i < places.size(); i += parts, ++words) {
    std::uint32_t word = *words;
    for (std::uint32_t part = 0; part < parts; ++part) {
      visit(word & mask, i + part);
      if (parts > 1) word >>= bits;
    }
  }
}

// Reads an operand's elements.
template <std::uint32_t kCount>
ExponentBounds read_floats(const MatrixLoops& loops, const LaneBanks& banks, const Instr& instr,
                           const MatrixProduct& product, Operand operand,
                           const std::vector<std::uint16_t>& places,
                           Elements<float, kCount>& elements) {
  const Type type = product.type_of(operand);
  const std::uint32_t bits = element_bits(product, operand);
  const Ref& first = instr[operand];
  auto count = static_cast<std::uint32_t>(places.size());
  if (product.of_quads && operand == Operand::c) {  // nothing is between the blocks of quad pairs
    count = product.shape.m * product.shape.n;
    std::fill_n(elements.value.begin(), count, 0.0f);
  }
  if (const std::optional<RegisterFloat> in_rows = register_float(type)) {
    alignas(64) std::array<float, kCount> in_order;
    const auto words = static_cast<std::uint32_t>(places.size() * bits / 32);
    loops.read(*in_rows, words_of(banks, first), words, in_order.data());
    for (std::size_t i = 0; i < places.size(); ++i) elements.value[places[i]] = in_order[i];
  } else {
    const FloatsOfBytes& floats = floats_of_bytes(type);
    // The four bits are in the middle of their byte.
    const std::uint32_t shift = product.in_bytes && type == Type::e2m1x2 ? 2 : 0;
    const std::uint32_t mask = element_bits(type) == 4 ? 0xf : 0xff;
    for_each_element(banks, first, bits, places, [&](std::uint32_t element, std::size_t i) {
      elements.value[places[i]] = floats[element >> shift & mask];
    });
  }
  return loops.find_exponents(elements.value.data(), count, exponent_min(type),
                              elements.exponent.data());
}

void read_integers(const LaneBanks& banks, const Instr& instr, const MatrixProduct& product,
                   Operand operand, const std::vector<std::uint16_t>& places,
                   std::int32_t* values) {
  const Type type = product.type_of(operand);
  const auto read_as = [&](auto integer_of) {
    for_each_element(banks, instr[operand], element_bits(product, operand), places,
                     [&](std::uint32_t element, std::size_t i) {
                       values[places[i]] = static_cast<std::int32_t>(integer_of(element));
                     });
  };
  switch (type) {
    case Type::s8:
      return read_as([](std::uint32_t bits) { return static_cast<std::int8_t>(bits); });
    case Type::s4:
      return read_as([](std::uint32_t bits) { return static_cast<std::int32_t>(bits ^ 8) - 8; });
    default: return read_as([](std::uint32_t bits) { return bits; });
  }
}

// Returns the column of a that its packed element belongs to.
std::uint32_t column_of(const LaneBanks& banks, const Instr& instr, const MatrixProduct& product,
                        std::uint32_t row, std::uint32_t packed) {
  const MatrixChunk chunk = chunk_of(product);
  const std::uint32_t number = packed / chunk.elements;
  const std::uint32_t element = packed % chunk.elements;
  const MetadataPlace at = metadata_at(product, row, number);
  const std::uint32_t bits = read_word(banks, instr[Operand::metadata], 0, at.lane) >> at.shift;
  const auto index = [&](std::uint32_t which) { return bits >> 2 * which & 3; };
  const std::uint32_t begin = number * chunk.columns;
  switch (chunk.elements) {
    case 1: return begin + index(0) / 2;  // one of the two elements of a half; there are four
    case 2: return begin + index(element);
    default: return begin + 2 * index(element / 2) + element % 2;
  }
}

// Returns the row of b that a packed element of a sparse a is multiplied with, and the column of
// a's registers that has this element.
struct MetRow {
  std::uint32_t of_b = 0, of_a = 0;
};
MetRow row_met(const LaneBanks& banks, const Instr& instr, const MatrixProduct& product,
               std::uint32_t row, std::uint32_t packed) {
  MatrixPlace from{column_of(banks, instr, product, row, packed), 0};
  MatrixPlace to{0, packed};
  if (is_in_halves(product, product.a)) {
    from = place_of_byte(product, Operand::b, from);
    to = place_of_byte(product, Operand::a, to);
  }
  return {from.row, to.column};
}

// Collects the rows of b that the elements of a row of a sparse a are multiplied with.
template <class T>
void collect_rows_met(const LaneBanks& banks, const Instr& instr, const MatrixLayout& layout,
                      std::uint32_t row, const T* b, T* met) {
  const std::uint32_t columns = layout.product.shape.n;
  for (std::uint32_t packed = 0; packed < layout.depth; ++packed) {
    const MetRow rows = row_met(banks, instr, layout.product, row, packed);
    std::copy_n(&b[rows.of_b * columns], columns, &met[rows.of_a * columns]);
  }
}

// Returns the scale factor of a block; the lowest byte of a lane is that of the first block, and so
// on.
Element factor(const LaneBanks& banks, const Ref& first, const MatrixProduct& product, ScaleRow row,
               std::uint32_t lane, std::uint32_t block) {
  const std::uint32_t word = read_word(banks, first, static_cast<std::uint32_t>(row), lane);
  const auto byte_row = static_cast<std::uint32_t>(row) + 1;
  const std::uint32_t byte = (read_word(banks, first, byte_row, lane) + block) & 3;
  const std::uint32_t bits = word >> 8 * byte & 0xff;
  constexpr std::uint32_t kNan = 0xff;
  constexpr int kBias = 127;
  if (product.scale != Type::ue8m0x2) return matrix_element(product.scale, bits & 0x7f);
  if (bits == kNan) return {std::numeric_limits<double>::quiet_NaN(), 0};
  const int exponent = static_cast<int>(bits) - kBias;
  return {exact::power_of_two(exponent), exponent};
}

template <std::uint32_t kCount>
void apply(Elements<double, kCount>& elements, std::uint32_t at, const Element& factor) {
  const Element scaled = normalized_element(elements.value[at] * factor.value);
  elements.value[at] = scaled.value;
  elements.exponent[at] = scaled.exponent;
}

// Applies the scale factors: of each four lanes, two neighbouring ones have the factors of rows r
// and r + 8 of a, and one has those of a column of b.
void scale(const LaneBanks& banks, const Ref& metadata, const MatrixLayout& layout,
           FloatMatrices<double>& matrices) {
  const MatrixProduct& product = layout.product;
  const Ref first = row_after(metadata, product.sparse ? 1 : 0);
  const std::uint32_t length = product.shape.k / product.blocks;
  const auto begin = [&](ScaleRow row, std::uint32_t lane) {
    return read_word(banks, first, static_cast<std::uint32_t>(row), lane);
  };
  for (std::uint32_t row = 0; row < product.shape.m; ++row) {
    const std::uint32_t group = 4 * (row % 8);
    const std::uint32_t lane = group + 2 * (begin(ScaleRow::lane_a, group) & 1) + row / 8;
    for (std::uint32_t k = 0; k < layout.depth; ++k) {
      const std::uint32_t block = k * (product.sparse ? 2 : 1) / length;
      apply(matrices.a, row * layout.depth + k,
            factor(banks, first, product, ScaleRow::a, lane, block));
    }
  }
  for (std::uint32_t column = 0; column < product.shape.n; ++column) {
    const std::uint32_t lane = 4 * column + (begin(ScaleRow::lane_b, 4 * column) & 3);
    for (std::uint32_t k = 0; k < product.shape.k; ++k) {
      apply(matrices.b, k * product.shape.n + column,
            factor(banks, first, product, ScaleRow::b, lane, k / length));
    }
  }
}

// Writes the result to the registers of the active lanes.
void write_results(const LaneBanks& banks, const Instr& instr, const MatrixLayout& layout,
                   std::uint32_t active, const Results& results) {
  const Ref& first = instr[Operand::d];
  auto* words = reinterpret_cast<std::uint32_t*>(banks.base[static_cast<std::size_t>(first.bank)] +
                                                 first.offset);
  const bool in_pairs = element_bits(layout.product.d) == 16;
  const std::size_t count = layout.d.size() / (in_pairs ? 2 : 1);
  for (std::size_t i = 0; i < count; ++i) {
    if ((active >> i % kWarpLanes & 1) == 0) continue;
    words[i] = in_pairs ? results[layout.d[2 * i]] | results[layout.d[2 * i + 1]] << 16
                        : results[layout.d[i]];
  }
}

// Rows of the result before they are rounded, and the operands for them.
template <class T>
struct RowsOfFloats {
  static constexpr std::uint32_t kSumsMax = 4 * kMatrixColumnsMax;

  const MatrixLoops& loops;
  const MatrixProduct& product;
  void (*add)(const RowsProduct<T>& product, double* sums);
  RowsProduct<T> operands;
  alignas(64) std::array<double, kSumsMax> sums;

  RowsOfFloats(const MatrixLoops& with, const MatrixProduct& of,
               void (*adding)(const RowsProduct<T>& product, double* sums))
      : loops(with), product(of), add(adding) {}

  [[nodiscard]] std::uint32_t count() const { return operands.rows * operands.columns; }
  void add_up(std::uint32_t first, std::uint32_t end, int kept_bits = kKeptBits) {
    operands.first = first;
    operands.end = end;
    operands.kept_bits = kept_bits;
    add(operands, sums.data());
  }

  // Rounds the sums to the type of the result.
  //   kept_bits: those that an f32 keeps
  void round(std::uint32_t* bits, int kept_bits = kFractionOfSingle) {
    const bool is_cut = product.c == Type::f32 && product.d == Type::f16;
    const bool is_short = product.d == Type::f32 && kept_bits < kFractionOfSingle;
    const std::uint64_t dropped = is_cut || is_short ? lost_bits(kept_bits) : 0;
    if (loops.round({dropped, product.d == Type::f16}, sums.data(), count(), bits)) return;
    for (std::uint32_t i = 0; i < count(); ++i) {
      bits[i] = bits_of_sum(product, is_short ? cut_off(sums[i], kept_bits) : sums[i]);
    }
  }

  // Makes the sums, rounded to the type of the result, the addend of what is added next.
  void continue_from_rounded(Elements<T, kSumsMax>& addend) {
    std::array<std::uint32_t, kSumsMax> bits;
    round(bits.data());
    for (std::uint32_t i = 0; i < count(); ++i) {
      const Element element = matrix_element(product.d, bits[i]);
      addend.value[i] = static_cast<T>(element.value);
      addend.exponent[i] = element.exponent;
    }
    operands.c = addend.value.data();
    operands.c_exponents = addend.exponent.data();
  }
};

// The hardware handles 8-bit floats as halves.  They are added as two products of halves (sm_90:
// those of the lower and of the upper half of each register); c is added last, and the sum is
// rounded to nearest.
template <class T>
void multiply_bytes(RowsOfFloats<T>& rows) {
  const std::uint32_t half = rows.operands.depth / 2, count = rows.count();
  const T* const c = rows.operands.c;
  Elements<T, RowsOfFloats<T>::kSumsMax> sums;
  std::fill_n(sums.value.begin(), count, T{});
  std::fill_n(sums.exponent.begin(), count, kNoExponent);
  rows.operands.c = sums.value.data();
  rows.operands.c_exponents = sums.exponent.data();
  for (const std::uint32_t first : {0u, half}) {
    rows.add_up(first, first + half);
    rows.continue_from_rounded(sums);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const double result = static_cast<double>(sums.value[i]) + static_cast<double>(c[i]);
    rows.sums[i] = rows.product.d == Type::f32 ? static_cast<float>(result) : result;
  }
}

// mma.m8n8k4 of f16 is software on sm_90, of rounded operations of f32.  With sums of f32, fused
// multiply-adds begin at 0, and c is added last; with sums of f16, c is added to the sum of the
// first two products, and then the sum of the other two.
template <class T>
void multiply_quads(RowsOfFloats<T>& rows) {
  const T *const a = rows.operands.a, *const b = rows.operands.b, *const c = rows.operands.c;
  const std::uint32_t columns = rows.operands.columns, depth = rows.operands.depth;
  for (std::uint32_t i = 0; i < rows.count(); ++i) {
    const auto add = [&](std::uint32_t k, float sum) {
      return std::fma(static_cast<float>(a[i / columns * depth + k]),
                      static_cast<float>(b[k * columns + i % columns]), sum);
    };
    const auto addend = static_cast<float>(c[i]);
    const float first = add(1, add(0, 0.0f));
    rows.sums[i] = rows.product.d == Type::f16 ? first + addend + add(3, add(2, 0.0f))
                                               : add(3, add(2, first)) + addend;
  }
}

template <class T>
void multiply(RowsOfFloats<T>& rows, std::uint32_t* bits) {
  const MatrixProduct& product = rows.product;
  const std::uint32_t end = rows.operands.depth;
  if (product.of_quads) {
    multiply_quads(rows);
    return rows.round(bits);
  }
  if (is_byte_float(product.a) && product.of_group) {
    rows.add_up(0, end, kKeptBitsOfBytes);
    return rows.round(bits, kKeptBitsOfBytes);
  }
  Elements<T, RowsOfFloats<T>::kSumsMax> rounded;
  if (is_in_halves(product, product.a)) {
    multiply_bytes(rows);
  } else if (product.in_order && product.a == Type::tf32) {  // wmma: in halves
    rows.add_up(0, end / 2);
    rows.continue_from_rounded(rounded);
    rows.add_up(end / 2, end);
  } else {
    rows.add_up(0, end);
  }
  rows.round(bits);
}

template <class T>
void multiply_rows(const MatrixLoops& loops, const LaneBanks& banks, const Instr& instr,
                   const MatrixLayout& layout, const FloatMatrices<T>& matrices,
                   void (*add)(const RowsProduct<T>& product, double* sums), Results& results) {
  const MatrixProduct& product = layout.product;
  const std::uint32_t columns = product.shape.n;
  const std::uint32_t at_once = product.sparse ? 1 : RowsOfFloats<T>::kSumsMax / columns;
  Elements<T, kRowElementsMax> met;
  RowsOfFloats<T> rows(loops, product, add);
  for (std::uint32_t m = 0; m < product.shape.m; m += at_once) {
    rows.operands = {.a = &matrices.a.value[m * layout.depth],
                     .a_exponents = &matrices.a.exponent[m * layout.depth],
                     .b = matrices.b.value.data(),
                     .b_exponents = matrices.b.exponent.data(),
                     .c = &matrices.c.value[m * columns],
                     .c_exponents = &matrices.c.exponent[m * columns],
                     .rows = std::min(at_once, product.shape.m - m),
                     .depth = layout.depth,
                     .columns = columns};
    if (product.sparse) {
      collect_rows_met(banks, instr, layout, m, rows.operands.b, met.value.data());
      collect_rows_met(banks, instr, layout, m, rows.operands.b_exponents, met.exponent.data());
      rows.operands.b = met.value.data();
      rows.operands.b_exponents = met.exponent.data();
    }
    multiply(rows, &results[m * columns]);
  }
}

template <std::uint32_t kCount>
void widen(const Elements<float, kCount>& from, std::size_t count, Elements<double, kCount>& to) {
  std::copy_n(from.value.begin(), count, to.value.begin());
  std::copy_n(from.exponent.begin(), count, to.exponent.begin());
}

// Scaled elements need not be floats.
void multiply_scaled(const MatrixLoops& loops, const LaneBanks& banks, const Instr& instr,
                     const MatrixLayout& layout, const FloatMatrices<float>& unscaled,
                     Results& results) {
  FloatMatrices<double> matrices;
  widen(unscaled.a, layout.a.size(), matrices.a);
  widen(unscaled.b, layout.b.size(), matrices.b);
  widen(unscaled.c, layout.c.size(), matrices.c);
  scale(banks, instr[Operand::metadata], layout, matrices);
  multiply_rows(loops, banks, instr, layout, matrices, loops.add_up_wide, results);
}

template <const MatrixLoops& kLoops>
void multiply_floats(const LaneBanks& banks, const Instr& instr, std::uint32_t active) {
  const MatrixLayout& layout = layout_of(instr);
  const MatrixProduct& product = layout.product;
  FloatMatrices<float> matrices;
  const auto read = [&](Operand operand, const auto& places, auto& elements) {
    return read_floats(kLoops, banks, instr, product, operand, places, elements);
  };
  const ExponentBounds a = read(Operand::a, layout.a, matrices.a);
  const ExponentBounds b = read(Operand::b, layout.b, matrices.b);
  const ExponentBounds c = read(Operand::c, layout.c, matrices.c);
  Results results;
  const bool is_single = product.d == Type::f32 && product.c == Type::f32 && !product.sparse &&
                         !is_byte_float(product.a) && product.blocks == 0;
  if (is_single && are_exact(a, b, c, layout.depth)) {
    kLoops.add_up_exactly({.a = matrices.a.value.data(),
                           .b = matrices.b.value.data(),
                           .c = matrices.c.value.data(),
                           .end = layout.depth,
                           .rows = product.shape.m,
                           .depth = layout.depth,
                           .columns = product.shape.n},
                          results.data());
  } else if (product.blocks != 0) {
    multiply_scaled(kLoops, banks, instr, layout, matrices, results);
  } else {
    const auto add = are_narrow(a, b, c) ? kLoops.add_up_narrow : kLoops.add_up;
    multiply_rows(kLoops, banks, instr, layout, matrices, add, results);
  }
  write_results(banks, instr, layout, active, results);
}

// Single bits are multiplied as words of 32 elements.
void count_bits(const MatrixLayout& layout, const std::int32_t* a, const std::int32_t* b,
                std::int32_t* sums) {
  const MatrixProduct& product = layout.product;
  for (std::uint32_t n = 0; n < product.shape.n; ++n) {
    std::int32_t sum = 0;
    for (std::uint32_t k = 0; k < layout.depth; ++k) {
      const std::int32_t x = a[k], y = b[k * product.shape.n + n];
      const std::int32_t bits = product.bits == ptx::BoolOp::xor_ ? x ^ y : x & y;
      sum += std::popcount(static_cast<std::uint32_t>(bits));
    }
    sums[n] = sum;
  }
}

template <const MatrixLoops& kLoops>
void multiply_integers(const LaneBanks& banks, const Instr& instr, std::uint32_t active) {
  const MatrixLayout& layout = layout_of(instr);
  const MatrixProduct& product = layout.product;
  const std::uint32_t columns = product.shape.n;
  alignas(64) std::array<std::int32_t, kRowElementsMax> a, met;
  alignas(64) std::array<std::int32_t, kColumnElementsMax> b;
  alignas(64) std::array<std::int32_t, kSumElementsMax> c;
  read_integers(banks, instr, product, Operand::a, layout.a, a.data());
  read_integers(banks, instr, product, Operand::b, layout.b, b.data());
  read_integers(banks, instr, product, Operand::c, layout.c, c.data());
  Results results;
  for (std::uint32_t m = 0; m < product.shape.m; ++m) {
    const std::int32_t* rows = b.data();
    if (product.sparse) {
      collect_rows_met(banks, instr, layout, m, b.data(), met.data());
      rows = met.data();
    }
    alignas(64) std::array<std::int32_t, kMatrixColumnsMax> sums;
    if (product.a == Type::b1) {
      count_bits(layout, &a[m * layout.depth], rows, sums.data());
    } else {
      kLoops.add_up_integers(&a[m * layout.depth], rows, layout.depth, columns, sums.data());
    }
    for (std::uint32_t n = 0; n < columns; ++n) {
      const std::uint32_t at = m * columns + n;
      results[at] = bits_of(product, std::int64_t{c[at]} + sums[n]);
    }
  }
  write_results(banks, instr, layout, active, results);
}

template <const MatrixLoops& kLoops>
void multiply_doubles(const LaneBanks& banks, const Instr& instr, std::uint32_t active) {
  vgpu::multiply_doubles(kLoops, banks, instr, active);
}

template <const MatrixLoops& kLoops>
WarpFn find_product(Type d) {
  switch (d) {
    case Type::s32: return multiply_integers<kLoops>;
    case Type::f64: return multiply_doubles<kLoops>;
    default: return multiply_floats<kLoops>;
  }
}

}  // namespace

WarpFn find_matrix_op(const Instr& instr, SimdLevel level) {
  if (!is_matrix_product(instr)) return nullptr;
  const Type d = product_of(instr).d;
  switch (level) {
    case SimdLevel::baseline: return find_product<baseline::kMatrixLoops>(d);
    case SimdLevel::avx2: return find_product<avx2::kMatrixLoops>(d);
    case SimdLevel::avx512: return find_product<avx512::kMatrixLoops>(d);
  }
  return nullptr;
}

}  // namespace warpcheck::vgpu
