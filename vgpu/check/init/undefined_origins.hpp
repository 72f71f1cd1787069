// The origins of undefined values: loads of unwritten bytes, warp operations that give a lane the
// value of a lane that took no part, products that were not waited for, variables in registers that
// nothing has written, and undefined operands of library functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/check/operand.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/machine/events.hpp"

namespace warpcheck::vgpu {

struct Origin {
  const Program* program = nullptr;  // null: a library function
  std::uint32_t pc = 0;
  ptx::Space space = ptx::Space::generic;
  std::string object;  // at its first occurrence
  std::string variable;
  Dim3 block, thread;  // of its first occurrence
  WarpPlace place;     // at its latest occurrence
  std::uint32_t lanes = 0;
  enum class Kind : std::uint8_t {
    load,  // or an operand of a library function
    shuffle,
    product,
    variable,  // pc is the first instruction that may read it
  };
  Kind kind = Kind::load;
  LibraryOperand operand{};  // set for a library function
  // Of a load: the origin of the value that it found at its latest occurrence, if another kernel or
  // a library function had stored that.
  std::uint32_t earlier = ptx::kNone;

  [[nodiscard]] bool is_load() const { return kind == Kind::load; }
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
  // Returns the lanes that executed the load themselves before they use the value; none if the
  // value came another way.
  [[nodiscard]] std::uint32_t lanes_that_read(const UndefinedUse& use) const {
    const bool same_warp = place.block == use.place.block && place.warp == use.place.warp;
    return same_warp ? lanes & use.lanes : 0;
  }
};

class UndefinedOrigins {
 public:
  explicit UndefinedOrigins(const Reporter& reporter) : reporter_(reporter) {}

  void clear() { origins_.clear(); }
  [[nodiscard]] const Origin& at(std::uint32_t index) const { return origins_[index]; }
  // Returns the origin of what a load of this kernel found; any other origin is its own.
  [[nodiscard]] std::uint32_t earliest_of(std::uint32_t index) const {
    const std::uint32_t earlier = origins_[index].earlier;
    return earlier == ptx::kNone ? index : earlier;
  }
  // Notes that some lanes of a load read unwritten bytes, or a value of the `earlier` origin.
  void add_load(const Access& access, std::uint32_t lanes, std::uint32_t earlier);
  // Return the index of an origin; it is created if it is new.
  std::uint32_t of_operand(const LibraryOperand& operand);
  // The origin at `pc` of a value that some of `lanes` hold.  kNone: no load of this trial is an
  // origin there, and it is neither a shfl nor a product nor the first read of a variable.
  std::uint32_t of_use(const Program* program, std::uint32_t pc, const WarpPlace& place,
                       std::uint32_t lanes);

 private:
  [[nodiscard]] std::uint32_t find(const Program* program, std::uint32_t pc) const;
  Origin& add(const Program* program, std::uint32_t pc, ThreadId first);

  std::vector<Origin> origins_;
  const Reporter& reporter_;  // knows the extents of the launch
};

}  // namespace warpcheck::vgpu
