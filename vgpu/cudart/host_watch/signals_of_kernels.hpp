// Signals between kernels and the host while a kernel runs: strong accesses (volatile, atomic,
// release and acquire) to memory that they share.
//
// The host's machine code does not show whether a load is an acquire, and on the host a polling
// load orders what follows it.  So any place that a kernel has accessed strongly counts as a
// received signal, and what comes after it is not reported as a race.  The kernel's side can be
// checked: a thread that signals after weak writes of its own must have released these at system
// scope (PTX ISA 8.8), by itself or through a later release by another thread.  What no release
// follows until the launch has ended, no signal has told.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/machine/observer.hpp"

namespace warpcheck::cudart {

class SignalsOfKernels final : public vgpu::Observer {
 public:
  explicit SignalsOfKernels(const vgpu::DeviceMemory& memory) : memory_(memory) {}

  void begin(std::uint32_t launch);
  // A launch is resumed after others have run.
  void go_on(std::uint32_t launch) {
    if (launch != launch_) begin(launch);
  }
  // Earlier launches are not queried any more.
  void forget();

  // wrote(), read(): whether a strong write, or read, of the launch touched the bytes.
  [[nodiscard]] bool wrote(std::uint32_t launch, const vgpu::Allocation& allocation,
                           std::uint32_t offset, std::uint32_t bytes) const {
    return has({launch, allocation.id, true}, offset, bytes);
  }
  [[nodiscard]] bool read(std::uint32_t launch, const vgpu::Allocation& allocation,
                          std::uint32_t offset, std::uint32_t bytes) const {
    return has({launch, allocation.id, false}, offset, bytes);
  }

  // Returns whether any launch has made strong accesses to memory that it shares with the host.
  [[nodiscard]] bool has_any() const { return !places_.empty(); }

  // The same in memory whose accesses by the host are never seen (cudaHostRegister).
  [[nodiscard]] bool wrote_unseen(std::uint32_t launch) const {
    return unseen_.contains({launch, true});
  }
  [[nodiscard]] bool read_unseen(std::uint32_t launch) const {
    return unseen_.contains({launch, false});
  }

  // Returns an atomic operation of the launch on the bytes that is not of system scope; null: none.
  [[nodiscard]] const vgpu::CodePlace* device_atomic(std::uint32_t launch,
                                                     const vgpu::Allocation& allocation,
                                                     std::uint32_t offset,
                                                     std::uint32_t bytes) const {
    return place_in(device_atomics_, launch, allocation, offset, bytes);
  }

  // Returns a write of the launch to the bytes by a thread that has then signalled without a
  // release; null: none.
  [[nodiscard]] const vgpu::CodePlace* unreleased(std::uint32_t launch,
                                                  const vgpu::Allocation& allocation,
                                                  std::uint32_t offset, std::uint32_t bytes) const {
    return place_in(unreleased_, launch, allocation, offset, bytes);
  }
  // Returns a write of the launch to the bytes behind its last release; null: none.
  [[nodiscard]] const vgpu::CodePlace* behind_releases(std::uint32_t launch,
                                                       const vgpu::Allocation& allocation,
                                                       std::uint32_t offset,
                                                       std::uint32_t bytes) const {
    return place_in(behind_releases_, launch, allocation, offset, bytes);
  }

  [[nodiscard]] bool watches_accesses_of(const vgpu::Program& program) const override;
  [[nodiscard]] vgpu::Watched watches() const override { return {.blocks = false}; }
  void on_sync(const vgpu::Sync& sync) override;
  void on_access(const vgpu::Access& access) override;
  void on_fence(const vgpu::Fence& fence) override;

 private:
  struct Key {
    std::uint32_t launch = 0, allocation = 0;
    bool write = false;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  using Thread = std::pair<std::uint32_t, std::uint32_t>;  // block, thread
  using Word = std::pair<std::uint32_t, std::uint32_t>;    // allocation, word of 4 bytes
  using Places = std::map<std::pair<std::uint32_t, Word>, vgpu::CodePlace>;  // by launch
  [[nodiscard]] static const vgpu::CodePlace* place_in(const Places& places, std::uint32_t launch,
                                                       const vgpu::Allocation& allocation,
                                                       std::uint32_t offset, std::uint32_t bytes);
  [[nodiscard]] vgpu::CodePlace place_of(const vgpu::Access& access, unsigned lane,
                                         std::uint32_t pc) const;
  [[nodiscard]] bool has(const Key& key, std::uint32_t offset, std::uint32_t bytes) const;
  [[nodiscard]] bool is_reduction(const vgpu::Access& access);
  void note_unseen(const vgpu::Access& access);
  void note_weak_write(const vgpu::Access& access);
  void note_signal(const vgpu::Access& access);
  void release_all();
  void note_end(const vgpu::Program& program);

  const vgpu::DeviceMemory& memory_;
  mutable std::map<const vgpu::Program*, bool> has_strong_accesses_;
  std::map<const vgpu::Program*, std::vector<bool>> unused_;  // old values, by pc
  std::uint32_t launch_ = 0;
  Dim3 grid_, block_;                                // of the launch
  std::map<Key, std::set<std::uint32_t>> places_;    // 4-byte words
  std::set<std::pair<std::uint32_t, bool>> unseen_;  // launch, and whether it has written
  // Weak writes since the latest release at system scope; and (unreleased_) those that were
  // followed by a signal.
  std::map<Thread, std::vector<std::pair<Word, std::uint32_t>>> open_;  // with their pc
  std::size_t open_count_ = 0;
  Places unreleased_;
  Places behind_releases_;  // what was open at the end of the launch
  Places device_atomics_;
};

}  // namespace warpcheck::cudart
