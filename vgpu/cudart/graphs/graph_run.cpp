#include "vgpu/cudart/graphs/graph_run.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "vgpu/cudart/graphs/graphs.hpp"
#include "vgpu/program/refusal.hpp"

namespace warpcheck::cudart {
namespace {

// What the guide allows.
constexpr unsigned kForgottenMax = 120;
constexpr std::ptrdiff_t kTailsMax = 255;

// The streams of cuda_device_runtime_api.h.
std::optional<GraphRequest::Mode> mode_of(std::uint64_t stream) {
  switch (stream) {
    case 0x0100000000000000: return GraphRequest::Mode::tail;
    case 0x0200000000000000: return GraphRequest::Mode::forget;
    case 0x0300000000000000: return GraphRequest::Mode::sibling;
    default: return {};
  }
}

bool is_tail(const GraphRequest& request) { return request.mode == GraphRequest::Mode::tail; }

}  // namespace

std::uint64_t GraphRun::current() const {
  return graph_->is_for_device() ? reinterpret_cast<std::uint64_t>(graph_.get()) : 0;
}

// A graph never runs twice at once, so one that is asked for is not asked for again before it has
// run; but a graph may ask for itself to run after itself.
cudaError_t GraphRun::ask(std::uint64_t handle, std::uint64_t stream, std::uint32_t launched_as,
                          std::uint32_t by) {
  const std::optional<GraphRequest::Mode> mode = mode_of(stream);
  const ExecutableGraph* const graph = graphs_.find(reinterpret_cast<cudaGraphExec_t>(handle));
  if (!mode || graph == nullptr || !graph->is_for_device() || !graph->is_uploaded) {
    return cudaErrorInvalidValue;
  }
  const bool of_tails = *mode == GraphRequest::Mode::tail;
  const bool is_asked_for = std::ranges::any_of(requests_, [&](const GraphRequest& one) {
    return one.graph.get() == graph && (!of_tails || !is_tail(one) || graph == graph_.get());
  });
  if (is_asked_for || (!of_tails && graph == graph_.get())) return cudaErrorInvalidValue;
  if (!of_tails && ++forgotten_ > kForgottenMax) {
    throw vgpu::Refusal(
        "cudaGraphLaunch by device code: more than 120 launches that are forgotten");
  }
  if (of_tails && std::ranges::count_if(requests_, is_tail) == kTailsMax) {
    throw vgpu::Refusal("cudaGraphLaunch by device code: more than 255 tail launches");
  }
  requests_.push_back({graph->shared_from_this(), *mode, launched_as, by});
  return cudaSuccess;
}

std::vector<GraphRequest> GraphRun::take(bool of_tails) {
  std::vector<GraphRequest> taken, left;
  for (const GraphRequest& request : requests_) {
    (is_tail(request) == of_tails ? taken : left).push_back(request);
  }
  requests_ = std::move(left);
  return taken;
}

void GraphRun::ran(std::uint32_t launch, const Operation& operation,
                   std::vector<std::uint32_t> unordered) {
  ran_->push_back({launch, operation.stamp, operation.clock, std::move(unordered)});
}

std::vector<std::uint32_t> GraphRun::not_before(std::uint32_t launch) const {
  const auto by = std::ranges::find(*ran_, launch, &Ran::launch);
  std::vector<std::uint32_t> found;
  for (auto one = ran_->begin(); one != ran_->end(); ++one) {
    const bool is_before = by != ran_->end() && one < by && by->clock.covers(one->stamp) &&
                           !std::ranges::binary_search(by->unordered, one->launch);
    if (!is_before) found.push_back(one->launch);
  }
  std::ranges::sort(found);
  return found;
}

std::vector<std::uint32_t> GraphRun::since(std::size_t first) const {
  std::vector<std::uint32_t> found;
  std::transform(ran_->begin() + static_cast<std::ptrdiff_t>(first), ran_->end(),
                 std::back_inserter(found), [](const Ran& one) { return one.launch; });
  std::ranges::sort(found);
  return found;
}

}  // namespace warpcheck::cudart
