#include "vgpu/cudart/libraries/library_runner.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "vgpu/cudart/copies/transfers.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/observers.hpp"
#include "vgpu/cudart/device/virtual_clock.hpp"
#include "vgpu/cudart/libraries/library_call.hpp"
#include "vgpu/cudart/libraries/operand_memory.hpp"
#include "vgpu/cudart/memory/allocations.hpp"
#include "vgpu/cudart/memory/host_blocks.hpp"

namespace warpcheck::cudart {
namespace {

using UndefinedBits = std::vector<std::uint8_t>;  // undefined bits of each byte of a row

// Values that replace undefined bytes: NaN or -1; and large finite numbers.
constexpr std::uint8_t kOtherBytes[] = {0xff, 0x6e};

// One run of a call's function.
class Run {
 public:
  Run(const LibraryCall& call, const LibraryRunner::Dependencies& dependencies,
      const Operation& operation)
      : call_(call),
        dependencies_(dependencies),
        operation_(operation),
        unordered_(dependencies.transfers.unordered_launches(operation)) {}

  void find_operands();
  void read();
  void compute();
  void write();

 private:
  struct Operand {
    OperandMemory memory;
    std::map<std::int64_t, UndefinedBits> undefined;  // by row with undefined bits; for reads
    std::map<std::int64_t, UndefinedBits> results{};  // for writes
  };
  using Snapshot = std::vector<std::byte>;

  void add(LibraryCall::Operand operand);
  template <typename Visit>
  void for_each_access(const OperandMemory& memory, const OperandMemory::Row& row,
                       Visit visit) const;
  void read_operand(Operand& operand, std::uint64_t& bytes);
  [[nodiscard]] bool can_compute() const;
  void call_function();
  void find_what_depends();
  void keep_where_different(std::span<const std::byte> expected);
  void replace_undefined(std::uint8_t byte);
  [[nodiscard]] Snapshot take(bool written, bool undefined) const;
  void put(std::span<const std::byte> bytes, bool written, bool undefined);
  template <typename Visit>
  void for_each_kept_row(bool written, bool undefined, Visit&& visit) const;
  void report_result(const Operand& operand);

