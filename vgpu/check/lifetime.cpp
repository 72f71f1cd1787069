// The checker for lifetime errors: memory is used after it was freed, freed wrongly, or never
// freed.
//
// The device heap is memory like any other allocation, with two differences (CUDA Programming
// Guide, "Dynamic Global Memory Allocation and Operations").  Threads allocate and free it, so
// findings name the lines of those threads.  Neither the host nor the device may free what the
// other has allocated.  A heap allocation is a leak only when the trial ends without a free, since
// a later kernel may free it.
#include "vgpu/check/lifetime.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/fault.hpp"
#include "vgpu/machine/memory/regions/regions.hpp"
#include "vgpu/machine/tensor_memory/tensor_memory_event.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::vgpu {
namespace {

std::string name_of_block(const Allocation& allocation) {
  const Allocation& named = named_object(allocation);
  const std::string name = allocation.is_region || &named != &allocation ? named.name : "";
  return fmt::format("{} {}{}of {}", allocation.is_region ? "region" : "allocation", name,
                     name.empty() ? "" : " ", counted(allocation.bytes, "byte"));
}

// Why a pointer must not be freed, judged by the memory at its address.
struct Objection {
  std::string object;                // "byte 4 of an allocation of 16 bytes"
  std::string message;               // begins with "(1)" or the name of the call
  std::string_view role;             // of the other side
  const CodePlace* other = nullptr;  // null: the host, or not known
};

// by_device: free() of device code; otherwise a call of the host.
Objection object_to_free(std::string_view what, bool by_device, std::uint64_t address,
                         const Allocation* nearest) {
  Objection objection;
  const bool is_near = nearest != nullptr && address - nearest->address <= nearest->bytes;
  if (!is_near) {
    objection.message = by_device
                            ? fmt::format("{} frees a pointer that malloc() never gave", what)
                            : fmt::format("{} of a pointer that is not to device memory", what);
    return objection;
  }
  const char* const frees = by_device ? "frees" : "of";
  if (!nearest->name.empty()) {
    objection.object = nearest->name;
    objection.message = fmt::format("{} {} a variable of the program", what, frees);
    return objection;
  }
  objection.object = name_of_block(*nearest);
  if (nearest->address != address) {
    objection.object =
        fmt::format("byte {} of an {}", address - nearest->address, name_of_block(*nearest));
    objection.message = fmt::format("{} {} a pointer that no allocation begins at", what, frees);
  } else if (!nearest->live) {
    objection.message = fmt::format("{} {} memory that has been freed", what, frees);
    if (nearest->freed_at.program != nullptr) {
      objection.role = "free";
      objection.other = &nearest->freed_at;
      return objection;
    }
  } else if (nearest->of_virtual) {
    objection.message = fmt::format(
        "{} {} memory that cuMemMap has put there, which cuMemUnmap takes away", what, frees);
  } else if (nearest->shared_by != nullptr) {
    objection.message = fmt::format("{} {} memory that another process shares", what, frees);
  } else if (by_device) {
    objection.message = fmt::format("{} frees memory that the host allocated", what);
  } else if (nearest->on_heap()) {
    objection.message = fmt::format("{} of memory that device code allocated", what);
  } else if (nearest->page_locked) {
    objection.message = fmt::format(
        "{} of page-locked memory: cudaFreeHost frees what cudaMallocHost or cudaHostAlloc "
        "allocated, and cudaHostUnregister ends cudaHostRegister",
        what);
  } else {
    objection.message = fmt::format("{} of device memory, which cudaFree frees", what);
  }
  if (nearest->allocated_at.program != nullptr) {
    objection.role = "allocate";
    objection.other = &nearest->allocated_at;
  }
  return objection;
}

Finding finding_of(Objection objection, AccessSide freeing) {
  Finding finding;
  finding.kind = FindingKind::invalid_free;
  finding.object = std::move(objection.object);
  finding.message = std::move(objection.message);
  finding.accesses.push_back(std::move(freeing));
  if (objection.other != nullptr) {
    finding.accesses.push_back(side_at(objection.role, *objection.other));
  }
  return finding;
}

Finding host_copy_finding(FindingKind kind, bool write, std::uint64_t address, std::uint64_t bytes,
                          const Allocation& allocation) {
  Finding finding;
  finding.kind = kind;
  finding.space = "global";
  finding.object = describe_place(&allocation, address, bytes);
  finding.accesses.push_back(host_side(write ? "host write" : "host copy"));
  return finding;
}

std::string_view kind_of_memory(const Allocation& allocation) {
  if (!allocation.is_mapped()) return "memory of a device";
  return allocation.page_locked ? "page-locked memory" : "managed memory";
}

std::string_view how_it_went(const Allocation& gone) {
  if (gone.is_region) return "unregistered (NVTX)";
  return gone.of_virtual ? "unmapped (cuMemUnmap)" : "freed";
}

std::string_view verb_of_end(const Allocation& gone) {
  return gone.is_region ? "unregistered" : "freed";
}

class LifetimeChecker final : public Checker {
 public:
  using Checker::Checker;
  [[nodiscard]] Watched watches() const override {
    Watched watched = Watched::rare();
    watched.trial_end = true;
    return watched;
  }

