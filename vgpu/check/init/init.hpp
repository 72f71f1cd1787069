// The checker for uninitialised reads.  It tracks every byte of global, shared and local memory.
//
// A read of unwritten bytes gives an undefined value.  Moving such a value is no error, because
// structs have padding and the tails of buffers are copied.  The checker reports it where it can
// matter: in an address, in a branch, or when the host copies it out.  The result of a shfl from a
// lane that did not take part is treated the same way.  Memory records which bits are undefined,
// because structs have bit fields.  Undefined bytes that were written together with defined bits
// may be padding; a host copy of them is a note.  Bytes that were never written are also a note if
// they may be padding (store_shapes.hpp); a whole unwritten element is an error.  Cf. Stepanov and
// Serebryany, MemorySanitizer, CGO 2015.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/init/init_reports.hpp"
#include "vgpu/check/init/undefined_origins.hpp"
#include "vgpu/machine/native/noted_rows.hpp"
#include "vgpu/machine/undefined/memory_shadow.hpp"
#include "vgpu/machine/undefined/moved_padding.hpp"
#include "vgpu/machine/undefined/store_shapes.hpp"

namespace warpcheck::vgpu {

//
// A compare-and-swap that expects what its thread has read at the same place compares undefined
// bits with themselves, so only the value that it stores counts: loops around it write parts of
// words, and every bit of such a word is defined in the end.
//
// Strict (CheckerSet::strict_init): stores of undefined values to global and shared memory, copies
// within device memory and operands of library functions are uses as well.
class InitChecker final : public Checker, private UndefinedBytes {
 public:
  using Checker::Checker;
  void configure(const CheckerSet& set) override;
  void reset(WarpModel model) override;
  void on_allocate(const Allocation& allocation) override;
  void on_hand_out(const Allocation& allocation, std::uint32_t offset,
                   std::uint32_t bytes) override;
  void on_sync(const Sync& sync) override;
  void on_access(Access& access) override;
  bool takes_row(const RowAccess& row) override;
  bool lends_notes(std::uint32_t slot, RowNotes& notes) override;
  void on_undefined_use(const UndefinedUse& use) override { reports_.used(use); }
  void on_frame_end(const FrameEnd& frame) override;
  [[nodiscard]] Watched watches() const override {
    return {.frames = true, .unwritten_registers = true};
  }
  void on_free(const Allocation& allocation) override;
  void on_host_access(const HostAccess& access) override;
  void on_device_copy(const DeviceCopy& copy) override;
  void on_operand(OperandAccess& access) override;
  // What would have been written is unknown, not unwritten.
  void on_unknown_writes() override;
  // All parts share the shadows of global memory, which belong to the whole; each part writes the
  // bytes that its machine writes.  Only one machine can follow undefined values, so a part gives
  // the launch up when it meets one.
  void begin_parts() override;
  void end_parts(PartsEnd end) override;
  void join(Checker& whole, SharedGrid& grid) override;
  [[nodiscard]] std::uint8_t* states_of(const Allocation& allocation) override;
  std::uint8_t* make_states_of(const Allocation& allocation) override {
    return shadow_of(allocation).writable_states();
  }

 private:
  // The state that the parts of a launch share.
  struct Parts {
    std::mutex mutex;
    std::vector<MemoryShadow*> first_written;  // first written in this launch
    StoreShapes shapes_before;
  };

  [[nodiscard]] bool holds_undefined(const Allocation& allocation,
                                     std::uint32_t offset) const override;
  MemoryShadow& shadow_of(const Allocation& allocation);
  MemoryShadow& shadow_of_part(const Allocation& allocation);
  std::uint8_t* writable_states(const Allocation& allocation, MemoryShadow& shadow);
  void define_in_part(const HostAccess& access, MemoryShadow& shadow);
  void copy_in_part(const DeviceCopy& copy);
  [[nodiscard]] std::uint8_t state_for(const Access& access);
  void see_shared(const RowAccess& row, MemoryShadow& shadow);
  MemoryShadow& begin_shadow(const Allocation& allocation);
  void on_read(Access& access, MemoryShadow& shadow);
  void find_undefined(Access& access, MemoryShadow& shadow);
  void on_update(Access& access, MemoryShadow& shadow);
  void on_guessed_swap(Access& access, MemoryShadow& shadow);
  void on_write(const Access& access, MemoryShadow& shadow);
  void leave_undefined(const Access& access, const UndefinedLanes& value, MemoryShadow& shadow,
                       std::uint32_t at, std::uint32_t bytes);
  static void tell_bits(Access& access, std::uint32_t lanes, const MemoryShadow& shadow);
  static std::uint32_t lanes_with_undefined(const Access& access, std::uint32_t lanes,
                                            const MemoryShadow& shadow, std::uint32_t at);
  std::uint32_t origin_of_value(const Access& access, std::uint32_t lanes,
                                const MemoryShadow& shadow, std::uint32_t at, std::uint32_t bytes);
  void report_stored(const Access& access, std::uint32_t lanes, std::uint32_t origin);
  void report_copied(const HostAccess& access, const MemoryShadow& shadow);
  static void find_undefined_bits(OperandAccess& access, const MemoryShadow& shadow);

  std::vector<MemoryShadow> shadows_;  // by Allocation::id
  NotedStates noted_;                  // of the current launch
  StoreShapes shapes_;
  UndefinedOrigins origins_{reporter_};
  MovedPadding padding_{shapes_};
  InitReports reports_{reporter_, origins_};
  InitChecker* whole_ = nullptr;  // set in a part
  SharedGrid* grid_ = nullptr;    // set in a part
  Parts parts_;                   // used in the whole
  bool is_strict_ = false;
};

}  // namespace warpcheck::vgpu