  const LibraryCall& call_;
  const LibraryRunner::Dependencies& dependencies_;
  const Operation& operation_;
  std::vector<std::uint32_t> unordered_;
  std::vector<Operand> operands_;
  std::vector<LibraryView> views_;
  const Operand* undefined_from_ = nullptr;  // the first operand with undefined values
  bool has_bad_addresses_ = false;
};

void Run::add(LibraryCall::Operand operand) {
  operands_.push_back(
      {OperandMemory(std::move(operand), dependencies_.allocations, dependencies_.findings), {}});
  views_.push_back(operands_.back().memory.view());
}

bool Run::can_compute() const {
  return !has_bad_addresses_ && std::ranges::none_of(operands_, [](const Operand& operand) {
    return operand.memory.is_impossible();
  });
}

void Run::find_operands() {
  for (const LibraryCall::Operand& operand : call_.operands()) add(operand);
  // The regions that the first ones lead to are known only if these hold addresses.
  std::uint64_t bytes = 0;
  for (Operand& operand : operands_) {
    if (operand.memory.region().addresses) read_operand(operand, bytes);
  }
  if (!can_compute()) return;
  for (LibraryCall::Operand& operand : call_.expand(views_.data())) add(std::move(operand));
}

// Calls visit for a row in each part of its allocation, with the access to be reported (except
// whether it reads or writes) and the byte of the row at which the part begins.
template <typename Visit>
void Run::for_each_access(const OperandMemory& memory, const OperandMemory::Row& row,
                          Visit visit) const {
  std::uint64_t at = 0;
  row.allocation->for_each_part(
      row.offset, row.bytes,
      [&](const vgpu::Allocation& part, std::uint32_t offset, std::uint32_t count) {
        vgpu::OperandAccess access{.allocation = &part,
                                   .offset = offset,
                                   .bytes = count,
                                   .operand = &memory.reported_as(),
                                   .unordered_launches = unordered_};
        visit(access, at);
        at += count;
      });
}

void Run::read_operand(Operand& operand, std::uint64_t& bytes) {
  const OperandMemory& memory = operand.memory;
  memory.for_each_row_on_device([&](const OperandMemory::Row& row) {
    bytes += row.bytes;
    UndefinedBits undefined;
    for_each_access(memory, row, [&](vgpu::OperandAccess& access, std::uint64_t at) {
      dependencies_.findings.checkers().on_operand(access);
      if (access.undefined.empty()) return;
      undefined.resize(row.bytes);
      std::ranges::copy(access.undefined, undefined.begin() + static_cast<std::ptrdiff_t>(at));
    });
    if (undefined.empty()) return;
    if (memory.region().addresses) {
      const auto first = std::ranges::find_if(undefined, [](auto bits) { return bits != 0; });
      const auto at = static_cast<std::uint64_t>(first - undefined.begin());
      if (!std::exchange(has_bad_addresses_, true)) {
        dependencies_.findings.add(
            vgpu::undefined_address(memory.reported_as(), *row.allocation, row.offset + at));
      }
      return;
    }
    UndefinedBits& of_row = operand.undefined[row.number];
    of_row.resize(std::max<std::size_t>(of_row.size(), row.row_byte + undefined.size()));
    std::ranges::copy(undefined, of_row.begin() + static_cast<std::ptrdiff_t>(row.row_byte));
  });
  for (const Rows& rows : memory.rows()) {
    dependencies_.transfers.touch_operand(memory.ref(), rows, false, operation_);
  }
}

void Run::read() {
  std::uint64_t bytes = 0;
  for (Operand& operand : operands_) {
    const LibraryRegion& region = operand.memory.region();
    if (region.reads && !region.addresses) read_operand(operand, bytes);
  }
  for (const Operand& operand : operands_) {
    if (!operand.undefined.empty() && undefined_from_ == nullptr) undefined_from_ = &operand;
  }
  dependencies_.clock.spend_copy(bytes);
}

void Run::call_function() { call_.compute(views_.data()); }

void Run::compute() {
  if (!can_compute()) return;
  if (undefined_from_ == nullptr) return call_function();
  find_what_depends();
}

// Visits the rows that are written, or that have undefined bits.
template <typename Visit>
void Run::for_each_kept_row(bool written, bool undefined, Visit&& visit) const {
  for (const Operand& operand : operands_) {
    const LibraryRegion& region = operand.memory.region();
    const bool is_written = written && region.writes && !region.leaves_undefined;
    if (!is_written && !(undefined && !operand.undefined.empty())) continue;
    operand.memory.for_each_row(
        [&](std::int64_t number, std::int64_t, std::byte* data, std::int64_t bytes) {
          if (!is_written && !operand.undefined.contains(number)) return;
          visit(operand, number, std::span(data, static_cast<std::size_t>(bytes)));
        });
  }
}

Run::Snapshot Run::take(bool written, bool undefined) const {
  Snapshot snapshot;
  for_each_kept_row(written, undefined,
                    [&](const Operand&, std::int64_t, std::span<std::byte> row) {
                      snapshot.insert(snapshot.end(), row.begin(), row.end());
                    });
  return snapshot;
}

void Run::put(std::span<const std::byte> bytes, bool written, bool undefined) {
  for_each_kept_row(written, undefined,
                    [&](const Operand&, std::int64_t, std::span<std::byte> row) {
                      std::memcpy(row.data(), bytes.data(), row.size());
                      bytes = bytes.subspan(row.size());
                    });
}

void Run::replace_undefined(std::uint8_t byte) {
  for_each_kept_row(false, true,
                    [&](const Operand& operand, std::int64_t number, std::span<std::byte> row) {
                      const UndefinedBits& bits = operand.undefined.at(number);
                      for (std::size_t i = 0; i < bits.size(); ++i) {
                        const std::byte mask{bits[i]};
                        row[i] = (row[i] & ~mask) | (std::byte{byte} & mask);
                      }
                    });
}

void Run::find_what_depends() {
  const Snapshot before = take(true, true);
  call_function();
  const Snapshot result = take(true, false);
  for (const std::uint8_t byte : kOtherBytes) {
    put(before, true, true);
    replace_undefined(byte);
    call_function();
    keep_where_different(result);
  }
  put(before, true, true);
  put(result, true, false);
}

void Run::keep_where_different(std::span<const std::byte> expected) {
  for (Operand& operand : operands_) {
    const LibraryRegion& region = operand.memory.region();
    if (!region.writes || region.leaves_undefined) continue;
    operand.memory.for_each_row([&](std::int64_t number, std::int64_t, const std::byte* data,
                                    std::int64_t bytes) {
      const auto size = static_cast<std::size_t>(bytes);
      const std::byte* const other = expected.data();
      expected = expected.subspan(size);
      if (std::memcmp(data, other, size) == 0) return;
      UndefinedBits& bits = operand.results[number];
      bits.resize(size);
      for (std::size_t at = 0; at < size; at += region.element_bytes) {
        const std::size_t element = std::min<std::size_t>(region.element_bytes, size - at);
        if (std::memcmp(data + at, other + at, element) == 0) continue;
        std::fill_n(bits.begin() + static_cast<std::ptrdiff_t>(at), element, std::uint8_t{0xff});
      }
    });
  }
}

void Run::write() {
  for (const Operand& operand : operands_) {
    if (!operand.memory.region().writes) continue;
    operand.memory.bring_back();
    report_result(operand);
  }
}

void Run::report_result(const Operand& operand) {
  const OperandMemory& memory = operand.memory;
  const vgpu::LibraryOperand* const from =
      undefined_from_ == nullptr ? nullptr : &undefined_from_->memory.reported_as();
  if (memory.region().on_host) {
    if (!operand.results.empty()) {
      dependencies_.findings.add(vgpu::undefined_host_result(memory.reported_as(), *from));
    }
    return;
  }
  memory.for_each_row_on_device([&](const OperandMemory::Row& row) {
    for_each_access(memory, row, [&](vgpu::OperandAccess& access, std::uint64_t at) {
      access.write = true;
      access.undefined_from = from;
      if (memory.region().leaves_undefined) {
        access.undefined.assign(access.bytes, 0xff);
        access.undefined_from = &memory.reported_as();
      }
      const auto bits = operand.results.find(row.number);
      if (bits != operand.results.end()) {
        const auto first = bits->second.begin() + static_cast<std::ptrdiff_t>(row.row_byte + at);
        access.undefined.assign(first, first + access.bytes);
      }
      dependencies_.findings.checkers().on_operand(access);
    });
  });
  for (const Rows& rows : memory.rows()) {
    dependencies_.transfers.touch_operand(memory.ref(), rows, true, operation_);
  }
}

}  // namespace

void LibraryRunner::run(const LibraryWork& work, const Operation& operation,
                        const HostState& host) {
  const bool needs_host = std::ranges::any_of(
      work.call->operands(), [](const auto& operand) { return operand.region.on_host; });
  if (host.is_gone && needs_host) return;
  if (!host.is_gone) dependencies_.host_blocks.copy_registered_to_device();
  dependencies_.observers.notify(
      [&](vgpu::Observer& observer) { observer.on_opaque_operation(work.call->function()); });
  Run run(*work.call, dependencies_, operation);
  run.find_operands();
  run.read();
  run.compute();
  run.write();
  if (!host.is_gone) dependencies_.host_blocks.copy_registered_to_host();
}

}  // namespace warpcheck::cudart
