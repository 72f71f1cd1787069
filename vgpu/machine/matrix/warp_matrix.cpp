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
#include "vgpu/machine/matrix/matrix_loops.hpp"
#include "vgpu/program/matrix.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Type;
using Operand = MatrixOperand;

constexpr std::uint32_t kDepthMax = 128;   // k
constexpr std::uint32_t kTf32Unused = 13;  // low bits that are ignored

// The operands of a product of floats.
struct FloatMatrices {
  struct RowOfA {
    std::array<double, kDepthMax> value;
    std::array<int, kDepthMax> exponent;
  };
  std::array<RowOfA, kMatrixSideMax> a;
  std::array<ElementRow, kDepthMax> b;
  std::array<ElementRow, kMatrixSideMax> c;
};

struct IntegerMatrices {
  std::array<std::array<std::int32_t, kDepthMax>, kMatrixSideMax> a;
  std::array<IntegerRow, kDepthMax> b;
  std::array<IntegerRow, kMatrixSideMax> c;
};

// The bits of the result, by rows.
using Results = std::array<std::array<std::uint32_t, kMatrixSideMax>, kMatrixSideMax>;

std::uint32_t read_word(const LaneBanks& banks, const Ref& first, std::uint32_t reg,
                        std::uint32_t lane) {
  std::uint32_t word = 0;
  const std::byte* base = banks.base[static_cast<std::size_t>(first.bank)] + first.offset;
  std::memcpy(&word, base + reg * kWordRowBytes + lane * sizeof word, sizeof word);
  return word;
}

struct Element {
  double value;
  int exponent;
};

constexpr int kKeptBits = 25;  // number of bits kept below the greatest exponent
// The number for 8-bit floats of a warpgroup product, which are added as one sum; an f32 addend
// keeps no more bits either (observed on an H200: vgpu/cudart/programs/matrix/warpgroup_sums.cu).
constexpr int kKeptBitsOfBytes = 13;

// Returns the element whose exponent is that of its value.
Element normalized(double value) {
  return {value, value == 0 || !std::isfinite(value) ? kNoExponent : std::ilogb(value)};
}

Element element_of(Type type, std::uint32_t bits) {
  if (type == Type::e5m2x2) return element_of(Type::f16, bits << 8);
  if (is_byte_float(type)) {
    const std::uint64_t wide =
        exact::pack(exact::kF64, narrow::unpack(type, bits), ptx::Rounding::rn);
    return normalized(std::bit_cast<double>(wide));
  }
  const bool is_single = type == Type::f32 || type == Type::tf32;
  if (type == Type::tf32) bits = bits >> kTf32Unused << kTf32Unused;
  const exact::Format& format = is_single ? exact::kF32 : exact::format_of(type);
  const auto biased = static_cast<int>((bits & format.infinity()) >> format.fraction_bits);
  const exact::Number x = exact::unpack(format, bits);
  return {std::bit_cast<double>(exact::pack(exact::kF64, x, ptx::Rounding::rn)),
          x.is_zero() ? kNoExponent : std::max(biased, 1) - format.bias()};
}

// Clears the bits of a finite value below the `kept` bits that follow the first one.
double cut_off(double value, int kept) {
  constexpr int kFraction = 52;
  const std::uint64_t lost = (std::uint64_t{1} << (kFraction - kept)) - 1;
  if (!std::isfinite(value)) return value;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & ~lost);
}

std::int32_t integer_of(Type type, std::uint32_t bits) {
  switch (type) {
    case Type::s8: return static_cast<std::int8_t>(bits);
    case Type::s4: return static_cast<std::int32_t>(bits ^ 8) - 8;
    default: return static_cast<std::int32_t>(bits);
  }
}

