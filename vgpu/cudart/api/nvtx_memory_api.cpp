// Programs that describe their own allocators by NVTX (nvToolsExtMem.h): pools, regions,
// permissions, names.  What cannot be followed is named in the report (`not checked:`).
//
// libwarpcheck_nvtx.so (nvtx_tool.cpp) calls the last function below for each extension of NVTX
// that a program uses.  A description holds for what the program requests after it, as
// compute-sanitizer has it, but operations run later than they are requested.  So everything
// that can run does so before a description changes.  The host does not learn of it.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "vgpu/check/lifetime.hpp"
#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/api/nvtx_memory.hpp"
#include "vgpu/cudart/exec/exec_session.hpp"

namespace warpcheck::cudart {
namespace {

// Functions of the extension by their numbers (NVTX3EXT_CBID_*).
constexpr std::array<const char*, 17> kFunctions{"nvtxMemHeapRegister",
                                                 "nvtxMemHeapUnregister",
                                                 "nvtxMemHeapReset",
                                                 "nvtxMemRegionsRegister",
                                                 "nvtxMemRegionsResize",
                                                 "nvtxMemRegionsUnregister",
                                                 "nvtxMemRegionsName",
                                                 "nvtxMemPermissionsAssign",
                                                 "nvtxMemPermissionsCreate",
                                                 "nvtxMemPermissionsDestroy",
                                                 "nvtxMemPermissionsReset",
                                                 "nvtxMemPermissionsBind",
                                                 "nvtxMemPermissionsUnbind",
                                                 "nvtxMemCudaGetProcessWidePermissions",
                                                 "nvtxMemCudaGetDeviceWidePermissions",
                                                 "nvtxMemCudaSetPeerAccess",
                                                 "nvtxMemCudaMarkInitialized"};
enum class Function : std::uint8_t {
  heap_register,
  heap_unregister,
  heap_reset,
  regions_register,
  regions_resize,
  regions_unregister,
  regions_name,
  assign,
  create,
  destroy,
  reset,
  bind,
  unbind,
  of_process,
  of_device,
  peer_access,
  mark_initialized,
};
const char* name_of(Function function) { return kFunctions[static_cast<std::size_t>(function)]; }

void not_followed(Function function, std::string_view what) {
  if (ExecSession* const session = ExecSession::instance()) {
    session->not_checked(fmt::format("{}: {}", name_of(function), what));
  }
}

constexpr std::string_view kOtherMemory = "memory that is no live device memory",
                           kOtherType = "memory other than addresses (CUDA arrays)",
                           kNoRegion = "a region that is not registered",
                           kNoHeap = "a heap that is not registered",
                           kNoPermissions = "an unknown permissions object";

// A call of the program, for as long as it runs.
class NvtxCall {
 public:
  NvtxCall(Function function, const void* return_address) : outer_(current_call()) {
    current_call() = {.name = name_of(function), .return_address = return_address};
  }
  ~NvtxCall() { current_call() = outer_; }
  NvtxCall(const NvtxCall&) = delete;
  NvtxCall& operator=(const NvtxCall&) = delete;

