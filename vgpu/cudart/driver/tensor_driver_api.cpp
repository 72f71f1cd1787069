// Tensor maps of the driver API.
#include <cuda.h>

#include <cstring>
#include <optional>

#include "vgpu/cudart/driver/driver_call.hpp"
#include "vgpu/machine/tensor/tensor_map.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)
namespace vgpu = warpcheck::vgpu;

namespace {

using vgpu::TensorElement;
using vgpu::TensorMap;
using vgpu::TensorSwizzle;

static_assert(sizeof(CUtensorMap) == vgpu::kTensorMapBytes);
static_assert(static_cast<int>(CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ) ==
              static_cast<int>(TensorElement::tf32_ftz));
static_assert(static_cast<int>(CU_TENSOR_MAP_SWIZZLE_128B) ==
              static_cast<int>(TensorSwizzle::bytes_128));

constexpr std::uintptr_t kMapAlignment = 64;
constexpr std::uint64_t kAddressAlignment = 16, kStrideEnd = std::uint64_t{1} << 40,
                        kSizeMax = std::uint64_t{1} << 32;
constexpr std::uint32_t kBoxMax = 256, kStepMax = 8, kRowUnit = 16;

struct Extents {
  const cuuint64_t* size;
  const cuuint64_t* stride;
  const cuuint32_t* box;
  const cuuint32_t* step;
};

bool is_float(TensorElement element) { return element >= TensorElement::f16; }

// Checks the arguments as cuda.h requires.
bool takes_extents(TensorMap& map, const Extents& given) {
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    const std::uint64_t stride = i == 0 ? 0 : given.stride[i - 1];
    const bool is_right = given.size[i] != 0 && given.size[i] <= kSizeMax &&
                          stride % kAddressAlignment == 0 && stride < kStrideEnd &&
                          given.box[i] != 0 && given.box[i] <= kBoxMax && given.step[i] != 0 &&
                          given.step[i] <= kStepMax;
    if (!is_right) return false;
    map.size[i] = given.size[i];
    if (i != 0) map.stride[i - 1] = stride;
    map.box[i] = static_cast<std::uint16_t>(given.box[i]);
    map.element_step[i] = static_cast<std::uint8_t>(given.step[i]);
  }
  const std::uint32_t row = map.row_bytes();
  const bool fits = map.swizzle == TensorSwizzle::none || row <= map.span();
  return row % kRowUnit == 0 && fits;
}

cudaError_t put(CUtensorMap* to, const TensorMap& map) {
  const vgpu::TensorMapBytes bytes = vgpu::pack(map);
  std::memcpy(to, bytes.data(), bytes.size());
  return cudaSuccess;
}

bool is_place(const CUtensorMap* map) {
  return map != nullptr && reinterpret_cast<std::uintptr_t>(map) % kMapAlignment == 0;
}

bool is_address(const void* address) {
  return address != nullptr && to_address(address) % kAddressAlignment == 0;
}

}  // namespace

CUresult cuTensorMapEncodeTiled(CUtensorMap* tensorMap, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* size, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return after_init([&] {
    const bool are_there = is_place(tensorMap) && is_address(address) && size != nullptr &&
                           (strides != nullptr || rank == 1) && box != nullptr && steps != nullptr;
    const bool are_enumerators =
        number_of(type) <= CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B &&
        number_of(interleave) <= CU_TENSOR_MAP_INTERLEAVE_32B &&
        number_of(swizzle) <= CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B &&
        number_of(promotion) <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B &&
        number_of(fill) <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    const bool has_rank = rank != 0 && rank <= vgpu::kTensorDimensionsMax;
    if (!are_there || !are_enumerators || !has_rank) return fail(cudaErrorInvalidValue);
    if (number_of(type) > CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ) {
      return not_supported(told_name(), "packed elements of 4 or 6 bits");
    }
    if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) {
      return not_supported(told_name(), "an interleaved layout");
    }
    if (number_of(swizzle) > CU_TENSOR_MAP_SWIZZLE_128B) {
      return not_supported(told_name(), "swizzling by atoms of more than 16 bytes");
    }
    TensorMap map;
    map.address = to_address(address);
    map.element = static_cast<TensorElement>(number_of(type));
    map.swizzle = static_cast<TensorSwizzle>(number_of(swizzle));
    map.fills_with_nan = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    map.rank = rank;
    const bool is_right = (!map.fills_with_nan || is_float(map.element)) &&
                          takes_extents(map, {size, strides, box, steps});
    return is_right ? put(tensorMap, map) : fail(cudaErrorInvalidValue);
  });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* tensorMap, void* address) {
  return after_init([&] {
    if (!is_place(tensorMap) || !is_address(address)) return fail(cudaErrorInvalidValue);
    vgpu::TensorMapBytes bytes;
    std::memcpy(bytes.data(), tensorMap, bytes.size());
    std::optional<TensorMap> map = vgpu::unpack_tensor_map(bytes);
    if (!map) return fail(cudaErrorInvalidValue);
    map->address = to_address(address);
    return put(tensorMap, *map);
  });
}