// The same as rounded_in_integers(), for zero and for results that are normal numbers.
std::optional<std::uint32_t> rounded_if_normal(const MatrixProduct& product, double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  if (x == 0) return static_cast<std::uint32_t>(bits >> (product.d == Type::f32 ? 32 : 48));
  const auto exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  const std::uint64_t magnitude = bits & ~exact::kF64.sign();
  if (product.d == Type::f32 && exponent >= -126 && exponent <= 127) {
    const std::uint64_t rebiased = (magnitude >> 29) - (std::uint64_t{1023 - 127} << 23);
    return static_cast<std::uint32_t>((bits >> 32 & 0x8000'0000u) | rebiased);
  }
  if (product.d == Type::f16 && exponent >= -14 && exponent <= 15) {
    const std::uint64_t nearest = (magnitude + ((1ULL << 41) - 1) + (bits >> 42 & 1)) >> 42;
    const std::uint64_t rebiased = nearest - (std::uint64_t{1023 - 15} << 10);
    return static_cast<std::uint32_t>((bits >> 48 & 0x8000u) | rebiased);
  }
  return std::nullopt;
}

std::uint32_t rounded_in_integers(const MatrixProduct& product, double x) {
  exact::Number number = exact::unpack(exact::kF64, std::bit_cast<std::uint64_t>(x));
  const bool is_single = product.d == Type::f32;
  if (is_single && std::abs(x) >= 0x1p128) number.kind = exact::Number::Kind::infinite;
  const exact::Format& format = exact::format_of(product.d);
  const auto bits = static_cast<std::uint32_t>(
      exact::pack(format, number, is_single ? ptx::Rounding::rz : ptx::Rounding::rn));
  const bool is_lost = x != 0 && bits == format.sign();
  return is_lost ? 0 : bits;
}

// An f32 result is truncated, but a value that is too large becomes infinite.  A value that is too
// small becomes +0, whatever its sign (observed on sm_90).  If c is f32 and d is not, the sum is
// truncated to an f32 before it is rounded.
std::uint32_t bits_of(const MatrixProduct& product, double x) {
  constexpr int kFractionOfSingle = 23;
  if (product.c == Type::f32 && product.d == Type::f16) x = cut_off(x, kFractionOfSingle);
  if (const auto bits = rounded_if_normal(product, x)) return *bits;
  return rounded_in_integers(product, x);
}

std::uint32_t bits_of(const MatrixProduct& product, std::int64_t x) {
  if (product.saturates) x = std::clamp<std::int64_t>(x, INT32_MIN, INT32_MAX);
  return static_cast<std::uint32_t>(x);
}

// Returns whether the operands are 8-bit floats of mma: see multiply_bytes().
bool is_in_halves(const MatrixProduct& product, Type type) {
  const bool is_byte = type == Type::e4m3x2 || type == Type::e5m2x2;
  return is_byte && !product.of_group && !product.in_bytes;
}

// For 8-bit floats, k counts the lower halves of all registers before the upper halves.
MatrixPlace place_of_byte(const MatrixProduct& product, Operand operand, MatrixPlace at) {
  std::uint32_t& k = operand == Operand::a ? at.column : at.row;
  const bool is_packed = product.sparse && operand == Operand::a;
  const std::uint32_t half = product.shape.k / (is_packed ? 4 : 2);
  k = k / 4 * 2 + k % 2 + (k % 4 < 2 ? 0 : half);
  return at;
}

// The places of an operand's elements in its matrix: each is the sum of a place that the lane
// decides and one that the part of a register decides.
class Places {
 public:
  Places(const MatrixProduct& product, Operand operand)
      : product_(product), operand_(operand), places_(product, operand) {
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) of_lane_[lane] = place(lane, 0, 0);
  }

  // Calls visit(register, shift, mask, place of an element of this part in a lane) for each part
  // of the lanes' registers of 32 bits.
  template <class Visit>
  void for_each_part(Visit visit) const {
    const std::uint32_t bits = element_bits(product_, operand_);
    const std::uint32_t mask = bits == 32 ? 0xffffffffu : (1u << bits) - 1;
    for (std::uint32_t reg = 0; reg < places_.registers(); ++reg) {
      for (std::uint32_t part = 0; part < places_.parts(); ++part) {
        const MatrixPlace of_part = place(0, reg, part);
        visit(reg, part * bits, mask, [&](std::uint32_t lane) {
          return MatrixPlace{of_lane_[lane].row + of_part.row,
                             of_lane_[lane].column + of_part.column};
        });
      }
    }
  }

 private:
  [[nodiscard]] MatrixPlace place(std::uint32_t lane, std::uint32_t reg, std::uint32_t part) const {
    const MatrixPlace at = places_.at(lane, reg, part);
    const bool in_halves = is_in_halves(product_, product_.type_of(operand_));
    return in_halves ? place_of_byte(product_, operand_, at) : at;
  }

  const MatrixProduct& product_;
  Operand operand_;
  ElementPlaces places_;
  std::array<MatrixPlace, kWarpLanes> of_lane_;
};

std::optional<RegisterFloat> register_float(Type type) {
  switch (type) {
    case Type::f16: return RegisterFloat::f16;
    case Type::bf16: return RegisterFloat::bf16;
    case Type::f32: return RegisterFloat::f32;
    case Type::tf32: return RegisterFloat::tf32;
    default: return std::nullopt;
  }
}

const std::byte* words_of(const LaneBanks& banks, const Ref& first, std::uint32_t reg) {
  return banks.base[static_cast<std::size_t>(first.bank)] + first.offset + reg * kWordRowBytes;
}

// Reads an operand's elements, and calls write(place, value, exponent) for each.
template <class Write>
void gather_floats(const MatrixLoops& loops, const LaneBanks& banks, const Ref& first,
                   const MatrixProduct& product, Operand operand, Write write) {
  const Type type = product.type_of(operand);
  const std::optional<RegisterFloat> in_rows = register_float(type);
  Places(product, operand)
      .for_each_part([&](std::uint32_t reg, std::uint32_t shift, std::uint32_t mask, auto place) {
        ElementRow elements;
        if (in_rows) {
          const std::byte* words = words_of(banks, first, reg);
          loops.read(*in_rows, reinterpret_cast<const std::uint32_t*>(words), shift, elements);
        }
        for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
          if (!in_rows) {
            std::uint32_t bits = read_word(banks, first, reg, lane) >> shift & mask;
            // The four bits are in the middle of their byte.
            if (product.in_bytes && type == Type::e2m1x2) bits = bits >> 2 & 0xf;
            const Element element = element_of(type, bits);
            elements.value[lane] = element.value;
            elements.exponent[lane] = element.exponent;
          }
          write(place(lane), elements.value[lane], elements.exponent[lane]);
        }
      });
}

