#include "vgpu/conformance/operands.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "vgpu/schedule/prng.hpp"

namespace warpcheck::conformance {
namespace {

// The test vectors of a form fill whole thread blocks (see kernel_text.hpp).
constexpr std::size_t kBlock = 128;
constexpr std::size_t kVectorsMin = 2048;
constexpr std::size_t kRandomMin = 512;
constexpr std::size_t kComposedVectors = 6 * kBlock;  // for sequences and whole kernels

class Random {
 public:
  explicit Random(std::string_view seed) : generator_(hash(seed)) {}
  std::uint64_t next() { return generator_.next(); }
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  static std::uint64_t hash(std::string_view seed) {  // FNV-1a
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : seed) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
  }
  vgpu::Prng generator_;
};

struct FloatShape {
  unsigned exponent_bits, fraction_bits;
};

bool find_float(std::string_view type, FloatShape& shape) {
  if (type == "f16") return shape = {5, 10}, true;
  if (type == "bf16") return shape = {8, 7}, true;
  if (type == "f32") return shape = {8, 23}, true;
  if (type == "f64") return shape = {11, 52}, true;
  return false;
}

// "f16" of "f16x2"; empty if the type is no pair.
std::string_view half_of(std::string_view type) {
  return type.ends_with("x2") ? type.substr(0, type.size() - 2) : std::string_view();
}

std::vector<std::uint64_t> special_floats(FloatShape shape) {
  const std::uint64_t one = std::uint64_t{1} << shape.fraction_bits;
  const std::uint64_t bias = (std::uint64_t{1} << (shape.exponent_bits - 1)) - 1;
  const std::uint64_t infinity = (2 * bias + 1) << shape.fraction_bits;
  const std::uint64_t sign = std::uint64_t{1} << (shape.exponent_bits + shape.fraction_bits);
  const auto power = [&](int exponent) {
    const auto biased = static_cast<std::int64_t>(bias) + exponent;
    const auto most = static_cast<std::int64_t>(2 * bias);
    return static_cast<std::uint64_t>(std::clamp<std::int64_t>(biased, 1, most))
           << shape.fraction_bits;
  };
  const int digits = static_cast<int>(shape.fraction_bits);
  std::vector<std::uint64_t> values;
  for (const std::uint64_t magnitude : {std::uint64_t{0},
                                        std::uint64_t{1},
                                        one - 1,
                                        one,
                                        one + 1,
                                        power(-1),
                                        power(0) - 1,
                                        power(0),
                                        power(0) + 1,
                                        power(0) + one / 2,
                                        power(1) + one / 4,
                                        power(digits) + 1,
                                        power(31) - 1,
                                        power(31),
                                        power(63),
                                        infinity - one,
                                        infinity - 1,
                                        infinity,
                                        infinity + one / 2 + 0x15,
                                        infinity + 0x23}) {
    values.push_back(magnitude);
    values.push_back(magnitude | sign);
  }
  // makes the number of values odd, which make_operands() needs
  values.push_back(power(-digits - 1));
  return values;
}

std::vector<std::uint64_t> special_integers(unsigned bits) {
  const std::uint64_t top = std::uint64_t{1} << (bits - 1);
  const std::uint64_t all = top | (top - 1);
  std::vector<std::uint64_t> values;
  for (const std::uint64_t value : {std::uint64_t{0},
                                    std::uint64_t{1},
                                    std::uint64_t{2},
                                    std::uint64_t{3},
                                    std::uint64_t{7},
                                    std::uint64_t{0x1f},
                                    std::uint64_t{0x20},
                                    std::uint64_t{0x7f},
                                    std::uint64_t{0x80},
                                    std::uint64_t{0xff},
                                    std::uint64_t{0x7fff},
                                    std::uint64_t{0x8000},
                                    std::uint64_t{0xffff},
                                    std::uint64_t{0x10000},
                                    std::uint64_t{0x7fffff},
                                    std::uint64_t{0x800000},
                                    std::uint64_t{0x7fffffff},
                                    std::uint64_t{0x80000000},
                                    std::uint64_t{0xffffffff},
                                    std::uint64_t{0x100000000},
                                    top - 1,
                                    top,
                                    top + 1,
                                    all,
                                    all - 1,
                                    all - 0x7f,
                                    std::uint64_t{0x5555555555555555},
                                    std::uint64_t{0xaaaaaaaaaaaaaaaa},
                                    std::uint64_t{0x80ff7f0180ff7f01},
                                    std::uint64_t{0x0123456789abcdef},
                                    std::uint64_t{0xfedcba9876543210}}) {
    const std::uint64_t cut = value & all;
    if (std::find(values.begin(), values.end(), cut) == values.end()) values.push_back(cut);
  }
  if (values.size() % 2 == 0) values.push_back(0x3c & all);
  return values;
}

unsigned bits_in(std::string_view type) { return static_cast<unsigned>(8 * bytes_of(type)); }

std::uint64_t cut(std::uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

std::uint64_t draw_float(FloatShape shape, std::uint64_t previous, Random& random) {
  const unsigned width = 1 + shape.exponent_bits + shape.fraction_bits;
  const std::uint64_t bits = cut(random.next(), width);
  const std::uint64_t sign = bits & (std::uint64_t{1} << (width - 1));
  const std::uint64_t fraction = cut(random.next(), shape.fraction_bits);
  const auto bias = (std::int64_t{1} << (shape.exponent_bits - 1)) - 1;
  const auto with_exponent = [&](std::int64_t exponent, std::uint64_t digits) {
    const std::int64_t biased = std::clamp<std::int64_t>(bias + exponent, 0, 2 * bias);
    return sign | static_cast<std::uint64_t>(biased) << shape.fraction_bits | digits;
  };
  switch (random.below(8)) {
    case 0: return bits;
    case 1: return with_exponent(static_cast<std::int64_t>(random.below(9)) - 4, fraction);
    case 2: return with_exponent(static_cast<std::int64_t>(random.below(80)) - 16, fraction);
    case 3: {  // few significant digits, so that results are exact or ties
      const std::uint64_t kept = random.below(shape.fraction_bits + 1);
      const std::uint64_t digits = kept == 0 ? 0 : fraction >> kept << kept;
      return with_exponent(static_cast<std::int64_t>(random.below(40)) - 20, digits);
    }
    case 4: {  // near the limits of narrower formats
      constexpr std::array<std::int64_t, 8> kEdges = {-149, -126, -133, -25, -15, 15, 16, 127};
      const std::int64_t edge = kEdges[random.below(kEdges.size())];
      const std::uint64_t kept = random.below(shape.fraction_bits + 1);
      return with_exponent(edge + static_cast<std::int64_t>(random.below(3)) - 1,
                           fraction >> kept << kept);
    }
    case 5: return with_exponent(bias * (random.below(2) == 0 ? 1 : -1), fraction);
    // nearly cancels with `previous`
    case 6: return cut((previous ^ sign) + random.below(5) - 2, width);
    default: {
      const std::vector<std::uint64_t> values = special_floats(shape);
      return values[random.below(values.size())];
    }
  }
}

// Removes the prefix: "small_f16x2" becomes "f16x2".  `small_` types are mostly numbers whose
// products can be summed without overflow.
std::string_view without_small(std::string_view type) {
  return type.starts_with("small_") ? type.substr(6) : type;
}

std::uint64_t draw_small(std::string_view type, Random& random) {
  if (type == "e4m3x4") {  // or e5m2; few values are NaN or infinite
    const std::uint64_t bits = random.next() & 0xffffffff;
    return random.below(200) == 0 ? bits : bits & 0xbfbfbfbf;
  }
  if (const std::string_view half = half_of(type); !half.empty()) {
    const std::uint64_t low = draw_small(half, random);
    return draw_small(half, random) << 8 * bytes_of(half) | low;
  }
  FloatShape shape{};
  find_float(type, shape);
  const auto bias = (std::uint64_t{1} << (shape.exponent_bits - 1)) - 1;
  const std::uint64_t bits = random.next();
  const std::uint64_t rare = random.below(200);
  if (rare == 0) return cut(bits, 1 + shape.exponent_bits + shape.fraction_bits);
  if (rare == 1) {
    const std::vector<std::uint64_t> values = special_floats(shape);
    return values[bits % values.size()];
  }
  const std::uint64_t exponent = bias - 6 + random.below(8);
  const std::uint64_t fraction = cut(bits, shape.fraction_bits);
  return (bits >> 63) << (shape.exponent_bits + shape.fraction_bits) |
         exponent << shape.fraction_bits | fraction;
}

// Metadata for sparse matrices: four bits for each chunk give two different positions out of four,
// in ascending order.
std::uint64_t draw_metadata(bool of_pairs, Random& random) {
  constexpr std::array<std::uint64_t, 6> kPlaces = {0x4, 0x8, 0x9, 0xc, 0xd, 0xe};
  constexpr std::array<std::uint64_t, 2> kHalves = {0x4, 0xe};
  std::uint64_t metadata = 0;
  for (int chunk = 0; chunk < 8; ++chunk) {
    metadata = metadata << 4 | (of_pairs ? kHalves[random.below(kHalves.size())]
                                         : kPlaces[random.below(kPlaces.size())]);
  }
  return metadata;
}

// Four scale factors: near 1 as ue8m0, of all magnitudes as ue4m3.
std::uint64_t draw_scales(Random& random) {
  std::uint64_t scales = 0;
  for (int i = 0; i < 4; ++i) scales = scales << 8 | (116 + random.below(11));
  return scales;
}

std::uint64_t draw(std::string_view type, std::uint64_t previous, Random& random) {
  FloatShape shape{};
  if (type.starts_with("small_")) return draw_small(without_small(type), random);
  if (type.starts_with("metadata")) return draw_metadata(type != "metadata", random);
  if (type == "scales") return draw_scales(random);
  if (find_float(type, shape)) return draw_float(shape, previous, random);
  if (const std::string_view half = half_of(type); !half.empty()) {
    const std::size_t bits = 8 * bytes_of(half);
    const std::uint64_t low = draw(half, cut(previous, static_cast<unsigned>(bits)), random);
    return draw(half, previous >> bits, random) << bits | low;
  }
  const std::uint64_t any = random.next();
  if (type == "pred" || type == "carry") return any & 1;
  if (type == "position" && random.below(4) != 0) return any % 72;
  if (type == "offset") return cut(random.below(70) - 35, 32);
  const unsigned bits = bits_in(type);
  switch (random.below(4)) {
    case 0: return cut(any >> random.below(64), bits);     // small numbers of every length
    case 1: return cut(~(any >> random.below(64)), bits);  // small negative ones
    case 2: {
      const std::vector<std::uint64_t> values = special_values(type);
      return values[any % values.size()];
    }
    default: return cut(any, bits);
  }
}

}  // namespace

std::size_t bytes_of(std::string_view type) {
  type = without_small(type);
  if (type == "pred") return 1;
  if (type == "position" || type == "offset" || type == "carry") return 4;
  if (type.starts_with("metadata") || type == "scales") return 4;
  if (type == "f32x2") return 8;
  if (type.ends_with("x2") || type.ends_with("x4")) return 4;
  unsigned bits = 0;
  for (const char c : type) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      bits = 10 * bits + static_cast<unsigned>(c - '0');
    }
  }
  return bits / 8;
}

