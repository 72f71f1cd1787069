#include "harness/process/children.hpp"

#include <csignal>

namespace warpcheck {
namespace {

auto* before = SIG_DFL;

}  // namespace

void hear_of_children() { before = std::signal(SIGCHLD, SIG_DFL); }

void restore_children_signal() { std::signal(SIGCHLD, before); }

}  // namespace warpcheck
