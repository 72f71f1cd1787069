// Finds the object that an address is meant for, from its provenance (provenance.hpp) and the
// launch.
//
// An access outside its object is a fault even if other memory is at the address: which memory that
// is depends on the layout of this machine, and a GPU has another layout.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/machine/memory/target.hpp"
#include "vgpu/machine/running_launch.hpp"

namespace warpcheck::vgpu {

// The object that addresses of one provenance are meant for, in one launch.
struct ProvenanceObject {
  const Allocation* allocation = nullptr;  // null: in shared memory, or not known
  const Symbol* symbol = nullptr;          // of shared memory
  const FunctionCode* frame = nullptr;     // of local memory
  // symbol: its range in the block's shared memory; frame: in the local memory of a lane
  std::uint32_t begin = 0, end = 0;
  // A parameter that points into the middle of an allocation may be meant for another one (a host
  // that computes `base - first_index`).  It is sure only after an access at the address of the
  // parameter itself.
  bool is_sure = true;
  friend bool operator==(const ProvenanceObject&, const ProvenanceObject&) = default;
};

class ProvenanceObjects {
 public:
  explicit ProvenanceObjects(RunningLaunch& launch) : launch_(launch) {}

  // Finds the objects of the launch.  False: some objects in shared memory differ from those of the
  // last launch.
  bool begin_launch();
  [[nodiscard]] const ProvenanceObject& of(std::uint16_t provenance) const {
    return meant_[provenance];
  }
  // Returns whether some Program::noncoherent_loads may read what the launch writes: unless all of
  // them, and all writes, are meant for known objects, and for different ones.
  [[nodiscard]] bool may_read_own_writes() const;
  // Returns whether keep() would have the same effect on every target in the bytes of this one as
  // on this one.
  [[nodiscard]] bool is_settled(std::uint16_t provenance, const Target& target) const {
    const ProvenanceObject& meant = meant_[provenance];
    return meant.symbol != nullptr || meant.frame != nullptr || meant.allocation == nullptr ||
           meant.allocation == &target.allocation->object() || is_in(target, *meant.allocation);
  }
  // Restricts `target` to the object; if it is in another object, nothing is left.
  //   shared: the block's own shared memory
  void keep(std::uint16_t provenance, const Allocation* shared, Target& target) {
    ProvenanceObject& meant = meant_[provenance];
    if (meant.symbol != nullptr) {
      if (target.allocation == shared || is_of_neighbour(target)) [[likely]] {
        target.limit = std::min(target.limit, meant.end);
        target.begin = std::min(target.limit, meant.begin);
      } else {
        target.limit = 0;
      }
    } else if (meant.frame != nullptr) [[unlikely]] {
      // Frames whose places are known are in the first piece of local memory.
      const bool is_first = target.base == 0 || target.base == kLocalWindow;
      const bool is_local = target.space == ptx::Space::local && is_first;
      target.limit = is_local ? std::min(target.limit, meant.end) : 0;
      target.begin = std::min(target.limit, meant.begin);
    } else if (target.allocation == meant.allocation ||
               (target.allocation != nullptr && &target.allocation->object() == meant.allocation))
        [[likely]] {
      meant.is_sure = true;
    } else if (meant.allocation != nullptr) {
      if (is_in(target, *meant.allocation)) {
        meant.is_sure = true;
      } else if (meant.is_sure) {
        target.limit = 0;
      }
    }
  }

 private:
  // Returns whether the target is the shared memory of another block of the cluster, in which
  // variables have the same places.
  static bool is_of_neighbour(const Target& target) {
    return target.allocation != nullptr && target.allocation->space == ptx::Space::shared &&
           !target.allocation->reserved;
  }
  // Returns whether the target is a region, or a part of it.
  static bool is_in(const Target& target, const Allocation& object) {
    return object.is_region && target.allocation != nullptr &&
           target.base + target.begin - object.address < object.bytes;
  }
  struct CountedObject {
    ProvenanceObject object;
    std::int32_t count = 0;
  };
  [[nodiscard]] ProvenanceObject object_of(const Root& root) const;
  // Finds the objects of the provenances from those of the roots.
  void find_meant();
  [[nodiscard]] ProvenanceObject object_of(const Provenance& provenance);
  void count_objects(const RootSum& sum);

  RunningLaunch& launch_;
  std::vector<ProvenanceObject> meant_;     // by Instr::provenance
  std::vector<ProvenanceObject> at_begin_;  // the same when the launch began
  // Identifies the program of the last launch: another one may be at its address.
  std::shared_ptr<const NativeTier> are_of_;
  // The objects of its roots, and those of the launch that begins.
  std::vector<ProvenanceObject> object_of_root_, objects_;
  std::vector<CountedObject> counted_;
};

}  // namespace warpcheck::vgpu
