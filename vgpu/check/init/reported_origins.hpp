// What reports say of the origins of undefined values (machine/undefined/undefined_origins.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/check/operand.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/machine/undefined/undefined_origins.hpp"

namespace warpcheck::vgpu {

struct Origin : UndefinedOrigin {
  ptx::Space space = ptx::Space::generic;
  std::string object;  // at its first occurrence
  std::string variable;
  const Allocation* allocation =
      nullptr;                  // global memory that its first occurrence reads; null: none
  std::uint32_t offset = 0;     // in it
  Dim3 block, thread;           // of its first occurrence
  LibraryOperand of_library{};  // set for a library function

  [[nodiscard]] Lack lack() const {
    switch (kind) {
      case Kind::shuffle: return Lack::participation;
      case Kind::product: return Lack::copy_wait;
      default: return Lack::unknown;
    }
  }
  // Returns text about the source of the value. verb: the action that is missing ("written"); side:
  // the number of this origin among the finding's sides
  [[nodiscard]] std::string source(const std::string& verb, int side = 1) const;
};

class ReportedOrigins {
 public:
  explicit ReportedOrigins(const Reporter& reporter) : reporter_(reporter) {}

  void clear() {
    seen_.clear();
    operands_.clear();
  }
  void see(const UndefinedValuesListener::First& first);
  // Returns a number that identifies the operand.
  std::uint32_t see(const LibraryOperand& operand);
  [[nodiscard]] Origin of(std::uint32_t index, const UndefinedOrigin& origin) const;

 private:
  struct Seen {
    ptx::Space space = ptx::Space::generic;
    std::string object, variable;
    const Allocation* allocation = nullptr;
    std::uint32_t offset = 0;
    Dim3 block, thread;
  };
  std::vector<Seen> seen_;                // by the index of an origin
  std::vector<LibraryOperand> operands_;  // that have left undefined values
  const Reporter& reporter_;              // knows the extents of the launch
};

}  // namespace warpcheck::vgpu
