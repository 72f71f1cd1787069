#include "vgpu/conformance/replay.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "vgpu/conformance/kernel_text.hpp"
#include "vgpu/conformance/operands.hpp"
#include "vgpu/conformance/whole_kernels.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck::conformance {
namespace {

class DefaultSchedule final : public vgpu::Strategy {
 public:
  std::uint64_t next_access(std::uint32_t, vgpu::WarpId, std::uint64_t) override {
    return UINT64_MAX;
  }
  [[nodiscard]] bool decides_stops() const override { return false; }
  std::optional<vgpu::Choice> decide(const vgpu::SchedulePoint&) override { return std::nullopt; }
};

std::string describe(const ptx::InstructionForm& form, const OperandTable& operands,
                     const Recorded& recorded, const std::vector<std::uint64_t>& got,
                     std::size_t at) {
  std::string text;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    text += fmt::format("{}={:#x} ", source_name(k), operands[k][at]);
  }
  text += "->";
  for (std::size_t r = 0; r < form.results.size(); ++r) {
    const std::size_t place = r * recorded.count + at;
    text += fmt::format(" {:#x} (recorded {:#x})", got[place], recorded.values[place]);
  }
  return text;
}

// Allocates the variables whose addresses the program contains, and patches the addresses.
void place_variables(const ptx::Module& module, vgpu::DeviceMemory& memory,
                     vgpu::Program& program) {
  std::map<std::uint32_t, std::uint64_t> address_of;
  for (const vgpu::AddressPatch& patch : program.patches) {
    const ptx::Variable& variable = module.variables[patch.variable];
    const auto [place, is_new] = address_of.try_emplace(patch.variable);
    if (is_new) {
      vgpu::Allocation* const allocation = memory.allocate(variable.bytes, variable.space);
      std::memset(allocation->data, 0, variable.bytes);
      std::ranges::transform(variable.initial, allocation->data,
                             [](std::uint8_t byte) { return std::byte{byte}; });
      place->second = allocation->address;
    }
    const std::uint64_t address = place->second + static_cast<std::uint64_t>(patch.addend);
    const std::size_t width = patch.wide ? 8 : 4;
    for (unsigned lane = 0; lane < vgpu::kWarpLanes; ++lane) {
      std::memcpy(&program.constants[patch.constant_offset + lane * width], &address, width);
    }
  }
}

}  // namespace

std::vector<std::uint64_t> execute(const ptx::InstructionForm& form, vgpu::Compile compile) {
  const std::string text = module_head(form.target) + kernel_text(form, "form");
  return execute_kernel(ptx::parse(text, form.text), form, "form", compile);
}

std::vector<std::uint64_t> execute_kernel(const ptx::Module& module,
                                          const ptx::InstructionForm& form, const std::string& name,
                                          vgpu::Compile compile) {
  vgpu::Program program = vgpu::decode(module, name);
  vgpu::link(program);

  const OperandTable operands = operands_of(form);
  const std::size_t count = operands[0].size();
  vgpu::DeviceMemory memory;
  place_variables(module, memory, program);
  vgpu::Allocation* const in = memory.allocate(operands.size() * count * 8);
  vgpu::Allocation* const out = memory.allocate(form.results.size() * count * 8);
  for (std::size_t k = 0; k < operands.size(); ++k) {
    std::memcpy(in->data + k * count * 8, operands[k].data(), count * 8);
  }
  std::memset(out->data, 0, out->bytes);

  const std::array<std::uint64_t, 2> parameters = {in->address, out->address};
  vgpu::Launch launch;
  launch.program = &program;
  launch.grid = {static_cast<std::uint32_t>(count / kThreadsPerBlock), 1, 1};
  launch.block = {kThreadsPerBlock, 1, 1};
  launch.parameters = std::as_bytes(std::span(parameters));
  DefaultSchedule schedule;
  vgpu::Machine machine(memory);
  machine.run(launch, vgpu::WarpModel::lockstep, schedule, vgpu::ObserverList(),
              {.compile = compile});

  // A result cell is wider than most results, and an atomic may have left its operand in the rest.
  std::vector<std::uint64_t> values(form.results.size() * count);
  for (std::size_t at = 0; at < values.size(); ++at) {
    std::memcpy(&values[at], out->data + at * 8, result_bytes(form.results[at / count]));
  }
  return values;
}

Comparison compare(const ptx::InstructionForm& form, const Recorded& recorded) {
  try {
    Comparison interpreted = compare(form, recorded, execute(form, vgpu::Compile::never));
    if (interpreted.differences != 0) return interpreted;
    return compare(form, recorded, execute(form, vgpu::Compile::at_once));
  } catch (const vgpu::Refusal& refusal) {
    return {form.text, refusal.what(), recorded.count, 0, {}};
  }
}

Comparison compare(const ptx::InstructionForm& form, const Recorded& recorded,
                   const std::vector<std::uint64_t>& got, unsigned ulps) {
  Comparison result{form.text, {}, recorded.count, 0, {}};
  for (std::size_t at = 0; at < recorded.count; ++at) {
    bool same = true;
    for (std::size_t r = 0; r < form.results.size(); ++r) {
      const std::size_t place = r * recorded.count + at;
      same = same && (form.family == "kernels"
                          ? is_agreed(form.results[r], got[place], recorded.values[place], ulps)
                          : got[place] == recorded.values[place]);
    }
    if (same) continue;
    if (result.differences++ == 0) {
      result.first = describe(form, operands_of(form), recorded, got, at);
    }
  }
  return result;
}

}  // namespace warpcheck::conformance
