#include "vgpu/check/shadow/printed_arguments.hpp"

#include <cstring>
#include <string>

#include "vgpu/machine/memory/targets.hpp"
#include "vgpu/machine/printf_format.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {
namespace {

std::uint64_t address_in(const InstrStep& step, const Ref& ref, unsigned lane) {
  std::uint64_t address = 0;
  std::memcpy(&address, row_of(*step.registers, ref) + lane * sizeof address, sizeof address);
  return address;
}

// Returns the format, which is a constant of the program; empty: it is elsewhere.
std::string format_at(const InstrStep& step, std::uint64_t address) {
  const Allocation* const memory = step.launch->memory().object_at(address);
  std::string text;
  if (memory == nullptr) return text;
  for (std::uint64_t at = address - memory->address; at < memory->bytes; ++at) {
    const auto next = std::to_integer<char>(memory->data[at]);
    if (next == 0) break;
    text += next;
  }
  return text;
}

}  // namespace

std::vector<PrintedArgument> printed_arguments(const InstrStep& step, unsigned lane) {
  std::vector<PrintedArgument> found;
  const Instr& instr = step.program->code[step.pc];
  const std::uint64_t buffer = address_in(step, instr[PrintOperand::arguments], lane);
  const auto read = [&](std::uint32_t offset, std::uint32_t bytes) {
    PrintedArgument argument{.bytes = bytes};
    for (std::uint32_t i = 0; i < bytes / 4; ++i) {
      const std::uint64_t at = buffer + offset + 4 * std::uint64_t{i};
      if (at - kLocalWindow >= kWindowBytes) return std::uint64_t{0};
      const Target target = local_target(*step.warp, kLocalWindow, at);
      const auto place = static_cast<std::uint32_t>(at - target.base);
      if (target.allocation != step.warp->local || place + 4 > target.limit)
        return std::uint64_t{0};
      argument.offsets[i] = place / 4 * (4 * kWarpLanes) + lane * 4;
      std::uint32_t word = 0;
      std::memcpy(&word, target.allocation->data + argument.offsets[i], sizeof word);
      argument.bits |= std::uint64_t{word} << (32 * i);
    }
    found.push_back(argument);
    return argument.bits;
  };
  format_printf(format_at(step, address_in(step, instr[PrintOperand::format], lane)),
                {read, [](std::uint64_t) { return std::string(); }});
  return found;
}

}  // namespace warpcheck::vgpu
