// Which calls of the program allocated and freed its memory, so that findings name their lines.
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "vgpu/machine/events.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

class MemoryCalls {
 public:
  // The return addresses of the calls that lead to the API, innermost first.
  using Callers = std::vector<const void*>;
  void allocated(const vgpu::Allocation& allocation, Callers callers);
  // A later call does not replace an earlier one: memory that is freed in the order of a stream is
  // freed by the request.
  void freed(const vgpu::Allocation& allocation, Callers callers);
  void clear();

  [[nodiscard]] bool has_allocated(const vgpu::Allocation& allocation) const;
  // Return an empty place if it is not known.
  [[nodiscard]] vgpu::HostPlace place_of_allocation(const vgpu::Allocation& allocation) const;
  [[nodiscard]] vgpu::HostPlace place_of_free(const vgpu::Allocation& allocation) const;

 private:
  struct Calls {
    const Callers* allocated = nullptr;  // null: not known
    const Callers* freed = nullptr;
  };
  const Callers* keep(Callers callers) { return &*callers_.insert(std::move(callers)).first; }
  [[nodiscard]] Calls calls_of(const vgpu::Allocation& allocation) const;
  [[nodiscard]] vgpu::HostPlace place_at(const Callers* callers) const;

  std::set<Callers> callers_;  // pointers to its elements are kept
  std::unordered_map<const vgpu::Allocation*, Calls> calls_;
  mutable std::map<const Callers*, vgpu::HostPlace> places_;  // those that were asked for
};

}  // namespace warpcheck::cudart