template <class Write>
void gather_integers(const LaneBanks& banks, const Ref& first, const MatrixProduct& product,
                     Operand operand, Write write) {
  const Type type = product.type_of(operand);
  Places(product, operand)
      .for_each_part([&](std::uint32_t reg, std::uint32_t shift, std::uint32_t mask, auto place) {
        for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
          const std::uint32_t bits = read_word(banks, first, reg, lane) >> shift & mask;
          write(place(lane), integer_of(type, bits));
        }
      });
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

// Returns the rows of b that the elements of a row of a are multiplied with.  For a sparse a they
// are collected in `met`.
template <class Row>
const Row* rows_met(const LaneBanks& banks, const Instr& instr, const MatrixProduct& product,
                    std::uint32_t row, const Row* b, std::array<Row, kDepthMax>& met) {
  if (!product.sparse) return b;
  const bool in_halves = is_in_halves(product, product.a);
  for (std::uint32_t packed = 0; packed < product.shape.k / 2; ++packed) {
    MatrixPlace from{column_of(banks, instr, product, row, packed), 0};
    MatrixPlace to{0, packed};
    if (in_halves) {
      from = place_of_byte(product, Operand::b, from);
      to = place_of_byte(product, Operand::a, to);
    }
    met[to.column] = b[from.row];
  }
  return met.data();
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
  if (product.scale != Type::ue8m0x2) return element_of(product.scale, bits & 0x7f);
  if (bits == kNan) return {std::numeric_limits<double>::quiet_NaN(), 0};
  const int exponent = static_cast<int>(bits) - kBias;
  return {exact::power_of_two(exponent), exponent};
}

Element scaled(double value, const Element& factor) { return normalized(value * factor.value); }

