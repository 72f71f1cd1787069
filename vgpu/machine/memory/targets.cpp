#include "vgpu/machine/memory/targets.hpp"

#include <algorithm>
#include <bit>

#include "vgpu/machine/memory/regions/access_rights.hpp"
#include "vgpu/machine/memory/regions/regions.hpp"

namespace warpcheck::vgpu {

using ptx::Space;

namespace {

bool in_window(std::uint64_t address, std::uint64_t window) {
  return address - window < kWindowBytes;
}

}  // namespace

Target local_target(const Warp& warp, std::uint64_t base, std::uint64_t address) {
  Target target;
  target.space = ptx::Space::local;
  target.base = base;
  target.allocation = warp.local;
  for (const Warp::LocalPiece& piece : warp.local_beyond) {
    if (target.allocation == nullptr || address - base >= piece.begin) {
      if (address - base >= warp.local_bytes && target.allocation != nullptr) break;
      target.allocation = piece.allocation;
      target.base = base + piece.begin;
    }
  }
  if (target.allocation != nullptr) target.limit = target.allocation->limit() / kWarpLanes;
  return target;
}

Targets::~Targets() {
  if (parameters_ != nullptr) launch_.memory().release_private(parameters_);
}

// Sites in shared memory are the same in every launch of a program with the same amount of dynamic
// shared memory, so they stay valid for all trials.  Others stay valid if they are filled again.
void Targets::forget_sites(bool keeps_sites) {
  const std::shared_ptr<const NativeTier>& of = launch_.program().native;
  const std::uint32_t dynamic_bytes = launch_.request().dynamic_shared_bytes;
  const bool keeps_shared = keeps_sites && launch_.request().rights == nullptr && of != nullptr &&
                            of == sites_are_of_ && dynamic_bytes == sites_dynamic_shared_bytes_;
  if (!keeps_shared) {
    sites_are_of_ = of;
    sites_dynamic_shared_bytes_ = dynamic_bytes;
    sites_.clear();
    placed_.clear();
    return;
  }
  std::erase_if(placed_, [&](std::uint32_t pc) {
    if (keeps_site(pc)) return false;
    sites_[pc] = {};
    return true;
  });
  for (const std::uint32_t pc : placed_) {
    sites_[pc].queue = nullptr;
    sites_[pc].is_unseen = false;
  }
}

// Returns whether a site would be filled as it is, if its allocation exists.
bool Targets::is_still_there(const AccessSite& site) const {
  const Allocation& found = *site.allocation;
  return found.parts.empty() && found.regions == nullptr && launch_.may_use(found) &&
         site.begin == 0 && site.base == found.address &&
         site.lane_room == found.limit() - site.bytes && site.space == found.space &&
         !found.read_only && site.is_exclusive == is_exclusive(found) &&
         site.origin == reinterpret_cast<std::uint64_t>(found.data);
}

// Returns whether nothing but the launch, which runs on one machine, changes the allocation.
bool Targets::is_exclusive(const Allocation& allocation) const {
  const bool has_memory_alone =
      launch_.request().share == nullptr && launch_.request().beside == nullptr;
  return has_memory_alone && !allocation.changes_by_itself();
}

// Returns whether the first access of the launch at `pc` would have no effect but to fill the site,
// if it goes to the allocation that is now where the last launch's access went.  Then fills it.
bool Targets::keeps_site(std::uint32_t pc) {
  const AccessSite& site = sites_[pc];
  const Instr& instr = launch_.program().code[pc];
  const ProvenanceObject* const meant =
      instr.provenance == 0 ? nullptr : &provenance_objects_.of(instr.provenance);
  if (meant != nullptr && meant->is_sure && meant->allocation != nullptr &&
      meant->allocation == site.allocation && is_still_there(site)) {
    return true;
  }
  Allocation* const found = global_at(site.base);
  if (found == nullptr || (found->read_only && instr.kind != InstrKind::load)) return false;
  if (is_restricted(*found)) return false;
  if (meant != nullptr) {
    const bool is_meant = meant->is_sure && meant->allocation == &found->object();
    if (meant->symbol != nullptr || (meant->allocation != nullptr && !is_meant)) return false;
  }
  const Target target{found, found->space, found->address, found->limit(), 0};
  return fill_site(pc, instr, site.bytes, target, nullptr);
}

void Targets::remember(std::uint32_t pc, const Instr& instr, std::uint32_t bytes,
                       const Target& target, const Allocation* shared) {
  const AccessSite& site = sites_[pc];
  const bool is_placed = site.allocation != nullptr;
  const bool is_known = is_placed && site.allocation == target.allocation &&
                        site.base == target.base + target.begin && site.begin == target.begin &&
                        site.bytes == bytes &&
                        site.lane_room == target.limit - target.begin - bytes &&
                        site.is_exclusive == is_exclusive(*target.allocation) &&
                        site.origin == reinterpret_cast<std::uint64_t>(target.allocation->data);
  if (is_known) return;
  fill_site(pc, instr, bytes, target, shared);
  if (!is_placed && site.allocation != nullptr) placed_.push_back(pc);
}

// Returns false if such a target cannot be recorded.
bool Targets::fill_site(std::uint32_t pc, const Instr& instr, std::uint32_t lane_bytes,
                        const Target& target, const Allocation* shared) {
  const bool is_shared = instr.modifiers.space == Space::shared;
  // Another block of a cluster may use the same address of .shared::cluster, for which this
  // memory is not its own.
  const bool is_own = target.allocation == shared && target.base < kWindowBytes;
  const bool is_known =
      is_shared ? is_own : target.space == Space::global || target.space == Space::constant;
  const bool is_settled =
      instr.provenance == 0 || provenance_objects_.is_settled(instr.provenance, target);
  const std::uint32_t bytes = target.limit - target.begin;
  if (!is_known || !is_settled || target.begin % lane_bytes != 0 || bytes < lane_bytes) {
    return false;
  }
  const std::uint32_t row_bytes = kWarpLanes * lane_bytes;
  const bool has_row = bytes >= row_bytes;
  AccessSite& site = sites_[pc];
  site.base = target.base + target.begin;
  site.row_base = has_row ? site.base : AccessSite::kNowhere;
  site.row_room = has_row ? bytes - row_bytes : 0;
  site.lane_room = bytes - lane_bytes;
  site.begin = target.begin;
  site.space = target.allocation->space;
  site.is_store = instr.kind == InstrKind::store;
  site.is_exclusive = is_shared || is_exclusive(*target.allocation);
  site.bytes = static_cast<std::uint8_t>(lane_bytes);
  site.element_bytes = static_cast<std::uint8_t>(ptx::bytes_of(instr.modifiers.type));
  site.allocation = is_shared ? nullptr : target.allocation;
  site.origin = is_shared ? 0 : reinterpret_cast<std::uint64_t>(target.allocation->data);
  site.data = site.origin + target.begin;
  site.queue = nullptr;
  site.is_unseen = false;
  return true;
}

void Targets::begin_launch(bool keeps_sites) {
  last_.assign(launch_.program().code.size(), nullptr);
  forget_sites(keeps_sites);
  const std::span<const std::byte> parameters = launch_.request().parameters;
  const auto bytes = static_cast<std::uint32_t>(parameters.size());
  if (parameters_ == nullptr || parameters_->bytes != bytes) {
    if (parameters_ != nullptr) launch_.memory().release_private(parameters_);
    parameters_ = launch_.memory().allocate_private(bytes, Space::param);
    parameters_->read_only = true;
    parameters_->name = "parameters";
  }
  std::ranges::copy(parameters, parameters_->data);
}

Target Targets::of(const RunningFragment& run, const Instr& instr, std::uint64_t address) {
  Target target;
  target.space = instr.modifiers.space;
  if (target.space == Space::generic) {
    target.space = Space::global;
    if (in_window(address, kSharedWindow)) {
      target.space = Space::shared;
      target.base = kSharedWindow;
    } else if (in_window(address, kLocalWindow)) {
      target.space = Space::local;
      target.base = kLocalWindow;
    } else if (in_window(address, kParamWindow)) {
      target.space = Space::param;
      target.base = kParamWindow;
    }
  }
  switch (target.space) {
    case Space::shared:
      target.allocation = run.slot.shared;
      if (address - target.base >= kWindowBytes) [[unlikely]] {
        target.limit = target.allocation->limit();
        return clusters_.target(run, address, target);
      }
      break;
    case Space::param: target.allocation = parameters_; break;
    case Space::local:
      target.allocation = run.warp.local;
      if (target.allocation != nullptr) target.limit = target.allocation->limit() / kWarpLanes;
      if (!run.warp.local_beyond.empty()) return local_target(run.warp, target.base, address);
      return target;
    default: {
      Allocation*& last = last_[run.pc];
      if (last == nullptr || !last->contains(address, 1)) {
        Allocation* const found = global_at(address);
        if (found == nullptr) return clusters_.target(run, address, target);
        if (is_restricted(*found)) [[unlikely]]
          return restricted_target(*found, instr, address);
        last = found;
      }
      target.allocation = last;
      target.base = last->address;
      target.space = last->space;
      break;
    }
  }
  if (target.allocation != nullptr) target.limit = target.allocation->limit();
  return target;
}

// Returns the allocation, or the part of one, that the launch may use; null: there is none.
Allocation* Targets::global_at(std::uint64_t address) const {
  Allocation* const found = launch_.memory().find(address);
  if (found == nullptr || !launch_.may_use(*found)) return nullptr;
  return found->part_at(address - found->address);
}

bool Targets::is_restricted(const Allocation& found) const {
  return found.object().regions != nullptr || launch_.request().rights != nullptr;
}

bool Targets::has_right(const Instr& instr, const Allocation* region,
                        const Allocation& found) const {
  if (launch_.request().rights == nullptr) return true;
  const AccessKind kind = access_kind_of(instr);
  const std::uint8_t needed = kind == AccessKind::read    ? AccessRights::kRead
                              : kind == AccessKind::write ? AccessRights::kWrite
                                                          : AccessRights::kAtomic;
  return (launch_.request().rights->of(region, found) & needed) != 0;
}

Target Targets::restricted_target(Allocation& found, const Instr& instr,
                                  std::uint64_t address) const {
  const Allocation& object = found.object();
  Target target;
  target.space = found.space;
  Regions::Window window{0, object.bytes};
  if (object.regions != nullptr) window = object.regions->at(address - object.address);
  if (!window.may_be_used() || !has_right(instr, window.object, object)) return target;
  const std::uint64_t begin = found.address - object.address;  // of the part
  target.allocation = &found;
  target.base = found.address;
  target.begin = static_cast<std::uint32_t>(std::max(window.begin, begin) - begin);
  target.limit = static_cast<std::uint32_t>(std::min(window.end, begin + found.bytes) - begin);
  return target;
}

std::uint32_t Targets::lanes_inside(const AddressRow& row, const Target& target,
                                    std::uint32_t bytes, std::uint32_t mask) {
  std::uint32_t inside = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t offset = address_of(row, lane) - target.base;
    const bool fits =
        target.begin <= offset && bytes <= target.limit && offset <= target.limit - bytes;
    if (fits && offset % bytes == 0) inside |= 1u << lane;
  }
  return inside;
}

