// What tests of products in tensor memory share: numbers with all their digits, formats of elements
// by their definitions, and how a case lies in shared and in tensor memory.
#pragma once

#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace warpcheck::vgpu {

// A number with so many digits that sums of products are exact.
class Exact {
 public:
  Exact() {
    mpfr_init2(value_, kBits);
    mpfr_set_zero(value_, 1);
  }
  Exact(const Exact& other) : Exact() { mpfr_set(value_, other.value_, MPFR_RNDN); }
  Exact& operator=(const Exact& other) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  ~Exact() { mpfr_clear(value_); }
  static Exact of(double value) {
    Exact result;
    mpfr_set_d(result.value_, value, MPFR_RNDN);
    return result;
  }
  void add(const Exact& other) { mpfr_add(value_, value_, other.value_, MPFR_RNDN); }
  void add_absolute(const Exact& other) {
    Exact positive(other);
    mpfr_abs(positive.value_, positive.value_, MPFR_RNDN);
    add(positive);
  }
  void multiply(const Exact& other) { mpfr_mul(value_, value_, other.value_, MPFR_RNDN); }
  void scale(int exponent) { mpfr_mul_2si(value_, value_, exponent, MPFR_RNDN); }
  // Returns |this - other| <= bound.
  [[nodiscard]] bool is_near(double other, const Exact& bound) const {
    Exact difference(*this);
    mpfr_sub_d(difference.value_, difference.value_, other, MPFR_RNDN);
    return mpfr_cmpabs(difference.value_, bound.value_) <= 0;
  }
  [[nodiscard]] double value() const { return mpfr_get_d(value_, MPFR_RNDN); }

 private:
  static constexpr int kBits = 1'200;
  mpfr_t value_;
};

// A format of floats by its definition.
struct Format {
  int bits = 8, exponent = 4, fraction = 3, bias = 7;
  [[nodiscard]] double value(std::uint32_t code) const {
    const std::uint32_t f = code & ((1u << fraction) - 1);
    const auto e = static_cast<int>(code >> fraction & ((1u << exponent) - 1));
    const double sign = (code >> (bits - 1) & 1) != 0 ? -1 : 1;
    const double one = e == 0 ? 0 : 1;
    return sign * std::ldexp(one + std::ldexp(f, -fraction), (e == 0 ? 1 : e) - bias);
  }
};
inline const std::map<std::string, Format>& formats() {
  static const std::map<std::string, Format> all{
      {"e4m3", {8, 4, 3, 7}},    {"e5m2", {8, 5, 2, 15}},   {"e2m3", {6, 2, 3, 1}},
      {"e3m2", {6, 3, 2, 3}},    {"e2m1", {4, 2, 1, 1}},    {"f16", {16, 5, 10, 15}},
      {"bf16", {16, 8, 7, 127}}, {"tf32", {19, 8, 10, 127}}};
  return all;
}

struct Case {
  std::string kind;
  std::string a = "e4m3", b = "e4m3", d = "f32";
  std::uint32_t rows = 128, columns = 16, depth = 32;
  std::uint32_t blocks = 1;
  bool by_columns = false;  // .ws
  bool a_is_here = false, negates_a = false, negates_b = false;
  bool a_across = false, b_across = false;  // transposed
  bool adds = true, is_small = false;       // small integers: every sum is exact
  std::uint32_t scale_shift = 0;
  std::uint32_t scales = 0;  // factors for a row
  bool has_e4m3_scales = false;
  std::uint32_t scale_a_id = 0, scale_b_id = 0;
  std::string collector;
  std::vector<std::uint32_t> disabled;
  bool is_sparse = false, shifts_a = false;
  std::uint32_t selector = 0;  // of the metadata's column
  std::string mask;            // an operand of .ws
  std::string zero_columns;    // that it says, a character each; then none
  std::uint32_t shift = 0;     // of the columns of b

