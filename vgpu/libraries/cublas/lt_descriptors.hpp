// The descriptors of cublasLt: matrices, products, transformations, as stored in its opaque
// structures.  Attributes that are not stored are refused by name when they are set.
#pragma once

#include <cublasLt.h>

#include "vgpu/libraries/cublas/types.hpp"

namespace warpcheck::libraries::cublas {

struct Layout {
  std::int32_t type = 0, order = CUBLASLT_ORDER_COL;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t leading = 0;
  std::int32_t batch = 1;
  std::int64_t stride = 0;
  std::uint32_t batch_mode = CUBLASLT_BATCH_MODE_STRIDED;
};
static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));

struct Description {
  std::int32_t compute = 0, scalars = 0, pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  std::int32_t transa = CUBLAS_OP_N, transb = CUBLAS_OP_N, transc = CUBLAS_OP_N;
  std::int32_t fill = CUBLAS_FILL_MODE_FULL;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  std::int64_t bias_stride = 0;
  std::int32_t bias_type = -1;
  void* aux = nullptr;
  std::int64_t aux_leading = 0, aux_stride = 0;
  std::int32_t aux_type = -1;
  std::int64_t alpha_stride = 0;
  const void *a_scale = nullptr, *b_scale = nullptr, *c_scale = nullptr, *d_scale = nullptr;
  void* d_largest = nullptr;
  // Scale modes of blocks and of auxiliary outputs, and emulation: other values than these are
  // refused.
  std::int32_t a_scale_mode = 0, b_scale_mode = 0, c_scale_mode = 0, d_scale_mode = 0;
  const void* aux_scale = nullptr;
  void* aux_largest = nullptr;
  std::int8_t fast_accumulation = 0;
  std::int32_t multiprocessors = 0;
};
static_assert(sizeof(Description) <= sizeof(cublasLtMatmulDescOpaque_t));

struct Transformation {
  std::int32_t scalars = 0, pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  std::int32_t transa = CUBLAS_OP_N, transb = CUBLAS_OP_N;
};
static_assert(sizeof(Transformation) <= sizeof(cublasLtMatrixTransformDescOpaque_t));

// Nothing depends on the preference here.
struct Preference {
  std::uint32_t search_mode = CUBLASLT_SEARCH_BEST_FIT;
  std::uint64_t workspace_bytes = 0;
  std::uint32_t reduction_schemes = CUBLASLT_REDUCTION_SCHEME_MASK;
  std::uint32_t alignment_a = 256, alignment_b = 256, alignment_c = 256, alignment_d = 256;
  float waves_max = 0;
  std::uint64_t numerics = ~std::uint64_t{0};
};
static_assert(sizeof(Preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t));

// There is only one algorithm; a program's choices are stored and have no effect.
struct Algorithm {
  std::int32_t id = 0;
  std::uint32_t tile = 0;
  std::int32_t splits = 1;
  std::uint32_t reduction_scheme = 0, swizzling = 0, custom_option = 0, stages = 0;
  std::uint16_t inner_shape = 0, cluster_shape = 0;
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

Layout& layout_of(cublasLtMatrixLayout_t handle);
Description& description_of(cublasLtMatmulDesc_t handle);
Transformation& transformation_of(cublasLtMatrixTransformDesc_t handle);

template <typename Body>
cublasStatus_t answer_lt(const char* function, const void* return_address, Body&& body) {
  const Call call{function, return_address};
  try {
    body(call);
    return CUBLAS_STATUS_SUCCESS;
  } catch (...) {
    return rejected(call, {});
  }
}
#define HERE(function) function, __builtin_return_address(0)

// A matrix operand of a call.
struct Operand {
  std::size_t region = 0;
  Layout layout;
  [[nodiscard]] cudaDataType type() const { return static_cast<cudaDataType>(layout.type); }
  // Returns the index of element (i, j), with a view's pitch.
  [[nodiscard]] std::int64_t index(const LibraryView& view, std::int64_t i, std::int64_t j) const {
    const std::int64_t pitch = stride_of(view, type());
    return layout.order == CUBLASLT_ORDER_ROW ? j + i * pitch : i + j * pitch;
  }
};
Region region_of(const char* name, const void* pointer, const Layout& layout);

// Throws if the products of a call with these descriptors are not supported.
void require_product(const Description& how, const Layout& a, const Layout& b, const Layout& c,
                     const Layout& d);

}  // namespace warpcheck::libraries::cublas