// Applies the scale factors: of each four lanes, two neighbouring ones have the factors of rows r
// and r + 8 of a, and one has those of a column of b.
void scale(const LaneBanks& banks, const Ref& metadata, const MatrixProduct& product,
           FloatMatrices& matrices) {
  const Ref first = row_after(metadata, product.sparse ? 1 : 0);
  const std::uint32_t length = product.shape.k / product.blocks;
  const auto begin = [&](ScaleRow row, std::uint32_t lane) {
    return read_word(banks, first, static_cast<std::uint32_t>(row), lane);
  };
  for (std::uint32_t row = 0; row < product.shape.m; ++row) {
    const std::uint32_t group = 4 * (row % 8);
    const std::uint32_t lane = group + 2 * (begin(ScaleRow::lane_a, group) & 1) + row / 8;
    for (std::uint32_t k = 0; k < (product.sparse ? product.shape.k / 2 : product.shape.k); ++k) {
      const std::uint32_t block = k * (product.sparse ? 2 : 1) / length;
      auto& [values, exponents] = matrices.a[row];
      const Element x = scaled(values[k], factor(banks, first, product, ScaleRow::a, lane, block));
      values[k] = x.value;
      exponents[k] = x.exponent;
    }
  }
  for (std::uint32_t column = 0; column < product.shape.n; ++column) {
    const std::uint32_t lane = 4 * column + (begin(ScaleRow::lane_b, 4 * column) & 3);
    for (std::uint32_t k = 0; k < product.shape.k; ++k) {
      auto& [values, exponents] = matrices.b[k];
      const Element by = factor(banks, first, product, ScaleRow::b, lane, k / length);
      const Element x = scaled(values[column], by);
      values[column] = x.value;
      exponents[column] = x.exponent;
    }
  }
}

// Writes the result to the registers of the active lanes.
void write_results(const LaneBanks& banks, const Instr& instr, const MatrixProduct& product,
                   std::uint32_t active, const Results& results) {
  std::byte* base = banks.base[static_cast<std::size_t>(instr[MatrixOperand::d].bank)] +
                    instr[MatrixOperand::d].offset;
  Places(product, Operand::d)
      .for_each_part([&](std::uint32_t reg, std::uint32_t shift, std::uint32_t mask, auto place) {
        for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
          if ((active >> lane & 1) == 0) continue;
          const MatrixPlace at = place(lane);
          std::uint32_t word = read_word(banks, instr[MatrixOperand::d], reg, lane);
          word &= ~(mask << shift);
          word |= (results[at.row][at.column] & mask) << shift;
          std::memcpy(base + reg * kWordRowBytes + lane * sizeof word, &word, sizeof word);
        }
      });
}

// A row of the result before it is rounded, and the operands for it.
struct RowOfFloats {
  const MatrixLoops& loops;
  const MatrixProduct& product;  // the depth is that of a's registers
  const FloatMatrices::RowOfA& a;
  const ElementRow* b;
  const ElementRow& c;
  std::array<double, kMatrixSideMax> sums;

  void add_up(std::uint32_t first, std::uint32_t end, const ElementRow& addend,
              int kept_bits = kKeptBits) {
    loops.add_up({.a = a.value.data(),
                  .a_exponents = a.exponent.data(),
                  .b = b,
                  .c = &addend,
                  .first = first,
                  .end = end,
                  .columns = product.shape.n,
                  .kept_bits = kept_bits},
                 sums.data());
  }

  // Returns the sums, rounded to the type of the result.
  [[nodiscard]] ElementRow rounded() const {
    ElementRow elements;
    for (std::uint32_t column = 0; column < product.shape.n; ++column) {
      const Element element = element_of(product.d, bits_of(product, sums[column]));
      elements.value[column] = element.value;
      elements.exponent[column] = element.exponent;
    }
    return elements;
  }
};

// The hardware handles 8-bit floats as halves.  They are added as two products of halves (sm_90:
// those of the lower and of the upper half of each register); c is added last, and the sum is
// rounded to nearest.
void multiply_bytes(RowOfFloats& row) {
  const std::uint32_t half = row.product.shape.k / 2;
  ElementRow sums{};
  std::ranges::fill(sums.exponent, kNoExponent);
  for (const std::uint32_t first : {0u, half}) {
    row.add_up(first, first + half, sums);
    sums = row.rounded();
  }
  for (std::uint32_t column = 0; column < row.product.shape.n; ++column) {
    const double result = sums.value[column] + row.c.value[column];
    row.sums[column] = row.product.d == Type::f32 ? static_cast<float>(result) : result;
  }
}

