#include "vgpu/differential/compare.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "vgpu/differential/random_program.hpp"
#include "vgpu/differential/reference.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/schedule/default_policy.hpp"

namespace warpcheck::vgpu {
namespace {

// Puts the functions' addresses where the program expects them, as a runtime would.
void place_tables(const ptx::Module& module, DeviceMemory& memory, Program& program) {
  std::vector<Allocation*> places;
  for (const ptx::Variable& variable : module.variables) {
    Allocation* const place = memory.allocate(variable.bytes);
    for (const ptx::Variable::Relocation& relocation : variable.relocations) {
      const std::uint64_t address = function_address(relocation.symbol);
      std::memcpy(place->data + relocation.offset, &address, sizeof address);
    }
    places.push_back(place);
  }
  for (const AddressPatch& patch : program.patches) {
    const std::uint64_t address =
        places.at(patch.variable)->address + static_cast<std::uint64_t>(patch.addend);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      std::memcpy(program.constants.data() + patch.constant_offset + lane * 8, &address, 8);
    }
  }
}

std::vector<std::uint32_t> machine_results(const ptx::Module& module) {
  Program program = decode(module, "k");
  link(program);
  DeviceMemory memory;
  Machine machine(memory);
  place_tables(module, memory, program);
  Allocation* const out = memory.allocate(kDifferentialThreads * kOutputWords * 4);
  std::memset(out->data, 0, out->bytes);
  const std::uint64_t address = out->address;
  Launch launch;
  launch.program = &program;
  launch.block = {kDifferentialThreads, 1, 1};
  launch.stack_bytes = 1 << 16;
  launch.parameters = std::as_bytes(std::span(&address, 1));
  DefaultPolicy policy;
  const Outcome outcome = machine.run(launch, WarpModel::independent, policy, {}, {});
  if (outcome.end != Outcome::End::completed) return {};
  std::vector<std::uint32_t> results(out->bytes / 4);
  std::memcpy(results.data(), out->data, out->bytes);
  return results;
}

}  // namespace

std::string difference(std::uint64_t seed) {
  return difference_in(random_program(seed), fmt::format("seed {}", seed));
}

std::string difference_in(std::string_view text, std::string_view name) {
  const ptx::Module module = ptx::parse(text, name);
  const std::vector<std::uint32_t> found = machine_results(module);
  const std::vector<std::uint32_t> expected =
      reference_results(module, kDifferentialThreads, kOutputWords);
  if (found.empty()) return fmt::format("{}: the machine did not end it", name);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (found[i] == expected[i]) continue;
    return fmt::format("{}: word {} of thread {} is {:#x}, by the reference {:#x}", name,
                       i % kOutputWords, i / kOutputWords, found[i], expected[i]);
  }
  return {};
}

}  // namespace warpcheck::vgpu