  [[nodiscard]] bool is_integer() const { return kind == "i8"; }
  [[nodiscard]] bool is_scaled() const { return kind.starts_with("mx"); }
  [[nodiscard]] bool is_packed() const { return kind.starts_with("mxf4"); }
  [[nodiscard]] std::uint32_t stored() const { return is_sparse ? depth / 2 : depth; }  // of a
};

inline void PrintTo(const Case& c, std::ostream* out) {
  *out << fmt::format("{} {} {} {} M{} N{} K{} x{}{}{}{}{}{}{}{}", c.kind, c.a, c.b, c.d, c.rows,
                      c.columns, c.depth, c.blocks, c.by_columns ? " ws" : "",
                      c.a_is_here ? " here" : "", c.a_across ? " a across" : "",
                      c.b_across ? " b across" : "", c.is_sparse ? " sparse" : "",
                      c.selector != 0 ? " second column" : "", c.shifts_a ? " ashift" : "");
}

inline std::uint32_t type_code(const Case& c, const std::string& type) {
  if (c.is_packed()) return 1;
  static const std::map<std::string, std::uint32_t> codes{
      {"f16", 0},  {"bf16", 1}, {"tf32", 2}, {"u8", 0},   {"s8", 1},
      {"e4m3", 0}, {"e5m2", 1}, {"e2m3", 3}, {"e3m2", 4}, {"e2m1", 5}};
  return codes.at(type);
}

// Tables 42 to 44.
inline std::uint32_t description(const Case& c) {
  std::uint32_t bits = type_code(c, c.a) << 7 | type_code(c, c.b) << 10 | c.columns / 8 << 17;
  if (c.negates_a) bits |= 1u << 13;
  if (c.negates_b) bits |= 1u << 14;
  if (c.a_across) bits |= 1u << 15;
  if (c.b_across) bits |= 1u << 16;
  if (c.is_sparse) bits |= 1u << 2 | c.selector;
  if (c.is_scaled()) {
    return bits | c.scale_b_id << 4 | (c.has_e4m3_scales ? 0u : 1u << 23) | c.rows / 128 << 27 |
           c.scale_a_id << 29;
  }
  if (c.shift != 0) bits |= 3u << 30;  // at most 32
  const std::uint32_t d = c.d == "s32" ? 2 : c.d == "f32" ? 1 : 0;
  return bits | d << 4 | c.rows / 16 << 24;
}

// Codes of elements; those of two factors, small and exact, or of all kinds.
inline std::uint32_t draw_code(const Case& c, const std::string& type, std::mt19937& random) {
  if (c.is_integer()) return random() & 0xff;
  const Format& format = formats().at(type);
  const std::uint32_t sign = (random() & 1) << (format.bits - 1);
  if (c.is_small) {  // 0, +-1, +-2
    const std::uint32_t which = random() % 3;
    const auto one = static_cast<std::uint32_t>(format.bias) << format.fraction;
    return which == 0 ? 0 : sign | (one + ((which - 1) << format.fraction));
  }
  const std::uint32_t fraction = random() & ((1u << format.fraction) - 1);
  if (format.bits <= 6)
    return sign | ((random() & ((1u << format.exponent) - 1)) << format.fraction) | fraction;
  const int spread = c.d == "f16" ? 4 : format.exponent == 4 ? 6 : 9;
  const auto exponent =
      static_cast<std::uint32_t>(format.bias + static_cast<int>(random() % (2 * spread)) - spread);
  return sign | exponent << format.fraction | fraction;
}

inline double value_of(const std::string& type, std::uint32_t code) {
  if (type == "u8") return code;
  if (type == "s8") return static_cast<std::int8_t>(code);
  return formats().at(type).value(code);
}

inline double value_of_scale(const Case& c, std::uint32_t code) {
  return c.has_e4m3_scales ? formats().at("e4m3").value(code)
                           : std::ldexp(1.0, static_cast<int>(code) - 127);
}

