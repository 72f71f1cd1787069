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
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/init/init_shadow.hpp"
#include "vgpu/check/init/moved_values.hpp"
#include "vgpu/check/init/store_shapes.hpp"
#include "vgpu/machine/native/noted_rows.hpp"

namespace warpcheck::vgpu {

class InitChecker final : public Checker {
 public:
  using Checker::Checker;
  void reset(WarpModel model) override;
  void on_allocate(const Allocation& allocation) override;
  void on_sync(const Sync& sync) override;
  void on_access(Access& access) override;
  bool takes_row(const RowAccess& row) override;
  bool lends_notes(std::uint32_t slot, RowNotes& notes) override;
  void on_undefined_use(const UndefinedUse& use) override;
  void on_free(const Allocation& allocation) override;
  void on_host_access(const HostAccess& access) override;
  void on_device_copy(const DeviceCopy& copy) override;
  void on_operand(OperandAccess& access) override;
  // All parts share the shadows of global memory, which belong to the whole; each part writes the
  // bytes that its machine writes.  Only one machine can follow undefined values, so a part gives
  // the launch up when it meets one.
  void begin_parts() override;
  void end_parts(bool keeps) override;
  void join(Checker& whole, SharedGrid& grid) override;
  [[nodiscard]] std::uint8_t* states_of(const Allocation& allocation) override;

 private:
  // The source of an undefined value: a load of unwritten bytes, a shfl from a lane that took no
  // part, a product that was not waited for, or an undefined operand of a library function.
  struct Origin {
    const Program* program = nullptr;  // null: a library function
    std::uint32_t pc = 0;
    ptx::Space space = ptx::Space::generic;
    std::string object;  // at its first occurrence
    std::string variable;
    ThreadId first;   // at its first occurrence
    WarpPlace place;  // at its latest occurrence
    std::uint32_t lanes = 0;
    bool is_shuffle = false;
    bool is_product = false;
    [[nodiscard]] bool is_load() const { return !is_shuffle && !is_product; }
    [[nodiscard]] Lack lack() const { return is_shuffle ? Lack::participation : Lack::copy_wait; }
    // Returns text about the source of the value. verb: the action that is missing ("written").
    [[nodiscard]] std::string source(const std::string& verb) const {
      if (is_product) return "the result of (1), which wgmma.wait_group had not waited for";
      if (!is_shuffle) return "bytes that nothing " + verb;
      return "the register of a lane that takes no part in (1): it is not in the mask, or has "
             "exited";
    }
    LibraryOperand operand{};  // set for a library function
  };

  // The state that the parts of a launch share.
  struct Parts {
    std::mutex mutex;
    std::vector<InitShadow*> first_written;  // first written in this launch
    StoreShapes shapes_before;
  };

  InitShadow& shadow_of(const Allocation& allocation);
  InitShadow& shadow_of_part(const Allocation& allocation);
  std::uint8_t* writable_states(const Allocation& allocation, InitShadow& shadow);
  void define_in_part(const HostAccess& access, InitShadow& shadow);
  void copy_in_part(const DeviceCopy& copy);
  [[nodiscard]] std::uint8_t state_for(const Access& access);
  void see_shared(const RowAccess& row, InitShadow& shadow);
  InitShadow& begin_shadow(const Allocation& allocation);
  void on_read(Access& access, InitShadow& shadow);
  void find_undefined(Access& access, InitShadow& shadow);
  void on_update(Access& access, InitShadow& shadow);
  void on_write(const Access& access, InitShadow& shadow);
  void leave_undefined(const Access& access, const UndefinedLanes& value, InitShadow& shadow,
                       std::uint32_t at, std::uint32_t bytes);
  static void tell_bits(Access& access, std::uint32_t lanes, const InitShadow& shadow);
  static std::uint32_t lanes_with_undefined(const Access& access, std::uint32_t lanes,
                                            const InitShadow& shadow, std::uint32_t at);
  // Padding that a program copies unchanged is still padding.
  [[nodiscard]] bool is_padding(const InitShadow& shadow, std::uint32_t at) const;
  void see_padding(const Access& access, std::uint32_t lanes, const InitShadow& shadow);
  bool moves_padding(const Access& access, std::uint32_t element);
  std::uint32_t origin_of_value(const Access& access, std::uint32_t lanes, const InitShadow& shadow,
                                std::uint32_t at, std::uint32_t bytes);

  static void find_undefined_bits(OperandAccess& access, const InitShadow& shadow);
  std::uint32_t origin_of_operand(const LibraryOperand& operand);
  std::uint32_t origin_of_load(const Access& access, std::uint32_t lanes);
  // Returns the index of the origin at `pc`; kNone: no load or shfl of this trial is an origin
  // there.
  [[nodiscard]] std::uint32_t find_origin(const Program* program, std::uint32_t pc) const;
  // Returns the index of the origin of a value that some of `lanes` hold.  Creates the origin if it
  // is a shfl.
  std::uint32_t origin_of_use(const Program* program, std::uint32_t pc, const WarpPlace& place,
                              std::uint32_t lanes);
  [[nodiscard]] AccessSide side_of(const Origin& origin, ThreadId who) const;
  static std::uint32_t lanes_that_read(const Origin& origin, const UndefinedUse& use);
  void report_copied_value(const HostAccess& access, std::uint32_t offset, const Origin& origin);
  void report_copied_element(const HostAccess& access, std::uint32_t offset, std::uint32_t bytes);
  void report_copied_padding(const HostAccess& access, std::uint32_t offset, const Origin& origin);
  [[nodiscard]] Finding copied_from(const HostAccess& access, std::uint32_t offset,
                                    const Origin& origin) const;
  void report_copied_bytes(const HostAccess& access, std::uint32_t offset);

  std::vector<InitShadow> shadows_;  // by Allocation::id
  NotedStates noted_;                // of the current launch
  std::vector<Origin> origins_;
  StoreShapes shapes_;
  struct Moves {
    std::unique_ptr<MovedValues> values;          // null: not needed so far
    std::map<std::uint32_t, bool> reads_padding;  // by pc of a load: it has read only padding
  };
  std::map<const Program*, Moves> moves_;
  InitChecker* whole_ = nullptr;  // set in a part
  SharedGrid* grid_ = nullptr;    // set in a part
  Parts parts_;                   // used in the whole
};

}  // namespace warpcheck::vgpu