void Targets::fault(const RunningFragment& run, const Instr& instr, const Target& target,
                    std::uint64_t address, unsigned lane, std::uint32_t bytes) const {
  Fault fault;
  fault.program = &launch_.program();
  fault.place = launch_.place_of(run.slot, run.warp);
  fault.pc = run.pc;
  fault.lane = lane;
  fault.space = target.space;
  fault.access = access_kind_of(instr);
  fault.bytes = bytes;
  fault.address = address;
  if (target.allocation != nullptr) fault.nearest = &target.allocation->object();
  const ProvenanceObject& meant = provenance_objects_.of(instr.provenance);
  if (meant.frame != nullptr) return fault_of_frame(run, meant, target, fault);
  const bool is_arena = target.space == Space::global || target.space == Space::constant;
  if (!is_arena) fault.address -= target.base;
  if (target.allocation == nullptr && is_arena) fault.nearest = launch_.memory().nearest(address);
  const std::uint64_t base = is_arena && fault.nearest != nullptr ? fault.nearest->address : 0;
  const std::uint64_t offset = fault.address - base;
  const std::uint64_t begin =
      target.allocation == nullptr ? 0 : target.allocation->offset_in_object(target.begin);
  const std::uint64_t limit =
      target.allocation == nullptr ? 0 : target.allocation->offset_in_object(target.limit);
  if (meant.symbol != nullptr) {
    fault.symbol = meant.symbol;
    fault.meant = run.slot.shared;
  } else if (meant.is_sure) {
    fault.meant = meant.allocation;
  }
  const bool is_restricted_place = is_arena && fault.nearest != nullptr && fault.nearest->live &&
                                   address - fault.nearest->address < fault.nearest->bytes &&
                                   is_restricted(*fault.nearest) && launch_.may_use(*fault.nearest);
  if (is_restricted_place) {
    explain_restricted(target, fault);
  } else if (target.allocation == nullptr && fault.nearest != nullptr && !fault.nearest->live &&
             offset < fault.nearest->bytes) {
    fault.kind = Fault::Kind::use_after_free;
  } else if (fault.nearest != nullptr && fault.nearest->live && !launch_.may_use(*fault.nearest) &&
             fault.nearest->contains(fault.address, bytes)) {
    fault.kind = Fault::Kind::no_peer_access;
    fault.device = launch_.request().device;
  } else if (offset % bytes != 0 && offset >= begin && offset < limit) {
    fault.kind = Fault::Kind::misaligned;
  } else if (offset >= begin && bytes <= limit && offset <= limit - bytes) {
    const bool is_local = target.space == Space::local;
    fault.kind = is_local ? Fault::Kind::no_such_atomic : Fault::Kind::read_only;
  } else {
    fault.kind = Fault::Kind::out_of_bounds;
    if (target.allocation == nullptr && is_arena) {
      fault.nearest = launch_.memory().closest(fault.address);
    }
    const bool has_rank = target.space == Space::shared && target.allocation == nullptr;
    if (has_rank && target.base != 0) clusters_.explain(run, target, fault);
  }
  report_fault(run, fault);
}

