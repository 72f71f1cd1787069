// A hand-made launch for tests: it emits the events that a machine would emit, without a machine.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/machine/observer.hpp"
#include "vgpu/machine/undefined/undefined_memory.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Memory with readable slack bytes before and after it.
class FakeMemory {
 public:
  FakeMemory(std::uint32_t id, ptx::Space space, std::uint32_t bytes, std::string name = "")
      : storage_(bytes + 2 * kRowSlack) {
    allocation_.id = id;
    allocation_.space = space;
    allocation_.bytes = bytes;
    allocation_.name = std::move(name);
    allocation_.data = storage_.data() + kRowSlack;
  }
  FakeMemory(const FakeMemory&) = delete;
  FakeMemory& operator=(const FakeMemory&) = delete;

  [[nodiscard]] const Allocation& allocation() const { return allocation_; }
  [[nodiscard]] Allocation& allocation() { return allocation_; }

 private:
  std::vector<std::byte> storage_;
  Allocation allocation_;
};

// A program whose instruction at pc p is at line 100 + p of k.cu.
inline Program fake_program(std::uint32_t size = 64) {
  Program program;
  program.kernel = "_Z1kPi";
  program.files = {"", "k.cu"};
  program.code.resize(size);
  program.sources.resize(size);
  for (std::uint32_t pc = 0; pc < size; ++pc) {
    program.code[pc].source = pc;
    program.sources[pc].location = {.file = 1, .line = 100 + pc};
    program.sources[pc].text = "op" + std::to_string(pc);
  }
  return program;
}

// Emits the events of one launch after another.
class FakeLaunch {
 public:
  FakeLaunch(Program& program, std::vector<Observer*> observers)
      : program_(program), observers_(std::move(observers)) {
    for (Observer* observer : observers_) {
      if (UndefinedMemory* const plane = observer->undefined_memory()) undefined_ = plane;
    }
  }

  //   unordered: earlier launches that are not ordered before this one
  void start(Dim3 grid, Dim3 block, std::span<const std::uint32_t> unordered = {},
             bool is_alone = false) {
    Sync sync;
    sync.kind = Sync::Kind::kernel_start;
    sync.program = &program_;
    sync.grid = grid;
    sync.block = block;
    sync.unordered_launches = unordered;
    sync.is_alone = is_alone;
    phases_.assign(grid.count(), 0);
    slots_.assign(grid.count(), 0);
    notify(sync);
  }
  void start_block(std::uint32_t block, std::uint32_t slot = 0,
                   const FakeMemory* shared = nullptr) {
    Sync sync;
    sync.kind = Sync::Kind::block_start;
    sync.program = &program_;
    sync.place = {block, 0, slot, 0};
    sync.shared = shared == nullptr ? nullptr : &shared->allocation();
    slots_[block] = slot;
    phases_[block] = 0;
    notify(sync);
  }
  void barrier(std::uint32_t block) {
    Sync sync;
    sync.kind = Sync::Kind::barrier_complete;
    sync.program = &program_;
    sync.place = {block, 0, slots_[block], ++phases_[block]};
    notify(sync);
  }
  [[nodiscard]] WarpPlace place(std::uint32_t block, std::uint32_t warp) const {
    return {block, warp, slots_[block], phases_[block]};
  }

  // Returns an access with everything set except the lanes.
  Access access(AccessKind kind, const FakeMemory& memory, std::uint32_t block, std::uint32_t warp,
                std::uint32_t pc, std::uint8_t bytes = 4) {
    Access access;
    access.allocation = &memory.allocation();
    access.program = &program_;
    access.place = place(block, warp);
    access.pc = pc;
    access.space = memory.allocation().space;
    access.kind = kind;
    access.bytes = bytes;
    access.element_bytes = bytes;
    program_.code[pc].kind = kind == AccessKind::atomic  ? InstrKind::atomic
                             : kind == AccessKind::write ? InstrKind::store
                                                         : InstrKind::load;
    return access;
  }
  // As CurrentAccess does.
  Access& emit(Access& access) {
    const bool stores = access.kind == AccessKind::write;
    if (undefined_ != nullptr && !stores) undefined_->read(access);
    for (Observer* observer : observers_) observer->on_access(access);
    if (undefined_ != nullptr && stores) undefined_->write(access);
    return access;
  }

  // Lane l of `mask` accesses element first + l.
  Access strided(AccessKind kind, const FakeMemory& memory, std::uint32_t block, std::uint32_t warp,
                 std::uint32_t pc, std::int64_t first = 0, std::uint32_t mask = ~0u,
                 std::uint8_t bytes = 4) {
    Access row = access(kind, memory, block, warp, pc, bytes);
    row.mask = mask;
    row.pattern = Pattern::strided;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      row.offset[lane] = static_cast<std::uint32_t>((first + lane) * bytes);
    }
    return emit(row);
  }
  // All lanes of `mask` access the same element.
  Access uniform(AccessKind kind, const FakeMemory& memory, std::uint32_t block, std::uint32_t warp,
                 std::uint32_t pc, std::uint32_t element, std::uint32_t mask = ~0u,
                 std::uint8_t bytes = 4) {
    Access row = access(kind, memory, block, warp, pc, bytes);
    row.mask = mask;
    row.pattern = Pattern::uniform;
    row.offset.fill(element * bytes);
    return emit(row);
  }
  // A thread makes a strong access to one element of 4 bytes.
  Access strong(AccessKind kind, const FakeMemory& memory, std::uint32_t block,
                std::uint32_t thread, std::uint32_t pc, std::uint32_t element, ptx::Order order,
                ptx::Scope scope) {
    Access row = access(kind, memory, block, thread / kWarpLanes, pc);
    row.mask = 1u << thread % kWarpLanes;
    row.offset.fill(4 * element);
    row.order = order;
    row.scope = scope;
    return emit(row);
  }
  void fence(std::uint32_t block, std::uint32_t warp, std::uint32_t lanes, ptx::Order order,
             ptx::Scope scope = ptx::Scope::gpu) {
    Fence fence;
    fence.program = &program_;
    fence.place = place(block, warp);
    fence.mask = lanes;
    fence.order = order;
    fence.scope = scope;
    for (Observer* observer : observers_) observer->on_fence(fence);
  }
  // One lane accesses one element.
  Access one(AccessKind kind, const FakeMemory& memory, std::uint32_t block, std::uint32_t thread,
             std::uint32_t pc, std::uint32_t element, std::uint8_t bytes = 4) {
    Access row = access(kind, memory, block, thread / kWarpLanes, pc, bytes);
    row.mask = 1u << thread % kWarpLanes;
    row.pattern = Pattern::scattered;
    row.offset.fill(element * bytes);
    return emit(row);
  }

  [[nodiscard]] Program& program() { return program_; }

 private:
  void notify(const Sync& sync) {
    for (Observer* observer : observers_) observer->on_sync(sync);
  }

  Program& program_;
  std::vector<Observer*> observers_;
  UndefinedMemory* undefined_ = nullptr;
  std::vector<std::uint32_t> phases_, slots_;  // by block
};

}  // namespace warpcheck::vgpu
