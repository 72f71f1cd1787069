// Tensor maps of the driver API.
#include <cuda.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "vgpu/cudart/device/device.hpp"
#include "vgpu/cudart/driver/driver_call.hpp"
#include "vgpu/machine/tensor/tensor_map.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)
namespace vgpu = warpcheck::vgpu;

namespace {

using vgpu::TensorElement;
using vgpu::TensorInterleave;
using vgpu::TensorMap;
using vgpu::TensorSwizzle;

static_assert(sizeof(CUtensorMap) == vgpu::kTensorMapBytes);
static_assert(static_cast<int>(CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B) ==
              static_cast<int>(TensorElement::u6_padded));
static_assert(static_cast<int>(CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B) ==
              static_cast<int>(TensorSwizzle::bytes_128_of_64));

constexpr std::uintptr_t kMapAlignment = 64;
constexpr std::uint64_t kAddressAlignment = 16, kStrideEnd = std::uint64_t{1} << 40,
                        kSizeMax = std::uint64_t{1} << 32,
                        kImageSizeEnd = std::uint64_t{1} << 31;  // as on an H200
constexpr std::uint32_t kBoxMax = 256, kStepMax = 8, kRowUnit = 16, kPixelsMax = 1024;

struct Extents {
  const cuuint64_t* size;
  const cuuint64_t* stride;
  const cuuint32_t* box;
  const cuuint32_t* step;
};

bool is_float(TensorElement element) {
  return element >= TensorElement::f16 && element <= TensorElement::tf32_ftz;
}

// Checks what cuda.h requires of elements of 4 and 6 bits.
bool takes_small_elements(const TensorMap& map) {
  constexpr std::uint64_t kAlignment = 32, kElements = 128;
  const auto is_multiple = [](std::uint64_t stride) { return stride % kAlignment == 0; };
  switch (map.element) {
    case TensorElement::u4: return map.size[0] % 2 == 0;
    case TensorElement::u4_padded:
    case TensorElement::u6_padded:
      return map.address % kAlignment == 0 && map.size[0] % kElements == 0 &&
             map.box[0] == kElements && std::ranges::all_of(map.stride, is_multiple) &&
             (map.swizzle == TensorSwizzle::none || map.swizzle >= TensorSwizzle::bytes_128);
    default: return true;
  }
}

// Checks the arguments as cuda.h requires.
bool takes_extents(TensorMap& map, const Extents& given) {
  const std::uint64_t alignment = std::max<std::uint64_t>(kAddressAlignment, map.slice_bytes());
  if (map.address % alignment != 0) return false;
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    const std::uint64_t stride = i == 0 ? 0 : given.stride[i - 1];
    const bool is_right = given.size[i] != 0 && given.size[i] <= kSizeMax &&
                          stride % alignment == 0 && stride < kStrideEnd && given.box[i] != 0 &&
                          given.box[i] <= kBoxMax && given.step[i] != 0 &&
                          given.step[i] <= kStepMax;
    if (!is_right) return false;
    map.size[i] = given.size[i];
    if (i != 0) map.stride[i - 1] = stride;
    map.box[i] = static_cast<std::uint16_t>(given.box[i]);
    map.element_step[i] = static_cast<std::uint8_t>(given.step[i]);
  }
  return true;
}

// Returns whether rows of the box are multiples of 16 bytes that swizzling can handle.  As on an
// H200, the first is demanded of interleaved maps, too, where dimension 0 counts pixels.
bool has_rows(const TensorMap& map) {
  if (map.is_interleaved()) return map.box[0] * map.unit().global_bytes % kRowUnit == 0;
  const std::uint32_t row = map.row_bytes();
  if (map.box[0] % map.unit().elements != 0 || !takes_small_elements(map)) return false;
  const bool fits = map.swizzle == TensorSwizzle::none || row <= map.span();
  return row % kRowUnit == 0 && fits;
}

// Returns whether an H200 takes boxes of that size.  It has refused 261,120 bytes and taken
// 233,472, which are the shared memory of a multiprocessor.
bool has_box(const TensorMap& map) {
  constexpr std::uint32_t kBoxBytesMax = 228 * 1024;
  return map.bytes() <= kBoxBytesMax;
}

// The corners are in the order of the dimensions: width, height, depth.
bool takes_corners(TensorMap& map, const int* lower, const int* upper) {
  map.is_im2col = true;
  const int limit = map.rank == 3 ? 32'768 : map.rank == 4 ? 128 : 16;
  const auto is_size = [](std::uint64_t size) { return size < kImageSizeEnd; };
  if (!std::ranges::all_of(map.size, is_size)) return false;
  for (std::uint32_t i = 0; i + 2 < map.rank; ++i) {
    const auto fits = [&](int corner) { return corner >= -limit && corner < limit; };
    if (!fits(lower[i]) || !fits(upper[i])) return false;
    map.lower[i] = static_cast<std::int16_t>(lower[i]);
    map.upper[i] = static_cast<std::int16_t>(upper[i]);
    const std::uint32_t dimension = map.width_dimension() + i;
    if (map.last(dimension) < map.first(dimension)) return false;
  }
  return true;
}

