// Images for textures.cu: memory with a texture and a surface on it, of every kind.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpcheck::conformance {

inline void require(cudaError_t error, const std::string& what) {
  if (error != cudaSuccess) throw std::runtime_error(what + ": " + cudaGetErrorString(error));
}

// A fixed stream of bits, the same everywhere.
inline std::uint32_t mix(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}
inline std::uint32_t mix(std::uint32_t a, std::uint32_t b) { return mix(a * 0x9e3779b9u + b); }

enum class Shape { linear, pitch, line, plane, volume, lines, planes, cube, cubes };
inline constexpr const char* kShapeNames[] = {"linear",    "pitch",     "1d",   "2d",         "3d",
                                              "1d-layers", "2d-layers", "cube", "cube-layers"};

enum class Kind { u, s, f };
struct Format {
  Kind kind = Kind::f;
  int bits = 32, channels = 1;
  int element_bytes() const { return bits / 8 * channels; }
};

inline std::string name_of(const Format& format) {
  return "usf"[static_cast<int>(format.kind)] + std::to_string(format.bits) + "x" +
         std::to_string(format.channels);
}

inline cudaChannelFormatDesc describe(const Format& format) {
  constexpr cudaChannelFormatKind kKinds[] = {
      cudaChannelFormatKindUnsigned, cudaChannelFormatKindSigned, cudaChannelFormatKindFloat};
  const auto bits = [&](int channel) { return channel < format.channels ? format.bits : 0; };
  return {bits(0), bits(1), bits(2), bits(3), kKinds[static_cast<int>(format.kind)]};
}

struct Size {
  int w = 13, h = 7, d = 5;
};

struct Setup {
  Shape shape = Shape::plane;
  Format format;
  Size size;
  int levels = 1;
  bool wild = false;  // texels: any bits, NaN and infinities too
  bool flat = false;  // every texel contains the number of its level
  unsigned flags = 0;
  bool normalized = false, scaled = false, smooth = false, srgb = false;
  cudaTextureAddressMode address = cudaAddressModeClamp;
  cudaTextureFilterMode mip_filter = cudaFilterModePoint;
  float bias = 0, least = 0, most = 100;
  float border[4] = {0, 0, 0, 0};
};

inline constexpr const char* kAddressNames[] = {"wrap", "clamp", "mirror", "border"};

inline std::string name_of(const Setup& setup) {
  std::string name = kShapeNames[static_cast<int>(setup.shape)];
  name += " " + name_of(setup.format);
  name += " " + std::to_string(setup.size.w) + "," + std::to_string(setup.size.h) + "," +
          std::to_string(setup.size.d);
  if (setup.levels > 1) name += "/" + std::to_string(setup.levels);
  if (setup.wild) name += " wild";
  if (setup.flat) name += " flat";
  if (setup.scaled) name += " scaled";
  if (setup.srgb) name += " srgb";
  if (setup.normalized) name += " normalized";
  name += std::string(" ") + kAddressNames[setup.address];
  if (setup.border[0] != 0) name += " color";
  name += setup.smooth ? " linear" : " point";
  if (setup.levels > 1)
    name += setup.mip_filter == cudaFilterModeLinear ? " mip-linear" : " mip-point";
  if (setup.bias != 0) name += " bias " + std::to_string(setup.bias);
  if (setup.least != 0 || setup.most != 100)
    name += " levels " + std::to_string(setup.least) + ".." + std::to_string(setup.most);
  return name;
}

inline constexpr std::uint32_t kLevelSeed = 100;  // of level 0

