#include "model/execution.hpp"

#include <fmt/format.h>

#include "model/ptx_model.hpp"

namespace warpcheck::model {
namespace {

Event initial_write(const Test& test, unsigned cell) {
  Event event;
  event.cell = cell;
  for (const auto& [address, of] : test.addresses) {
    if (of == cell) event.address = address;
  }
  return event;
}

}  // namespace

EventStructure::EventStructure(const Test& of, std::span<const Path* const> taken)
    : test(of),
      paths(taken.begin(), taken.end()),
      program_order(0),
      dependencies(0),
      same_cell(0),
      kernel_start(0),
      morally_strong(0),
      release_patterns(0),
      acquire_patterns(0) {
  for (unsigned cell = 0; cell < test.cells.size(); ++cell) {
    events.push_back(initial_write(test, cell));
  }
  std::size_t total = events.size();
  for (const Path* path : paths) total += path->events.size();
  if (total > kEventsMax) {
    throw LitmusError(test.threads.front().place,
                      fmt::format("an execution has {} events, {} at most are possible; a lower "
                                  "--unroll gives fewer",
                                  total, kEventsMax));
  }
  for (unsigned thread = 0; thread < paths.size(); ++thread) {
    first_event.push_back(size());
    for (unsigned index = 0; index < paths[thread]->events.size(); ++index) {
      const PathEvent& from = paths[thread]->events[index];
      Event event{from.kind,
                  thread,
                  index,
                  from.instruction,
                  from.instruction->proxy,
                  from.instruction->order,
                  from.instruction->scope,
                  from.address,
                  0};
      if (from.kind == PathEvent::Kind::memory) event.cell = test.addresses.at(from.address);
      events.push_back(event);
    }
  }
  program_order = dependencies = same_cell = kernel_start = none();
  for (unsigned x = 0; x < size(); ++x) {
    const Event& event = events[x];
    const bool is_initial = event.thread == kNoThread;
    const PathEvent* from = is_initial ? nullptr : &paths[event.thread]->events[event.index];
    if (is_initial) initial.insert(x);
    if (event.kind == PathEvent::Kind::memory) {
      memory.insert(x);
      if (!is_initial && from->reads) reads.insert(x);
      if (is_initial || from->writes) writes.insert(x);
      if (event.order != Order::weak) strong.insert(x);
    }
    if (event.kind == PathEvent::Kind::fence) {
      strong.insert(x);
      if (event.order == Order::sc) sc_fences.insert(x);
    }
    for (unsigned y = 0; y < size(); ++y) {
      const Event& other = events[y];
      if (is_initial && other.thread != kNoThread) kernel_start.add(x, y);
      if (!is_initial && event.thread == other.thread && x < y) program_order.add(x, y);
      if (event.kind == PathEvent::Kind::memory && other.kind == PathEvent::Kind::memory &&
          event.cell == other.cell) {
        same_cell.add(x, y);
      }
    }
    if (is_initial) continue;
    from->depends_on.for_each(
        [&](unsigned index) { dependencies.add(event_of(event.thread, index), x); });
  }
  atomics = reads & writes;
  morally_strong = model::morally_strong(*this);
  release_patterns = model::release_patterns(*this);
  acquire_patterns = model::acquire_patterns(*this);
}

bool EventStructure::same_block(const Event& a, const Event& b) const {
  if (a.thread == kNoThread || b.thread == kNoThread) return false;
  const Thread &x = test.threads[a.thread], &y = test.threads[b.thread];
  return x.gpu == y.gpu && x.cluster == y.cluster && x.cta == y.cta;
}

bool EventStructure::includes(const Event& a, const Event& b) const {
  if (a.thread == kNoThread || b.thread == kNoThread) return false;
  const Thread &x = test.threads[a.thread], &y = test.threads[b.thread];
  switch (a.scope) {
    case Scope::cta: return same_block(a, b);
    case Scope::cluster: return x.gpu == y.gpu && x.cluster == y.cluster;
    case Scope::gpu: return x.gpu == y.gpu;
    case Scope::sys: return true;
  }
  return false;
}

}  // namespace warpcheck::model
