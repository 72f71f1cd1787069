#include "vgpu/cudart/copies/late_host_sides.hpp"

#include <pthread.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>

#include "vgpu/cudart/api/calls/api_call.hpp"

namespace warpcheck::cudart {
namespace {

// More writes than these are one write of anything.
constexpr std::size_t kWritesMax = 4096;

std::uint64_t sum_of(const CopySide& side, const Box& box) {
  std::uint64_t sum = 0;
  for_each_row(box, [&](std::size_t slice, std::size_t row) {
    sum = XXH3_64bits_withSeed(side.row(slice, row), box.width, sum);
  });
  return sum;
}

struct Stack {
  const std::byte *begin = nullptr, *end = nullptr;
};

// Returns the stack of this thread (pthread_getattr_np(3)).
Stack stack_of_this_thread() {
  thread_local const Stack stack = [] {
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return Stack{};
    void* begin = nullptr;
    std::size_t bytes = 0;
    const bool is_known = ::pthread_attr_getstack(&attributes, &begin, &bytes) == 0;
    ::pthread_attr_destroy(&attributes);
    const auto* const first = static_cast<const std::byte*>(begin);
    return is_known ? Stack{first, first + bytes} : Stack{};
  }();
  return stack;
}

const std::byte* stack_pointer_at_call() {
  return reinterpret_cast<const std::byte*>(current_call().stack);
}

std::uintptr_t this_thread() { return static_cast<std::uintptr_t>(::pthread_self()); }

}  // namespace

void LateHostSides::asked_for(CopyWork& work) const {
  if (work.host_waits) return;
  const bool reads = !work.staged && sides_.is_of_program(work.source_in, work.source.pointer);
  const bool writes = sides_.is_of_program(work.target_in, work.target.pointer);
  if (work.box.bytes() == 0 || !(reads || writes)) return;
  auto late = std::make_shared<LateHostSide>();
  late->asked = number_;
  if (reads) {
    if (const auto from = sides_.find(work.source, Where::host, work.box, false)) {
      late->sum = sum_of(*from, work.box);
    }
  }
  const Stack stack = stack_of_this_thread();
  late->stack_begin = stack.begin;
  late->stack_end = stack.end;
  late->thread = this_thread();
  work.late = std::move(late);
}

void LateHostSides::written(const std::byte* begin, std::size_t bytes) {
  ++number_;
  if (writes_.size() == kWritesMax) {
    writes_.assign(1, {number_, nullptr, SIZE_MAX});
    return;
  }
  if (begin == nullptr && !writes_.empty() && writes_.back().begin == nullptr) {
    writes_.back().number = number_;
    return;
  }
  writes_.push_back({number_, begin, bytes});
}

bool LateHostSides::frame_is_gone(const CopyWork& work, const Place& place) const {
  const auto* const at = static_cast<const std::byte*>(place.pointer);
  const LateHostSide& late = *work.late;
  const std::byte* const now = stack_pointer_at_call();
  const bool is_on_stack = at >= late.stack_begin && at < late.stack_end;
  const bool is_same_stack =
      late.thread == this_thread() && now >= late.stack_begin && now < late.stack_end;
  return is_on_stack && is_same_stack && at < now;
}

bool LateHostSides::has_changed(const CopyWork& work, const CopySide& from) const {
  const LateHostSide& late = *work.late;
  if (sum_of(from, work.box) == late.sum) return false;
  const std::byte* const begin = from.data;
  const std::byte* const end = from.row(work.box.depth - 1, work.box.height - 1) + work.box.width;
  return std::ranges::none_of(writes_, [&](const Write& write) {
    if (write.number <= late.asked) return false;
    return write.begin == nullptr || (write.begin < end && begin < write.begin + write.bytes);
  });
}

}  // namespace warpcheck::cudart
