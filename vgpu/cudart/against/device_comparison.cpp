#include "vgpu/cudart/against/device_comparison.hpp"

#include <fmt/format.h>

#include <fstream>

#include "vgpu/cudart/against/launch_capture.hpp"
#include "vgpu/cudart/against/launch_worker.hpp"
#include "vgpu/cudart/against/repetition.hpp"
#include "vgpu/cudart/exec/exec_session.hpp"
#include "vgpu/ptx/demangle.hpp"

namespace warpcheck::cudart {
namespace {

// Writes the PTX to a new file of the working directory.  Returns a sentence for the message.
std::string store_reproducer(const std::string& ptx, const LaunchImage& image,
                             std::uint64_t launch) {
  const std::string name = fmt::format("{}-launch{}.ptx", vgpu::kernel_name(image.kernel), launch);
  std::string file;
  for (const char c : name)
    file += std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' ? c : '_';
  std::ofstream stream(file);
  stream << fmt::format(
      "// The assembler's optimisation changes the result of this kernel: compare ptxas -O0 and "
      "-O3.\n"
      "// grid ({}, {}, {}), block ({}, {}, {}), {} bytes of dynamic shared memory\n{}",
      image.grid.x, image.grid.y, image.grid.z, image.block.x, image.block.y, image.block.z,
      image.dynamic_shared_bytes, ptx);
  stream.close();
  if (!stream) return fmt::format("; its PTX cannot be written to {}", file);
  return fmt::format("; a smaller kernel that shows it is in {}", file);
}

}  // namespace

bool DeviceComparison::is_wanted() const {
  const ExecSession* const session = dependencies_.trial.exec_session();
  return session != nullptr && !session->launch_worker().empty() && !has_failed_;
}

std::uint64_t DeviceComparison::errors() const {
  std::uint64_t sum = 0;
  for (const vgpu::Finding& finding : dependencies_.findings.checkers().findings()) {
    if (finding.severity == vgpu::Severity::error) sum += finding.count;
  }
  return sum;
}

void DeviceComparison::not_compared(const vgpu::Program& program, const std::string& why) const {
  dependencies_.trial.exec_session()->not_checked(
      fmt::format("launches of {} against the GPU: {}",
                  vgpu::short_kernel_name(vgpu::kernel_name(program.kernel)), why));
}

void DeviceComparison::begins(const vgpu::Launch& launch, LinkedKernel& kernel,
                              Allocations& allocations) {
  before_.reset();
  if (!is_wanted()) return;
  if (target_ == nullptr) {
    try {
      target_ = std::make_unique<LaunchWorker>(dependencies_.trial.exec_session()->launch_worker());
    } catch (const LaunchWorkerError& error) {
      has_failed_ = true;
      dependencies_.trial.exec_session()->refused(
          fmt::format("--against gpu: no launch is compared: {}", error.what()));
      return;
    }
  }
  if (const std::string why = why_not_elsewhere(launch, kernel, dependencies_.memory);
      !why.empty()) {
    return not_compared(kernel.program, why);
  }
  before_ = capture(launch, kernel, dependencies_.memory, allocations);
  errors_before_ = errors();
}

void DeviceComparison::ended(const vgpu::Launch& launch, const LinkedKernel& kernel,
                             const vgpu::Outcome& outcome) {
  if (!before_) return;
  if (outcome.end == vgpu::Outcome::End::completed && outcome.faults == 0) {
    compare(launch, kernel);
  } else {
    not_compared(kernel.program, "it does not end here as it should; see its findings");
  }
  before_.reset();
}

void DeviceComparison::compare(const vgpu::Launch& launch, const LinkedKernel& kernel) {
  const TrialSettings& settings = dependencies_.trial.settings();
  const Repetition repetition(dependencies_.memory, launch, *before_, settings.warp_model,
                              settings.limits);
  LaunchComparison comparison(
      *target_, {.run = [&](const std::string& ptx) { return repetition.run(ptx); },
                 .writer = [&](std::uint64_t address) { return repetition.writer_of(address); }});
  LaunchFacts facts{.program = &kernel.program,
                    .number = launch.index + std::uint64_t{1},
                    .has_findings = errors() != errors_before_};
  if (kernel.order_source.pc != ptx::kNone) {
    const vgpu::AccessSide side =
        vgpu::side_at("", {&kernel.program, kernel.order_source.pc, {0, 0, 0}, {0, 0, 0}});
    facts.order_source = fmt::format("{}:{} ({})", side.file, side.line, side.ptx);
  }
  LaunchComparison::Answer answer =
      comparison.compare(*before_, capture_again(*before_, dependencies_.memory), facts);
  if (!answer.not_compared.empty()) not_compared(kernel.program, answer.not_compared);
  if (!answer.finding) return;
  if (!answer.reproducer.empty()) {
    answer.finding->message += store_reproducer(answer.reproducer, *before_, facts.number);
  }
  dependencies_.findings.add(std::move(*answer.finding));
}

}  // namespace warpcheck::cudart