void multiply_row(RowOfFloats& row) {
  const MatrixProduct& product = row.product;
  const std::uint32_t end = product.shape.k;
  if (is_byte_float(product.a) && product.of_group) {
    row.add_up(0, end, row.c, kKeptBitsOfBytes);
    if (product.d != Type::f32) return;
    for (double& sum : row.sums) sum = cut_off(sum, kKeptBitsOfBytes);
    return;
  }
  if (is_in_halves(product, product.a)) return multiply_bytes(row);
  const bool in_halves = product.in_order && product.a == Type::tf32;  // wmma of tf32
  if (!in_halves) return row.add_up(0, end, row.c);
  row.add_up(0, end / 2, row.c);
  row.add_up(end / 2, end, row.rounded());
}

// Returns the product with the depth of a's registers.
MatrixProduct packed(MatrixProduct product) {
  if (product.sparse) product.shape.k /= 2;
  return product;
}

template <const MatrixLoops& kLoops>
void multiply_floats(const LaneBanks& banks, const Instr& instr, std::uint32_t active) {
  const MatrixProduct product = product_of(instr);
  FloatMatrices matrices;
  const auto into = [](auto& rows) {
    return [&rows](MatrixPlace at, double value, int exponent) {
      rows[at.row].value[at.column] = value;
      rows[at.row].exponent[at.column] = exponent;
    };
  };
  gather_floats(kLoops, banks, instr[Operand::a], product, Operand::a, into(matrices.a));
  gather_floats(kLoops, banks, instr[Operand::b], product, Operand::b, into(matrices.b));
  gather_floats(kLoops, banks, instr[Operand::c], product, Operand::c, into(matrices.c));
  if (product.blocks != 0) scale(banks, instr[Operand::metadata], product, matrices);
  const MatrixProduct in_registers = packed(product);
  std::array<ElementRow, kDepthMax> met;
  Results results;
  for (std::uint32_t m = 0; m < product.shape.m; ++m) {
    const ElementRow* b = rows_met(banks, instr, product, m, matrices.b.data(), met);
    RowOfFloats row{kLoops, in_registers, matrices.a[m], b, matrices.c[m], {}};
    multiply_row(row);
    for (std::uint32_t n = 0; n < product.shape.n; ++n) {
      results[m][n] = bits_of(in_registers, row.sums[n]);
    }
  }
  write_results(banks, instr, product, active, results);
}

// Single bits are multiplied as words of 32 elements.
void count_bits(const MatrixProduct& product, const std::int32_t* a, const IntegerRow* b,
                std::int32_t* sums) {
  for (std::uint32_t n = 0; n < product.shape.n; ++n) {
    std::int32_t sum = 0;
    for (std::uint32_t k = 0; k < product.shape.k; ++k) {
      const std::int32_t x = a[k], y = b[k].value[n];
      const std::int32_t bits = product.bits == ptx::BoolOp::xor_ ? x ^ y : x & y;
      sum += std::popcount(static_cast<std::uint32_t>(bits));
    }
    sums[n] = sum;
  }
}

template <const MatrixLoops& kLoops>
void multiply_integers(const LaneBanks& banks, const Instr& instr, std::uint32_t active) {
  const MatrixProduct product = product_of(instr);
  IntegerMatrices matrices;
  gather_integers(
      banks, instr[Operand::a], product, Operand::a,
      [&](MatrixPlace at, std::int32_t value) { matrices.a[at.row][at.column] = value; });
  const auto into = [](auto& rows) {
    return [&rows](MatrixPlace at, std::int32_t value) { rows[at.row].value[at.column] = value; };
  };
  gather_integers(banks, instr[Operand::b], product, Operand::b, into(matrices.b));
  gather_integers(banks, instr[Operand::c], product, Operand::c, into(matrices.c));
  const MatrixProduct in_registers = packed(product);
  std::array<IntegerRow, kDepthMax> met;
  Results results;
  for (std::uint32_t m = 0; m < product.shape.m; ++m) {
    const IntegerRow* b = rows_met(banks, instr, product, m, matrices.b.data(), met);
    std::array<std::int32_t, kMatrixSideMax> sums;
    if (product.a == Type::b1) {
      count_bits(in_registers, matrices.a[m].data(), b, sums.data());
    } else {
      kLoops.add_up_integers(matrices.a[m].data(), b, in_registers.shape.k, product.shape.n,
                             sums.data());
    }
    for (std::uint32_t n = 0; n < product.shape.n; ++n) {
      results[m][n] = bits_of(product, std::int64_t{matrices.c[m].value[n]} + sums[n]);
    }
  }
  write_results(banks, instr, product, active, results);
}

