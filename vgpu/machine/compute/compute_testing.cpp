#include "vgpu/machine/compute/compute_testing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::testing {
namespace {

using ptx::Type;

constexpr unsigned kRefs = kOperandPlaces;

unsigned bits_in(Type type) { return type == Type::pred ? 1 : 8 * ptx::bytes_of(type); }

// Register banks with one row for each operand.
struct Rows {
  alignas(64) std::array<std::uint32_t, kRefs * kWarpLanes> words{};
  alignas(64) std::array<std::uint64_t, kRefs * kWarpLanes> wides{};
  std::array<std::uint32_t, kRefs> predicates{};
  friend bool operator==(const Rows&, const Rows&) = default;

  LaneBanks banks() {
    LaneBanks result;
    result.base[static_cast<std::size_t>(Bank::word)] = reinterpret_cast<std::byte*>(words.data());
    result.base[static_cast<std::size_t>(Bank::wide)] = reinterpret_cast<std::byte*>(wides.data());
    result.base[static_cast<std::size_t>(Bank::predicate)] =
        reinterpret_cast<std::byte*>(predicates.data());
    return result;
  }

  [[nodiscard]] std::uint64_t get(Type type, unsigned place, unsigned lane) const {
    if (type == Type::pred) return predicates[place] >> lane & 1;
    if (ptx::bytes_of(type) == 8) return wides[place * kWarpLanes + lane];
    return words[place * kWarpLanes + lane];
  }

  void set(Type type, unsigned place, unsigned lane, std::uint64_t value) {
    if (type == Type::pred) {
      const std::uint32_t bit = 1u << lane;
      predicates[place] = (predicates[place] & ~bit) | ((value & 1) != 0 ? bit : 0);
    } else if (ptx::bytes_of(type) == 8) {
      wides[place * kWarpLanes + lane] = value;
    } else {
      words[place * kWarpLanes + lane] = static_cast<std::uint32_t>(value);
    }
  }
};

std::uint64_t draw(Type type, std::mt19937_64& random) {
  const std::vector<std::uint64_t> special = extremes(type);
  const std::uint64_t any = random();
  switch (random() % 4) {
    case 0: return any;
    case 1: return any >> (random() % 64);  // small numbers of every length
    default: return special[any % special.size()];
  }
}

// Fills all rows with random values; the rows of narrow types have random bits above their width.
Rows draw_rows(const TestedInstruction& form, std::mt19937_64& random) {
  Rows rows;
  for (unsigned place = 0; place < kRefs; ++place) {
    const Type type = form.operands.at(place);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if (type == Type::none) continue;
      const unsigned bits = bits_in(type);
      const std::uint64_t junk = bits < 32 && type != Type::pred ? random() << bits : 0;
      rows.set(type, place, lane, low_bits(draw(type, random), bits) | junk);
    }
  }
  return rows;
}

Lane lane_of(const TestedInstruction& form, const Rows& rows, unsigned lane) {
  Lane result{};
  for (unsigned place = 0; place < kRefs; ++place) {
    const Type type = form.operands.at(place);
    if (type == Type::none) continue;
    const bool destination = std::count(form.destinations.begin(), form.destinations.end(),
                                        ComputeOperand::d + place) != 0;
    const std::uint64_t cell = rows.get(type, place, lane);
    result.at(place) = destination ? cell : low_bits(cell, bits_in(type));
  }
  return result;
}

std::uint32_t draw_mask(int round, std::mt19937_64& random) {
  if (round % 3 == 0) return 0xffffffffu;
  const auto mask = static_cast<std::uint32_t>(random() & random());
  return mask == 0 ? 1u << (random() % 32) : mask;
}

Rows expected_rows(const TestedInstruction& form, const Rows& before, std::uint32_t mask,
                   const Reference& reference) {
  Rows after = before;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    Lane values = lane_of(form, before, lane);
    reference(values);
    for (const ComputeOperand destination : form.destinations) {
      const auto place = static_cast<unsigned>(place_of(destination));
      if (form.operands.at(place) != Type::none) {
        after.set(form.operands.at(place), place, lane, values.at(place));
      }
    }
  }
  return after;
}

