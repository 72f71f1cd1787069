#include "vgpu/cudart/launch/work_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "vgpu/check/lifetime.hpp"
#include "vgpu/check/streams.hpp"
#include "vgpu/cudart/copies/copy_runner.hpp"
#include "vgpu/cudart/copies/transfers.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/exec/arrivals.hpp"
#include "vgpu/cudart/graphs/graph_run.hpp"
#include "vgpu/cudart/graphs/graphs.hpp"
#include "vgpu/cudart/host_watch/host_accesses.hpp"
#include "vgpu/cudart/launch/kernel_runner.hpp"
#include "vgpu/cudart/launch/print_buffer.hpp"
#include "vgpu/cudart/launch/run_ahead.hpp"
#include "vgpu/cudart/libraries/library_runner.hpp"
#include "vgpu/cudart/memory/allocations.hpp"
#include "vgpu/cudart/streams/host_functions.hpp"
#include "vgpu/cudart/streams/idle_progress.hpp"
#include "vgpu/cudart/streams/stream_values.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

void WorkRunner::run(const Operation& operation, const HostState& host) {
  struct Visitor {
    WorkRunner& runner;
    const Dependencies& dependencies;
    const Operation& operation;
    const HostState& host;
    void operator()(const EmptyWork&) const {}
    void operator()(const KernelWork& work) const {
      runner.bring_out_prints();
      dependencies.kernels.run(work, operation, host);
      runner.kernel_has_run();
    }
    void operator()(const CopyWork& work) const { runner.run(work, operation, host); }
    void operator()(const EarlyReadWork& work) const { dependencies.copies.run(work, operation); }
    void operator()(const FillWork& work) const { dependencies.copies.run(work, operation); }
    void operator()(const HostWork& work) const {
      if (host.is_gone) return;
      const bool signals_host = !host.waits || other_threads_may_run();
      const std::uint32_t number =
          dependencies.host_accesses.host_function_begins(operation, signals_host);
      call_host_function(work, dependencies.mutex, number);
      dependencies.copies.late().anything_written();
      dependencies.host_accesses.host_function_ended(number);
    }
    void operator()(const FreeWork& work) const { runner.free(work, operation); }
    void operator()(const AllocateWork& work) const {
      if (work.of_graph) dependencies.allocations.of_graphs().take(*work.allocation);
      dependencies.transfers.allocate(work.call, *work.allocation, operation);
      if (work.of_graph) dependencies.allocations.renew(*work.allocation);
    }
    void operator()(const LibraryWork& work) const {
      dependencies.libraries.run(work, operation, host);
      dependencies.copies.late().anything_written();
    }
    void operator()(const ConditionalWork& work) const { runner.choose(work, operation, host); }
    void operator()(const GraphEndWork& work) const {
      runner.run_launched(*work.graph_run, operation, host);
    }
    void operator()(const ValueWork& work) const {
      dependencies.values.run(work, operation);
      if (work.is_wait) dependencies.copies.late().anything_written();
    }
    void operator()(const ProcessEventWork& work) const {
      if (work.waits) dependencies.copies.late().anything_written();
      if (!work.waits) work.event->finish(work.recording);
    }
    void operator()(const ResetWork& work) const {
      for (const auto& condition : work.conditions) condition->value = *condition->at_launch;
    }
  };
  if (watches_loops()) host_loops_.runs(operation.work);
  std::visit(Visitor{*this, dependencies_, operation, host}, operation.work);
}

// Only the default schedule repeats what a launch did before.
bool WorkRunner::watches_loops() const {
  return dependencies_.trial.in_ambient() && dependencies_.trial.settings().strategy == nullptr;
}

void WorkRunner::run(const CopyWork& work, const Operation& operation, const HostState& host) {
  const bool needs_host = work.target_in == Where::host || work.source_in == Where::host;
  if (host.is_gone && needs_host && !work.staged) return;
  dependencies_.copies.run(work, operation);
}

// The bodies that a conditional node runs.  The edges of its graphs say which of its kernels are
// unordered; for other operations, it is a single operation.
struct WorkRunner::Body {
  const Operation& operation;
  const HostState& host;
  std::map<const Node*, std::uint32_t> launch_of;
  std::map<const Node*, std::set<const Node*>> before;  // everything that comes before a node
  std::shared_ptr<GraphRun> run{};                      // null: no device code can launch graphs
  // Of a graph that device code has launched.
  std::uint32_t launched_as = 0;
  std::vector<std::uint32_t> outer_unordered{};  // earlier launches that do not come before it
};

