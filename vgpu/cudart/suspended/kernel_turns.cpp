#include "vgpu/cudart/suspended/kernel_turns.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "vgpu/check/reporter.hpp"
#include "vgpu/cudart/copies/transfers.hpp"
#include "vgpu/cudart/memory/host_blocks.hpp"
#include "vgpu/cudart/streams/execution.hpp"

namespace warpcheck::cudart {

KernelTurns::Turn::Turn(KernelTurns& turns, const Dependencies& dependencies, std::uint32_t launch,
                        const Operation& operation, OnResume on_resume)
    : turns_(turns),
      dependencies_(dependencies),
      concurrent_work_(dependencies.host.concurrent_work),
      launch_(launch),
      operation_(operation),
      known_(operation.clock),
      reported_(operation.clock),
      on_resume_(std::move(on_resume)),
      is_concurrent_(!turns.in_progress_.empty()) {
  turns_.in_progress_.push_back(this);
  turns_.last_ = this;
  if (turns_.idle_.empty()) {
    machine_ = std::make_unique<vgpu::Machine>(turns_.memory_);
  } else {
    machine_ = std::move(turns_.idle_.back());
    turns_.idle_.pop_back();
  }
}

KernelTurns::Turn::~Turn() {
  std::erase(turns_.in_progress_, this);
  turns_.idle_.push_back(std::move(machine_));
}

// Exchanges the changes of both sides of registered memory.
void KernelTurns::Turn::read_host() const {
  if (!dependencies_.host.is_gone) dependencies_.host_blocks.copy_registered_to_device();
  on_resume_(std::exchange(turns_.last_, this) != this);
}

void KernelTurns::Turn::show_host() const {
  if (!dependencies_.host.is_gone) dependencies_.host_blocks.copy_registered_to_host();
}

bool KernelTurns::Turn::wait_for_change(const std::vector<vgpu::PolledBytes>& polled,
                                        bool of_host) {
  show_host();
  std::vector<vgpu::PolledBytes> seen = polled;
  for (vgpu::PolledBytes& bytes : seen) {
    const std::byte* const own = dependencies_.host_blocks.host_bytes_of(bytes.at);
    if (own == nullptr) continue;
    bytes.at = own;
    of_host = true;
  }
  const bool may_have_changed = concurrent_work_->wait_for_change(seen, of_host);
  read_host();
  return may_have_changed;
}

void KernelTurns::Turn::let_others_run() {
  show_host();
  concurrent_work_->let_others_run();
  read_host();
}

// A launch may be in progress though the host knows of it, by a flag.  More of it is known each
// time.
std::vector<std::uint32_t> KernelTurns::Turn::take_news(const Transfers& transfers) {
  std::vector<std::uint32_t> news;
  if (!std::exchange(has_learned_, false)) return news;
  for (auto at = reported_in_part_.begin(); at != reported_in_part_.end();) {
    news.push_back(*at);
    const bool goes_on =
        std::ranges::find(turns_.in_progress_, *at, &Turn::launch) != turns_.in_progress_.end();
    at = goes_on ? std::next(at) : reported_in_part_.erase(at);
  }
  transfers.visit_newly_known(reported_, known_,
                              [&](std::uint32_t launch) { news.push_back(launch); });
  for (const Turn* const other : turns_.in_progress_) {
    const Stamp& stamp = other->operation().stamp;
    if (!known_.covers(stamp) || reported_.covers(stamp)) continue;
    news.push_back(other->launch());
    reported_in_part_.insert(other->launch());
  }
  reported_ = known_;
  return news;
}

KernelTurns::Turn* KernelTurns::find(const Operation& operation) const {
  const auto found = std::ranges::find(in_progress_, &operation,
                                       [](const Turn* turn) { return &turn->operation(); });
  return found == in_progress_.end() ? nullptr : *found;
}

void KernelTurns::notify_reporter(std::span<vgpu::Observer* const> all,
                                  const vgpu::Sync& kernel_start) {
  for (vgpu::Observer* const observer : all) {
    if (dynamic_cast<vgpu::Reporter*>(observer) != nullptr) observer->on_sync(kernel_start);
  }
}

}  // namespace warpcheck::cudart