 private:
  ApiCall outer_;
};

// Runs body(device) when everything that was requested before has run.
template <typename Body>
decltype(auto) describe(Function function, const void* return_address, Body&& body) {
  const NvtxCall call(function, return_address);
  return with_device([&](Device& device) {
    device.enter_call();
    device.execution().run_what_can_begin();
    device.findings().mishaps().perform(return_address);
    return body(device);
  });
}

// Calls visit(element) for each element of a list that may have larger elements than this version.
template <typename Element, typename Visit>
void for_each_of(const Element* elements, std::size_t count, std::size_t element_bytes,
                 Visit visit) {
  const auto* at = reinterpret_cast<const std::byte*>(elements);
  for (std::size_t i = 0; i < count; ++i, at += element_bytes) {
    visit(*reinterpret_cast<const Element*>(at));
  }
}

template <typename List>
bool is_known(Function function, const List* list) {
  const bool is_good =
      list != nullptr && list->compatibility == nvtx::kCompatibility && list->size >= sizeof *list;
  if (!is_good) not_followed(function, "a description of another version");
  return is_good;
}

// Returns whether it is a list of address ranges.
template <typename List>
bool has_addresses(Function function, const List* list) {
  if (!is_known(function, list)) return false;
  const bool has =
      list->type == nvtx::kVirtualAddress && list->element_bytes >= sizeof(nvtx::Range);
  if (!has) not_followed(function, kOtherType);
  return has;
}

Suballocators::Range range_of(const nvtx::Range& range) {
  return {reinterpret_cast<std::uint64_t>(range.pointer), range.bytes};
}

std::string text_of(std::uint32_t type, const nvtx::Message& message) {
  if (type == nvtx::kAscii && message.ascii != nullptr) return message.ascii;
  std::string text;
  if (type != nvtx::kWide || message.wide == nullptr) return text;
  for (const wchar_t* at = message.wide; *at != 0; ++at) {
    text += *at >= 0x20 && *at < 0x7f ? static_cast<char>(*at) : '?';
  }
  return text;
}

Suballocators::Reference reference_of(std::uint32_t type, std::uint64_t value) {
  return {type == nvtx::kByHandle, value};
}

Suballocators::Ended ended_in(Device& device) {
  return [&device](const vgpu::Allocation& object) {
    device.findings().mishaps().free_requested(object);
    device.allocations().permissions().forget(object);
  };
}

void hand_out(Device& device, Suballocators::Range range) {
  Suballocators::for_each_allocation(
      device.allocations().memory(), range,
      [&](vgpu::Allocation& allocation, std::uint64_t begin, std::uint64_t end) {
        device.allocations().hand_out(allocation, begin, end - begin);
      });
}

// ---- heaps ----

std::uint64_t heap_register(void* /*domain*/, const nvtx::Heap* heap) {
  constexpr auto kThis = Function::heap_register;
  return describe(kThis, __builtin_return_address(0), [&](Device& device) -> std::uint64_t {
    if (!is_known(kThis, heap)) return 0;
    const bool is_range = heap->type == nvtx::kVirtualAddress && heap->range != nullptr &&
                          heap->range_bytes >= sizeof(nvtx::Range);
    if (!is_range) return not_followed(kThis, kOtherType), 0;
    if (heap->usage != nvtx::kPool && heap->usage != nvtx::kLayout) {
      not_followed(kThis, "a heap of unknown usage");
    }
    const Suballocators::Range range = range_of(*heap->range);
    const bool is_added = device.allocations().suballocators().add_heap(
        device.allocations().memory(), range, heap->usage == nvtx::kPool,
        text_of(heap->name_type, heap->name));
    if (!is_added) not_followed(kThis, kOtherMemory);
    return range.address;
  });
}

void heap_unregister(void* /*domain*/, std::uint64_t heap) {
  constexpr auto kThis = Function::heap_unregister;
  describe(kThis, __builtin_return_address(0), [&](Device& device) {
    Allocations& allocations = device.allocations();
    allocations.suballocators().end_heap(allocations.memory(), heap, ended_in(device));
  });
}

void heap_reset(void* /*domain*/, std::uint64_t heap) {
  constexpr auto kThis = Function::heap_reset;
  describe(kThis, __builtin_return_address(0), [&](Device& device) {
    Allocations& allocations = device.allocations();
    if (!allocations.suballocators().reset_heap(allocations.memory(), heap, ended_in(device))) {
      not_followed(kThis, kNoHeap);
    }
  });
}

// ---- regions ----

void regions_register(void* /*domain*/, const nvtx::NewRegions* regions) {
  constexpr auto kThis = Function::regions_register;
  describe(kThis, __builtin_return_address(0), [&](Device& device) {
    if (!has_addresses(kThis, regions)) return;
    Allocations& allocations = device.allocations();
    std::size_t i = 0;
    for_each_of(
        regions->elements, regions->count, regions->element_bytes, [&](const nvtx::Range& element) {
          const Suballocators::Range range = range_of(element);
          const Suballocators::Added added =
              allocations.suballocators().add_region(allocations.memory(), regions->heap, range);
          if (regions->handles != nullptr) regions->handles[i] = added.number;
          ++i;
          if (added.region == nullptr) {
            return not_followed(kThis, "a region that is in no registered heap");
          }
          device.findings().mishaps().allocated(*added.region);
          if (added.is_fresh) hand_out(device, range);
        });
  });
}

void regions_resize(void* /*domain*/, const nvtx::Ranges* regions) {
  constexpr auto kThis = Function::regions_resize;
  describe(kThis, __builtin_return_address(0), [&](Device& device) {
    if (!has_addresses(kThis, regions)) return;
    Allocations& allocations = device.allocations();
    for_each_of(regions->elements, regions->count, regions->element_bytes,
                [&](const nvtx::Range& element) {
                  Suballocators::Range added;
                  const bool is_done = allocations.suballocators().resize_region(
                      allocations.memory(), range_of(element), added);
                  if (!is_done) return not_followed(kThis, kNoRegion);
                  if (added.bytes != 0) hand_out(device, added);
                });
  });
}

// Ending a region twice is an error, as freeing memory twice is.
void report_ended_twice(Device& device, Function function, const vgpu::Allocation& region) {
  device.findings().add(vgpu::freed_twice(name_of(function), region,
                                          device.findings().mishaps().place_of_free(region)));
}

void regions_unregister(void* /*domain*/, const nvtx::References* regions) {
  constexpr auto kThis = Function::regions_unregister;
  describe(kThis, __builtin_return_address(0), [&](Device& device) {
    if (!is_known(kThis, regions)) return;
    Allocations& allocations = device.allocations();
    for_each_of(
        regions->elements, regions->count, regions->element_bytes, [&](std::uint64_t value) {
          const Suballocators::Reference region = reference_of(regions->type, value);
          if (allocations.suballocators().end_region(allocations.memory(), region,
                                                     ended_in(device))) {
            return;
          }
          const vgpu::Allocation* const gone =
              region.is_number ? nullptr : Suballocators::find_gone(allocations.memory(), value);
          if (gone != nullptr && !gone->is_pool) report_ended_twice(device, kThis, *gone);
        });
  });
}

void regions_name(void* /*domain*/, const nvtx::Names* names) {
  constexpr auto kThis = Function::regions_name;
  describe(kThis, __builtin_return_address(0), [&](Device& device) {
    if (!is_known(kThis, names)) return;
    Allocations& allocations = device.allocations();
    for_each_of(names->elements, names->count, names->element_bytes, [&](const nvtx::Name& one) {
      if (one.name_type != nvtx::kAscii && one.name_type != nvtx::kWide) {
        return not_followed(kThis, "a name that is a registered string");
      }
      const bool is_named = allocations.suballocators().name(
          allocations.memory(), reference_of(one.reference_type, one.reference),
          text_of(one.name_type, one.name));
      if (!is_named) not_followed(kThis, kNoRegion);
    });
  });
}

// ---- permissions ----

void assign(void* /*domain*/, const nvtx::Rights* rights) {
  constexpr auto kThis = Function::assign;
  describe(kThis, __builtin_return_address(0), [&](Device& device) {
    if (!is_known(kThis, rights)) return;
    Allocations& allocations = device.allocations();
    for_each_of(rights->elements, rights->count, rights->element_bytes,
                [&](const nvtx::Right& one) {
                  const vgpu::Allocation* const object = allocations.suballocators().find(
                      allocations.memory(), reference_of(one.reference_type, one.reference));
                  if (object == nullptr) return not_followed(kThis, kNoRegion);
                  if (!allocations.permissions().assign(rights->permissions, *object, one.flags)) {
                    not_followed(kThis, kNoPermissions);
                  }
                });
  });
}

std::uint64_t create(void* /*domain*/, std::int32_t excluded) {
  return describe(Function::create, __builtin_return_address(0), [&](Device& device) {
    return device.allocations().permissions().create(static_cast<std::uint8_t>(excluded & 7));
  });
}

void destroy(void* /*domain*/, std::uint64_t permissions) {
  constexpr auto kThis = Function::destroy;
  describe(kThis, __builtin_return_address(0), [&](Device& device) {
    if (!device.allocations().permissions().destroy(permissions)) {
      not_followed(kThis, kNoPermissions);
    }
  });
}

void reset(void* /*domain*/, std::uint64_t permissions) {
  constexpr auto kThis = Function::reset;
  describe(kThis, __builtin_return_address(0), [&](Device& device) {
    if (!device.allocations().permissions().reset(permissions)) {
      not_followed(kThis, kNoPermissions);
    }
  });
}

void bind(void* /*domain*/, std::uint64_t permissions, std::uint32_t scope, std::uint32_t flags) {
  constexpr auto kThis = Function::bind;
  describe(kThis, __builtin_return_address(0), [&](Device& device) {
    if (scope != nvtx::kOfStream) return not_followed(kThis, "accesses of threads of the host");
    if (!device.allocations().permissions().bind(permissions,
                                                 static_cast<std::uint8_t>(flags & 7))) {
      not_followed(kThis, kNoPermissions);
    }
  });
}

void unbind(void* /*domain*/, std::uint32_t scope) {
  describe(Function::unbind, __builtin_return_address(0), [&](Device& device) {
    if (scope == nvtx::kOfStream) device.allocations().permissions().unbind();
  });
}

std::uint64_t of_process(void* /*domain*/) { return Permissions::kAllDevices; }

std::uint64_t of_device(void* /*domain*/, int number) {
  return describe(Function::of_device, __builtin_return_address(0), [&](Device& device) {
    return device.exists(number) ? Permissions::of_device(static_cast<unsigned>(number))
                                 : std::uint64_t{0};
  });
}

void peer_access(void* /*domain*/, std::uint64_t permissions, int number, std::uint32_t flags) {
  constexpr auto kThis = Function::peer_access;
  constexpr int kAll = -1;  // NVTX_MEM_CUDA_PEER_ALL_DEVICES
  describe(kThis, __builtin_return_address(0), [&](Device& device) {
    if (number != kAll && !device.exists(number)) return not_followed(kThis, "an unknown device");
    std::optional<unsigned> peer;
    if (number != kAll) peer = static_cast<unsigned>(number);
    if (!device.allocations().permissions().assign_device(permissions, peer, flags)) {
      not_followed(kThis, kNoPermissions);
    }
  });
}

// ---- initialisation ----

void mark_initialized(void* /*domain*/, cudaStream_t /*stream*/, std::uint8_t /*per_thread*/,
                      const nvtx::Ranges* ranges) {
  constexpr auto kThis = Function::mark_initialized;
  describe(kThis, __builtin_return_address(0), [&](Device& device) {
    if (!has_addresses(kThis, ranges)) return;
    for_each_of(ranges->elements, ranges->count, ranges->element_bytes,
                [&](const nvtx::Range& element) {
                  const bool is_memory = Suballocators::for_each_allocation(
                      device.allocations().memory(), range_of(element),
                      [&](vgpu::Allocation& allocation, std::uint64_t begin, std::uint64_t end) {
                        device.allocations().written_by_host(allocation, begin, end - begin);
                      });
                  if (!is_memory) not_followed(kThis, kOtherMemory);
                });
  });
}

// In place of functions that are newer than this file.
std::uint64_t unknown_function() {
  if (ExecSession* const session = ExecSession::instance()) {
    session->not_checked("a function of NVTX's memory extension that is not known");
  }
  return 0;
}

template <typename To>
std::intptr_t slot(To* function) {
  return reinterpret_cast<std::intptr_t>(function);
}

void fill_in(const nvtx::Segment& functions) {
  const std::array<std::intptr_t, kFunctions.size()> all{
      slot(heap_register),    slot(heap_unregister), slot(heap_reset),
      slot(regions_register), slot(regions_resize),  slot(regions_unregister),
      slot(regions_name),     slot(assign),          slot(create),
      slot(destroy),          slot(reset),           slot(bind),
      slot(unbind),           slot(of_process),      slot(of_device),
      slot(peer_access),      slot(mark_initialized)};
  for (std::size_t i = 0; i < functions.slots; ++i) {
    functions.functions[i] = i < all.size() ? all[i] : slot(unknown_function);
  }
}

}  // namespace
}  // namespace warpcheck::cudart

// Returns 0 if there is no tool for the extension, so that its functions do nothing.
extern "C" [[gnu::visibility("default")]] int warpcheck_nvtx_extension(
    const warpcheck::cudart::nvtx::Module* module) {
  namespace nvtx = warpcheck::cudart::nvtx;
  warpcheck::cudart::ExecSession* const session = warpcheck::cudart::ExecSession::instance();
  if (session == nullptr || module == nullptr || module->module != nvtx::kMemory) return 0;
  if (module->compatibility != nvtx::kCompatibility || module->segment_count == 0) {
    session->not_checked(
        "what the program says of its memory by NVTX (nvtxMem...), in another version of NVTX");
    return 0;
  }
  warpcheck::cudart::fill_in(module->segments[0]);
  return 1;
}