// Returns one lane's register of a matrix of doubles.
std::byte* wide_cell(const LaneBanks& banks, const Ref& first, std::uint32_t reg,
                     std::uint32_t lane) {
  const Ref row = row_after(first, reg);
  return banks.base[static_cast<std::size_t>(row.bank)] + row.offset + lane * sizeof(double);
}

// Collects the matrix row by row, with `columns` numbers per row.
std::vector<std::uint64_t> gather_doubles(const LaneBanks& banks, const Ref& first,
                                          const MatrixProduct& product, Operand operand,
                                          std::uint32_t columns) {
  const ElementPlaces places(product, operand);
  const std::uint32_t registers = places.registers();
  std::vector<std::uint64_t> matrix(std::size_t{registers} * kWarpLanes);
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    for (std::uint32_t reg = 0; reg < registers; ++reg) {
      const MatrixPlace at = places.at(lane, reg, 0);
      std::memcpy(&matrix[at.row * columns + at.column], wide_cell(banks, first, reg, lane),
                  sizeof(double));
    }
  }
  return matrix;
}

// Returns a * b + c, rounded once.  If several operands are NaN, b takes precedence over c, and c
// over a, as in fma.f64.
std::uint64_t multiply_add(std::uint64_t a, std::uint64_t b, std::uint64_t c,
                           ptx::Rounding rounding) {
  constexpr std::uint64_t kQuiet = exact::kF64.hidden() >> 1;
  for (const std::uint64_t operand : {b, c, a}) {
    const bool is_nan = (operand & ~exact::kF64.sign()) > exact::kF64.infinity();
    if (is_nan) return operand | kQuiet;
  }
  const auto number = [](std::uint64_t bits) { return exact::unpack(exact::kF64, bits); };
  return exact::pack(exact::kF64, exact::multiply_add(number(a), number(b), number(c), rounding),
                     rounding);
}

// Products of doubles are consecutive fused multiply-adds, each rounded.
void multiply_doubles(const LaneBanks& banks, const Instr& instr, std::uint32_t active) {
  const MatrixProduct product = product_of(instr);
  const auto [m, n, k] = product.shape;
  const auto a = gather_doubles(banks, instr[MatrixOperand::a], product, Operand::a, k);
  const auto b = gather_doubles(banks, instr[MatrixOperand::b], product, Operand::b, n);
  const auto c = gather_doubles(banks, instr[MatrixOperand::c], product, Operand::c, n);
  const bool to_nearest = product.rounding == ptx::Rounding::none;
  const ptx::Rounding rounding = to_nearest ? ptx::Rounding::rn : product.rounding;
  const ElementPlaces places(product, Operand::d);
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    for (std::uint32_t reg = 0; reg < places.registers(); ++reg) {
      if ((active >> lane & 1) == 0) continue;
      const MatrixPlace at = places.at(lane, reg, 0);
      std::uint64_t sum = c[at.row * n + at.column];
      for (std::uint32_t step = 0; step < k; ++step) {
        sum = multiply_add(a[at.row * k + step], b[step * n + at.column], sum, rounding);
      }
      std::memcpy(wide_cell(banks, instr[MatrixOperand::d], reg, lane), &sum, sizeof sum);
    }
  }
}

template <const MatrixLoops& kLoops>
WarpFn find_product(Type d) {
  switch (d) {
    case Type::s32: return multiply_integers<kLoops>;
    case Type::f64: return multiply_doubles;
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