std::vector<std::uint64_t> special_values(std::string_view type) {
  FloatShape shape{};
  if (type.starts_with("small_")) return {0};  // all values are drawn at random
  if (type.starts_with("metadata")) return {0x44444444, 0xeeeeeeee};
  if (type == "scales") return {0x7f7f7f7f};
  if (find_float(type, shape)) return special_floats(shape);
  if (type == "pred" || type == "carry") return {0, 1};
  if (type == "offset")
    return {0, 1, 0xffffffff, 2, 5, 31, 32, 33, 0xffffffe0, 0x7fffffff, 0x80000000};
  if (type == "position") {
    return {0,   1,   2,   5,   7,     8,          15,         16,         17,     24, 30,
            31,  32,  33,  34,  47,    48,         62,         63,         64,     65, 66,
            127, 128, 255, 256, 0x120, 0x7fffffff, 0x80000000, 0xffffffff, 0x10001};
  }
  if (const std::string_view half = half_of(type); !half.empty()) {
    // Combines each value in the lower half with another value in the upper half.
    const std::vector<std::uint64_t> values = special_values(half);
    std::vector<std::uint64_t> pairs;
    for (std::size_t i = 0; i < values.size(); ++i) {
      pairs.push_back(values[(5 * i + 3) % values.size()] << 16 | values[i]);
    }
    return pairs;
  }
  return special_integers(bits_in(type));
}

