// Operands of library functions: the device memory that a replacement of a vendor's library
// function (cuBLAS ...) reads and writes.  The host computes these functions.
//
// Checkers treat operand accesses like accesses of a kernel.  What a function computes from
// unwritten bytes is undefined; the checker reports it where the value matters.
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

struct HostPlace;

struct LibraryOperand {
  std::string function;  // "cublasSgemm"
  std::string name;      // "A of cublasSgemm, 64 x 64, lda 60"
  // The call in the program's code, and the operand's number in that call.  Both identify the
  // origin of undefined values.
  std::uint64_t call_site = 0;
  std::uint32_t number = 0;
  // Finds the source line of the call.  It is called only when a finding is made, because it reads
  // debug information.
  std::function<SourceLine()> find_place;
};
// A reference to an operand.  Two references are equal if they name the same operand of the same
// place in the program's code, however often that place is executed.
struct OperandRef {
  std::shared_ptr<const LibraryOperand> operand;
  friend bool operator==(const OperandRef& a, const OperandRef& b) {
    if (a.operand == nullptr || b.operand == nullptr) return a.operand == b.operand;
    return a.operand->call_site == b.operand->call_site && a.operand->number == b.operand->number;
  }
};

// A contiguous range of bytes of an operand.  Reads are reported before the function computes,
// writes afterwards.
struct OperandAccess {
  const Allocation* allocation = nullptr;
  std::uint32_t offset = 0, bytes = 0;
  bool write = false;
  const LibraryOperand* operand = nullptr;
  std::span<const std::uint32_t> unordered_launches{};  // as in HostAccess
  // The undefined bits of each byte; empty: all bits are defined.  For a read, Checkers sets them.
  // For a write, the caller sets them, and names the operand that made them undefined.
  std::vector<std::uint8_t> undefined{};
  const LibraryOperand* undefined_from = nullptr;
};

// Returns a side with the role "library read" or "library write".
AccessSide side_of(const LibraryOperand& operand, bool write);

// Makes the finding for an operand that is not inside one allocation.
//   nearest: the allocation at or below `address`, or null.
Finding operand_out_of_bounds(const LibraryOperand& operand, bool write, std::uint64_t address,
                              std::uint64_t bytes, const Allocation* nearest);
Finding operand_of_freed(const LibraryOperand& operand, bool write, std::uint64_t address,
                         std::uint64_t bytes, const Allocation& freed, const HostPlace& freed_at);
// Makes the finding for an operand whose address is not a multiple of `element_bytes`.
Finding operand_misaligned(const LibraryOperand& operand, bool write, const Allocation& allocation,
                           std::uint64_t offset, std::uint32_t element_bytes);
// Makes the finding for an operand in host memory, which a GPU cannot reach, or for a null pointer.
Finding operand_on_host(const LibraryOperand& operand, bool write, bool is_null);
// Makes the finding for a host function that reads or writes device memory although its caller says
// that the operand is host memory.
Finding host_operand_on_device(const LibraryOperand& operand, bool write);
// Makes the finding for a result that the function returns to the host and that depends on
// undefined bytes of `from`.
Finding undefined_host_result(const LibraryOperand& result, const LibraryOperand& from);
// Makes the finding for undefined bytes of an operand that holds addresses or indices.
Finding undefined_address(const LibraryOperand& operand, const Allocation& allocation,
                          std::uint64_t offset);

}  // namespace warpcheck::vgpu