std::string first_difference(const TestedInstruction& form, const Rows& before, const Rows& want,
                             const Rows& got) {
  for (unsigned place = 0; place < kRefs; ++place) {
    const Type type = form.operands.at(place);
    if (type == Type::none) continue;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if (want.get(type, place, lane) == got.get(type, place, lane)) continue;
      std::string text = "operand " + std::to_string(place) + " lane " + std::to_string(lane);
      char line[120];
      std::snprintf(line, sizeof line, ": got %#llx, expected %#llx; operands",
                    static_cast<unsigned long long>(got.get(type, place, lane)),
                    static_cast<unsigned long long>(want.get(type, place, lane)));
      text += line;
      Lane values = lane_of(form, before, lane);
      for (unsigned operand = 0; operand < kRefs; ++operand) {
        std::snprintf(line, sizeof line, " %#llx",
                      static_cast<unsigned long long>(values.at(operand)));
        text += line;
      }
      return text;
    }
  }
  return "a row that the instruction does not name";
}

}  // namespace

std::uint64_t low_bits(std::uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

std::vector<SimdLevel> levels() {
  std::vector<SimdLevel> result;
  for (const SimdLevel level : {SimdLevel::baseline, SimdLevel::avx2, SimdLevel::avx512}) {
    if (level <= host_simd_level()) result.push_back(level);
  }
  return result;
}

namespace {

std::vector<std::uint64_t> extremes_of_f32() {
  std::vector<std::uint64_t> values;
  for (const std::uint32_t magnitude :
       {0u,          1u,          2u,          0x007fffffu, 0x00800000u, 0x00800001u, 0x3effffffu,
        0x3f000000u, 0x3f000001u, 0x3f7fffffu, 0x3f800000u, 0x3f800001u, 0x3fc00000u, 0x40000000u,
        0x40200000u, 0x42fe0000u, 0x437f0000u, 0x4affffffu, 0x4b000001u, 0x4b7fffffu, 0x4effffffu,
        0x4f000000u, 0x4f7fffffu, 0x4f800000u, 0x5effffffu, 0x5f000000u, 0x5f7fffffu, 0x5f800000u,
        0x7e800000u, 0x7effffffu, 0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fa12345u, 0x7fc00000u,
        0x7fffffffu, 0x477fe000u, 0x477ff000u, 0x33800000u, 0x33000000u, 0x38800000u}) {
    values.push_back(magnitude);
    values.push_back(magnitude | 0x80000000u);
  }
  return values;
}

std::vector<std::uint64_t> extremes_of_f64() {
  std::vector<std::uint64_t> values;
  for (const double magnitude : {0.0,
                                 0x1p-1074,
                                 0x1p-1022,
                                 0x0.fffffffffffffp-1022,
                                 0x1p-149,
                                 0x1p-150,
                                 0x1.8p-150,
                                 0x1p-126,
                                 0x1.fffffep-127,
                                 0x1.ffffffp-127,
                                 0.5,
                                 0.49999999999999994,
                                 1.0,
                                 1.0000000000000002,
                                 1.00000006,
                                 1.5,
                                 2.5,
                                 127.5,
                                 255.5,
                                 65535.5,
                                 0x1p31,
                                 0x1p32 - 0.5,
                                 0x1p32,
                                 0x1p52,
                                 0x1p52 - 0.5,
                                 0x1p53 - 1,
                                 0x1p63,
                                 0x1p64,
                                 0x1.fffffep127,
                                 0x1.ffffffp127,
                                 0x1p128,
                                 0x1p1023,
                                 0x1.fffffffffffffp1023,
                                 __builtin_inf()}) {
    values.push_back(bits_of(magnitude));
    values.push_back(bits_of(-magnitude));
  }
  for (const std::uint64_t nan :
       {0x7ff0000000000001u, 0x7ff8000000000000u, 0xfff8000000012345u, 0x7fffffffffffffffu}) {
    values.push_back(nan);
  }
  return values;
}

std::vector<std::uint64_t> extremes_of_halves() {
  return {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff,     0x0400,     0x3bff,     0x3c00,    0xbc00,
          0x3c01, 0x7bff, 0xfbff, 0x7c00, 0xfc00,     0x7c01,     0x7e00,     0x7fff,    0xffff,
          0x3f80, 0x7f80, 0xff80, 0x7f7f, 0x3c003c00, 0x7fff8000, 0xfc007bff, 0x80010001};
}

std::vector<std::uint64_t> extremes_of_integers(unsigned bits) {
  const std::uint64_t top = std::uint64_t{1} << (bits - 1);
  return {0,
          1,
          2,
          3,
          5,
          7,
          8,
          15,
          16,
          31,
          32,
          33,
          63,
          64,
          65,
          127,
          128,
          255,
          256,
          0x7fff,
          0x8000,
          0xffff,
          0x10000,
          0xffffff,
          0x800000,
          0x7fffffff,
          0x80000000,
          0xffffffff,
          top - 1,
          top,
          top + 1,
          ~std::uint64_t{0},
          ~std::uint64_t{0} - 1,
          0x5555555555555555,
          0xaaaaaaaaaaaaaaaa};
}

}  // namespace

std::vector<std::uint64_t> extremes(Type type) {
  switch (type) {
    case Type::f32: return extremes_of_f32();
    case Type::f64: return extremes_of_f64();
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2: return extremes_of_halves();
    default: return extremes_of_integers(bits_in(type));
  }
}

Instr make_instr(const TestedInstruction& form) {
  Instr instr;
  instr.opcode = form.opcode;
  instr.modifiers = form.modifiers;
  (form.opcode == ptx::Opcode::lop3_ ? instr.truth_table : instr.packed) = form.offset;
  instr.kind = InstrKind::compute;
  for (unsigned place = 0; place < kRefs; ++place) {
    const Type type = form.operands.at(place);
    if (type == Type::none) continue;
    if (type == Type::pred) {
      instr[ComputeOperand::d + place] = {Bank::predicate, 4 * place};
    } else if (ptx::bytes_of(type) == 8) {
      instr[ComputeOperand::d + place] = {Bank::wide, place * kWideRowBytes};
    } else {
      instr[ComputeOperand::d + place] = {Bank::word, place * kWordRowBytes};
    }
  }
  return instr;
}

void expect_agrees(const TestedInstruction& form, const Reference& reference, int rounds) {
  SCOPED_TRACE(form.name);
  const Instr instr = make_instr(form);
  std::mt19937_64 random(std::hash<std::string>{}(form.name));
  for (const SimdLevel level : levels()) {
    const ComputeFn compute = find_compute(instr, level);
    ASSERT_NE(compute, nullptr) << name_of(level);
    for (int round = 0; round < rounds; ++round) {
      const Rows before = draw_rows(form, random);
      const std::uint32_t mask = draw_mask(round, random);
      const Rows want = expected_rows(form, before, mask, reference);
      Rows got = before;
      compute(got.banks(), instr, mask);
      ASSERT_TRUE(got == want) << name_of(level) << " "
                               << first_difference(form, before, want, got);
    }
  }
}

void expect_same_at_all_levels(const TestedInstruction& form,
                               const std::function<void(const Lane&)>& judge, int rounds) {
  SCOPED_TRACE(form.name);
  const Instr instr = make_instr(form);
  std::mt19937_64 random(std::hash<std::string>{}(form.name));
  const ComputeFn baseline = find_compute(instr, SimdLevel::baseline);
  ASSERT_NE(baseline, nullptr);
  for (int round = 0; round < rounds; ++round) {
    const Rows before = draw_rows(form, random);
    const std::uint32_t mask = draw_mask(round, random);
    Rows want = before;
    baseline(want.banks(), instr, mask);
    for (const SimdLevel level : levels()) {
      const ComputeFn compute = find_compute(instr, level);
      ASSERT_NE(compute, nullptr) << name_of(level);
      Rows got = before;
      compute(got.banks(), instr, mask);
      ASSERT_TRUE(got == want) << name_of(level) << " "
                               << first_difference(form, before, want, got);
    }
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      Lane values = lane_of(form, before, lane);
      for (const ComputeOperand destination : form.destinations) {
        const auto place = static_cast<unsigned>(place_of(destination));
        values.at(place) = want.get(form.operands.at(place), place, lane);
      }
      judge(values);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace warpcheck::vgpu::testing
