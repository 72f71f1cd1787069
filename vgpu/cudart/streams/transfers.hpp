// What copies, fills and frees of streams do to device memory, told to the observers: each with the
// launches that nothing orders with it.  Races of copies with each other are found here; those with
// kernels are the race checker's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "vgpu/check/operand.hpp"
#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/cudart/streams/order.hpp"
#include "vgpu/cudart/streams/row_shape.hpp"
#include "vgpu/cudart/streams/work.hpp"
#include "vgpu/machine/access.hpp"
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

// What a copy from the host, or a fill, brings.
struct Brought {
  enum class From : std::uint8_t { elsewhere, host, value };
  From from = From::elsewhere;
  const void* host = nullptr;  // where the first row came from, and its pitch and slice
  std::size_t pitch = 0, slice = 0;
  std::uint32_t value = 0;
  unsigned element_bytes = 0;
  friend bool operator==(const Brought&, const Brought&) = default;
};
// The same as bytes that are there, row by row.
struct Bytes {
  const std::byte* data = nullptr;
  std::size_t pitch = 0, slice = 0;
};

// What an operation of the API function `call` does to some bytes, or the host by itself.
struct Touch {
  std::string_view call{};
  Rows rows{};
  bool write = false;
  Brought brought{};
  vgpu::OperandRef operand{};              // of a library function
  const vgpu::HostPlace* place = nullptr;  // of the host by itself; null: a call
  std::uint64_t number = 0;  // in the order of time: of the host by itself, and beside a kernel
  const void* asked_at = nullptr;  // Operation::asked_at
  // Kernels that have not ended and have told the host something before: their operations.
  std::vector<std::uint32_t> told_by{};
  friend bool operator==(const Touch&, const Touch&) = default;
};

// Whether `later`, which has not moved anything yet, brings from the same place of the host what
// `earlier` has brought, and what is still there; or, as a fill, the same value.
//   bytes: what it brings from the host
bool brings_the_same(const Touch& earlier, const Touch& later, const Bytes& bytes);

class Transfers {
 public:
  // Nothing is owned.
  Transfers(const Observers& observers, Findings& findings)
      : observers_(observers), findings_(findings) {}

  // Operations of the API function `call`, before the bytes move.
  void host_read(std::string_view call, const Rows& rows, const Operation& operation);
  //   bytes: what is written, if it comes from somewhere
  void host_write(std::string_view call, const Rows& rows, const Operation& operation,
                  const Brought& brought, const Bytes& bytes = {});
  void device_copy(std::string_view call, const Rows& target, const Rows& source,
                   const Operation& operation);
  // A library function reads an operand, or has written it; only against other operations, as the
  // checkers are told by the caller.
  void touch_operand(const vgpu::OperandRef& operand, const Rows& rows, bool write,
                     const Operation& operation);
  void free(std::string_view call, const vgpu::Allocation& allocation, const Operation& operation);
  // An operation reads or writes page-locked memory as the host's: kernels are not asked about it.
  void use_of_host_memory(std::string_view call, const Rows& rows, bool write,
                          const Operation& operation) {
    touch({call, rows, write}, {}, operation);
  }
  // A load or store of the host's, in a step of its own (Operations::step_of_host).
  //   ordered: launches that come before or after it although the step does not say so
  void host_touch(const Touch& now, const Operation& step, std::span<const std::uint32_t> ordered);

  // Launches, by their numbers, that have run and that nothing orders before the operation;
  // ascending.
  [[nodiscard]] std::vector<std::uint32_t> unordered_launches(const Operation& operation) const;
  // The launch of an operation that has run; null: none that could be unordered with what comes.
  [[nodiscard]] const std::uint32_t* launch_of(const Stamp& operation) const {
    return launches_.find(operation);
  }
  // A launch has run: the copies that nothing orders before it are told again.
  //   signals: what the host has touched before it gave the launch a signal comes before it
  void launched(std::uint32_t launch, const Operation& operation,
                const SignalsOfKernels* signals = nullptr);

  // Of a touch of the host's by itself.
  std::uint64_t next_number() { return ++numbers_; }
  // A kernel has been left: what touches memory from now on runs beside it, and has its place in
  // the order of time.
  void suspended(const Operation& kernel) {
    counts_touches_ = true;
    left_[kernel.number] = kernel.stamp;
  }
  // What was touched so far comes before the rest of that kernel.
  //   operation: its number
  void signalled(std::uint32_t operation) { signals_[operation] = numbers_; }

  // The host has waited for these: nothing that it asks for from now on is unordered with them.
  void forget(const OperationSet& known);
  void clear();

 private:
  void touch(Touch now, const Bytes& bytes, const Operation& operation);
  void tell_host_access(const Rows& rows, bool write,
                        const std::vector<std::uint32_t>& unordered) const;

  const Observers& observers_;
  Findings& findings_;
  RunLog<std::uint32_t> launches_;  // by their numbers
  RunLog<Touch> touched_;
  std::uint64_t numbers_ = 0;
  bool counts_touches_ = false;
  // By the numbers of operations: signals to kernels, and kernels that have been left.
  std::map<std::uint32_t, std::uint64_t> signals_;
  std::map<std::uint32_t, Stamp> left_;
};

}  // namespace warpcheck::cudart
