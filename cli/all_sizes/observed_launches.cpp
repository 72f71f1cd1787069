#include "cli/all_sizes/observed_launches.hpp"

#include "harness/trial/watched_run.hpp"

namespace warpcheck {

void LaunchLog::begin_input(std::size_t number) {
  input_ = number;
  allocations_.clear();
}

void LaunchLog::on_allocate(const vgpu::Allocation& allocation) {
  if (allocation.space == ptx::Space::global) allocations_[allocation.address] = allocation.bytes;
}

void LaunchLog::on_free(const vgpu::Allocation& allocation) {
  if (allocation.space == ptx::Space::global) allocations_.erase(allocation.address);
}

void LaunchLog::on_sync(const vgpu::Sync& sync) {
  if (sync.kind == vgpu::Sync::Kind::block_start && sync.shared != nullptr && !launches_.empty()) {
    const std::uint64_t before = sync.program->dynamic_shared_offset;
    launches_.back().dynamic_shared_bytes =
        sync.shared->bytes > before ? sync.shared->bytes - before : 0;
  }
  if (sync.kind != vgpu::Sync::Kind::kernel_start) return;
  auto text = texts_.find(sync.program->ptx);
  if (text == texts_.end()) {
    auto copy = std::make_shared<const std::string>(sync.program->ptx);
    text = texts_.emplace(std::string(sync.program->ptx), std::move(copy)).first;
  }
  launches_.push_back({.kernel = sync.program->kernel,
                       .ptx = text->second,
                       .grid = sync.grid,
                       .block = sync.block,
                       .layout = sync.program->parameters,
                       .parameters = {sync.parameters.begin(), sync.parameters.end()},
                       .allocations = allocations_,
                       .input = input_});
}

std::vector<ObservedLaunch> observe_launches(const std::vector<Case>& cases) {
  LaunchLog log;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    log.begin_input(i);
    run_watched(cases[i], virtual_gpu(), log);  // after a failure, what was launched before counts
  }
  return log.launches();
}

}  // namespace warpcheck
