// Which bytes of global, shared and local memory nothing has written, and which hold values that
// were made from such bytes.
//
// A read of unwritten bytes gives an undefined value.  Moving such a value is no error, because
// structs have padding and the tails of buffers are copied.  Memory records which bits are
// undefined, because structs have bit fields, and where they come from.  Cf. Stepanov and
// Serebryany, MemorySanitizer, CGO 2015.
//
// A compare-and-swap that expects what its thread has read at the same place compares undefined
// bits with themselves, so only the value that it stores counts: loops around it write parts of
// words, and every bit of such a word is defined in the end.
//
// It learns as an observer what else happens to memory: allocations, blocks that begin, and what
// the host and the copies of the device write.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "vgpu/machine/observer.hpp"
#include "vgpu/machine/undefined/memory_shadow.hpp"
#include "vgpu/machine/undefined/moved_padding.hpp"
#include "vgpu/machine/undefined/store_shapes.hpp"
#include "vgpu/machine/undefined/undefined_memory.hpp"
#include "vgpu/machine/undefined/undefined_origins.hpp"

namespace warpcheck::vgpu {

class SharedGrid;
enum class PartsEnd : std::uint8_t;  // block_share.hpp

class UnwrittenMemory final : public UndefinedMemory, public Observer {
 public:
  UnwrittenMemory() = default;
  UnwrittenMemory(const UnwrittenMemory&) = delete;
  UnwrittenMemory& operator=(const UnwrittenMemory&) = delete;

  // Starts a new trial.
  void reset();
  //   listener: null: nobody listens
  void set_listener(UndefinedValuesListener* listener) {
    listener_ = listener;
    origins_.set_listener(listener);
  }
  [[nodiscard]] UndefinedOrigins& origins() { return origins_; }
  [[nodiscard]] const StoreShapes& shapes() const { return shapes_; }
  [[nodiscard]] const MemoryShadow& of(const Allocation& allocation) {
    return shadow_of(allocation);
  }
  // Returns whether the latest store to the byte has left an undefined value there, and not only
  // padding.
  [[nodiscard]] bool holds_undefined(const Allocation& allocation, std::uint32_t offset) const;

  // Returns the undefined bits of each byte of a range; empty: all are defined.
  [[nodiscard]] std::vector<std::uint8_t> bits_of(const Allocation& allocation,
                                                  std::uint32_t offset, std::uint32_t bytes);
  // Something other than a kernel writes a range.
  //   bits: the undefined bits of each byte; empty: all are defined
  //   origin: of the undefined bits
  void write_range(const Allocation& allocation, std::uint32_t offset, std::uint32_t bytes,
                   std::span<const std::uint8_t> bits, std::uint32_t origin);
  // Any memory may have been written: it is unknown, not unwritten.
  void on_unknown_writes();

  void read(Access& access) override;
  void write(const Access& access) override;
  void read_tensor_memory(const Program& program, std::uint32_t pc, const WarpPlace& place,
                          std::uint32_t lanes) override {
    origins_.add_tensor_memory(program, pc, place, lanes);
  }
  bool passes(const RowAccess& row) override;
  [[nodiscard]] bool is_defined(const Allocation& allocation) override {
    return shadow_of(allocation).extent() == MemoryShadow::Extent::all;
  }
  [[nodiscard]] const NotedStates* noted_states() const override { return &noted_; }

  [[nodiscard]] Watched watches() const override {
    return {.accesses = false, .frames = true, .unwritten_registers = true};
  }
  [[nodiscard]] UndefinedMemory* undefined_memory() override { return this; }
  void on_allocate(const Allocation& allocation) override;
  void on_hand_out(const Allocation& allocation, std::uint32_t offset,
                   std::uint32_t bytes) override;
  void on_free(const Allocation& allocation) override;
  void on_frame_end(const FrameEnd& frame) override;
  void on_sync(const Sync& sync) override;
  void on_host_access(const HostAccess& access) override;
  void on_device_copy(const DeviceCopy& copy) override;

  // When several machines run one launch, each has a part.  All parts share the shadows of global
  // memory, which belong to the whole; each part writes the bytes that its machine writes.  Only
  // one machine can follow undefined values, so a part gives the launch up when it meets one.
  void begin_parts();
  void end_parts(PartsEnd end);
  // Called on a part after reset().
  void join(UnwrittenMemory& whole, SharedGrid& grid);
  // Returns the states of a global allocation, which parts may set; null: there are none yet.
  [[nodiscard]] MemoryShadow* states_of(const Allocation& allocation);
  MemoryShadow* make_states_of(const Allocation& allocation) {
    MemoryShadow& shadow = shadow_of(allocation);
    shadow.make_states();
    return &shadow;
  }

 private:
  // What the machines that run one launch have in common.
  struct Common {
    std::mutex mutex;
    std::vector<MemoryShadow*> first_written;  // first written in this launch
    StoreShapes shapes_before;
  };

  MemoryShadow& shadow_of(const Allocation& allocation) {
    if (whole_ != nullptr) return shadow_of_part(allocation);
    const bool is_there =
        allocation.id < shadows_.size() && shadows_[allocation.id].bytes() == allocation.bytes;
    return is_there ? shadows_[allocation.id] : begin_shadow(allocation);
  }
  void forget_notes() { noted_ = no_notes(); }
  MemoryShadow& begin_shadow(const Allocation& allocation);
  void see_shared(const RowAccess& row, MemoryShadow& shadow);
  void find(Access& access, MemoryShadow& shadow);
  void find_undefined(Access& access, MemoryShadow& shadow);
  static void mark_bits(Access& access, std::uint32_t lanes, const MemoryShadow& shadow);
  static std::uint32_t lanes_with_undefined(const Access& access, std::uint32_t lanes,
                                            const MemoryShadow& shadow, std::uint32_t at);
  std::uint32_t origin_of_value(const Access& access, std::uint32_t lanes,
                                const MemoryShadow& shadow, std::uint32_t at, std::uint32_t bytes);
  void leave(const Access& access, MemoryShadow& shadow);
  void leave_undefined(const Access& access, const UndefinedLanes& value, MemoryShadow& shadow,
                       std::uint32_t at, std::uint32_t bytes);
  void report_stored(const Access& access, std::uint32_t lanes, std::uint32_t origin);
  void update(Access& access, MemoryShadow& shadow);

  // unwritten_swaps.cpp
  void swap_guessed(Access& access, MemoryShadow& shadow);

  // unwritten_parts.cpp
  MemoryShadow& shadow_of_part(const Allocation& allocation);
  void make_states(const Allocation& allocation, MemoryShadow& shadow);
  void define_in_part(const HostAccess& access, MemoryShadow& shadow);
  void copy_in_part(const DeviceCopy& copy);
  [[nodiscard]] std::uint8_t state_for(const Access& access);

  std::vector<MemoryShadow> shadows_;  // by Allocation::id
  static NotedStates no_notes() {
    return {.stored = StoreShapes::state_of_row(4), .stored_apart = StoreShapes::state_of_alone(4)};
  }
  NotedStates noted_ = no_notes();  // of the current launch
  StoreShapes shapes_;
  UndefinedOrigins origins_;
  MovedPadding padding_{shapes_};
  UndefinedValuesListener* listener_ = nullptr;
  UnwrittenMemory* whole_ = nullptr;  // set in a part
  SharedGrid* grid_ = nullptr;        // set in a part
  Common common_;                     // used in the whole
};

}  // namespace warpcheck::vgpu
