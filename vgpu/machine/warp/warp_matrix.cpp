// Matrix products: PTX ISA 9.0, 9.7.14.
//
// Integer products are exact, and the result wraps or saturates once at the end.  For floats, the
// ISA promises little more than about single precision.  Here they are added as on an sm_90
// (observed there; the model is that of Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of
// NVIDIA tensor cores", PeerJ Computer Science 7, 2021): products are exact; the products and the
// addend are truncated toward zero, 25 bits below the greatest exponent among them, and added; the
// sum is truncated to an f32.
#include "vgpu/machine/warp/warp_matrix.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "vgpu/machine/compute/exact.hpp"
#include "vgpu/machine/compute/narrow_floats.hpp"
#include "vgpu/program/matrix.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Type;
using Operand = MatrixOperand;

constexpr std::uint32_t kSideMax = 32;     // m and n
constexpr std::uint32_t kDepthMax = 128;   // k
constexpr std::uint32_t kTf32Unused = 13;  // low bits that are ignored

template <class T>
using Line = std::array<T, kSideMax>;

// The operands of a product.  The k-by-n matrix is stored as rows of b.
template <class T>
struct Matrices {
  std::array<std::array<T, kDepthMax>, kSideMax> a;
  std::array<Line<T>, kDepthMax> b;
  std::array<Line<T>, kSideMax> c;
};

std::uint32_t read_word(const LaneBanks& banks, const Ref& first, std::uint32_t reg,
                        std::uint32_t lane) {
  std::uint32_t word = 0;
  const std::byte* base = banks.base[static_cast<std::size_t>(first.bank)] + first.offset;
  std::memcpy(&word, base + reg * kWordRowBytes + lane * sizeof word, sizeof word);
  return word;
}

// A float, with the exponent by which it is aligned: that of its field, even if it is subnormal.
struct Element {
  double value;
  int exponent;
};

constexpr int kKeptBits = 25;  // number of bits kept below the greatest exponent
// The number for 8-bit floats of a warpgroup product, which are added as one sum; an f32 addend
// keeps no more bits either (observed on an H200: vgpu/cudart/programs/matrix/warpgroup_sums.cu).
constexpr int kKeptBitsOfBytes = 13;
constexpr int kNoExponent = -10'000;  // of zero, infinity and NaN

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
          std::max(biased, 1) - format.bias()};
}

// Returns the sum of c and a[k] * b[k] for k in [first, end), as a double of at most 30 significant
// bits.
double dot_product(const Element* a, const Line<Element>* b, std::uint32_t column,
                   std::uint32_t first, std::uint32_t end, const Element& c,
                   int kept_bits = kKeptBits) {
  double plain = c.value;  // detects infinities and NaN
  int greatest = c.value == 0 ? kNoExponent : c.exponent;
  for (std::uint32_t k = first; k < end; ++k) {
    const Element& y = b[k][column];
    const double product = a[k].value * y.value;
    plain += product;
    if (product != 0) greatest = std::max(greatest, a[k].exponent + y.exponent);
  }
  if (!(std::abs(plain) <= std::numeric_limits<double>::max()) || greatest == kNoExponent) {
    return plain;
  }
  const double scale = exact::power_of_two(kept_bits - greatest);
  auto sum = static_cast<std::int64_t>(c.value * scale);
  for (std::uint32_t k = first; k < end; ++k) {
    sum += static_cast<std::int64_t>(a[k].value * b[k][column].value * scale);
  }
  return static_cast<double>(sum) * exact::power_of_two(greatest - kept_bits);
}

// Clears the bits of a finite value below the `kept` bits that follow the first one.
double cut_off(double value, int kept) {
  constexpr int kFraction = 52;
  const std::uint64_t lost = (std::uint64_t{1} << (kFraction - kept)) - 1;
  if (!std::isfinite(value)) return value;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & ~lost);
}

std::int64_t integer_of(Type type, std::uint32_t bits) {
  switch (type) {
    case Type::s8: return static_cast<std::int8_t>(bits);
    case Type::s4: return static_cast<std::int64_t>(bits ^ 8) - 8;
    case Type::s32: return static_cast<std::int32_t>(bits);
    default: return bits;
  }
}

// An f32 result is truncated, but a value that is too large becomes infinite.  A value that is too
// small becomes +0, whatever its sign (observed on sm_90).  If c is f32 and d is not, the sum is
// truncated to an f32 before it is rounded.
std::uint32_t bits_of(const MatrixProduct& product, double x) {
  constexpr int kFractionOfSingle = 23;
  if (product.c == Type::f32 && product.d == Type::f16) x = cut_off(x, kFractionOfSingle);
  exact::Number number = exact::unpack(exact::kF64, std::bit_cast<std::uint64_t>(x));
  const bool is_single = product.d == Type::f32;
  if (is_single && std::abs(x) >= 0x1p128) number.kind = exact::Number::Kind::infinite;
  const exact::Format& format = exact::format_of(product.d);
  const auto bits = static_cast<std::uint32_t>(
      exact::pack(format, number, is_single ? ptx::Rounding::rz : ptx::Rounding::rn));
  const bool is_lost = x != 0 && bits == format.sign();
  return is_lost ? 0 : bits;
}

