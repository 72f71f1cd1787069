#include "vgpu/check/numerics/operations.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using ptx::Opcode;

std::string text_of_operation(const Instr& instr, FloatFormat format,
                              std::span<const double> operands) {
  std::vector<std::string> text(3, "?");
  for (std::size_t i = 0; i < operands.size() && i < text.size(); ++i) {
    text[i] = text_of_float(format, operands[i]);
  }
  const auto& [a, b, c] = std::tie(text[0], text[1], text[2]);
  switch (instr.opcode) {
    case Opcode::add_: return fmt::format("{} + {}", a, b);
    case Opcode::sub_: return fmt::format("{} - {}", a, b);
    case Opcode::mul_: return fmt::format("{} * {}", a, b);
    case Opcode::div_: return fmt::format("{} / {}", a, b);
    case Opcode::mad_:
    case Opcode::fma_:
      // So does the toolkit's logarithm make the NaN of a negative argument.
      if (operands.size() == 3 && operands[0] < 0 && std::isinf(operands[1]) &&
          operands[1] == operands[2]) {
        return fmt::format("the logarithm of {}", a);
      }
      return fmt::format("{} * {} + {}", a, b, c);
    case Opcode::rcp_: return fmt::format("1 / {}", a);
    case Opcode::sqrt_: return fmt::format("the square root of {}", a);
    case Opcode::rsqrt_: return fmt::format("1 / the square root of {}", a);
    case Opcode::lg2_: return fmt::format("the logarithm of {}", a);
    case Opcode::ex2_: return fmt::format("2^{}", a);
    case Opcode::sin_: return fmt::format("the sine of {}", a);
    case Opcode::cos_: return fmt::format("the cosine of {}", a);
    default: return a;
  }
}

// The argument is calculated from the operands, which have lost its last digits.
std::string text_of_step(FunctionStep step, std::span<const double> operands) {
  constexpr double kLog2OfE = 1.4426950408889634;
  switch (step) {
    case FunctionStep::exponential:
      return fmt::format("expf({:.6g})", std::log(operands[0]) + std::log(operands[1]));
    case FunctionStep::scaled_exponential:
      return fmt::format("__expf({:.6g})", operands[0] / kLog2OfE);
    case FunctionStep::arc:
      return fmt::format("acosf() or asinf() of {}",
                         text_of_float(FloatFormat::f32, 1 - 2 * operands[0]));
    case FunctionStep::none: break;
  }
  return {};
}

std::string text_of_call(std::string_view function, const std::string& arguments) {
  if (function.ends_with(' ')) return fmt::format("{}{}", function, arguments);
  if (function.ends_with(')') || arguments.empty())
    return fmt::format("{} outside the domain", function);
  return fmt::format("{}({})", function, arguments);
}

std::int64_t integer_at(const std::byte* row, ptx::Type type, unsigned lane) {
  const std::uint32_t bytes = ptx::bytes_of(type);
  std::uint64_t bits = 0;
  std::memcpy(&bits, row + lane * (bytes == 8 ? 8u : 4u), bytes);
  const unsigned unused = 64 - 8 * bytes;
  const auto shifted = static_cast<std::int64_t>(bits << unused);
  return ptx::is_signed(type) ? shifted >> unused : static_cast<std::int64_t>(bits);
}

std::string with_commas(std::int64_t value) {
  std::string digits = fmt::format("{}", value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

}  // namespace warpcheck::vgpu