// Reports a fault of an address that was computed from a function's local variables.
void Targets::fault_of_frame(const RunningFragment& run, const ProvenanceObject& meant,
                             const Target& target, Fault fault) const {
  fault.space = Space::local;
  fault.frame = meant.frame;
  fault.nearest = run.warp.local;
  const bool is_window = target.base == kLocalWindow || target.space != Space::local;
  if (is_window) fault.address -= kLocalWindow;
  const bool is_inside = fault.address >= meant.begin && fault.address < meant.end;
  if (is_inside && fault.address % fault.bytes != 0) {
    fault.kind = Fault::Kind::misaligned;
  } else if (is_inside && fault.bytes <= meant.end - fault.address) {
    fault.kind = Fault::Kind::no_such_atomic;
  }
  report_fault(run, fault);
}

void Targets::report_fault(const RunningFragment& run, const Fault& fault) const {
  ++run.warp.faults;
  launch_.count_fault();
  launch_.notify([&](Observer& observer) { observer.on_fault(fault); });
}

// Sets what is wrong with an access at fault.nearest, whose accesses the program restricts, and the
// region that is nearest.
void Targets::explain_restricted(const Target& target, Fault& fault) const {
  const Allocation& allocation = *fault.nearest;
  const std::uint64_t offset = fault.address - allocation.address;
  Regions::Window window{0, allocation.bytes};
  if (allocation.regions != nullptr) window = allocation.regions->at(offset);
  if (window.object != nullptr) fault.nearest = window.object;
  if (window.use == Regions::Use::gone) {
    fault.kind = Fault::Kind::use_after_free;
  } else if (window.use == Regions::Use::unused) {
    fault.kind = Fault::Kind::in_no_region;
    const Allocation* const closest = allocation.regions->closest(offset);
    if (closest != nullptr) fault.nearest = closest;
  } else if (target.allocation == nullptr) {
    fault.kind = Fault::Kind::no_right;
  } else if (target.limit != 0 && fault.address % fault.bytes != 0) {
    fault.kind = Fault::Kind::misaligned;
  } else if (target.limit != 0 && fault.bytes <= window.end - offset) {
    fault.kind = Fault::Kind::read_only;
  } else {
    fault.kind = Fault::Kind::out_of_bounds;
  }
}

void Targets::forget(const Allocation* allocation) {
  std::ranges::replace(last_, allocation, static_cast<Allocation*>(nullptr));
  std::erase_if(placed_, [&](std::uint32_t pc) {
    if (sites_[pc].allocation != allocation) return false;
    sites_[pc] = {};
    return true;
  });
}

}  // namespace warpcheck::vgpu
