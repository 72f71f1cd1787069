// What is fetched, from what, and where: see textures.hpp.
#include "vgpu/conformance/textures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "vgpu/conformance/texture_images.hpp"
#include "vgpu/conformance/texture_kernels.cuh"

namespace warpcheck::conformance {
namespace {

// ---- where ----

constexpr int kLooks = 512;  // of each kind of fetch

// Coordinates along a side of `size` texels, not normalized.
float place(std::uint32_t random, int size) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float kSpecial[] = {0.0F,       -0.0F,     kInfinity,  -kInfinity,    std::nanf(""),
                            1e-40F,     -1e-40F,   1e-6F,      -1e-6F,        3e38F,
                            -3e38F,     1e9F,      -1e9F,      2147483648.0F, -2147483648.0F,
                            8388608.5F, 65536.25F, -65536.25F, 16777216.0F};
  const auto reach = static_cast<float>(size);
  const std::uint32_t value = random >> 4;
  const auto texel =
      static_cast<float>(static_cast<int>(value % static_cast<std::uint32_t>(size + 5)) - 2);
  const auto fraction = static_cast<float>(value >> 8 & 0xff) / 256;
  switch (random & 15) {
    case 0: return kSpecial[value % (sizeof kSpecial / sizeof kSpecial[0])];
    case 1: return texel;
    case 2: return std::nextafterf(texel, kInfinity);
    case 3: return std::nextafterf(texel, -kInfinity);
    case 4: return texel + 0.5F;
    case 5: return std::nextafterf(texel + 0.5F, value & 1 ? kInfinity : -kInfinity);
    case 6: return texel + fraction;
    case 7: return texel + fraction + 1.0F / 512;
    case 8:
      return std::nextafterf(texel + fraction + 1.0F / 512, value & 1 ? kInfinity : -kInfinity);
    case 9: return texel + static_cast<float>(value & 0xfff) / 4096;
    case 10: return (static_cast<float>(value & 0xffffff) / 16777216 * 7 - 3) * reach;
    default: return static_cast<float>(value & 0xffffff) / 16777216 * reach;
  }
}

// Between 2^lowest and 2^(lowest + range): the same on every host.
float power(float fraction, int range, int lowest) {
  const float exponent = fraction * static_cast<float>(range);
  const float whole = std::floor(exponent);
  return std::ldexp(1 + (exponent - whole), static_cast<int>(whole) + lowest);
}

std::vector<Look> looks_at(const Setup& setup, int count) {
  std::vector<Look> looks(static_cast<std::size_t>(count));
  const int size[] = {setup.size.w, setup.size.h, setup.size.d};
  for (int i = 0; i < count; ++i) {
    Look& look = looks[static_cast<std::size_t>(i)];
    const auto draw = [&](int what) {
      return mix(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(what));
    };
    const auto real = [&](int what) { return static_cast<float>(draw(what) >> 8) / 16777216; };
    for (int side = 0; side < 3; ++side) {
      // Mostly one strange coordinate at a time.
      std::uint32_t random = draw(side);
      if (side != i % 3 && (random >> 28) > 3) random |= 15;
      look.at[side] = place(random, size[side]);
      if (setup.normalized && i % 4 != 3) look.at[side] /= static_cast<float>(size[side]);
      if (setup.normalized && i % 4 == 3) look.at[side] = real(side) * 3 - 1;
      look.index[side] =
          static_cast<int>(draw(10 + side) % static_cast<std::uint32_t>(size[side] + 6)) - 3;
      const float scale = power(real(20 + side), 8, -7) / (setup.normalized ? 8.0F : 1.0F);
      look.dx[side] = (real(30 + side) * 2 - 1) * scale;
      look.dy[side] = (real(40 + side) * 2 - 1) * scale;
    }
    // At a coordinate far outside, a volume's gradients lead the hardware to any level.
    if (setup.flat) {
      for (int side = 0; side < 3; ++side) look.at[side] = real(side);
    }
    if (is_cube(setup.shape)) {
      for (int side = 0; side < 3; ++side) {
        look.at[side] = real(50 + side) * 2 - 1;
        if (i % 4 == 0 && side == static_cast<int>(draw(60) % 3))
          look.at[side] = draw(61) & 1 ? 1 : -1;
        if (i % 16 == 1)
          look.at[side] = static_cast<float>(static_cast<int>(draw(62 + side) % 3) - 1);
        if (i % 8 == 5) look.at[side] *= power(real(66), 60, -30);
      }
    }
    look.level = real(5) * static_cast<float>(setup.levels + 2) - 1;
    if (i % 5 == 0) look.level = std::floor(look.level * 4) / 4;
    if (i % 9 == 0) look.level = std::floor(look.level * 256) / 256;
    if (i % 50 == 0) look.level = place(draw(6) & ~15u, 5);
    look.layer = static_cast<int>(draw(7) % static_cast<std::uint32_t>(setup.size.d + 4)) - 2;
  }
  if (setup.shape == Shape::linear && count > 2) {
    looks[0].index[0] = std::numeric_limits<int>::max();
    looks[1].index[0] = std::numeric_limits<int>::min();
  }
  return looks;
}

template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) : count_(count) {
    require(cudaMalloc(&data_, count * sizeof(T)), "results");
    require(cudaMemset(data_, 0, count * sizeof(T)), "results");
  }
  explicit Buffer(const std::vector<T>& values) : Buffer(values.size()) {
    require(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "looks");
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* data() { return data_; }
  std::vector<std::uint32_t> words(const std::string& name) {
    std::vector<std::uint32_t> result((count_ * sizeof(T) + 3) / 4);
    require(cudaMemcpy(result.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), name);
    return result;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

// ---- what ----

// What a virtual GPU may be off by: see docs/develop/conformance.md.
float error_of(const Setup& setup) {
  const bool is_signed_byte = setup.format.kind == Kind::s && setup.format.bits == 8;
  if (setup.flat) return kLevelError;
  if (setup.smooth && setup.srgb) return kSrgbError;
  if (setup.smooth && setup.scaled && is_signed_byte) return kSignedByteError;
  const bool is_trilinear = setup.shape == Shape::volume && setup.levels > 1 && setup.smooth &&
                            setup.mip_filter == cudaFilterModeLinear;
  return is_trilinear ? kVolumeLevelError : 0;
}

class Recorder {
 public:
  void fetch(const std::string& what, const Setup& setup, Fetch kernel) {
    TextureResult result{what + " " + name_of(setup), error_of(setup), {}};
    Image image(setup);
    Buffer<Look> looks(looks_at(setup, kLooks));
    Buffer<uint4> out(kLooks);
    const cudaTextureObject_t texture = image.texture();
    kernel<<<(kLooks + 127) / 128, 128>>>(texture, looks.data(), kLooks, out.data());
    require(cudaGetLastError(), result.name);
    result.words = out.words(result.name);
    results.push_back(std::move(result));
  }
  void surface(const std::string& mode, Setup setup, Read read, Write write) {
    setup.flags |= cudaArraySurfaceLoadStore;
    TextureResult result{"read " + mode + " " + name_of(setup), 0, {}};
    Image image(setup);
    constexpr int kCount = 256;
    std::vector<Look> inside = looks_at(setup, kCount);
    if (is_cube(setup.shape)) {
      for (Look& look : inside) look.layer = look.layer < 0 ? 0 : look.layer;
    }
    if (mode == "Trap") {
      for (Look& look : inside) {
        look.layer = std::max(0, std::min(look.layer, setup.size.d - 1));
        look.index[0] = std::max(0, std::min(look.index[0], setup.size.w - 1));
        look.index[1] = std::max(
            0, std::min(look.index[1], is_cube(setup.shape) ? setup.size.w - 1 : setup.size.h - 1));
        look.index[2] = std::max(0, std::min(look.index[2], setup.size.d - 1));
      }
    }
    Buffer<Look> looks(inside);
    Buffer<uint4> out(kCount);
    read<<<2, 128>>>(image.surface(), looks.data(), kCount, out.data());
    result.words = out.words(result.name);
    results.push_back(result);
    result.name = "write " + mode + " " + name_of(setup);
    write<<<1, 1>>>(image.surface(), looks.data(), 40);
    require(cudaDeviceSynchronize(), result.name);
    result.words = image.contents();
    results.push_back(result);
  }

  std::vector<TextureResult> results;
};

template <class T>
Fetch plain_fetch(Shape shape) {
  switch (shape) {
    case Shape::linear: return fetch_linear<T>;
    case Shape::line: return fetch_1d<T>;
    case Shape::volume: return fetch_3d<T>;
    case Shape::lines: return fetch_1d_layered<T>;
    case Shape::planes: return fetch_2d_layered<T>;
    case Shape::cube: return fetch_cube<T>;
    case Shape::cubes: return fetch_cube_layered<T>;
    default: return fetch_2d<T>;
  }
}

Fetch plain_fetch(const Setup& setup) {
  if (setup.format.kind == Kind::f || setup.scaled) return plain_fetch<float4>(setup.shape);
  return setup.format.kind == Kind::s ? plain_fetch<int4>(setup.shape)
                                      : plain_fetch<uint4>(setup.shape);
}

template <class Visit>
void for_each_mode(Setup setup, Visit visit) {
  for (const bool smooth : {false, true}) {
    setup.smooth = smooth;
    for (const auto address : {cudaAddressModeClamp, cudaAddressModeBorder, cudaAddressModeWrap,
                               cudaAddressModeMirror}) {
      setup.address = address;
      for (const bool normalized : {false, true}) {
        const bool repeats = address == cudaAddressModeWrap || address == cudaAddressModeMirror;
        if (repeats && !normalized) continue;
        setup.normalized = normalized;
        visit(setup);
      }
    }
  }
}

void fetch_shapes(Recorder& recorder) {
  for (const Size size : {Size{13, 7, 5}, Size{64, 32, 16}}) {
    for (const Shape shape :
         {Shape::line, Shape::plane, Shape::volume, Shape::lines, Shape::planes}) {
      Setup setup;
      setup.shape = shape;
      setup.size = size;
      for_each_mode(setup,
                    [&](const Setup& one) { recorder.fetch("fetch", one, plain_fetch(one)); });
    }
  }
  for (const Shape shape : {Shape::cube, Shape::cubes}) {
    for (const int width : {8, 11}) {
      Setup setup;
      setup.shape = shape;
      setup.size = {width, width, 3};
      setup.normalized = true;
      for (const bool smooth : {false, true}) {
        setup.smooth = smooth;
        recorder.fetch("fetch", setup, plain_fetch(setup));
      }
    }
  }
  for (const int width : {4096, 5000, 30011, 70000}) {
    Setup setup;
    setup.shape = Shape::line;
    setup.size = {width, 1, 1};
    for_each_mode(setup, [&](const Setup& one) { recorder.fetch("fetch", one, plain_fetch(one)); });
  }
}

template <class Visit>
void for_each_format(Visit visit) {
  for (const Kind kind : {Kind::u, Kind::s, Kind::f}) {
    for (const int bits : {8, 16, 32}) {
      if (kind == Kind::f && bits == 8) continue;
      for (const int channels : {1, 2, 4}) visit(Format{kind, bits, channels});
    }
  }
}

void fetch_formats(Recorder& recorder) {
  for_each_format([&](const Format& format) {
    Setup setup;
    setup.format = format;
    for (const bool scaled : {false, true}) {
      if (scaled && (format.kind == Kind::f || format.bits == 32)) continue;
      setup.scaled = scaled;
      for (const bool wild : {false, true}) {
        if (wild && format.kind != Kind::f) continue;
        setup.wild = wild;
        for (const bool smooth : {false, true}) {
          if (smooth && !scaled && format.kind != Kind::f) continue;
          setup.smooth = smooth;
          setup.shape = Shape::plane;
          recorder.fetch("fetch", setup, plain_fetch(setup));
          Setup bordered = setup;
          bordered.address = cudaAddressModeBorder;
          for (int i = 0; i < 4; ++i) bordered.border[i] = 0.25F + static_cast<float>(i);
          recorder.fetch("fetch", bordered, plain_fetch(bordered));
          if (smooth) continue;
          setup.shape = Shape::linear;
          recorder.fetch("fetch", setup, plain_fetch(setup));
        }
      }
    }
  });
  for (const bool smooth : {false, true}) {
    Setup setup;
    setup.format = {Kind::u, 8, 4};
    setup.scaled = setup.srgb = true;
    setup.smooth = smooth;
    recorder.fetch("fetch", setup, plain_fetch(setup));
    setup.srgb = false;
    setup.shape = Shape::pitch;
    for_each_mode(setup, [&](const Setup& one) { recorder.fetch("fetch", one, plain_fetch(one)); });
  }
}

void fetch_levels(Recorder& recorder) {
  const std::pair<Shape, std::pair<Fetch, Fetch>> kFetches[] = {
      {Shape::line, {level_1d<float4>, gradient_1d<float4>}},
      {Shape::plane, {level_2d<float4>, gradient_2d<float4>}},
      {Shape::volume, {level_3d<float4>, gradient_3d<float4>}},
      {Shape::lines, {level_1d_layered<float4>, gradient_1d_layered<float4>}},
      {Shape::planes, {level_2d_layered<float4>, gradient_2d_layered<float4>}},
      {Shape::cube, {level_cube<float4>, nullptr}},
      {Shape::cubes, {level_cube_layered<float4>, nullptr}}};
  for (const auto& [shape, fetches] : kFetches) {
    Setup setup;
    setup.shape = shape;
    setup.size = is_cube(shape) ? Size{16, 16, 3} : Size{64, 24, 9};
    setup.levels = 5;
    setup.normalized = true;
    for (const bool smooth : {false, true}) {
      setup.smooth = smooth;
      for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
        setup.mip_filter = filter;
        recorder.fetch("level", setup, fetches.first);
        if (shape != Shape::plane) continue;
        recorder.fetch("fetch", setup, plain_fetch(setup));
        Setup other = setup;
        other.bias = 0.75F;
        recorder.fetch("level", other, fetches.first);
        other.bias = 0;
        other.least = 0.5F;
        other.most = 2.25F;
        recorder.fetch("level", other, fetches.first);
      }
    }
    if (fetches.second != nullptr) {
      Setup flat = setup;
      flat.flat = true;
      recorder.fetch("gradient", flat, fetches.second);
    }
    setup.levels = 1;
    setup.smooth = true;
    recorder.fetch("level", setup, fetches.first);
  }
}

void gather(Recorder& recorder) {
  for (const Format& format :
       {Format{Kind::f, 32, 4}, Format{Kind::u, 8, 4}, Format{Kind::s, 16, 2}}) {
    Setup setup;
    setup.format = format;
    setup.flags = cudaArrayTextureGather;
    for_each_mode(setup, [&](const Setup& one) {
      if (one.smooth && format.kind != Kind::f) return;
      const bool is_float = format.kind == Kind::f;
      const bool is_signed = format.kind == Kind::s;
      recorder.fetch("gather-r", one,
                     is_float    ? gather_r<float4>
                     : is_signed ? gather_r<int4>
                                 : gather_r<uint4>);
      if (one.address != cudaAddressModeClamp) return;
      recorder.fetch("gather-g", one,
                     is_float    ? gather_g<float4>
                     : is_signed ? gather_g<int4>
                                 : gather_g<uint4>);
      recorder.fetch("gather-b", one,
                     is_float    ? gather_b<float4>
                     : is_signed ? gather_b<int4>
                                 : gather_b<uint4>);
      recorder.fetch("gather-a", one,
                     is_float    ? gather_a<float4>
                     : is_signed ? gather_a<int4>
                                 : gather_a<uint4>);
    });
  }
}

template <class T>
void access_surfaces(Recorder& recorder, const Format& format) {
#define ONE(kind, name, mode)                                            \
  setup.shape = Shape::kind;                                             \
  recorder.surface(#mode, setup, name##_read<T, cudaBoundaryMode##mode>, \
                   name##_write<T, cudaBoundaryMode##mode>);
#define ALL(kind, name) ONE(kind, name, Clamp) ONE(kind, name, Zero) ONE(kind, name, Trap)
  Setup setup;
  setup.format = format;
  ALL(line, surface_1d)
  ALL(plane, surface_2d)
  ALL(volume, surface_3d)
  ALL(lines, surface_1d_layered)
  ALL(planes, surface_2d_layered)
  ALL(cube, surface_cube)
#undef ALL
#undef ONE
}

}  // namespace

std::vector<TextureResult> fetch_textures() {
  Recorder recorder;
  fetch_shapes(recorder);
  fetch_formats(recorder);
  fetch_levels(recorder);
  gather(recorder);
  access_surfaces<unsigned char>(recorder, {Kind::u, 8, 1});
  access_surfaces<short>(recorder, {Kind::s, 16, 1});
  access_surfaces<float>(recorder, {Kind::f, 32, 1});
  access_surfaces<uchar4>(recorder, {Kind::u, 8, 4});
  access_surfaces<int2>(recorder, {Kind::s, 32, 2});
  access_surfaces<float4>(recorder, {Kind::f, 32, 4});
  return std::move(recorder.results);
}

}  // namespace warpcheck::conformance
