#include "vgpu/cudart/against/repetition.hpp"

#include <algorithm>
#include <exception>

#include "vgpu/check/reporter.hpp"
#include "vgpu/cudart/against/launch_capture.hpp"
#include "vgpu/cudart/code/device_code.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/schedule/default_policy.hpp"

namespace warpcheck::cudart {
namespace {

// Notes whether something is wrong that would make results depend on the device.
class Doubts final : public vgpu::Observer {
 public:
  [[nodiscard]] vgpu::Watched watches() const override {
    vgpu::Watched watched = vgpu::Watched::rare();
    watched.unwritten_registers = true;
    return watched;
  }
  void on_fault(const vgpu::Fault&) override { any_ = true; }
  void on_undefined_use(const vgpu::UndefinedUse&) override { any_ = true; }
  void on_barrier_divergence(const vgpu::BarrierDivergence&) override { any_ = true; }
  void on_trap(const vgpu::Trap&) override { any_ = true; }
  [[nodiscard]] bool any() const { return any_; }

 private:
  bool any_ = false;
};

class LastWriter final : public vgpu::Observer {
 public:
  LastWriter(const vgpu::Launch& launch, const vgpu::Allocation& part, std::uint64_t offset)
      : launch_(launch), part_(part), offset_(offset) {}

  [[nodiscard]] vgpu::Watched watches() const override {
    vgpu::Watched watched = vgpu::Watched::rare();
    watched.accesses = true;
    return watched;
  }
  void on_access(const vgpu::Access& access) override {
    if (access.allocation != &part_ || access.kind == vgpu::AccessKind::read) return;
    for (unsigned lane = 0; lane < vgpu::kWarpLanes; ++lane) {
      if ((access.mask >> lane & 1) == 0 || offset_ - access.offset[lane] >= access.bytes) continue;
      const std::uint32_t thread = access.place.warp * vgpu::kWarpLanes + lane;
      side_ = vgpu::side_at(
          "write", {access.program, access.pc, launch_.grid.position_of(access.place.block),
                    launch_.block.position_of(thread)});
    }
  }
  [[nodiscard]] const std::optional<vgpu::AccessSide>& side() const { return side_; }

 private:
  const vgpu::Launch& launch_;
  const vgpu::Allocation& part_;
  std::uint64_t offset_;
  std::optional<vgpu::AccessSide> side_;
};

// Returns how many registers the program may read that it has not written.
std::size_t unwritten_registers(const vgpu::Program& program) {
  std::size_t count = 0;
  for (const auto& of_function : program.unwritten_registers) count += of_function.size();
  return count;
}

}  // namespace

vgpu::Outcome Repetition::run(const vgpu::Program& program, vgpu::Observer& observer) const {
  vgpu::Launch launch = launch_;
  launch.program = &program;
  launch.unordered_launches = {};
  launch.early_after = ptx::kNone;
  launch.device_runtime = nullptr;
  launch.weak_memory = nullptr;
  launch.host_runs = false;
  vgpu::DefaultPolicy policy;
  vgpu::Limits limits = limits_;
  limits.compile = vgpu::Compile::never;
  vgpu::Observer* const only = &observer;
  return vgpu::Machine(memory_).run(launch, warp_model_, policy, {&only, 1}, limits);
}

std::optional<std::vector<MemoryImage>> Repetition::run(const std::string& ptx) const {
  std::optional<vgpu::Program> program;
  std::optional<ptx::Module> module;
  try {
    module = ptx::parse(ptx, "a smaller kernel");
    program = vgpu::decode(*module, image_.kernel);
    vgpu::link(*program);
  } catch (const std::exception&) {
    return {};
  }
  // What is in them depends on the device.
  if (unwritten_registers(*program) > unwritten_registers(*launch_.program)) return {};
  for (const vgpu::AddressPatch& patch : program->patches) {
    const auto place = std::ranges::find(image_.memory, patch.name, &MemoryImage::variable);
    if (patch.name.empty() || place == image_.memory.end()) return {};
    write_address(*program, patch, place->address);
  }
  const std::vector<MemoryImage> now = capture_again(image_, memory_);
  restore(image_.memory, memory_);
  Doubts doubts;
  const vgpu::Outcome outcome = run(*program, doubts);
  std::vector<MemoryImage> left = capture_again(image_, memory_);
  restore(now, memory_);
  const bool is_sound =
      outcome.end == vgpu::Outcome::End::completed && outcome.faults == 0 && !doubts.any();
  if (!is_sound) return {};
  return left;
}

std::optional<vgpu::AccessSide> Repetition::writer_of(std::uint64_t address) const {
  const vgpu::Allocation* const found = memory_.find(address);
  if (found == nullptr) return {};
  const vgpu::Allocation::PartPlace place = found->place_at(address - found->address);
  const std::vector<MemoryImage> now = capture_again(image_, memory_);
  restore(image_.memory, memory_);
  LastWriter writer(launch_, *place.part, place.offset);
  run(*launch_.program, writer);
  restore(now, memory_);
  return writer.side();
}

}  // namespace warpcheck::cudart