std::uint32_t bits_of(const MatrixProduct& product, std::int64_t x) {
  if (product.saturates) x = std::clamp<std::int64_t>(x, INT32_MIN, INT32_MAX);
  return static_cast<std::uint32_t>(x);
}

// Calls visit(lane, register, shift, mask, place) for each element of an operand in 32-bit
// registers.
template <class Visit>
void for_each_element(const MatrixProduct& product, Operand operand, Visit visit) {
  const std::uint32_t bits = element_bits(product, operand);
  const std::uint32_t mask = bits == 32 ? 0xffffffffu : (1u << bits) - 1;
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    for (std::uint32_t reg = 0; reg < registers_of(product, operand); ++reg) {
      for (std::uint32_t part = 0; part < 32 / bits; ++part) {
        visit(lane, reg, part * bits, mask, element_at(product, operand, lane, reg, part));
      }
    }
  }
}

// Returns whether the operands are 8-bit floats of mma: see product_of_bytes().
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

template <class Rows, class Convert>
void gather(const LaneBanks& banks, const Ref& first, const MatrixProduct& product, Operand operand,
            Rows& matrix, Convert convert) {
  const Type type = product.type_of(operand);
  for_each_element(product, operand,
                   [&](std::uint32_t lane, std::uint32_t reg, std::uint32_t shift,
                       std::uint32_t mask, MatrixPlace at) {
                     std::uint32_t bits = read_word(banks, first, reg, lane) >> shift & mask;
                     if (is_in_halves(product, type)) at = place_of_byte(product, operand, at);
                     // The four bits are in the middle of their byte.
                     if (product.in_bytes && type == Type::e2m1x2) bits = bits >> 2 & 0xf;
                     matrix[at.row][at.column] = convert(type, bits);
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

// Collects the elements of a column of b that the packed elements of a row of a are multiplied
// with.
template <class T>
void meet(const LaneBanks& banks, const Instr& instr, const MatrixProduct& product,
          const std::array<Line<T>, kDepthMax>& b, MatrixPlace at,
          std::array<Line<T>, kDepthMax>& met) {
  const bool in_halves = is_in_halves(product, product.a);
  for (std::uint32_t packed = 0; packed < product.shape.k / 2; ++packed) {
    MatrixPlace from{column_of(banks, instr, product, at.row, packed), at.column};
    MatrixPlace to{packed, packed};
    if (in_halves) {
      from = place_of_byte(product, Operand::b, from);
      to = place_of_byte(product, Operand::a, to);
    }
    met[to.column][at.column] = b[from.row][at.column];
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
  if (product.scale != Type::ue8m0x2) return element_of(product.scale, bits & 0x7f);
  if (bits == kNan) return {std::numeric_limits<double>::quiet_NaN(), 0};
  const int exponent = static_cast<int>(bits) - kBias;
  return {exact::power_of_two(exponent), exponent};
}

Element scaled(const Element& x, const Element& factor) {
  return normalized(x.value * factor.value);
}

// Applies the scale factors: of each four lanes, two neighbouring ones have the factors of rows r
// and r + 8 of a, and one has those of a column of b.
void scale(const LaneBanks& banks, const Ref& metadata, const MatrixProduct& product,
           Matrices<Element>& matrices) {
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
      Element& x = matrices.a[row][k];
      x = scaled(x, factor(banks, first, product, ScaleRow::a, lane, block));
    }
  }
  for (std::uint32_t column = 0; column < product.shape.n; ++column) {
    const std::uint32_t lane = 4 * column + (begin(ScaleRow::lane_b, 4 * column) & 3);
    for (std::uint32_t k = 0; k < product.shape.k; ++k) {
      Element& x = matrices.b[k][column];
      x = scaled(x, factor(banks, first, product, ScaleRow::b, lane, k / length));
    }
  }
}

// Reads the matrices, computes each element of the result, and writes it in the active lanes.
template <class T, class Read, class Calculate>
void multiply(const LaneBanks& banks, const Instr& instr, std::uint32_t active, Read read,
              Calculate calculate) {
  const MatrixProduct product = product_of(instr);
  Matrices<T> matrices;
  gather(banks, instr[MatrixOperand::a], product, Operand::a, matrices.a, read);
  gather(banks, instr[MatrixOperand::b], product, Operand::b, matrices.b, read);
  gather(banks, instr[MatrixOperand::c], product, Operand::c, matrices.c, read);
  if constexpr (std::is_same_v<T, Element>) {
    if (product.blocks != 0) scale(banks, instr[MatrixOperand::metadata], product, matrices);
  }
  std::byte* base = banks.base[static_cast<std::size_t>(instr[MatrixOperand::d].bank)] +
                    instr[MatrixOperand::d].offset;
  MatrixProduct packed = product;
  if (product.sparse) packed.shape.k /= 2;
  for_each_element(product, Operand::d,
                   [&](std::uint32_t lane, std::uint32_t reg, std::uint32_t shift,
                       std::uint32_t mask, MatrixPlace at) {
                     if ((active >> lane & 1) == 0) return;
                     std::array<Line<T>, kDepthMax> met;
                     if (product.sparse) meet(banks, instr, product, matrices.b, at, met);
                     const auto sum = calculate(packed, matrices.a[at.row].data(),
                                                product.sparse ? met.data() : matrices.b.data(),
                                                at.column, matrices.c[at.row][at.column]);
                     std::uint32_t word = read_word(banks, instr[MatrixOperand::d], reg, lane);
                     word &= ~(mask << shift);
                     word |= (bits_of(product, sum) & mask) << shift;
                     std::memcpy(base + reg * kWordRowBytes + lane * sizeof word, &word,
                                 sizeof word);
                   });
}

// The hardware handles 8-bit floats as halves.  They are added as two products of halves (sm_90:
// those of the lower and of the upper half of each register); c is added last, and the sum is
// rounded to nearest.
double product_of_bytes(const MatrixProduct& product, const Element* a, const Line<Element>* b,
                        std::uint32_t column, const Element& c) {
  const std::uint32_t half = product.shape.k / 2;
  Element sum{0, kNoExponent};
  for (const std::uint32_t first : {0u, half}) {
    const double part = dot_product(a, b, column, first, first + half, sum);
    sum = element_of(product.d, bits_of(product, part));
  }
  const double result = sum.value + c.value;
  return product.d == Type::f32 ? static_cast<float>(result) : result;
}

double product_of_row(const MatrixProduct& product, const Element* a, const Line<Element>* b,
                      std::uint32_t column, const Element& c) {
  const std::uint32_t end = product.shape.k;
  if (is_byte_float(product.a) && product.of_group) {
    const double sum = dot_product(a, b, column, 0, end, c, kKeptBitsOfBytes);
    return product.d == Type::f32 ? cut_off(sum, kKeptBitsOfBytes) : sum;
  }
  if (is_in_halves(product, product.a)) return product_of_bytes(product, a, b, column, c);
  const bool in_halves = product.in_order && product.a == Type::tf32;  // wmma of tf32
  if (!in_halves) return dot_product(a, b, column, 0, end, c);
  const double sum = dot_product(a, b, column, 0, end / 2, c);
  const Element half = element_of(product.d, bits_of(product, sum));
  return dot_product(a, b, column, end / 2, end, half);
}

void multiply_floats(const LaneBanks& banks, const Instr& instr, std::uint32_t active) {
  multiply<Element>(banks, instr, active, element_of, product_of_row);
}

// Returns the product of two elements; single bits are multiplied as words of 32 elements.
std::int64_t product_of_elements(const MatrixProduct& product, std::int64_t x, std::int64_t y) {
  if (product.a != Type::b1) return x * y;
  const std::int64_t bits = product.bits == ptx::BoolOp::xor_ ? x ^ y : x & y;
  return std::popcount(static_cast<std::uint32_t>(bits));
}

void multiply_integers(const LaneBanks& banks, const Instr& instr, std::uint32_t active) {
  multiply<std::int64_t>(banks, instr, active, integer_of,
                         [](const MatrixProduct& product, const std::int64_t* a,
                            const Line<std::int64_t>* b, std::uint32_t column, std::int64_t c) {
                           for (std::uint32_t k = 0; k < product.shape.k; ++k) {
                             c += product_of_elements(product, a[k], b[k][column]);
                           }
                           return c;
                         });
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
  const std::uint32_t registers = registers_of(product, operand);
  std::vector<std::uint64_t> matrix(std::size_t{registers} * kWarpLanes);
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    for (std::uint32_t reg = 0; reg < registers; ++reg) {
      const MatrixPlace at = element_at(product, operand, lane, reg, 0);
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
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    for (std::uint32_t reg = 0; reg < registers_of(product, Operand::d); ++reg) {
      if ((active >> lane & 1) == 0) continue;
      const MatrixPlace at = element_at(product, Operand::d, lane, reg, 0);
      std::uint64_t sum = c[at.row * n + at.column];
      for (std::uint32_t step = 0; step < k; ++step) {
        sum = multiply_add(a[at.row * k + step], b[step * n + at.column], sum, rounding);
      }
      std::memcpy(wide_cell(banks, instr[MatrixOperand::d], reg, lane), &sum, sizeof sum);
    }
  }
}

}  // namespace

WarpFn find_matrix_op(const Instr& instr) {
  if (!is_matrix_product(instr)) return nullptr;
  switch (product_of(instr).d) {
    case Type::s32: return multiply_integers;
    case Type::f64: return multiply_doubles;
    default: return multiply_floats;
  }
}

}  // namespace warpcheck::vgpu