  void on_fault(const Fault& fault) override {
    if (fault.kind == Fault::Kind::destroyed_object) {
      reporter_.report({fault.program, fault.pc, ptx::kNone, 2}, [&] {
        Finding finding;
        finding.kind = FindingKind::use_after_free;
        finding.space = space_name(fault.space);
        finding.kernel = kernel_name(fault.program->kernel);
        finding.object = fmt::format("texture or surface object {}", fault.address);
        finding.accesses = {reporter_.side(role_name(fault.access), *fault.program, fault.pc,
                                           thread_of(fault.place, fault.lane))};
        finding.message = "(1) uses an object that the host has destroyed";
        return finding;
      });
      return;
    }
    if (fault.kind == Fault::Kind::block_exited) {
      report_fault(reporter_, fault, FindingKind::use_after_free,
                   fmt::format("block {} of the grid, whose shared memory (1) is in, has exited",
                               fault.block));
      return;
    }
    if (fault.kind != Fault::Kind::use_after_free) return;
    const CodePlace& freed_at = fault.nearest->freed_at;
    if (freed_at.program == nullptr) {
      report_fault(reporter_, fault, FindingKind::use_after_free,
                   fmt::format("(1) uses memory that has been {}", how_it_went(*fault.nearest)));
      return;
    }
    const FaultCause cause{"free", freed_at};
    report_fault(reporter_, fault, FindingKind::use_after_free,
                 "(1) uses memory that (2) has freed", &cause);
  }

  void on_invalid_free(const InvalidFree& invalid) override {
    const Program& program = *invalid.at.program;
    Objection objection = object_to_free("(1)", true, invalid.address, invalid.nearest);
    const std::uint32_t other_pc = objection.other == nullptr ? ptx::kNone : objection.other->pc;
    reporter_.report({&program, invalid.at.pc, other_pc, 0}, [&] {
      Finding finding = finding_of(std::move(objection), side_at("free", invalid.at));
      finding.space = space_name(invalid.space);
      finding.kernel = kernel_name(program.kernel);
      return finding;
    });
  }

  // Tensor memory that a block has not deallocated.
  void on_tensor_memory(const TensorMemoryEvent& event) override {
    if (!event.is_leak) return;
    reporter_.report({event.program, event.pc, ptx::kNone, 0}, [&] {
      Finding finding;
      finding.kind = FindingKind::leak;
      finding.space = "tensor";
      finding.kernel = kernel_name(event.program->kernel);
      const TensorArea& area = event.areas.front();
      finding.object = text_of_columns(area.first_column, area.columns);
      finding.accesses = {
          reporter_.side("allocate", *event.program, event.pc, thread_of(event.place, 0))};
      finding.message =
          "the block of (1) has ended, and no tcgen05.dealloc has deallocated the columns";
      return finding;
    });
  }

  // All allocations that one line leaves behind are one finding, also if a reset of the device and
  // the end of the program show them.
  void on_trial_end(std::span<const Allocation* const> left) override {
    for (const Allocation* allocation : left) {
      const CodePlace& at = allocation->allocated_at;
      HostPlace by_host;
      std::uint32_t pc = at.pc;
      if (at.program == nullptr) {
        by_host = reporter_.place_of_allocation(*allocation);
        const std::string where =
            by_host.file.empty() ? by_host.code : fmt::format("{}:{}", by_host.file, by_host.line);
        pc = host_places_.try_emplace(where, host_places_.size()).first->second;
      }
      reporter_.report({at.program, pc, ptx::kNone, 1}, [&] {
        Finding finding;
        finding.kind = FindingKind::leak;
        finding.space = "global";
        finding.object = name_of_block(*allocation);
        finding.message = allocation->is_region
                              ? "nothing has unregistered the region that (1) registered (NVTX)"
                              : "nothing has freed what (1) allocated";
        if (at.program == nullptr) {
          finding.accesses = {host_side("host allocate")};
          name_place(finding, 0, by_host);
        } else {
          finding.kernel = kernel_name(at.program->kernel);
          finding.accesses = {side_at("allocate", at)};
        }
        return finding;
      });
    }
  }

