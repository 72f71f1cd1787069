#include "vgpu/cudart/streams/work_runner.hpp"

#include <variant>

#include "vgpu/check/lifetime.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/kernel_runner.hpp"
#include "vgpu/cudart/device/print_buffer.hpp"
#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/exec/arrivals.hpp"
#include "vgpu/cudart/host/host_accesses.hpp"
#include "vgpu/cudart/libraries/library_runner.hpp"
#include "vgpu/cudart/memory/allocations.hpp"
#include "vgpu/cudart/streams/copy_runner.hpp"
#include "vgpu/cudart/streams/host_functions.hpp"
#include "vgpu/cudart/streams/transfers.hpp"

namespace warpcheck::cudart {

void WorkRunner::run(const Operation& operation, const HostState& host) {
  struct Visitor {
    WorkRunner& runner;
    const Needs& needs;
    const Operation& operation;
    const HostState& host;
    void operator()(const EmptyWork&) const {}
    void operator()(const KernelWork& work) const {
      runner.bring_out_prints();
      needs.kernels.run(work, operation, host);
    }
    void operator()(const CopyWork& work) const {
      const bool needs_host = work.target_in == Where::host || work.source_in == Where::host;
      if (host.is_gone && needs_host && !work.staged) return;
      needs.copies.run(work, operation);
    }
    void operator()(const FillWork& work) const { needs.copies.run(work, operation); }
    void operator()(const HostWork& work) const {
      if (host.is_gone) return;
      needs.host_accesses.host_function_begins(operation);
      call_host_function(work, needs.mutex);
    }
    void operator()(const FreeWork& work) const { runner.free(work, operation); }
    void operator()(const AllocateWork& work) const { needs.allocations.take(*work.allocation); }
    void operator()(const LibraryWork& work) const { needs.libraries.run(work, operation, host); }
  };
  std::visit(Visitor{*this, needs_, operation, host}, operation.work);
}

void WorkRunner::free(const FreeWork& work, const Operation& operation) {
  vgpu::Allocation& allocation = *work.allocation;
  needs_.allocations.forget_later_free(allocation);
  if (!allocation.live) return;
  if (needs_.allocations.of_graphs().is_unused(allocation)) {
    needs_.findings.add(vgpu::freed_twice("cudaFreeAsync", allocation));
    return;
  }
  needs_.transfers.free("cudaFreeAsync", allocation, operation);
  needs_.allocations.free(allocation);
}

void WorkRunner::asked_for(const Work& work) { needs_.host_accesses.asked_for(work); }

void WorkRunner::tell_host_accesses(Operations& operations) {
  needs_.host_accesses.tell(operations);
}

void WorkRunner::host_knows_all() { needs_.host_accesses.host_knows_all(); }

void WorkRunner::bring_out_prints() { needs_.trial.bring_out(needs_.prints); }

void WorkRunner::all_done(const OperationSet& known_to_host, std::uint32_t operations) {
  needs_.arrivals.all_done(operations);
  needs_.transfers.forget(known_to_host);
}

}  // namespace warpcheck::cudart