struct Layout {
  CUtensorMapDataType type;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;
};

// Returns what tensor maps here do not have.
std::string_view unsupported(const Layout& given) {
  if (given.swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B) {
    return "swizzling that flips 8 bytes";
  }
  return {};
}

// Returns whether the device has elements of 4 and 6 bits and swizzling by larger units: an H200
// refuses both.
bool has_newer_layouts() {
  constexpr int kOlderMajor = 9;
  return with_device(
      [](Device& device) { return device.trial().capability().major != kOlderMajor; });
}

bool takes_layout(TensorMap& map, cuuint32_t rank, const Layout& given) {
  const bool are_enumerators =
      number_of(given.type) <= CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B &&
      number_of(given.interleave) <= CU_TENSOR_MAP_INTERLEAVE_32B &&
      number_of(given.swizzle) <= CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B &&
      number_of(given.promotion) <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B &&
      number_of(given.fill) <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  if (!are_enumerators || rank > vgpu::kTensorDimensionsMax) return false;
  map.element = static_cast<TensorElement>(number_of(given.type));
  map.swizzle = static_cast<TensorSwizzle>(number_of(given.swizzle));
  map.fills_with_nan = given.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  map.interleave = static_cast<TensorInterleave>(number_of(given.interleave));
  map.rank = rank;
  const bool is_small = map.element >= TensorElement::u4;
  const bool is_newer_swizzle = map.swizzle > TensorSwizzle::bytes_128;
  if (!has_newer_layouts() && (is_small || is_newer_swizzle)) return false;
  if (map.is_interleaved() && (rank < vgpu::kIm2colRankMin || is_small || is_newer_swizzle))
    return false;
  return !map.fills_with_nan || is_float(map.element);
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
    TensorMap map;
    const bool are_there = is_place(tensorMap) && is_address(address) && size != nullptr &&
                           (strides != nullptr || rank == 1) && box != nullptr &&
                           steps != nullptr && rank != 0;
    if (!are_there || !takes_layout(map, rank, {type, interleave, swizzle, promotion, fill})) {
      return fail(cudaErrorInvalidValue);
    }
    if (const std::string_view why = unsupported({type, interleave, swizzle, promotion, fill});
        !why.empty()) {
      return not_supported(reported_name(), why);
    }
    map.address = to_address(address);
    const bool is_right =
        takes_extents(map, {size, strides, box, steps}) && has_rows(map) && has_box(map);
    return is_right ? put(tensorMap, map) : fail(cudaErrorInvalidValue);
  });
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* tensorMap, CUtensorMapDataType type, cuuint32_t rank,
                                 void* address, const cuuint64_t* size, const cuuint64_t* strides,
                                 const int* lower, const int* upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t* steps,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return after_init([&] {
    TensorMap map;
    const bool are_there = is_place(tensorMap) && is_address(address) && size != nullptr &&
                           strides != nullptr && lower != nullptr && upper != nullptr &&
                           steps != nullptr && rank >= vgpu::kIm2colRankMin;
    if (!are_there || !takes_layout(map, rank, {type, interleave, swizzle, promotion, fill})) {
      return fail(cudaErrorInvalidValue);
    }
    if (const std::string_view why = unsupported({type, interleave, swizzle, promotion, fill});
        !why.empty()) {
      return not_supported(reported_name(), why);
    }
    map.address = to_address(address);
    std::array<cuuint32_t, vgpu::kTensorDimensionsMax> box{};
    box.fill(1);
    const bool is_right =
        channels != 0 && channels <= kBoxMax && pixels != 0 && pixels <= kPixelsMax &&
        takes_extents(map, {size, strides, box.data(), steps}) && takes_corners(map, lower, upper);
    if (!is_right) return fail(cudaErrorInvalidValue);
    map.box[0] = static_cast<std::uint16_t>(channels);
    map.box[1] = static_cast<std::uint16_t>(pixels);
    if (!has_rows(map)) return fail(cudaErrorInvalidValue);
    return put(tensorMap, map);
  });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* tensorMap, void* address) {
  return after_init([&] {
    if (!is_place(tensorMap) || !is_address(address)) return fail(cudaErrorInvalidValue);
    vgpu::TensorMapBytes bytes;
    std::memcpy(bytes.data(), tensorMap, bytes.size());
    std::optional<TensorMap> map = vgpu::unpack_tensor_map(bytes);
    if (!map || map->unset != 0) return fail(cudaErrorInvalidValue);
    map->address = to_address(address);
    return put(tensorMap, *map);
  });
}
