#include "vgpu/cudart/memory/host_pages.hpp"

#include <pthread.h>

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace warpcheck::cudart {
namespace {

void (*install_handlers)() = nullptr;
std::atomic<unsigned> looks{0};  // for each of some, the handlers are installed again

// The touch that this thread is at.
struct Touching {
  std::sig_atomic_t is_active = 0;
  std::uintptr_t at = 0;
  sigjmp_buf back{};
};
[[gnu::tls_model("initial-exec")]] thread_local Touching touching;

// A touch may fail: that is its purpose, and no defect for a sanitizer.
[[gnu::noinline, gnu::no_sanitize_address, gnu::no_sanitize_undefined]] void touch_all(
    std::uintptr_t begin, std::uintptr_t end, bool write) {
  for (std::uintptr_t at = begin; at < end; at = (at / kHostPageBytes + 1) * kHostPageBytes) {
    touching.at = at;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    auto* const byte = reinterpret_cast<unsigned char*>(at);
    if (write) {
      __atomic_fetch_or(byte, 0, __ATOMIC_RELAXED);
    } else {
      static_cast<void>(*static_cast<volatile unsigned char*>(byte));
    }
  }
}

// Returns whether a touch has failed, at touching.at.  The fault continues here.
[[gnu::noinline]] bool touch_fails(std::uintptr_t begin, std::uintptr_t end, bool write) {
  if (sigsetjmp(touching.back, 0) != 0) return true;
  touching.is_active = 1;
  touch_all(begin, end, write);
  touching.is_active = 0;
  return false;
}

// Finds the first byte that no mapping with that right contains (proc(5)).  Nothing: the file
// cannot be read.
std::optional<HostAccessible> by_mappings(std::uintptr_t begin, std::size_t bytes, bool write) {
  std::ifstream maps("/proc/self/maps");
  if (!maps) return std::nullopt;
  std::uintptr_t at = begin;
  const std::uintptr_t end = begin + bytes;
  for (std::string line; at < end && std::getline(maps, line);) {
    std::istringstream words(line);
    std::uintptr_t from = 0, to = 0;
    char dash = 0;
    std::string rights;
    if (!(words >> std::hex >> from >> dash >> to >> rights) || rights.size() < 2) continue;
    if (to <= at) continue;
    if (from > at) break;
    if (rights[write ? 1 : 0] != (write ? 'w' : 'r')) {
      const bool is_read_only = write && rights[0] == 'r';
      return HostAccessible{at - begin, is_read_only ? HostGap::read_only : HostGap::barred};
    }
    at = to;
  }
  if (at >= end) return HostAccessible{bytes, HostGap::none};
  return HostAccessible{at - begin, HostGap::unmapped};
}

}  // namespace

void catch_faults_by(void (*install)()) {
  install_handlers = install;
  looks = 0;
}

void end_touch_after_fault() {
  Touching& own = touching;
  if (own.is_active == 0) return;
  own.is_active = 0;
  sigset_t raised;
  sigemptyset(&raised);
  sigaddset(&raised, SIGSEGV);
  sigaddset(&raised, SIGBUS);
  ::pthread_sigmask(SIG_UNBLOCK, &raised, nullptr);
  siglongjmp(own.back, 1);
}

HostAccessible accessible_on_host(const void* pointer, std::size_t bytes, bool write) {
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  if (install_handlers == nullptr || bytes == 0) return {bytes, HostGap::none};
  std::uintptr_t end = 0;
  if (__builtin_add_overflow(begin, bytes, &end)) return {0, HostGap::unmapped};
  // A program that sets handlers of its own does so seldom, and a look costs a system call.
  constexpr unsigned kLookEvery = 256;
  if (looks.fetch_add(1, std::memory_order_relaxed) % kLookEvery == 0) install_handlers();
  if (!touch_fails(begin, end, write)) return {bytes, HostGap::none};
  const std::uintptr_t bad = touching.at;
  const auto mapped = by_mappings(begin, bytes, write);
  if (mapped && mapped->behind != HostGap::none) return *mapped;
  return {bad - begin, HostGap::unmapped};  // behind the end of a mapped file
}

}  // namespace warpcheck::cudart
