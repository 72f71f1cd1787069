// Uninitialised reads, per byte of global, shared and local memory.
//
// Reading bytes that nothing has written makes an undefined value; moving it about is no error
// (structs have padding, tails of buffers are copied).  It is reported where it can matter: in an
// address, in a branch, or when the host copies it out.  So is what shfl takes from a lane that
// takes no part in it.  Memory remembers which bits are undefined, because structs have bit fields.
// What was written with defined bits beside it may be padding: when the host copies that, it is a
// note.  So are bytes that nothing has ever written where they may be padding (store_shapes.hpp);
// a whole element of them is an error.  Cf. Stepanov and Serebryany, MemorySanitizer,
// CGO 2015.
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
  // Global memory has one shadow, the whole's, in which each part writes what its machine writes.
  // Undefined values are followed by one machine alone: parts give up where they meet one.
  void begin_parts() override;
  void end_parts(bool keeps) override;
  void join(Checker& whole, SharedGrid& grid) override;
  [[nodiscard]] std::uint8_t* states_of(const Allocation& allocation) override;

 private:
  // A load that read bytes that nothing had written, a shfl from a lane that took no part, or a
  // product that nobody had waited for; or such an operand of a library function.
  struct Origin {
    const Program* program = nullptr;  // null: of a library function
    std::uint32_t pc = 0;
    ptx::Space space = ptx::Space::generic;
    std::string object;  // of its first time
    std::string variable;
    ThreadId first;   // of its first time
    WarpPlace place;  // of its most recent time
    std::uint32_t lanes = 0;
    bool is_shuffle = false;
    bool is_product = false;
    [[nodiscard]] bool is_load() const { return !is_shuffle && !is_product; }
    [[nodiscard]] Lack lack() const { return is_shuffle ? Lack::participation : Lack::copy_wait; }
    // What the value was made from.  verb: what nothing has done with the bytes.
    [[nodiscard]] std::string source(const std::string& verb) const {
      if (is_product) return "the result of (1), which wgmma.wait_group had not waited for";
      if (!is_shuffle) return "bytes that nothing " + verb;
      return "the register of a lane that takes no part in (1): it is not in the mask, or has "
             "exited";
    }
    LibraryOperand operand{};  // of a library function
  };

  // What the parts of a launch have in common.
  struct Parts {
    std::mutex mutex;
    std::vector<InitShadow*> first_written;  // in this launch
    StoreShapes shapes_before;
  };

  InitShadow& shadow_of(const Allocation& allocation);
  InitShadow& shadow_of_part(const Allocation& allocation);
  std::uint8_t* writable_states(const Allocation& allocation, InitShadow& shadow);
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
  // Padding that a program moves about as it is stays padding.
  [[nodiscard]] bool is_padding(const InitShadow& shadow, std::uint32_t at) const;
  void see_padding(const Access& access, std::uint32_t lanes, const InitShadow& shadow);
  bool moves_padding(const Access& access, std::uint32_t element);
  std::uint32_t origin_of_value(const Access& access, std::uint32_t lanes, const InitShadow& shadow,
                                std::uint32_t at, std::uint32_t bytes);

  static void find_undefined_bits(OperandAccess& access, const InitShadow& shadow);
  std::uint32_t origin_of_operand(const LibraryOperand& operand);
  std::uint32_t origin_of_load(const Access& access, std::uint32_t lanes);
  // The index of the origin at `pc`; kNone: no load of this trial, and no shfl.
  [[nodiscard]] std::uint32_t find_origin(const Program* program, std::uint32_t pc) const;
  // The same, of a value that some of `lanes` has; a shfl is known from now on.
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
  NotedStates noted_;                // of the present launch
  std::vector<Origin> origins_;
  StoreShapes shapes_;
  struct Moves {
    std::unique_ptr<MovedValues> values;          // null: nobody has asked yet
    std::map<std::uint32_t, bool> reads_padding;  // by pc of a load: it has read padding alone
  };
  std::map<const Program*, Moves> moves_;
  InitChecker* whole_ = nullptr;  // of a part
  SharedGrid* grid_ = nullptr;    // of a part
  Parts parts_;                   // of the whole
};

}  // namespace warpcheck::vgpu