namespace {

// seed: the types, each followed by a space
OperandTable operands_from(const std::string& seed, std::span<const std::string> types) {
  std::vector<std::vector<std::uint64_t>> specials;
  std::size_t most = 1;
  for (const std::string& type : types) {
    specials.push_back(special_values(type));
    most = std::max(most, specials.back().size());
  }
  // If the number s of values is odd, (i, j, i + j, i + 2j) mod s contains every pair of values in
  // any two of its positions.  If s is prime, i + 3j, i + 4j ... have this property too.
  most |= 1;
  const std::size_t pairs = types.size() == 1 ? most : most * most;
  const std::size_t wanted = std::max(kVectorsMin, pairs + kRandomMin);
  const std::size_t count = (wanted + kBlock - 1) / kBlock * kBlock;
  OperandTable table(types.size(), std::vector<std::uint64_t>(count));
  Random random(seed);
  for (std::size_t at = 0; at < count; ++at) {
    const std::size_t i = at % most;
    const std::size_t j = at / most;
    std::uint64_t previous = random.next();
    for (std::size_t k = 0; k < types.size(); ++k) {
      const std::size_t place = k == 0 ? i : k == 1 ? j : (i + (k - 1) * j) % most;
      table[k][at] = at < pairs ? specials[k][place % specials[k].size()]
                                : draw(types[k], cut(previous, bits_in(types[k])), random);
      previous = table[k][at];
    }
  }
  return table;
}

}  // namespace

// Making them takes longer than executing a form, and thousands of forms have the types of another.
const OperandTable& make_operands(std::span<const std::string> types) {
  static std::map<std::string, OperandTable> made;
  std::string seed;
  for (const std::string& type : types) seed += type + " ";
  const auto known = made.find(seed);
  return known != made.end() ? known->second
                             : made.emplace(seed, operands_from(seed, types)).first->second;
}

OperandTable operands_of(const ptx::InstructionForm& form) {
  OperandTable table = make_operands(form.sources);
  const bool is_composed = form.family.starts_with("sequence_") || form.family == "kernels";
  if (!is_composed) return table;
  for (std::vector<std::uint64_t>& column : table) {
    for (std::size_t at = 0; at < kComposedVectors; ++at) {
      column[at] = column[at * column.size() / kComposedVectors];
    }
    column.resize(kComposedVectors);
  }
  return table;
}

}  // namespace warpcheck::conformance
