// Reports to observers how copies, fills and frees of streams access device memory, each with the
// launches that are not ordered with it.  Races between copies are found here; the race checker
// finds races with kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "vgpu/check/operand.hpp"
#include "vgpu/cudart/copies/row_shape.hpp"
#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/cudart/streams/order.hpp"
#include "vgpu/cudart/streams/work.hpp"
#include "vgpu/machine/events.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

class Findings;
class Observers;
class SignalsOfKernels;

// A box of bytes in device memory.
struct Rows {
  const vgpu::Allocation* allocation = nullptr;
  std::size_t offset = 0;
  std::size_t pitch = 0, slice = 0;
  Box box;
  RowShape shape{};  // in bytes
  friend bool operator==(const Rows&, const Rows&) = default;
};

// The source of what a copy from the host, or a fill, writes.
struct Brought {
  enum class From : std::uint8_t { elsewhere, host, value };
  From from = From::elsewhere;
  const void* host = nullptr;  // the source of the first row, with its pitch and slice
  std::size_t pitch = 0, slice = 0;
  std::uint32_t value = 0;
  unsigned element_bytes = 0;
  friend bool operator==(const Brought&, const Brought&) = default;
};
// Where the program has the rows of a copy; null: not known.
struct HostRows {
  const void* first = nullptr;
  std::size_t pitch = 0, slice = 0;
};
// The bytes that Brought describes, row by row.
struct Bytes {
  const std::byte* data = nullptr;
  std::size_t pitch = 0, slice = 0;
};

// An access to some bytes by an operation of the API function `call`, or by the host itself.
struct Touch {
  std::string_view call{};
  Rows rows{};
  bool write = false;
  Brought brought{};
  bool frees = false;                      // write: the memory is freed
  bool allocates = false;                  // write: the memory begins to exist
  vgpu::OperandRef operand{};              // set for a library function
  const vgpu::HostPlace* place = nullptr;  // set for the host itself; null: a call
  std::uint64_t number = 0;  // time order; set for the host itself, and beside a suspended kernel
  const void* asked_at = nullptr;  // Operation::asked_at
  std::uint64_t races_before = 0;  // for a free: what number_of_races() was
  // Operation numbers of kernels that have not ended and have signalled the host before.
  std::vector<std::uint32_t> reported_by{};
  friend bool operator==(const Touch&, const Touch&) = default;
};

// Returns whether `later`, which has not moved any bytes yet, writes the same bytes from the same
// place of the host as `earlier` did, or fills with the same value, and the earlier bytes are
// unchanged.
//   bytes: what it copies from the host
bool brings_the_same(const Touch& earlier, const Touch& later, const Bytes& bytes);

class Transfers {
 public:
  // Nothing is owned.
  Transfers(const Observers& observers, Findings& findings)
      : observers_(observers), findings_(findings) {}

  // Called by operations of the API function `call`, before the bytes move.
  //   to: where the bytes go
  void host_read(std::string_view call, const Rows& rows, const Operation& operation,
                 const HostRows& to = {});
  //   bytes: what is written, if it is copied
  void host_write(std::string_view call, const Rows& rows, const Operation& operation,
                  const Brought& brought, const Bytes& bytes = {});
  void device_copy(std::string_view call, const Rows& target, const Rows& source,
                   const Operation& operation);
  // A library function reads an operand, or has written it.  Only races with other operations are
  // checked; the caller informs the checkers.
  void touch_operand(const vgpu::OperandRef& operand, const Rows& rows, bool write,
                     const Operation& operation);
  void free(std::string_view call, const vgpu::Allocation& allocation, const Operation& operation);
  // The operation allocates: what is not ordered after it may not use the memory.
  void allocate(std::string_view call, const vgpu::Allocation& allocation,
                const Operation& operation);
  // An operation accesses page-locked memory as host memory; races with kernels are not checked.
  void use_of_host_memory(std::string_view call, const Rows& rows, bool write,
                          const Operation& operation) {
    touch({call, rows, write}, {}, operation);
  }
  // A load or store by the host, in a step of its own (Operations::step_of_host); or an early read
  // (EarlyReadWork).
  //   ordered: launches that come before or after it in addition to what the step says
  void host_touch(const Touch& now, const Operation& step, std::span<const std::uint32_t> ordered);

