#include "vgpu/cudart/streams/operations.hpp"

#include <iterator>
#include <utility>

namespace warpcheck::cudart {
namespace {

std::uint32_t operation_number(const OperationPtr& operation) { return operation->number; }

}  // namespace

OperationPtr Operations::add(Work&& work, const std::vector<OperationPtr>& after, unsigned device) {
  auto operation = std::make_shared<Operation>();
  operation->clock = host_;
  for (const OperationPtr& earlier : after) {
    if (earlier == nullptr) continue;
    operation->clock.join(earlier->clock);
    if (earlier->is_done()) continue;
    earlier->waited_for_by.push_back(operation);
    ++operation->waits_for;
  }
  operation->is_kernel = std::holds_alternative<KernelWork>(work);
  operation->work = std::move(work);
  enter(*operation, device);
  if (operation->waits_for == 0) make_ready(operation);
  requested_.push_back(operation);
  return operation;
}

void Operations::begin_at_once(Operation& operation, unsigned device) {
  operation.clock = host_;
  enter(operation, device);
  operation.state = Operation::State::running;
}

void Operations::enter(Operation& operation, unsigned device) {
  operation.number = next_number_++;
  operation.device = device;
  operation.stamp = chains_.extend(operation.clock);
  operation.clock.add(operation.stamp);
  if (device >= of_device_.size()) of_device_.resize(device + 1);
  of_device_[device].all.join(operation.clock);
  ++of_device_[device].pending;
  ++pending_;
  if (!operation.is_kernel) ++pending_others_;
}

void Operations::make_ready(OperationPtr operation) {
  const auto* const event = std::get_if<ProcessEventWork>(&operation->work);
  if (event != nullptr && !event->is_ready()) return held_.push_back(std::move(operation));
  const auto after =
      std::ranges::upper_bound(ready_, operation->number, {}, &operation_number);  // mostly the end
  ready_.insert(after, std::move(operation));
}

void Operations::take_up_held() {
  if (held_.empty()) return;
  for (OperationPtr& operation : std::exchange(held_, {})) make_ready(std::move(operation));
}

void Operations::step_of_host(Operation& step, const OperationSet& may_know) {
  step.clock = host_;
  step.stamp = chains_.extend(host_);
  host_.add(step.stamp);
  step.clock.join(may_know);
  step.clock.add(step.stamp);
}

bool Operations::has_ready(const CanBegin& can_begin) const {
  return std::ranges::any_of(ready_, [&](const auto& one) { return can_begin(*one); });
}

void Operations::learn(Operation& operation, const OperationSet& more) {
  if (operation.clock.includes(more)) return;
  operation.clock.join(more);
  of_device_[operation.device].all.join(more);
  for (const OperationPtr& later : operation.waited_for_by) learn(*later, more);
}

OperationPtr Operations::take(vgpu::Strategy& strategy, vgpu::Schedule& schedule,
                              const CanBegin& can_begin) {
  take_up_held();
  choices_.clear();
  auto chosen = std::ranges::find_if(ready_, [&](const auto& one) { return can_begin(*one); });
  if (chosen == ready_.end()) return nullptr;
  if (ready_.size() > 1 && !(*chosen)->is_empty()) {
    for (const OperationPtr& operation : ready_) {
      if (!operation->is_empty() && can_begin(*operation)) choices_.push_back(operation->number);
    }
    if (choices_.size() > 1) {
      Operation& first = **chosen;
      const std::uint32_t next = strategy.choose_operation({choices_, first.passed_over});
      const auto found = std::ranges::find(ready_, next, &operation_number);
      if (found != ready_.end() && found != chosen) {
        vgpu::Decision decision;
        decision.at.block = first.number;
        decision.point = vgpu::Decision::Point::operation;
        decision.index = first.passed_over++;
        decision.next.block = next;
        schedule.decisions.push_back(decision);
        chosen = found;
      }
    }
  }
  OperationPtr operation = std::move(*chosen);
  ready_.erase(chosen);
  operation->state = Operation::State::running;
  return operation;
}

void Operations::finish(Operation& operation, std::uint64_t cycles) {
  operation.state = Operation::State::done;
  operation.ended_at = cycles;
  if (!operation.is_kernel) --pending_others_;
  operation.work = EmptyWork{};
  operation.ahead.reset();
  done_.join(operation.clock);
  --pending_;
  --of_device_[operation.device].pending;
  for (const OperationPtr& later : operation.waited_for_by) {
    if (--later->waits_for == 0) make_ready(later);
  }
  operation.waited_for_by.clear();
  while (!requested_.empty() && requested_.front()->is_done()) requested_.pop_front();
}

std::vector<OperationPtr> Operations::all_pending() const {
  std::vector<OperationPtr> pending;
  std::ranges::copy_if(requested_, std::back_inserter(pending), [](const OperationPtr& one) {
    return one->state == Operation::State::waiting;
  });
  return pending;
}

void Operations::clear() {
  // A waiting operation is owned by the operations that it waits for.  The chain may be long, so it
  // is released iteratively.
  std::vector<OperationPtr> rest;
  rest.swap(held_);
  for (OperationPtr& operation : ready_) rest.push_back(std::move(operation));
  ready_.clear();
  while (!rest.empty()) {
    const OperationPtr operation = std::move(rest.back());
    rest.pop_back();
    for (OperationPtr& later : std::exchange(operation->waited_for_by, {})) {
      rest.push_back(std::move(later));
    }
  }
  requested_.clear();
  pending_ = pending_others_ = 0;
  next_number_ = 0;
  chains_.clear();
  host_.clear();
  done_.clear();
  of_device_.clear();
}

}  // namespace warpcheck::cudart