// The channels of texels, one after the other.
inline std::vector<unsigned char> texels(const Setup& setup, std::size_t count,
                                         std::uint32_t seed) {
  std::vector<unsigned char> bytes(count * setup.format.element_bytes());
  const std::size_t width = setup.format.bits / 8;
  for (std::size_t i = 0; i < bytes.size() / width; ++i) {
    std::uint32_t bits = mix(seed, static_cast<std::uint32_t>(i));
    if (setup.flat) {
      const auto level = static_cast<float>(seed - kLevelSeed);
      std::memcpy(&bits, &level, sizeof bits);
    } else if (setup.format.kind == Kind::f && !setup.wild) {
      // Values within a few powers of two of 1.
      if (width == 4) bits = (bits & 0x807f'ffffu) | (124 + (bits >> 23) % 6) << 23;
      if (width == 2) bits = (bits & 0x83ffu) | (12 + (bits >> 16) % 6) << 10;
    }
    std::memcpy(bytes.data() + i * width, &bits, width);
  }
  return bytes;
}

inline bool is_layered(Shape shape) { return shape >= Shape::lines; }
inline bool is_cube(Shape shape) { return shape >= Shape::cube; }

// Memory with a texture and a surface on it.
class Image {
 public:
  explicit Image(const Setup& setup) : setup_(setup), name_(name_of(setup)) {
    if (setup.shape == Shape::linear || setup.shape == Shape::pitch) {
      make_linear();
    } else if (setup.levels > 1) {
      make_mipmaps();
    } else {
      array_ = make_array();
      fill(array_, extent(), 1);
      resource_.resType = cudaResourceTypeArray;
      resource_.res.array.array = array_;
    }
  }
  ~Image() {
    if (texture_ != 0) cudaDestroyTextureObject(texture_);
    if (surface_ != 0) cudaDestroySurfaceObject(surface_);
    if (mipmaps_ != nullptr) cudaFreeMipmappedArray(mipmaps_);
    if (array_ != nullptr) cudaFreeArray(array_);
    if (memory_ != nullptr) cudaFree(memory_);
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  cudaTextureObject_t texture() {
    cudaTextureDesc desc{};
    for (cudaTextureAddressMode& mode : desc.addressMode) mode = setup_.address;
    desc.filterMode = setup_.smooth ? cudaFilterModeLinear : cudaFilterModePoint;
    desc.readMode = setup_.scaled ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    desc.sRGB = setup_.srgb;
    desc.normalizedCoords = setup_.normalized;
    desc.mipmapFilterMode = setup_.mip_filter;
    desc.mipmapLevelBias = setup_.bias;
    desc.minMipmapLevelClamp = setup_.least;
    desc.maxMipmapLevelClamp = setup_.most;
    std::memcpy(desc.borderColor, setup_.border, sizeof desc.borderColor);
    require(cudaCreateTextureObject(&texture_, &resource_, &desc, nullptr), name_);
    return texture_;
  }
  cudaSurfaceObject_t surface() {
    require(cudaCreateSurfaceObject(&surface_, &resource_), name_);
    return surface_;
  }
  std::vector<std::uint32_t> contents() {
    const cudaExtent all = extent();
    std::vector<std::uint32_t> words(
        (all.width * rows(all) * slices(all) * setup_.format.element_bytes() + 3) / 4);
    cudaMemcpy3DParms copy{};
    copy.srcArray = array_;
    copy.dstPtr = {words.data(), all.width * setup_.format.element_bytes(), all.width, rows(all)};
    copy.extent = {all.width, rows(all), slices(all)};
    copy.kind = cudaMemcpyDeviceToHost;
    require(cudaMemcpy3D(&copy), name_);
    return words;
  }

 private:
  static std::size_t rows(const cudaExtent& e) { return e.height == 0 ? 1 : e.height; }
  static std::size_t slices(const cudaExtent& e) { return e.depth == 0 ? 1 : e.depth; }

  cudaExtent extent() const {
    const auto w = static_cast<std::size_t>(setup_.size.w);
    const auto h = static_cast<std::size_t>(setup_.size.h);
    const auto d = static_cast<std::size_t>(setup_.size.d);
    switch (setup_.shape) {
      case Shape::line: return {w, 0, 0};
      case Shape::plane: return {w, h, 0};
      case Shape::lines: return {w, 0, d};
      case Shape::cube: return {w, w, 6};
      case Shape::cubes: return {w, w, 6 * d};
      default: return {w, h, d};
    }
  }
  unsigned flags() const {
    return setup_.flags |
           (setup_.shape == Shape::cube || setup_.shape == Shape::cubes ? cudaArrayCubemap : 0u) |
           (setup_.shape == Shape::lines || setup_.shape == Shape::planes ||
                    setup_.shape == Shape::cubes
                ? cudaArrayLayered
                : 0u);
  }
  cudaArray_t make_array() {
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = describe(setup_.format);
    require(cudaMalloc3DArray(&array, &format, extent(), flags()), name_);
    return array;
  }
  void fill(cudaArray_t array, const cudaExtent& size, std::uint32_t seed) {
    const std::vector<unsigned char> bytes =
        texels(setup_, size.width * rows(size) * slices(size), seed);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = {const_cast<unsigned char*>(bytes.data()),
                   size.width * setup_.format.element_bytes(), size.width, rows(size)};
    copy.dstArray = array;
    copy.extent = {size.width, rows(size), slices(size)};
    copy.kind = cudaMemcpyHostToDevice;
    require(cudaMemcpy3D(&copy), name_);
  }
  void make_mipmaps() {
    const cudaChannelFormatDesc format = describe(setup_.format);
    require(cudaMallocMipmappedArray(&mipmaps_, &format, extent(),
                                     static_cast<unsigned>(setup_.levels), flags()),
            name_);
    for (int level = 0; level < setup_.levels; ++level) {
      cudaArray_t array = nullptr;
      require(cudaGetMipmappedArrayLevel(&array, mipmaps_, static_cast<unsigned>(level)), name_);
      const auto halved = [&](std::size_t size, bool halves) {
        return size == 0 ? 0 : halves ? std::max<std::size_t>(size >> level, 1) : size;
      };
      const cudaExtent full = extent();
      fill(array,
           {halved(full.width, true), halved(full.height, true),
            halved(full.depth, !is_layered(setup_.shape))},
           kLevelSeed + static_cast<std::uint32_t>(level));
    }
    resource_.resType = cudaResourceTypeMipmappedArray;
    resource_.res.mipmap.mipmap = mipmaps_;
  }
  void make_linear() {
    const bool pitched = setup_.shape == Shape::pitch;
    const std::size_t row = static_cast<std::size_t>(setup_.size.w * setup_.format.element_bytes());
    const std::size_t height = pitched ? static_cast<std::size_t>(setup_.size.h) : 1;
    const std::size_t pitch = pitched ? (row + 511) / 512 * 512 : row;
    const std::vector<unsigned char> bytes =
        texels(setup_, static_cast<std::size_t>(setup_.size.w) * height, 1);
    require(cudaMalloc(&memory_, pitch * height), name_);
    require(cudaMemcpy2D(memory_, pitch, bytes.data(), row, row, height, cudaMemcpyHostToDevice),
            name_);
    if (pitched) {
      resource_.resType = cudaResourceTypePitch2D;
      resource_.res.pitch2D = {memory_, describe(setup_.format),
                               static_cast<std::size_t>(setup_.size.w), height, pitch};
    } else {
      resource_.resType = cudaResourceTypeLinear;
      resource_.res.linear = {memory_, describe(setup_.format), row};
    }
  }

  Setup setup_;
  std::string name_;
  cudaResourceDesc resource_{};
  cudaArray_t array_ = nullptr;
  cudaMipmappedArray_t mipmaps_ = nullptr;
  void* memory_ = nullptr;
  cudaTextureObject_t texture_ = 0;
  cudaSurfaceObject_t surface_ = 0;
};

}  // namespace warpcheck::conformance