  // Returns the numbers of launches that have run and are not ordered before the operation;
  // ascending.
  [[nodiscard]] std::vector<std::uint32_t> unordered_launches(const Operation& operation) const;
  // Returns the launch of an operation that has run; null: it is ordered with everything to come.
  [[nodiscard]] const std::uint32_t* launch_of(const Stamp& operation) const {
    return launches_.find(operation);
  }
  // Calls visit(launch) for launches that have run, of the operations of `now` that are not in
  // `before`, except those that come before everything to come.
  template <typename Visit>
  void visit_newly_known(const OperationSet& before, const OperationSet& now, Visit&& visit) const {
    launches_.visit_new(before, now, visit);
  }
  // Calls visit(operation) for launches that have run, except those that come before everything to
  // come.
  template <typename Visit>
  void visit_launched(Visit&& visit) const {
    launches_.visit_all([&](const Stamp& stamp, std::uint32_t) { visit(stamp); });
  }
  // Calls visit(operation, part of an allocation, offset in it, bytes, write) for accesses by
  // operations that have run, except those that come before everything to come, until it returns
  // true.  Returns whether it has.
  using VisitTouched = std::function<bool(const Stamp&, const vgpu::Allocation&, std::uint32_t,
                                          std::uint32_t, bool)>;
  [[nodiscard]] bool find_touched(const VisitTouched& visit) const;
  // A launch has run: reports again the copies that are not ordered before it.
  //   signals: what the host accessed before it signalled the launch comes before it
  void launched(std::uint32_t launch, const Operation& operation,
                const SignalsOfKernels* signals = nullptr);

  // The launch has run on and is suspended again: compares it with what the host itself has
  // accessed since it last signalled the launch.  Later signals will hide that.
  void ran_on(std::uint32_t launch, const Operation& operation, const SignalsOfKernels& signals);

  // Returns a number for an access by the host itself.
  std::uint64_t next_number() { return ++numbers_; }
  // A kernel has been suspended: accesses from now on run beside it, and are numbered in time
  // order.
  void suspended(const Operation& kernel) {
    counts_touches_ = true;
    left_[kernel.number] = kernel.stamp;
  }
  // All accesses so far come before the rest of that kernel.
  //   operation: its number
  void signalled(std::uint32_t operation) { signals_[operation] = numbers_; }

  // The host has waited for these: nothing that it requests from now on is unordered with them.
  void forget(const OperationSet& known);
  void clear();

 private:
  [[nodiscard]] std::uint64_t number_of_races() const;
  void touch(Touch&& now, const Bytes& bytes, const Operation& operation);
  void report_beside(const Touch& touch, std::span<const std::uint32_t> launch);
  void check_overlap(std::string_view call, const Rows& target, const Rows& source,
                     const Operation& operation);
  //   ahead: as in HostAccess; host, bytes: the other side of a copy
  void notify_of_host_access(const Touch& touch, const std::vector<std::uint32_t>& unordered,
                             bool ahead, const HostRows& host = {}, const Bytes& bytes = {}) const;

  const Observers& observers_;
  Findings& findings_;
  RunLog<std::uint32_t> launches_;  // by their numbers
  RunLog<Touch> touched_;
  std::uint64_t numbers_ = 0;
  bool counts_touches_ = false;
  // Signals to kernels, and suspended kernels, both by operation number.
  std::map<std::uint32_t, std::uint64_t> signals_;
  std::map<std::uint32_t, Stamp> left_;
};

}  // namespace warpcheck::cudart