void WorkRunner::choose(const ConditionalWork& work, const Operation& operation,
                        const HostState& host) {
  const Choice& choice = work.choice;
  const auto run_body = [&](std::size_t number) {
    if (number >= choice.bodies.size()) return;
    Body body{operation, host, {}, {}, work.graph_run};
    run_graph(body, *choice.bodies[number], {});
  };
  const unsigned& value = choice.condition->value;
  switch (choice.type) {
    case cudaGraphCondTypeIf: return run_body(value != 0 ? 0 : 1);
    case cudaGraphCondTypeSwitch: return run_body(value);
    case cudaGraphCondTypeWhile: break;
  }
  // The graph goes on behind a loop that does not end, as launches do behind one that hangs.
  constexpr std::uint64_t kRoundsMax = 1 << 22;
  const std::uint64_t rounds_max =
      std::min(kRoundsMax, dependencies_.trial.settings().limits.steps_max);
  for (std::uint64_t round = 0; value != 0; ++round) {
    if (round == rounds_max) return dependencies_.findings.add(vgpu::condition_stays(round));
    run_body(0);
  }
}

void WorkRunner::run_graph(Body& body, const Graph& graph,
                           const std::set<const Node*>& before_graph) {
  for (const Node* const node : graph.in_order()) {
    std::set<const Node*>& before = body.before[node];
    before = before_graph;
    for (const Node* const earlier : node->after) {
      before.insert(earlier);
      before.insert(body.before[earlier].begin(), body.before[earlier].end());
    }
    if (!node->enabled) continue;
    if (node->child != nullptr) {
      run_graph(body, *node->child, before);
      for (const auto& inner : node->child->nodes) before.insert(inner.get());
    } else if (node->choice.condition != nullptr) {
      choose({node->choice, body.run}, body.operation, body.host);
    } else if (const auto* const kernel = std::get_if<KernelWork>(&node->work)) {
      std::vector<std::uint32_t> unordered = body.outer_unordered;
      for (const auto& [other, launch] : body.launch_of) {
        if (!before.contains(other)) unordered.push_back(launch);
      }
      std::ranges::sort(unordered);
      bring_out_prints();
      KernelWork work = *kernel;
      work.graph_run = body.run;
      work.launched_as = body.launched_as;
      body.launch_of[node] = dependencies_.kernels.run(work, body.operation, body.host, unordered);
      kernel_has_run();
    } else {
      Operation part = body.operation;
      part.is_alone = false;
      part.work = node->work;
      if (part.asked_at != nullptr) part.asked_at = node->asked_at;
      run(part, body.host);
    }
  }
}

// Runs what the kernels of a run have launched.  A tail launch comes after everything but siblings;
// what a tail launch launches for itself comes before the next one.
void WorkRunner::run_launched(GraphRun& run, const Operation& operation, const HostState& host) {
  std::vector<std::uint32_t> beside;  // launches of siblings
  const auto run_forgotten = [&] {
    for (const GraphRequest& request : run.take(false)) {
      const std::size_t first = run.count();
      run_launched(run, request, run.not_before(request.by), operation, host);
      if (request.mode != GraphRequest::Mode::sibling) continue;
      const std::vector<std::uint32_t> more = run.since(first);
      beside.insert(beside.end(), more.begin(), more.end());
    }
  };
  run_forgotten();
  for (std::uint64_t round = 0;; ++round) {
    constexpr std::uint64_t kRoundsMax = 1 << 20;
    const std::vector<GraphRequest> tails = run.take(true);
    if (tails.empty()) return;
    if (round == kRoundsMax) {
      throw vgpu::Refusal(fmt::format(
          "cudaGraphLaunch by device code: {} tail launches, and there are more", round));
    }
    for (const GraphRequest& request : tails) {
      run_launched(run, request, beside, operation, host);
    }
  }
}

void WorkRunner::run_launched(GraphRun& by, const GraphRequest& request,
                              const std::vector<std::uint32_t>& unordered,
                              const Operation& operation, const HostState& host) {
  const auto run = std::make_shared<GraphRun>(by, request.graph);
  const bool is_tail = request.mode == GraphRequest::Mode::tail;
  Body body{operation, host, {}, {}, run, is_tail ? 0 : request.launched_as, unordered};
  run_graph(body, *request.graph->graph, {});
  run_launched(*run, operation, host);
}

