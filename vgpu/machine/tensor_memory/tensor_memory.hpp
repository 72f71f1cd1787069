// Executes tcgen05 instructions (PTX ISA 9.0, 9.7.16).
//
// Operations are performed when they are issued, which is one of the times that the ISA allows; the
// race checker reports words that are used too early (vgpu/check/tensor_memory).  Products and
// copies read shared memory by the asynchronous proxy.
//
// Each block has a tensor memory of its own, as if it had a multiprocessor for itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "vgpu/machine/access/accesses.hpp"
#include "vgpu/machine/access/current_access.hpp"
#include "vgpu/machine/memory/bulk_copies.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/barrier_objects.hpp"
#include "vgpu/machine/sync/clusters.hpp"
#include "vgpu/machine/tensor_memory/tensor_block.hpp"
#include "vgpu/machine/tensor_memory/tensor_memory_event.hpp"

namespace warpcheck::vgpu {

struct TensorProduct;  // tensor_products.cpp

// Returns whether the fragment is at a tcgen05 instruction that must wait: for other lanes of its
// warp, for columns to become free, or for the warp of the other block of a pair.
[[nodiscard]] bool must_wait_for_tensor_memory(const RunningLaunch& launch, const Slot& slot,
                                               Warp& warp, const Fragment& fragment);

// Describes why such a fragment waits: for lanes (Kind::members), or for columns: then `number` are
// wanted, `arrived` of `expected` are free in its block, and `written` says where columns were
// allocated that are not free, in its block or in the other one of the pair; with all of them free,
// the other block of the pair has not arrived.
void describe_wait_for_tensor_memory(const RunningLaunch& launch, const Slot& slot, Warp& warp,
                                     const Fragment& fragment, Waiting& waiting);

class TensorMemory {
 public:
  struct Dependencies {
    Clusters& clusters;
    CurrentAccess& current;
    Accesses& accesses;
    BarrierObjects& barrier_objects;
    BulkCopies& bulk_copies;
  };
  TensorMemory(RunningLaunch& launch, const Dependencies& dependencies)
      : launch_(launch), dependencies_(dependencies) {}

  // The fragment's pc is that of the instruction, and stays there if it must wait.
  Step execute(RunningFragment& run, std::size_t index, const Instr& instr, std::uint32_t lanes);
  // All threads of the block have exited.
  void end_block(const Slot& slot) const;

 private:
  using Chunk = std::array<std::byte, 16>;  // bytes of shared memory
  // Bytes that were read.
  struct Read {
    Chunk bytes{};
    std::uint32_t undefined_from = ptx::kNone;  // the pc of their origin; kNone: they are defined
  };
  // One executing instruction.
  struct Operation {
    RunningFragment& run;
    const Instr& instr;
    const TensorMemoryInstr& tensor;
    std::uint32_t lanes;
    std::size_t index;  // of the fragment in its warp
    [[nodiscard]] unsigned lane() const { return static_cast<unsigned>(__builtin_ctz(lanes)); }
    [[nodiscard]] std::uint32_t word(const Ref& ref) const {
      return word_of(run.banks, ref, lane());
    }
    // Returns an address in tensor memory.
    [[nodiscard]] TensorAddress at(const Ref& ref, std::int32_t offset) const {
      return TensorAddress::of(word(ref) + static_cast<std::uint32_t>(offset));
    }
  };

  Step perform(const Operation& op);
  Step fail(const Operation& op, Trap::Cause cause, std::string_view why) const;
  void notify(const Operation& op, std::span<const TensorArea> areas) const;
  void notify(const TensorMemoryEvent& event) const;
  [[nodiscard]] TensorMemoryEvent event_of(const Operation& op,
                                           std::span<const TensorArea> areas) const;
  // The operation has found words that nothing has written.
  void report_unwritten(const Operation& op) const;
  // Returns an error if the area is not allocated in its block; empty: it is.
  [[nodiscard]] std::string lack_of(const TensorArea& area) const;
  static TensorBlock& block_of(Slot& slot);
  // Returns the other block of the pair; null: there is none, or it has exited.
  [[nodiscard]] Slot* peer_of(const RunningFragment& run) const;
  // Returns the blocks of the operation, the even one first; fewer: the peer has exited.
  [[nodiscard]] std::vector<Slot*> blocks_of(const Operation& op) const;

  // tensor_allocation.cpp
  Step allocate(const Operation& op);
  Step allocate_in_pair(const Operation& op, std::uint32_t count);
  void complete_requests(const Operation& op, Slot& own, Slot& peer) const;
  Step deallocate(const Operation& op);
  void write_address(const Operation& op, std::uint32_t address);

  // tensor_moves.cpp
  Step load(const Operation& op);
  void reduce(const Operation& op, std::uint32_t half_offset) const;
  Step store(const Operation& op);
  Step shift(const Operation& op);
  Step commit(const Operation& op);
  [[nodiscard]] std::uint64_t address_of_commit(const Operation& op) const;
  void arrive(const Operation& op, std::uint64_t place);
  [[nodiscard]] static bool has_one_address(const Operation& op);
  Step fail_addresses(const Operation& op) const;
  [[nodiscard]] std::vector<TensorArea> areas_of_move(const Operation& op, bool writes) const;
  [[nodiscard]] std::string misuse_of_move(const Operation& op,
                                           std::span<const TensorArea> areas) const;

  // tensor_copies_in.cpp
  Step copy(const Operation& op);
  Read read_shared(const Operation& op, std::uint32_t rank, std::uint32_t offset);

  // tensor_products.cpp
  Step multiply(const Operation& op);
  // Each reads operands into the product, and returns what is wrong with them; empty: nothing.
  [[nodiscard]] std::string read_description(const Operation& op, TensorProduct& product) const;
  [[nodiscard]] std::string read_descriptors(const Operation& op, TensorProduct& product) const;
  static void read_addresses(const Operation& op, TensorProduct& product);
  [[nodiscard]] static std::vector<TensorArea> areas_of_product(const Operation& op,
                                                                const TensorProduct& product,
                                                                std::span<Slot* const> blocks);
  Step multiply_in_blocks(const Operation& op, TensorProduct& product,
                          std::span<Slot* const> blocks);
  void read_chunks(const Operation& op, const Slot& block, std::span<const std::uint32_t> chunks,
                   std::vector<Read>& bytes);
  void read_factors(const Operation& op, TensorProduct& product, std::span<Slot* const> blocks);

  RunningLaunch& launch_;
  Dependencies dependencies_;
};

}  // namespace warpcheck::vgpu
