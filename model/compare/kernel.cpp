#include "model/compare/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <span>
#include <stdexcept>
#include <vector>

#include "vgpu/check/checkers.hpp"
#include "vgpu/check/weak/write_histories.hpp"
#include "vgpu/machine/link.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck::model {
namespace {

constexpr std::size_t kCellBytes = 4, kResultsAt = 256, kThreadBytes = 64;
constexpr std::uint64_t kStepsMax = 100'000;

std::size_t result_at(unsigned thread, unsigned reg) {
  return kResultsAt + thread * kThreadBytes + reg * kCellBytes;
}

std::string_view name_of(Order order) {
  constexpr std::array<std::string_view, 6> kNames{"weak",    "relaxed", "acquire",
                                                   "release", "acq_rel", "sc"};
  return kNames[static_cast<std::size_t>(order)];
}
std::string_view name_of(Scope scope) {
  constexpr std::array<std::string_view, 4> kNames{"cta", "cluster", "gpu", "sys"};
  return kNames[static_cast<std::size_t>(scope)];
}

// Each thread of the test is the first lane of a separate warp.
class KernelText {
 public:
  explicit KernelText(const Test& test) : test_(test) {}

  std::string run() {
    text_ =
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 at) {\n"
        "  .reg .u64 %memory;\n  .reg .u32 %block, %lane, %me;\n  .reg .pred %chosen;\n"
        "  ld.param.u64 %memory, [at];\n  mov.u32 %block, %ctaid.x;\n  mov.u32 %lane, %tid.x;\n"
        "  mad.lo.u32 %me, %block, 1024, %lane;\n";
    std::map<unsigned, unsigned> warps;  // by block
    for (std::size_t thread = 0; thread < test_.threads.size(); ++thread) {
      const unsigned block = test_.threads[thread].cta;
      text_ += fmt::format("  setp.eq.u32 %chosen, %me, {};\n  @%chosen bra T{};\n",
                           block * 1024 + 32 * warps[block]++, thread);
      for (std::size_t reg = 0; reg < test_.threads[thread].registers.size(); ++reg) {
        declarations_ += fmt::format("  .reg .u32 %r{}_{};\n", thread, reg);
      }
    }
    text_ += "  ret;\n";
    for (std::size_t thread = 0; thread < test_.threads.size(); ++thread) add(thread);
    const std::size_t body = text_.find("  .reg");
    return text_.insert(body, declarations_) + "}\n";
  }

 private:
  void add(std::size_t thread) {
    text_ += fmt::format("T{}:\n", thread);
    for (const Instruction& code : test_.threads[thread].code) {
      text_ += fmt::format("  {};\n", shown(thread, code));
    }
    for (unsigned reg = 0; reg < test_.threads[thread].registers.size(); ++reg) {
      text_ += fmt::format("  st.global.u32 [%memory+{}], %r{}_{};\n",
                           result_at(static_cast<unsigned>(thread), reg), thread, reg);
    }
    text_ += "  ret;\n";
  }

  std::string shown(std::size_t thread, const Instruction& code) const {
    using Kind = Instruction::Kind;
    if (code.kind == Kind::barrier_sync) return fmt::format("barrier.sync {}", code.a.value);
    if (code.kind == Kind::fence) {
      return fmt::format("fence.{}.{}", name_of(code.order), name_of(code.scope));
    }
    const std::string order = code.order == Order::weak
                                  ? "weak"
                                  : fmt::format("{}.{}", name_of(code.order), name_of(code.scope));
    const std::string at =
        fmt::format("[%memory+{}]", test_.addresses.at(code.address.base) * kCellBytes);
    const std::string into =
        code.destination ? fmt::format("%r{}_{}", thread, *code.destination) : "";
    switch (code.kind) {
      case Kind::load: return fmt::format("ld.{}.global.u32 {}, {}", order, into, at);
      case Kind::store: return fmt::format("st.{}.global.u32 {}, {}", order, at, code.a.value);
      case Kind::atomic:
        return fmt::format("atom.{}.global.{} {}, {}, {}", order, operation(code), into, at,
                           code.a.value);
      case Kind::reduction:
        return fmt::format("red.{}.global.{} {}, {}", order, operation(code), at, code.a.value);
      default: throw std::logic_error("random tests have no such instruction");
    }
  }

