// Descriptions for the functions of NVTX's memory extension, each valid until the next one of its
// kind, so that the calls stand in the programs.
#pragma once

#include <nvtx3/nvToolsExtMem.h>
#include <nvtx3/nvToolsExtMemCudaRt.h>

inline nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("allocator");
  return domain;
}

template <typename Description>
Description* begin(Description& description) {
  description = {};
  description.extCompatID = NVTX_EXT_COMPATID_MEM;
  description.structSize = sizeof description;
  return &description;
}

inline nvtxMemVirtualRangeDesc_t* range(const void* pointer, size_t bytes) {
  static nvtxMemVirtualRangeDesc_t range;
  range.ptr = pointer;
  range.size = bytes;
  return &range;
}

inline nvtxMemHeapDesc_t* heap(const void* pointer, size_t bytes, const char* name = nullptr,
                               unsigned usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR) {
  static nvtxMemHeapDesc_t heap;
  begin(heap);
  heap.usage = usage;
  heap.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
  heap.typeSpecificDescSize = sizeof(nvtxMemVirtualRangeDesc_t);
  heap.typeSpecificDesc = range(pointer, bytes);
  if (name != nullptr) {
    heap.messageType = NVTX_MESSAGE_TYPE_ASCII;
    heap.message.ascii = name;
  }
  return &heap;
}

inline nvtxMemRegionsRegisterBatch_t* region(nvtxMemHeapHandle_t heap, const void* pointer,
                                             size_t bytes,
                                             nvtxMemRegionHandle_t* handle = nullptr) {
  static nvtxMemRegionsRegisterBatch_t regions;
  begin(regions);
  regions.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
  regions.heap = heap;
  regions.regionCount = 1;
  regions.regionDescElementSize = sizeof(nvtxMemVirtualRangeDesc_t);
  regions.regionDescElements = range(pointer, bytes);
  regions.regionHandleElementsOut = handle;
  return &regions;
}

inline nvtxMemRegionsResizeBatch_t* resized(const void* pointer, size_t bytes) {
  static nvtxMemRegionsResizeBatch_t regions;
  begin(regions);
  regions.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
  regions.regionDescCount = 1;
  regions.regionDescElementSize = sizeof(nvtxMemVirtualRangeDesc_t);
  regions.regionDescElements = range(pointer, bytes);
  return &regions;
}

inline nvtxMemRegionsUnregisterBatch_t* at(const void* pointer) {
  static nvtxMemRegionRef_t reference;
  static nvtxMemRegionsUnregisterBatch_t regions;
  begin(regions);
  reference.pointer = pointer;
  regions.refType = NVTX_MEM_REGION_REF_TYPE_POINTER;
  regions.refCount = 1;
  regions.refElementSize = sizeof reference;
  regions.refElements = &reference;
  return &regions;
}

inline nvtxMemRegionsUnregisterBatch_t* by(nvtxMemRegionHandle_t handle) {
  nvtxMemRegionsUnregisterBatch_t* const regions = at(handle);
  regions->refType = NVTX_MEM_REGION_REF_TYPE_HANDLE;
  return regions;
}

inline nvtxMemRegionsNameBatch_t* named(const void* pointer, const char* name) {
  static nvtxMemRegionNameDesc_t label;
  static nvtxMemRegionsNameBatch_t names;
  begin(names);
  label = {};
  label.regionRefType = NVTX_MEM_REGION_REF_TYPE_POINTER;
  label.nameType = NVTX_MESSAGE_TYPE_ASCII;
  label.region.pointer = pointer;
  label.name.ascii = name;
  names.regionCount = 1;
  names.regionElementSize = sizeof label;
  names.regionElements = &label;
  return &names;
}

inline nvtxMemPermissionsAssignBatch_t* rights(nvtxMemPermissionsHandle_t permissions,
                                               const void* pointer, unsigned flags) {
  static nvtxMemPermissionsAssignRegionDesc_t right;
  static nvtxMemPermissionsAssignBatch_t rights;
  begin(rights);
  right.flags = flags;
  right.regionRefType = NVTX_MEM_REGION_REF_TYPE_POINTER;
  right.region.pointer = pointer;
  rights.permissions = permissions;
  rights.regionCount = 1;
  rights.regionElementSize = sizeof right;
  rights.regionElements = &right;
  return &rights;
}

inline nvtxMemMarkInitializedBatch_t* bytes(const void* pointer, size_t count) {
  static nvtxMemMarkInitializedBatch_t ranges;
  begin(ranges);
  ranges.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
  ranges.regionDescCount = 1;
  ranges.regionDescElementSize = sizeof(nvtxMemVirtualRangeDesc_t);
  ranges.regionDescElements = range(pointer, count);
  return &ranges;
}
