// The kernels of textures.cu: one for each fetch and each type of result.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace warpcheck::conformance {

// Where one thread looks.
struct Look {
  float at[3];
  float level;
  float dx[3], dy[3];
  int index[3];  // elements
  int layer;
};

using Fetch = void (*)(cudaTextureObject_t texture, const Look* looks, int count, uint4* results);

__device__ inline uint4 bits_of(float4 v) {
  return {__float_as_uint(v.x), __float_as_uint(v.y), __float_as_uint(v.z), __float_as_uint(v.w)};
}
__device__ inline uint4 bits_of(int4 v) {
  return {static_cast<unsigned>(v.x), static_cast<unsigned>(v.y), static_cast<unsigned>(v.z),
          static_cast<unsigned>(v.w)};
}
__device__ inline uint4 bits_of(uint4 v) { return v; }

#define FETCH(name, call)                                                                     \
  template <class T>                                                                          \
  __global__ void name(cudaTextureObject_t t, const Look* looks, int count, uint4* results) { \
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);                    \
    if (i >= count) return;                                                                   \
    const Look& l = looks[i];                                                                 \
    results[i] = bits_of(call);                                                               \
  }

FETCH(fetch_linear, tex1Dfetch<T>(t, l.index[0]))
FETCH(fetch_1d, tex1D<T>(t, l.at[0]))
FETCH(fetch_2d, tex2D<T>(t, l.at[0], l.at[1]))
FETCH(fetch_3d, tex3D<T>(t, l.at[0], l.at[1], l.at[2]))
FETCH(fetch_1d_layered, tex1DLayered<T>(t, l.at[0], l.layer))
FETCH(fetch_2d_layered, tex2DLayered<T>(t, l.at[0], l.at[1], l.layer))
FETCH(fetch_cube, texCubemap<T>(t, l.at[0], l.at[1], l.at[2]))
FETCH(fetch_cube_layered, texCubemapLayered<T>(t, l.at[0], l.at[1], l.at[2], l.layer))

FETCH(level_1d, tex1DLod<T>(t, l.at[0], l.level))
FETCH(level_2d, tex2DLod<T>(t, l.at[0], l.at[1], l.level))
FETCH(level_3d, tex3DLod<T>(t, l.at[0], l.at[1], l.at[2], l.level))
FETCH(level_1d_layered, tex1DLayeredLod<T>(t, l.at[0], l.layer, l.level))
FETCH(level_2d_layered, tex2DLayeredLod<T>(t, l.at[0], l.at[1], l.layer, l.level))
FETCH(level_cube, texCubemapLod<T>(t, l.at[0], l.at[1], l.at[2], l.level))
FETCH(level_cube_layered, texCubemapLayeredLod<T>(t, l.at[0], l.at[1], l.at[2], l.layer, l.level))

#define PAIR(d) make_float2(d[0], d[1])
#define FOUR(d) make_float4(d[0], d[1], d[2], 0)
FETCH(gradient_1d, tex1DGrad<T>(t, l.at[0], l.dx[0], l.dy[0]))
FETCH(gradient_2d, tex2DGrad<T>(t, l.at[0], l.at[1], PAIR(l.dx), PAIR(l.dy)))
FETCH(gradient_3d, tex3DGrad<T>(t, l.at[0], l.at[1], l.at[2], FOUR(l.dx), FOUR(l.dy)))
FETCH(gradient_1d_layered, tex1DLayeredGrad<T>(t, l.at[0], l.layer, l.dx[0], l.dy[0]))
FETCH(gradient_2d_layered,
      tex2DLayeredGrad<T>(t, l.at[0], l.at[1], l.layer, PAIR(l.dx), PAIR(l.dy)))
#undef PAIR
#undef FOUR

FETCH(gather_r, tex2Dgather<T>(t, l.at[0], l.at[1], 0))
FETCH(gather_g, tex2Dgather<T>(t, l.at[0], l.at[1], 1))
FETCH(gather_b, tex2Dgather<T>(t, l.at[0], l.at[1], 2))
FETCH(gather_a, tex2Dgather<T>(t, l.at[0], l.at[1], 3))
#undef FETCH

// Surfaces: x in bytes.  A thread alone, so that the last write to an element is known.
using Read = void (*)(cudaSurfaceObject_t surface, const Look* looks, int count, void* results);
using Write = void (*)(cudaSurfaceObject_t surface, const Look* looks, int count);

template <class T>
__device__ T pattern(int i) {
  T value;
  auto* const bytes = reinterpret_cast<unsigned char*>(&value);
  for (unsigned at = 0; at < sizeof(T); ++at) {
    bytes[at] = static_cast<unsigned char>(37 * i + 11 * static_cast<int>(at) + 1);
  }
  return value;
}

#define SURFACE(name, read, write, ...)                                               \
  template <class T, cudaSurfaceBoundaryMode mode>                                    \
  __global__ void name##_read(cudaSurfaceObject_t s, const Look* looks, int count,    \
                              void* results) {                                        \
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);            \
    if (i >= count) return;                                                           \
    const Look& l = looks[i];                                                         \
    const int x = l.index[0] * static_cast<int>(sizeof(T));                           \
    static_cast<T*>(results)[i] = read<T>(s, x, ##__VA_ARGS__, mode);                 \
  }                                                                                   \
  template <class T, cudaSurfaceBoundaryMode mode>                                    \
  __global__ void name##_write(cudaSurfaceObject_t s, const Look* looks, int count) { \
    for (int i = 0; i < count; ++i) {                                                 \
      const Look& l = looks[i];                                                       \
      const int x = l.index[0] * static_cast<int>(sizeof(T));                         \
      write(pattern<T>(i), s, x, ##__VA_ARGS__, mode);                                \
    }                                                                                 \
  }

SURFACE(surface_1d, surf1Dread, surf1Dwrite)
SURFACE(surface_2d, surf2Dread, surf2Dwrite, l.index[1])
SURFACE(surface_3d, surf3Dread, surf3Dwrite, l.index[1], l.index[2])
SURFACE(surface_1d_layered, surf1DLayeredread, surf1DLayeredwrite, l.layer)
SURFACE(surface_2d_layered, surf2DLayeredread, surf2DLayeredwrite, l.index[1], l.layer)
SURFACE(surface_cube, surfCubemapread, surfCubemapwrite, l.index[1], l.layer)
#undef SURFACE

}  // namespace warpcheck::conformance