  static std::string_view operation(const Instruction& code) {
    return code.operation == Operator::exch  ? "exch.b32"
           : code.operation == Operator::max ? "max.u32"
                                             : "add.u32";
  }

  const Test& test_;
  std::string text_, declarations_;
};

}  // namespace

class Kernel::Impl {
 public:
  explicit Impl(const Test& test)
      : test_(test),
        program_(vgpu::decode(ptx::parse(KernelText(test).run(), "litmus"), "k")),
        machine_(memory_),
        buffer_(memory_.allocate(result_at(static_cast<unsigned>(test.threads.size()), 0))) {
    vgpu::link(program_, vgpu::SimdLevel::baseline);
  }

  // watching: an additional observer, or null
  KernelRun run(vgpu::Strategy& strategy, vgpu::Observer* watching) {
    std::memset(buffer_->data, 0, buffer_->bytes);
    for (std::size_t cell = 0; cell < test_.cells.size(); ++cell) {
      const auto initial = static_cast<std::uint32_t>(test_.cells[cell].initial);
      std::memcpy(buffer_->data + cell * kCellBytes, &initial, kCellBytes);
    }
    const std::uint64_t address = buffer_->address;
    vgpu::Launch launch;
    launch.program = &program_;
    launch.grid = {blocks(), 1, 1};
    launch.block = {static_cast<std::uint32_t>(32 * test_.threads.size()), 1, 1};
    launch.parameters = std::as_bytes(std::span(&address, 1));
    vgpu::Checkers checkers({.init = false, .lifetime = false}, vgpu::WarpModel::independent);
    const std::span<vgpu::Observer* const> told = checkers.observers();
    std::vector<vgpu::Observer*> observers(told.begin(), told.end());
    if (watching != nullptr) observers.push_back(watching);
    vgpu::WriteHistories histories(vgpu::WarpModel::independent);
    if (strategy.chooses_past(launch.index)) {
      launch.weak_memory = &histories;
      observers.push_back(&histories);
    }
    const vgpu::Outcome outcome = machine_.run(launch, vgpu::WarpModel::independent, strategy,
                                               observers, {.steps_max = kStepsMax});
    if (outcome.end != vgpu::Outcome::End::completed) {
      throw std::runtime_error(fmt::format("the kernel does not end: {}", outcome.refusal));
    }
    KernelRun result;
    for (const vgpu::Finding& finding : checkers.findings()) {
      if (finding.kind != vgpu::FindingKind::data_race) throw std::runtime_error(finding.message);
      // Notes are about relaxed accesses, which do not race by the letter.
      if (finding.severity == vgpu::Severity::error) result.has_race = true;
    }
    for (const Term& term : test_.observed) {
      result.state.push_back(value_at(term.kind == Term::Kind::reg
                                          ? result_at(term.thread, term.reg)
                                          : term.cell * kCellBytes));
    }
    return result;
  }

 private:
  [[nodiscard]] std::uint32_t blocks() const {
    std::uint32_t count = 0;
    for (const Thread& thread : test_.threads) count = std::max(count, thread.cta + 1);
    return count;
  }
  [[nodiscard]] std::int64_t value_at(std::size_t offset) const {
    std::uint32_t value = 0;
    std::memcpy(&value, buffer_->data + offset, sizeof value);
    return value;
  }

  const Test& test_;
  vgpu::Program program_;
  vgpu::DeviceMemory memory_;
  vgpu::Machine machine_;
  vgpu::Allocation* buffer_;
};

Kernel::Kernel(const Test& test) : impl_(std::make_unique<Impl>(test)) {}
Kernel::~Kernel() = default;

bool Kernel::fits(const Test& test) {
  std::map<unsigned, std::vector<std::int64_t>> used;  // by block
  for (const Thread& thread : test.threads) {
    std::vector<std::int64_t> barriers;
    for (const Instruction& code : thread.code) {
      if (code.kind == Instruction::Kind::barrier_sync) barriers.push_back(code.a.value);
    }
    const auto [at, is_first] = used.try_emplace(thread.cta, barriers);
    if (!is_first && at->second != barriers) return false;
  }
  return true;
}

KernelRun Kernel::run(std::string_view strategy, std::uint64_t seed) {
  return impl_->run(*vgpu::make_strategy(strategy, seed), nullptr);
}

KernelRun Kernel::run(vgpu::Strategy& strategy, vgpu::Observer& observer) {
  return impl_->run(strategy, &observer);
}

}  // namespace warpcheck::model
