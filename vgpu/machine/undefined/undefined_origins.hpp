// The origins of undefined values: loads of unwritten bytes, warp operations that give a lane the
// value of a lane that took no part, products that were not waited for, tensor memory and variables
// in registers that nothing has written, and undefined operands of library functions.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/machine/access.hpp"
#include "vgpu/machine/events.hpp"

namespace warpcheck::vgpu {

struct UndefinedOrigin {
  const Program* program = nullptr;  // null: a library function
  std::uint32_t pc = 0;
  WarpPlace place;  // at its latest occurrence
  std::uint32_t lanes = 0;
  enum class Kind : std::uint8_t {
    load,  // or an operand of a library function
    shuffle,
    product,
    tensor_memory,  // pc is the load, or the product that adds to it
    variable,       // pc is the first instruction that may read it
  };
  Kind kind = Kind::load;
  // Of a library function: the call in the program's code, and the operand's number in it.
  std::uint64_t call_site = 0;
  std::uint32_t operand = 0;
  // Of a load: the origin of the value that it found at its latest occurrence, if another kernel or
  // a library function had stored that.
  std::uint32_t earlier = ptx::kNone;

  [[nodiscard]] bool is_load() const { return kind == Kind::load; }
  [[nodiscard]] bool reads_memory() const {
    return kind == Kind::load || kind == Kind::tensor_memory;
  }
  // Returns the lanes that executed the load themselves before they use the value; none if the
  // value came another way.
  [[nodiscard]] std::uint32_t lanes_that_read(const UndefinedUse& use) const {
    const bool same_warp = place.block == use.place.block && place.warp == use.place.warp;
    return same_warp ? lanes & use.lanes : 0;
  }
};

// Receives what happens to undefined values, in order to report it.
class UndefinedValuesListener {
 public:
  // The first occurrence of an origin of a kernel.
  struct First {
    std::uint32_t index = 0;  // of the origin
    const Program* program = nullptr;
    std::uint32_t pc = 0;
    WarpPlace place;
    unsigned lane = 0;
    const Access* load = nullptr;  // null: no load
  };
  virtual ~UndefinedValuesListener() = default;
  virtual void on_origin(const First& first) = 0;
  // A store or an atomic operation leaves values in memory that are more than padding.
  virtual void on_stored(const UndefinedUse& use, bool is_atomic) = 0;
};

class UndefinedOrigins {
 public:
  void clear() { origins_.clear(); }
  void set_listener(UndefinedValuesListener* listener) { listener_ = listener; }
  [[nodiscard]] const UndefinedOrigin& at(std::uint32_t index) const { return origins_[index]; }
  // Returns the origin of what a load of this kernel found; any other origin is its own.
  [[nodiscard]] std::uint32_t earliest_of(std::uint32_t index) const {
    const std::uint32_t earlier = origins_[index].earlier;
    return earlier == ptx::kNone ? index : earlier;
  }
  // Notes that some lanes of a load read unwritten bytes, or a value of the `earlier` origin.
  void add_load(const Access& access, std::uint32_t lanes, std::uint32_t earlier);
  // Notes that an instruction reads words of tensor memory that nothing has written.
  void add_tensor_memory(const Program& program, std::uint32_t pc, const WarpPlace& place,
                         std::uint32_t lanes);
  // Return the index of an origin; it is created if it is new.
  std::uint32_t of_operand(std::uint64_t call_site, std::uint32_t operand);
  // The origin at `pc` of a value that some of `lanes` hold.  kNone: no load of this trial is an
  // origin there, and it is neither a shfl nor a product nor the first read of a variable.
  std::uint32_t of_use(const Program* program, std::uint32_t pc, const WarpPlace& place,
                       std::uint32_t lanes);

 private:
  [[nodiscard]] std::uint32_t find(const Program* program, std::uint32_t pc) const;
  UndefinedOrigin& add(const UndefinedValuesListener::First& first);

  std::vector<UndefinedOrigin> origins_;
  UndefinedValuesListener* listener_ = nullptr;
};

}  // namespace warpcheck::vgpu
