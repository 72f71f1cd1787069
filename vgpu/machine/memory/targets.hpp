// Resolves an address to memory: address spaces, their windows, allocations.  Also reports why an
// address leads to no memory, which is a fault.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/machine/memory/provenance_objects.hpp"
#include "vgpu/machine/memory/target.hpp"
#include "vgpu/machine/native/access_site.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/clusters.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

// Returns the piece of a warp's local memory that an address leads to.
//   base: subtracted from the address
[[nodiscard]] Target local_target(const Warp& warp, std::uint64_t base, std::uint64_t address);

class Targets {
 public:
  Targets(RunningLaunch& launch, const Clusters& clusters,
          const ProvenanceObjects& provenance_objects)
      : launch_(launch), clusters_(clusters), provenance_objects_(provenance_objects) {}
  ~Targets();
  Targets(const Targets&) = delete;
  Targets& operator=(const Targets&) = delete;

  // Stores the launch's parameters.
  //   keeps_sites: what is known about the accesses and objects of the last launch is valid
  //     for this one
  void begin_launch(bool keeps_sites);
  [[nodiscard]] Target of(const RunningFragment& run, const Instr& instr, std::uint64_t address);
  // Finds the target on the fast path, which covers nearly all accesses: the block's own shared
  // memory, or the allocation of the last access at this pc.  False: it is elsewhere.
  //   space: of the instruction; neither local nor param
  [[nodiscard]] bool find_again(const RunningFragment& run, ptx::Space space, std::uint64_t address,
                                Target& target) const {
    const bool generic = space == ptx::Space::generic;
    std::uint64_t window = generic ? kSharedWindow : 0;
    if (space == ptx::Space::shared || (generic && address - window < kReservedSharedOffset)) {
      if (address - window >= kWindowBytes) {
        window += window_of_rank(run.slot.cluster_rank);
        if (address - window >= kWindowBytes || !launch_.program().uses_clusters) return false;
      }
      if (run.slot.shared == nullptr) return false;
      target = {run.slot.shared, ptx::Space::shared, window, run.slot.shared->limit(), 0};
      return true;
    }
    Allocation* const last = last_[run.pc];
    if (last == nullptr || !last->contains(address, 1)) return false;
    target = {last, last->space, last->address, last->limit(), 0};
    return true;
  }
  // Returns the lanes whose bytes are inside and aligned.
  [[nodiscard]] static std::uint32_t lanes_inside(const AddressRow& row, const Target& target,
                                                  std::uint32_t bytes, std::uint32_t mask);
  // Reports that a lane's access is not inside `target`.
  void fault(const RunningFragment& run, const Instr& instr, const Target& target,
             std::uint64_t address, unsigned lane, std::uint32_t bytes) const;
  // Returns where the accesses of the launch went, by pc, for code that repeats them.
  [[nodiscard]] AccessSite* sites() {
    if (sites_.empty()) sites_.resize(last_.size());
    return sites_.data();
  }
  [[nodiscard]] bool has_sites() const { return !sites_.empty(); }
  // Records where an access went, if a later access to the same place can skip the slow path.
  //   bytes: per lane
  //   shared: the block's own shared memory
  void remember(std::uint32_t pc, const Instr& instr, std::uint32_t bytes, const Target& target,
                const Allocation* shared);
  // Must be called before the allocation, or a part of it, is freed.
  void forget(const Allocation* allocation);

 private:
  void forget_sites(bool keeps_sites);
  [[nodiscard]] bool keeps_site(std::uint32_t pc);
  [[nodiscard]] bool is_still_there(const AccessSite& site) const;
  [[nodiscard]] bool is_exclusive(const Allocation& allocation) const;
  [[nodiscard]] Allocation* global_at(std::uint64_t address) const;
  // The same for memory whose accesses the program restricts, which is looked up every time.
  [[nodiscard]] bool is_restricted(const Allocation& found) const;
  [[nodiscard]] bool has_right(const Instr& instr, const Allocation* region,
                               const Allocation& found) const;
  [[nodiscard]] Target restricted_target(Allocation& found, const Instr& instr,
                                         std::uint64_t address) const;
  void explain_restricted(const Target& target, Fault& fault) const;
  void fault_of_frame(const RunningFragment& run, const ProvenanceObject& meant,
                      const Target& target, Fault fault) const;
  void report_fault(const RunningFragment& run, const Fault& fault) const;
  bool fill_site(std::uint32_t pc, const Instr& instr, std::uint32_t bytes, const Target& target,
                 const Allocation* shared);

  RunningLaunch& launch_;
  const Clusters& clusters_;
  const ProvenanceObjects& provenance_objects_;
  Allocation* parameters_ = nullptr;
  std::vector<Allocation*> last_;                   // by pc: the allocation of its last access
  std::vector<AccessSite> sites_;                   // by pc; empty: not needed so far
  std::vector<std::uint32_t> placed_;               // the pcs of sites that have an allocation
  std::shared_ptr<const NativeTier> sites_are_of_;  // the program that sites_ belong to
  std::uint32_t sites_dynamic_shared_bytes_ = 0;    // and the dynamic shared memory of its launch
};

}  // namespace warpcheck::vgpu
