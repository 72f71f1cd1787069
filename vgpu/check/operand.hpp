// Operands of library functions: what a function that stands for one of a vendor's library (cuBLAS
// ...), and that the host computes, reads and writes in device memory.
//
// Checkers look at them as at the accesses of a kernel: what a function makes of bytes that nothing
// has written is undefined, and is told where it matters.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::vgpu {

struct SourcePlace {
  std::string file;  // empty: unknown
  std::uint32_t line = 0;
};

struct LibraryOperand {
  std::string function;  // "cublasSgemm"
  std::string name;      // "A of cublasSgemm, 64 x 64, lda 60"
  // The call in the program's code, and which of its operands this is: they tell origins apart.
  std::uint64_t call_site = 0;
  std::uint32_t number = 0;
  // Where the call stands; asked when a finding is made, as the answer takes a look into debug
  // information.
  std::function<SourcePlace()> find_place;
};
// Operands of one place in the program's code are equal, however often it is executed.
struct OperandRef {
  std::shared_ptr<const LibraryOperand> operand;
  friend bool operator==(const OperandRef& a, const OperandRef& b) {
    if (a.operand == nullptr || b.operand == nullptr) return a.operand == b.operand;
    return a.operand->call_site == b.operand->call_site && a.operand->number == b.operand->number;
  }
};

// A row of bytes of an operand: of a read before the function computes, of a write afterwards.
struct OperandAccess {
  const Allocation* allocation = nullptr;
  std::uint32_t offset = 0, bytes = 0;
  bool write = false;
  const LibraryOperand* operand = nullptr;
  std::span<const std::uint32_t> unordered_launches{};  // as of HostAccess
  // The undefined bits of each byte; empty: all are defined.  Of a read, a checker says so; of a
  // write, the caller, and which operand made them so.
  std::vector<std::uint8_t> undefined{};
  const LibraryOperand* undefined_from = nullptr;
};

// "library read", "library write"
AccessSide side_of(const LibraryOperand& operand, bool write);

// The operand is not inside one allocation.
//   nearest: the allocation at or below `address`, or null
Finding operand_out_of_bounds(const LibraryOperand& operand, bool write, std::uint64_t address,
                              std::uint64_t bytes, const Allocation* nearest);
Finding operand_of_freed(const LibraryOperand& operand, bool write, std::uint64_t address,
                         std::uint64_t bytes, const Allocation& freed);
// element_bytes: what the operand's address should be a multiple of
Finding operand_misaligned(const LibraryOperand& operand, bool write, const Allocation& allocation,
                           std::uint64_t offset, std::uint32_t element_bytes);
// The operand is memory of the host, which a GPU cannot reach; or no memory at all.
Finding operand_on_host(const LibraryOperand& operand, bool write, bool is_null);
// A function on the host reads or writes device memory where its caller says that it is the host's.
Finding host_operand_on_device(const LibraryOperand& operand, bool write);
// Undefined bytes of `from` decide what the function gives to the host.
Finding undefined_host_result(const LibraryOperand& result, const LibraryOperand& from);
// Undefined bytes of the operand are addresses or indices.
Finding undefined_address(const LibraryOperand& operand, const Allocation& allocation,
                          std::uint64_t offset);

}  // namespace warpcheck::vgpu
