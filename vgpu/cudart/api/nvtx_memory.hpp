// The memory extension of NVTX 3 as its functions get it, laid out by nvToolsExtMem.h,
// nvToolsExtMemCudaRt.h and nvtxDetail/nvtxExtTypes.h (compatibility number 0x0102).  Toolkits
// before 13.0 have no such headers, so this one does not need them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpcheck::cudart::nvtx {

// What NVTX hands to a tool that is to fill in the functions of an extension.
struct Segment {
  std::size_t number, slots;
  std::intptr_t* functions;  // by number
};
struct Module {
  std::uint16_t version, bytes, module, compatibility;
  std::size_t segment_count;
  const Segment* segments;
};
inline constexpr std::uint16_t kMemory = 1, kCompatibility = 0x0102;

inline constexpr std::uint32_t kPool = 1, kLayout = 2;         // NVTX_MEM_HEAP_USAGE_TYPE_*
inline constexpr std::uint32_t kVirtualAddress = 1;            // NVTX_MEM_TYPE_*
inline constexpr std::uint32_t kByPointer = 1, kByHandle = 2;  // NVTX_MEM_REGION_REF_TYPE_*
inline constexpr std::uint32_t kAscii = 1, kWide = 2;          // NVTX_MESSAGE_TYPE_*
inline constexpr std::uint32_t kOfThread = 1, kOfStream = 2;   // NVTX_MEM_PERMISSIONS_BIND_SCOPE_*

struct Range {
  std::size_t bytes;
  const void* pointer;
};
union Message {
  const char* ascii;
  const wchar_t* wide;
};
struct Heap {
  std::uint16_t compatibility, size;
  std::uint32_t reserved, usage, type;
  std::size_t range_bytes;
  const Range* range;
  std::uint32_t category, name_type;
  Message name;
};
struct NewRegions {
  std::uint16_t compatibility, size;
  std::uint32_t type;
  std::uint64_t heap;
  std::size_t count, element_bytes;
  const Range* elements;
  std::uint64_t* handles;  // null: not wanted
};
struct Ranges {  // of nvtxMemRegionsResize() and nvtxMemCudaMarkInitialized()
  std::uint16_t compatibility, size;
  std::uint32_t type;
  std::size_t count, element_bytes;
  const Range* elements;
};
struct References {
  std::uint16_t compatibility, size;
  std::uint32_t type;
  std::size_t count, element_bytes;
  const std::uint64_t* elements;
};
struct Name {
  std::uint32_t reference_type, name_type;
  std::uint64_t reference;
  Message name;
  std::uint32_t category, reserved;
};
struct Names {
  std::uint16_t compatibility, size;
  std::uint32_t reserved;
  std::size_t count, element_bytes;
  const Name* elements;
  std::size_t reserved1;
};
struct Right {
  std::uint32_t flags, reference_type;
  std::uint64_t reference;
};
struct Rights {
  std::uint16_t compatibility, size;
  std::uint32_t reserved;
  std::uint64_t permissions;
  std::size_t count, element_bytes;
  const Right* elements;
  std::size_t reserved1;
};

}  // namespace warpcheck::cudart::nvtx
