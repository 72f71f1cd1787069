#include "vgpu/cudart/host_watch/host_watch.hpp"

#include <utility>

namespace warpcheck::cudart {
namespace {

HostWatch* the_watch = nullptr;

// As InEngine::depth_.
[[gnu::tls_model("initial-exec")]] thread_local std::uint32_t function_number = 0;

}  // namespace

HostWatch* host_watch() { return the_watch; }
void set_host_watch(HostWatch* watch) { the_watch = watch; }

InHostFunction::InHostFunction(std::uint32_t number)
    : depth_of_engine_(std::exchange(InEngine::depth_, 0)) {
  function_number = number;
}

InHostFunction::~InHostFunction() {
  function_number = 0;
  InEngine::depth_ = depth_of_engine_;
}

std::uint32_t InHostFunction::number_of_this_thread() { return function_number; }

}  // namespace warpcheck::cudart
