#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <span>

#include "vgpu/check/checkers.hpp"
#include "vgpu/differential/engine.hpp"
#include "vgpu/differential/random/random_program.hpp"
#include "vgpu/machine/link.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint64_t kStepsMax = 2'000'000;  // a shrunk program may never end

Allocation* place(const ptx::Variable& variable, DeviceMemory& memory) {
  Allocation* const made = memory.allocate(variable.bytes, variable.space);
  std::memset(made->data, 0, variable.bytes);
  std::ranges::copy(std::as_bytes(std::span(variable.initial)), made->data);
  for (const ptx::Variable::Relocation& relocation : variable.relocations) {
    const std::uint64_t address = function_address(relocation.symbol);
    std::memcpy(made->data + relocation.offset, &address, sizeof address);
  }
  return made;
}

// Places the module's variables in memory, and writes their addresses to the program, as a runtime
// does.
void place_variables(const ptx::Module& module, DeviceMemory& memory, Program& program) {
  std::map<std::uint32_t, std::uint64_t> address_of;
  for (const AddressPatch& patch : program.patches) {
    const auto [found, is_new] = address_of.try_emplace(patch.variable);
    if (is_new) found->second = place(module.variables.at(patch.variable), memory)->address;
    const std::uint64_t address = found->second + static_cast<std::uint64_t>(patch.addend);
    const std::size_t width = patch.wide ? 8 : 4;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      std::memcpy(program.constants.data() + patch.constant_offset + lane * width, &address, width);
    }
  }
}

std::string problem_of(const Outcome& outcome) {
  switch (outcome.end) {
    case Outcome::End::completed: return {};
    case Outcome::End::step_limit: return "it does not end";
    case Outcome::End::deadlock: return "it is deadlocked";
    case Outcome::End::trap: return "it traps";
    default: return outcome.refusal;
  }
}

}  // namespace

Result run_on_machine(const ptx::Module& module, std::uint32_t threads,
                      const MachineSettings& settings) {
  Program program = decode(module, "k");
  link(program, settings.level);
  DeviceMemory memory;
  Machine machine(memory);
  place_variables(module, memory, program);
  Allocation* const out = memory.allocate(buffer_bytes(threads));
  for (std::size_t i = 0; i < out->bytes; ++i) out->data[i] = std::byte{initial_byte(i)};
  const std::uint64_t address = out->address;
  Launch launch;
  launch.program = &program;
  launch.grid = {settings.blocks, 1, 1};
  const std::uint32_t row = settings.row == 0 ? threads : settings.row;
  launch.block = {row, threads / row, 1};
  launch.stack_bytes = 1 << 16;
  launch.parameters = std::as_bytes(std::span(&address, 1));
  std::optional<Checkers> checkers;
  const std::array watching{settings.watches, settings.watches_too};
  std::span<Observer* const> observers;
  if (settings.watches != nullptr) {
    observers = std::span(watching).first(settings.watches_too != nullptr ? 2 : 1);
  }
  if (settings.checks) {
    // The checkers do not know what the host wrote before the launch.
    checkers.emplace(CheckerSet{.init = false, .lifetime = false}, WarpModel::independent);
    observers = checkers->observers();
  }
  const auto strategy = make_strategy(settings.strategy, settings.seed);
  const Limits limits{.steps_max = kStepsMax,
                      .quantum = settings.quantum,
                      .compile = settings.compiles ? Compile::at_once : Compile::never};
  Result result;
  for (; launch.index < settings.launches && result.problem.empty(); ++launch.index) {
    const Outcome outcome = machine.run(launch, WarpModel::independent, *strategy, observers,
                                        limits, settings.watches != nullptr);
    result.problem = problem_of(outcome);
    result.steps += outcome.steps;
    result.lane_steps += outcome.lane_steps;
    std::ranges::copy(outcome.decisions, std::back_inserter(result.decisions));
  }
  if (checkers && !checkers->findings().empty()) {
    const Finding& finding = checkers->findings().front();
    result.problem =
        fmt::format("{} on {} is found, by '{}': {}", name_of(finding.kind), finding.object,
                    finding.accesses.empty() ? "" : finding.accesses[0].ptx, finding.message);
  }
  if (!result.problem.empty()) return result;
  result.bytes.resize(out->bytes);
  std::memcpy(result.bytes.data(), out->data, out->bytes);
  return result;
}

}  // namespace warpcheck::vgpu