 private:
  // The calls of the host that allocated what was left, in the order of their findings.
  std::map<std::string, std::uint32_t> host_places_;
};

}  // namespace

std::unique_ptr<Checker> make_lifetime_checker(Reporter& reporter) {
  return std::make_unique<LifetimeChecker>(reporter);
}

Finding invalid_host_free(std::string_view call, std::uint64_t address, const Allocation* nearest,
                          const HostPlace& freed_at) {
  Finding finding =
      finding_of(object_to_free(call, false, address, nearest), host_side("host free"));
  if (!finding.object.empty()) finding.space = "global";
  if (finding.accesses.size() == 1) add_free_by_host(finding, freed_at);
  return finding;
}

Finding freed_twice(std::string_view call, const Allocation& allocation,
                    const HostPlace& freed_at) {
  Finding finding;
  finding.kind = FindingKind::invalid_free;
  finding.space = "global";
  finding.object = name_of_block(allocation);
  finding.accesses = {host_side("host free")};
  finding.message =
      fmt::format("{} of {} that has been {}", call, allocation.is_region ? "a region" : "memory",
                  how_it_went(allocation));
  add_free_by_host(finding, freed_at, verb_of_end(allocation));
  return finding;
}

Finding host_copy_of_freed(std::string_view call, bool write, std::uint64_t address,
                           std::uint64_t bytes, const Allocation& freed,
                           const HostPlace& freed_at) {
  Finding finding = host_copy_finding(FindingKind::use_after_free, write, address, bytes, freed);
  finding.message = fmt::format("{} of {} uses memory that has been {}", call,
                                counted(bytes, "byte"), how_it_went(freed));
  if (freed.freed_at.program != nullptr) {
    finding.accesses.push_back(side_at("free", freed.freed_at));
  }
  add_free_by_host(finding, freed_at, verb_of_end(freed));
  return finding;
}

Finding host_use_of_freed(bool write, std::uint64_t address, std::uint64_t bytes,
                          const Allocation& freed, const HostPlace& place,
                          const HostPlace& freed_at) {
  Finding finding = host_copy_finding(FindingKind::use_after_free, write, address, bytes, freed);
  finding.accesses = {host_side(write, place)};
  finding.message = "(1) uses memory that has been freed" + text_of_code(place, 1);
  add_free_by_host(finding, freed_at);
  return finding;
}

Finding host_use_of_device_memory(bool write, std::uint64_t address, std::uint64_t bytes,
                                  const Allocation& allocation, const HostPlace& place) {
  Finding finding =
      host_copy_finding(FindingKind::out_of_bounds, write, address, bytes, allocation);
  finding.accesses = {host_side(write, place)};
  finding.lack = Lack::copy_to_host;
  finding.message = "(1) uses an address of device memory, which host code cannot access" +
                    text_of_code(place, 1);
  return finding;
}

Finding host_use_out_of_bounds(bool write, std::uint64_t address, std::uint64_t bytes,
                               const Allocation& allocation, const HostPlace& place) {
  Finding finding =
      host_copy_finding(FindingKind::out_of_bounds, write, address, bytes, allocation);
  finding.accesses = {host_side(write, place)};
  finding.message =
      fmt::format("(1) is outside of the {}{}", kind_of_memory(allocation), text_of_code(place, 1));
  return finding;
}

Finding host_free_of_cuda_memory(const Allocation& allocation, const HostPlace& place) {
  AccessSide freeing = host_side(false, place);
  freeing.role = "host free";
  Objection objection;
  objection.object = name_of_block(allocation);
  objection.message =
      fmt::format("(1) gives {} to free(), realloc() or delete, which have not allocated it",
                  kind_of_memory(allocation)) +
      text_of_code(place, 1);
  Finding finding = finding_of(std::move(objection), std::move(freeing));
  finding.space = "global";
  return finding;
}

Finding host_copy_of_heap(std::string_view call, bool write, std::uint64_t address,
                          std::uint64_t bytes, const Allocation& allocation) {
  Finding finding =
      host_copy_finding(FindingKind::out_of_bounds, write, address, bytes, allocation);
  finding.message = fmt::format("{} of {} is on the device heap, where no host call reaches", call,
                                counted(bytes, "byte"));
  finding.accesses.push_back(side_at("allocate", allocation.allocated_at));
  return finding;
}

}  // namespace warpcheck::vgpu
