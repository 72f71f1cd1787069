#include "vgpu/check/shadow/shadow_bits.hpp"

#include <cstring>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;

constexpr unsigned kSources = 4, kBytes = 8;
constexpr std::size_t kRowBytes = kWideRowBytes;

bool is_logic(Opcode opcode) {
  return opcode == Opcode::and_ || opcode == Opcode::or_ || opcode == Opcode::xor_ ||
         opcode == Opcode::not_ || opcode == Opcode::lop3_;
}

// The sources whose bits are moved; the others say where.
unsigned moved_sources(Opcode opcode) {
  switch (opcode) {
    case Opcode::prmt_:
    case Opcode::shf_:
    case Opcode::bfi_: return 0b0011;
    default: return 0b0001;
  }
}

bool holds(const Instr& instr, const ShadowBits& operands) {
  unsigned bytes = 0;
  for (unsigned source = 0; source < kSources; ++source) {
    const unsigned of_data = operands.of_data[source];
    if (is_logic(instr.opcode)) {
      if ((bytes & of_data) != 0) return false;
      bytes |= of_data;
    } else if (of_data != 0 && (moved_sources(instr.opcode) >> source & 1) == 0) {
      return false;
    }
  }
  return true;
}

// Executes the instruction for lane 0 on rows of its own.
class Trials {
 public:
  explicit Trials(const Instr& instr) : instr_(instr) {
    std::uint32_t number = 0;
    for (const ComputeOperand operand : kComputeSources) place(operand, number++);
    place(ComputeOperand::d, number);
    is_wide_ = instr[ComputeOperand::d].bank == Bank::wide;
    for (const Bank bank : {Bank::word, Bank::wide, Bank::constant}) {
      banks_.base[static_cast<std::size_t>(bank)] = rows_.data();
    }
  }

  std::uint64_t run(const std::array<std::uint64_t, kSources>& values) {
    for (unsigned i = 0; i < kSources; ++i)
      std::memcpy(rows_.data() + i * kRowBytes, &values[i], sizeof values[i]);
    instr_.compute(banks_, instr_, 1);
    std::uint64_t result = 0;
    std::memcpy(&result, rows_.data() + kSources * kRowBytes, is_wide_ ? 8 : 4);
    return result;
  }

 private:
  void place(ComputeOperand operand, std::uint32_t number) {
    if (instr_[operand].bank != Bank::none)
      instr_[operand].offset = number * static_cast<std::uint32_t>(kRowBytes);
  }

  Instr instr_;
  LaneBanks banks_;
  bool is_wide_ = false;
  alignas(64) std::array<std::byte, (kSources + 1) * kRowBytes> rows_{};
};

constexpr std::uint64_t byte_at(unsigned byte) { return std::uint64_t{0xff} << (8 * byte); }

}  // namespace

ShadowBytes shadow_bytes_of(const Instr& instr, const ShadowBits& operands) {
  ShadowBytes result;
  if (!holds(instr, operands)) return result;
  Trials trials(instr);
  // What the sources are if bit `bit` of source `source` of data is bits(source, bit).
  const auto with = [&](auto bits) {
    std::array<std::uint64_t, kSources> values = operands.value;
    for (unsigned source = 0; source < kSources; ++source) {
      for (unsigned byte = 0; byte < kBytes; ++byte) {
        if ((operands.of_data[source] >> byte & 1) == 0) continue;
        values[source] &= ~byte_at(byte);
        for (unsigned bit = 8 * byte; bit < 8 * byte + 8; ++bit)
          values[source] |= std::uint64_t{bits(source, bit)} << bit;
      }
    }
    return trials.run(values);
  };
  const std::uint64_t zeros = with([](unsigned, unsigned) { return 0u; });
  const std::uint64_t ones = with([](unsigned, unsigned) { return 1u; });
  std::array<std::uint64_t, 8> digits{};
  for (unsigned digit = 0; digit < digits.size(); ++digit)
    digits[digit] =
        with([&](unsigned source, unsigned bit) { return (64 * source + bit) >> digit & 1; });
  const auto source_of = [&](unsigned bit) {
    unsigned number = 0;
    for (unsigned digit = 0; digit < digits.size(); ++digit)
      number |= static_cast<unsigned>(digits[digit] >> bit & 1) << digit;
    return number;
  };
  result.is_known = true;
  for (unsigned byte = 0; byte < kBytes; ++byte) {
    ShadowByte& one = result.bytes[byte];
    if (((zeros ^ ones) & byte_at(byte)) == 0) {
      one.kind = ShadowByte::Kind::plain;
      continue;
    }
    const unsigned first = source_of(8 * byte);
    bool is_moved = (~zeros & ones & byte_at(byte)) == byte_at(byte) && first % 8 == 0;
    for (unsigned bit = 1; bit < 8; ++bit)
      is_moved = is_moved && source_of(8 * byte + bit) == first + bit;
    if (!is_moved) continue;
    one = {ShadowByte::Kind::moved, static_cast<std::uint8_t>(first / 64),
           static_cast<std::uint8_t>(first % 64 / 8)};
  }
  return result;
}

}  // namespace warpcheck::vgpu
