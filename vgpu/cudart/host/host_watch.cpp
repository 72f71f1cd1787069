#include "vgpu/cudart/host/host_watch.hpp"

namespace warpcheck::cudart {
namespace {

HostWatch* the_watch = nullptr;

// A signal handler reads it, so it must exist without an allocation.
[[gnu::tls_model("initial-exec")]] thread_local int engine_depth = 0;

}  // namespace

HostWatch* host_watch() { return the_watch; }
void set_host_watch(HostWatch* watch) { the_watch = watch; }

int& InEngine::depth() { return engine_depth; }

}  // namespace warpcheck::cudart