void WorkRunner::free(const FreeWork& work, const Operation& operation) {
  vgpu::Allocation& allocation = *work.allocation;
  dependencies_.allocations.forget_later_free(allocation);
  if (dependencies_.allocations.of_graphs().is_unused(allocation)) {
    dependencies_.findings.add(vgpu::freed_twice(
        work.call, allocation, dependencies_.findings.mishaps().place_of_free(allocation)));
    return;
  }
  if (!allocation.live) return;
  dependencies_.transfers.free(work.call, allocation, operation);
  dependencies_.allocations.free(allocation);
}

bool WorkRunner::can_begin(const Operation& operation) {
  const auto* const work = std::get_if<ValueWork>(&operation.work);
  return work == nullptr || !work->is_wait || dependencies_.values.holds(*work, operation);
}

const OperationSet* WorkRunner::comes_after(const Operation& operation, const OperationSet& done) {
  const auto* const work = std::get_if<ValueWork>(&operation.work);
  if (work == nullptr || !work->is_wait) return nullptr;
  return &dependencies_.values.comes_after(*work, done);
}

void WorkRunner::give_up_waiting(const Operation& operation) {
  dependencies_.values.give_up(std::get<ValueWork>(operation.work), operation);
}

void WorkRunner::run_ahead(const Operations& operations, const OperationSet& goal,
                           const HostState& host) {
  dependencies_.ahead.run(operations, goal, host);
}

// Kernels write registered memory.
void WorkRunner::kernel_has_run() {
  if (dependencies_.copies.has_registered_copies()) dependencies_.copies.late().anything_written();
}

void WorkRunner::asked_for(Work& work) {
  const auto* const kernel = std::get_if<KernelWork>(&work);
  if (kernel != nullptr && watches_loops()) host_loops_.asked_for(*kernel);
  dependencies_.host_accesses.asked_for(work);
  auto* const copy = std::get_if<CopyWork>(&work);
  if (copy != nullptr && dependencies_.trial.in_ambient())
    dependencies_.copies.late().asked_for(*copy);
}

void WorkRunner::report_host_accesses(Operations& operations) {
  dependencies_.host_accesses.report(operations);
}

void WorkRunner::suspended(const Operation& operation) {
  dependencies_.copies.late().anything_written();  // the host may now answer the kernel
  bring_out_prints();
  dependencies_.host_accesses.launch_left(operation);
  dependencies_.transfers.suspended(operation);
}

void WorkRunner::reported_beside(const Operation& suspended) {
  HostAccesses& host = dependencies_.host_accesses;
  if (host.are_watched()) dependencies_.transfers.ran_on(host.running(), suspended, host.signals());
}

void WorkRunner::signalled(const Operation& kernel, const Operation& by) {
  dependencies_.transfers.signalled(kernel.number);
  dependencies_.kernels.signalled(kernel, by.clock);
}

// What the host has written to memory that it shares with kernels may be a signal.
void WorkRunner::resumes(const Operation& kernel, const OperationSet& known_to_host) {
  if (!dependencies_.memory.has_mapped() && !dependencies_.memory.is_shared_by_processes()) return;
  dependencies_.kernels.signalled(kernel, known_to_host);
  if (const OperationSet* const more = host_may_know())
    dependencies_.kernels.signalled(kernel, *more);
}

const OperationSet* WorkRunner::host_may_know() { return dependencies_.host_accesses.may_know(); }

bool WorkRunner::has_other_processes() { return dependencies_.memory.is_shared_by_processes(); }

void WorkRunner::host_knows_all(bool has_waited) {
  dependencies_.host_accesses.host_knows_all(has_waited);
}

void WorkRunner::bring_out_prints() { dependencies_.trial.bring_out(dependencies_.prints); }

void WorkRunner::all_done(const OperationSet& known_to_host, std::uint32_t operations) {
  dependencies_.arrivals.all_done(operations);
  dependencies_.transfers.forget(known_to_host);
  dependencies_.ahead.drop_late();
  dependencies_.copies.late().forget();
}

}  // namespace warpcheck::cudart