// Where the elements of a row of 16 bytes lie in shared memory: bits of an element, and elements.
struct Packing {
  std::uint32_t bits = 8, elements = 16, shift = 0;
};
inline Packing packing_of(const Case& c, const std::string& type, bool in_tensor_memory) {
  if (c.is_packed()) return {4, 32, 0};
  if (type == "tf32") return {32, 4, 13};
  if (type == "f16" || type == "bf16") return {16, 8, 0};
  if (in_tensor_memory) return {8, 16, type == "e2m1" ? 2u : 0u};
  if (type == "e2m3" || type == "e3m2") return {6, 16, 0};
  if (type == "e2m1") return {4, 16, 0};
  return {8, 16, 0};
}

inline void put_bits(std::uint8_t* to, std::uint32_t first, std::uint32_t bits,
                     std::uint32_t value) {
  for (std::uint32_t i = 0; i < bits; ++i) {
    if ((value >> i & 1) != 0)
      to[(first + i) / 8] |= static_cast<std::uint8_t>(1u << (first + i) % 8);
  }
}

// A matrix of one block in shared memory, without swizzling.  Along k: 16 bytes of a line lie
// together, 8 lines make a tile of 128 bytes, the next 16 bytes of k follow after LBO = 128, the
// next 8 lines after SBO.  Across: 16 bytes of neighbouring lines lie together, 8 k make a tile;
// LBO: to the next 8 k, SBO: to the next lines.
struct SharedMatrix {
  std::vector<std::uint8_t> bytes;
  std::uint64_t fields = 0;  // of its descriptor, without the address
};

inline SharedMatrix shared_matrix(const Case& c, const std::string& type, bool across,
                                  const std::vector<std::uint32_t>& codes, std::uint32_t lines,
                                  std::uint32_t depth) {
  const Packing packing = packing_of(c, type, false);
  const std::uint32_t e = packing.elements;
  SharedMatrix matrix;
  const std::uint32_t chunks = across ? (lines + e - 1) / e : depth / e;
  const std::uint32_t lbo = 128, sbo = across ? depth / 8 * 128 : 128 * chunks;
  matrix.bytes.resize(across ? std::size_t{chunks} * sbo : std::size_t{(lines + 7) / 8} * sbo);
  for (std::uint32_t line = 0; line < lines; ++line) {
    for (std::uint32_t k = 0; k < depth; ++k) {
      const std::uint32_t place = across ? line / e * sbo + k / 8 * lbo + k % 8 * 16
                                         : line / 8 * sbo + k / e * lbo + line % 8 * 16;
      put_bits(&matrix.bytes[place], (across ? line : k) % e * packing.bits + packing.shift,
               packing.bits - packing.shift, codes[line * depth + k]);
    }
  }
  matrix.fields = std::uint64_t{lbo / 16} << 16 | std::uint64_t{sbo / 16} << 32 | 1ull << 46;
  return matrix;
}

// Where row and column of d lie (layouts A to G).
struct Word {
  std::uint32_t block = 0, lane = 0, column = 0;
};
inline Word place_of(const Case& c, std::uint32_t row, std::uint32_t column) {
  const std::uint32_t own = c.rows / c.blocks, block = row / own, r = row % own;
  if (own == 128) return {block, r, column};
  const bool is_half = (!c.by_columns && c.blocks == 1) || (c.blocks == 2 && c.is_sparse);
  if (is_half) return {block, r / 16 * 32 + r % 16, column};
  const std::uint32_t parts = 128 / own, width = c.columns / parts;
  return {block, r + column / width * own, column % width};
}

inline std::uint32_t bits_of_float(double value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

// The bits of a normal number that is a half.
inline std::uint32_t half_of(double value) {
  if (value == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent);
  return (value < 0 ? 0x8000u : 0u) | static_cast<std::uint32_t>(exponent + 14) << 10 |
         static_cast<std::uint32_t>((2 * fraction - 1) * 1024);
}

}  // namespace warpcheck::vgpu
