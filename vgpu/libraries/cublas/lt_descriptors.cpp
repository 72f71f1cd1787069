#include "vgpu/libraries/cublas/lt_descriptors.hpp"

#include <cstring>
#include <new>

namespace warpcheck::libraries::cublas {
namespace {

// The place where an attribute is stored; null if the attribute is not supported.
struct Field {
  void* at = nullptr;
  std::size_t bytes = 0;
};
template <typename T>
Field field(T& value) {
  return {&value, sizeof value};
}
Field field_of(Layout& layout, cublasLtMatrixLayoutAttribute_t attribute) {
  switch (static_cast<int>(attribute)) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE: return field(layout.type);
    case CUBLASLT_MATRIX_LAYOUT_ORDER: return field(layout.order);
    case CUBLASLT_MATRIX_LAYOUT_ROWS: return field(layout.rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS: return field(layout.columns);
    case CUBLASLT_MATRIX_LAYOUT_LD: return field(layout.leading);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return field(layout.batch);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return field(layout.stride);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_MODE: return field(layout.batch_mode);
    default: return {};
  }
}
Field field_of(Description& all, cublasLtMatmulDescAttributes_t attribute) {
  switch (static_cast<int>(attribute)) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE: return field(all.compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE: return field(all.scalars);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE: return field(all.pointer_mode);
    case CUBLASLT_MATMUL_DESC_TRANSA: return field(all.transa);
    case CUBLASLT_MATMUL_DESC_TRANSB: return field(all.transb);
    case CUBLASLT_MATMUL_DESC_TRANSC: return field(all.transc);
    case CUBLASLT_MATMUL_DESC_FILL_MODE: return field(all.fill);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return field(all.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return field(all.bias);
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE: return field(all.bias_stride);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return field(all.bias_type);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: return field(all.aux);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: return field(all.aux_leading);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE: return field(all.aux_stride);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE: return field(all.aux_type);
    case CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE: return field(all.alpha_stride);
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER: return field(all.a_scale);
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER: return field(all.b_scale);
    case CUBLASLT_MATMUL_DESC_C_SCALE_POINTER: return field(all.c_scale);
    case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER: return field(all.d_scale);
    case CUBLASLT_MATMUL_DESC_AMAX_D_POINTER: return field(all.d_largest);
    case CUBLASLT_MATMUL_DESC_A_SCALE_MODE: return field(all.a_scale_mode);
    case CUBLASLT_MATMUL_DESC_B_SCALE_MODE: return field(all.b_scale_mode);
    case CUBLASLT_MATMUL_DESC_C_SCALE_MODE: return field(all.c_scale_mode);
    case CUBLASLT_MATMUL_DESC_D_SCALE_MODE: return field(all.d_scale_mode);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER: return field(all.aux_scale);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER: return field(all.aux_largest);
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM: return field(all.fast_accumulation);
    case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET: return field(all.multiprocessors);
    default: return {};
  }
}
Field field_of(Transformation& all, cublasLtMatrixTransformDescAttributes_t attribute) {
  switch (static_cast<int>(attribute)) {
    case CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE: return field(all.scalars);
    case CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE: return field(all.pointer_mode);
    case CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA: return field(all.transa);
    case CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB: return field(all.transb);
    default: return {};
  }
}
Field field_of(Preference& all, cublasLtMatmulPreferenceAttributes_t attribute) {
  switch (static_cast<int>(attribute)) {
    case CUBLASLT_MATMUL_PREF_SEARCH_MODE: return field(all.search_mode);
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: return field(all.workspace_bytes);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK: return field(all.reduction_schemes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES: return field(all.alignment_a);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES: return field(all.alignment_b);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES: return field(all.alignment_c);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES: return field(all.alignment_d);
    case CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT: return field(all.waves_max);
    case CUBLASLT_MATMUL_PREF_IMPL_MASK: return field(all.numerics);
    default: return {};
  }
}
Field field_of(Algorithm& all, cublasLtMatmulAlgoConfigAttributes_t attribute) {
  switch (static_cast<int>(attribute)) {
    case CUBLASLT_ALGO_CONFIG_ID: return field(all.id);
    case CUBLASLT_ALGO_CONFIG_TILE_ID: return field(all.tile);
    case CUBLASLT_ALGO_CONFIG_SPLITK_NUM: return field(all.splits);
    case CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME: return field(all.reduction_scheme);
    case CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING: return field(all.swizzling);
    case CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION: return field(all.custom_option);
    case CUBLASLT_ALGO_CONFIG_STAGES_ID: return field(all.stages);
    case CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID: return field(all.inner_shape);
    case CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID: return field(all.cluster_shape);
    default: return {};
  }
}

void set(const Field& to, int attribute, const void* from, std::size_t bytes) {
  if (to.at == nullptr) throw Refused{fmt::format("attribute {}", attribute)};
  require(from != nullptr && bytes == to.bytes, "attribute {} has {} bytes, not {}", attribute,
          to.bytes, bytes);
  std::memcpy(to.at, from, bytes);
}
void get(const Field& from, int attribute, void* to, std::size_t bytes, std::size_t* written) {
  if (from.at == nullptr) throw Refused{fmt::format("attribute {}", attribute)};
  if (written != nullptr) *written = from.bytes;
  if (bytes == 0 && written != nullptr) return;
  require(to != nullptr && bytes >= from.bytes, "attribute {} has {} bytes, not {}", attribute,
          from.bytes, bytes);
  std::memcpy(to, from.at, from.bytes);
}

// The T that is stored in the opaque structure.
template <typename T, typename Opaque>
T& held_in(Opaque* handle) {
  require(handle != nullptr, "a descriptor is a null pointer");
  return *reinterpret_cast<T*>(handle);
}
template <typename Opaque, typename T>
void begin(Opaque* handle, const T& value) {
  require(handle != nullptr, "a descriptor is a null pointer");
  *handle = {};
  new (handle) T(value);
}
template <typename Opaque, typename T>
void create(Opaque** handle, const T& value) {
  require(handle != nullptr, "the handle is a null pointer");
  *handle = new Opaque;
  begin(*handle, value);
}

// The capabilities of the one algorithm whose value is a number or a list of one number.
std::uint64_t capability(cublasLtMatmulAlgoCapAttributes_t attribute) {
  switch (static_cast<int>(attribute)) {
    case CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT:
    case CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT: return 1;
    case CUBLASLT_ALGO_CAP_POINTER_MODE_MASK:
      return (1U << (CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST + 1)) - 1;
    case CUBLASLT_ALGO_CAP_EPILOGUE_MASK: return 0x3ff;
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES: return 1;
    default: return 0;
  }
}
cublasLtMatmulHeuristicResult_t the_algorithm() {
  cublasLtMatmulHeuristicResult_t result{};
  new (&result.algo) Algorithm;
  result.state = CUBLAS_STATUS_SUCCESS;
  result.wavesCount = 1;
  return result;
}

}  // namespace

Layout& layout_of(cublasLtMatrixLayout_t handle) { return held_in<Layout>(handle); }
Description& description_of(cublasLtMatmulDesc_t handle) { return held_in<Description>(handle); }
Transformation& transformation_of(cublasLtMatrixTransformDesc_t handle) {
  return held_in<Transformation>(handle);
}

Region region_of(const char* name, const void* pointer, const Layout& layout) {
  const bool by_rows = layout.order == CUBLASLT_ORDER_ROW;
  const auto rows = static_cast<std::int64_t>(layout.rows);
  const auto columns = static_cast<std::int64_t>(layout.columns);
  const std::int64_t width = by_rows ? columns : rows;
  if (layout.order != CUBLASLT_ORDER_COL && !by_rows) {
    throw Refused{fmt::format("{} in order {}", name, layout.order)};
  }
  if (layout.batch_mode != CUBLASLT_BATCH_MODE_STRIDED) {
    throw Refused{fmt::format("{} in batch mode {}", name, layout.batch_mode)};
  }
  if (bytes_of(static_cast<cudaDataType>(layout.type)) == 0) {
    throw Refused{fmt::format("{} with elements of type {}", name, layout.type)};
  }
  require(layout.leading >= width, "the leading dimension of {} is {}, less than {}", name,
          layout.leading, width);
  Region region = matrix(name, pointer, bytes_of(static_cast<cudaDataType>(layout.type)), width,
                         by_rows ? rows : columns, layout.leading);
  return layout.batch == 1 ? region : std::move(region).batch(layout.batch, layout.stride);
}

}  // namespace warpcheck::libraries::cublas

using namespace warpcheck::libraries::cublas;  // NOLINT(google-build-using-namespace)
using warpcheck::libraries::Call;

// The functions that exist for every descriptor.
#define DESCRIPTOR(kind, Held, Handle, Attribute)                                           \
  cublasStatus_t cublasLt##kind##Destroy(Handle handle) {                                   \
    delete handle;                                                                          \
    return CUBLAS_STATUS_SUCCESS;                                                           \
  }                                                                                         \
  cublasStatus_t cublasLt##kind##SetAttribute(Handle handle, Attribute attribute,           \
                                              const void* from, size_t bytes) {             \
    return answer_lt(HERE("cublasLt" #kind "SetAttribute"), [&](const Call&) {              \
      set(field_of(held_in<Held>(handle), attribute), attribute, from, bytes);              \
    });                                                                                     \
  }                                                                                         \
  cublasStatus_t cublasLt##kind##GetAttribute(Handle handle, Attribute attribute, void* to, \
                                              size_t bytes, size_t* written) {              \
    return answer_lt(HERE("cublasLt" #kind "GetAttribute"), [&](const Call&) {              \
      get(field_of(held_in<Held>(handle), attribute), attribute, to, bytes, written);       \
    });                                                                                     \
  }

extern "C" {

DESCRIPTOR(MatrixLayout, Layout, cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t)
DESCRIPTOR(MatmulDesc, Description, cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t)
DESCRIPTOR(MatrixTransformDesc, Transformation, cublasLtMatrixTransformDesc_t,
           cublasLtMatrixTransformDescAttributes_t)
DESCRIPTOR(MatmulPreference, Preference, cublasLtMatmulPreference_t,
           cublasLtMatmulPreferenceAttributes_t)

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t,
                                                 cudaDataType type, uint64_t rows, uint64_t cols,
                                                 int64_t ld) {
  return answer_lt(HERE("cublasLtMatrixLayoutInit"), [&](const Call&) {
    begin(layout, Layout{type, CUBLASLT_ORDER_COL, rows, cols, ld});
  });
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          uint64_t rows, uint64_t cols, int64_t ld) {
  return answer_lt(HERE("cublasLtMatrixLayoutCreate"), [&](const Call&) {
    create(layout, Layout{type, CUBLASLT_ORDER_COL, rows, cols, ld});
  });
}
cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t description, size_t,
                                               cublasComputeType_t compute, cudaDataType scalars) {
  return answer_lt(HERE("cublasLtMatmulDescInit"), [&](const Call&) {
    begin(description, Description{compute, scalars});
  });
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description,
                                        cublasComputeType_t compute, cudaDataType scalars) {
  return answer_lt(HERE("cublasLtMatmulDescCreate"), [&](const Call&) {
    create(description, Description{compute, scalars});
  });
}
cublasStatus_t cublasLtMatrixTransformDescInit_internal(cublasLtMatrixTransformDesc_t description,
                                                        size_t, cudaDataType scalars) {
  return answer_lt(HERE("cublasLtMatrixTransformDescInit"),
                   [&](const Call&) { begin(description, Transformation{scalars}); });
}
cublasStatus_t cublasLtMatrixTransformDescCreate(cublasLtMatrixTransformDesc_t* description,
                                                 cudaDataType scalars) {
  return answer_lt(HERE("cublasLtMatrixTransformDescCreate"),
                   [&](const Call&) { create(description, Transformation{scalars}); });
}
cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference,
                                                     size_t) {
  return answer_lt(HERE("cublasLtMatmulPreferenceInit"),
                   [&](const Call&) { begin(preference, Preference{}); });
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return answer_lt(HERE("cublasLtMatmulPreferenceCreate"),
                   [&](const Call&) { create(preference, Preference{}); });
}

// ---- the algorithm ----

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t, int requested,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* found) {
  return answer_lt(HERE("cublasLtMatmulAlgoGetHeuristic"), [&](const Call&) {
    require(requested > 0 && results != nullptr && found != nullptr,
            "there is no room for an algorithm");
    require_product(description_of(description), layout_of(a), layout_of(b), layout_of(c),
                    layout_of(d));
    results[0] = the_algorithm();
    *found = 1;
  });
}
cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t, cublasComputeType_t, cudaDataType,
                                        cudaDataType, cudaDataType, cudaDataType, cudaDataType,
                                        int requested, int ids[], int* found) {
  return answer_lt(HERE("cublasLtMatmulAlgoGetIds"), [&](const Call&) {
    require(requested > 0 && ids != nullptr && found != nullptr,
            "there is no room for an algorithm");
    ids[0] = 0;
    *found = 1;
  });
}
cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t, cublasComputeType_t, cudaDataType,
                                      cudaDataType, cudaDataType, cudaDataType, cudaDataType,
                                      int id, cublasLtMatmulAlgo_t* algorithm) {
  return answer_lt(HERE("cublasLtMatmulAlgoInit"), [&](const Call&) {
    require(id == 0, "there is no algorithm {}", id);
    begin(algorithm, Algorithm{});
  });
}
cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t, cublasLtMatmulDesc_t description,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algorithm,
                                       cublasLtMatmulHeuristicResult_t* result) {
  return answer_lt(HERE("cublasLtMatmulAlgoCheck"), [&](const Call&) {
    require(algorithm != nullptr && result != nullptr, "an argument is a null pointer");
    require_product(description_of(description), layout_of(a), layout_of(b), layout_of(c),
                    layout_of(d));
    const cublasLtMatmulAlgo_t checked = *algorithm;
    *result = the_algorithm();
    result->algo = checked;
  });
}
cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute,
                                                    const void* from, size_t bytes) {
  return answer_lt(HERE("cublasLtMatmulAlgoConfigSetAttribute"), [&](const Call&) {
    set(field_of(held_in<Algorithm>(algorithm), attribute), attribute, from, bytes);
  });
}
cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute,
                                                    void* to, size_t bytes, size_t* written) {
  return answer_lt(HERE("cublasLtMatmulAlgoConfigGetAttribute"), [&](const Call&) {
    auto* const held = const_cast<cublasLtMatmulAlgo_t*>(algorithm);
    get(field_of(held_in<Algorithm>(held), attribute), attribute, to, bytes, written);
  });
}
cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                 cublasLtMatmulAlgoCapAttributes_t attribute,
                                                 void* to, size_t bytes, size_t* written) {
  return answer_lt(HERE("cublasLtMatmulAlgoCapGetAttribute"), [&](const Call&) {
    require(algorithm != nullptr, "the algorithm is a null pointer");
    std::uint64_t value = capability(attribute);
    const bool is_long = attribute == CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS;
    get({&value, is_long ? sizeof value : sizeof(std::uint32_t)}, attribute, to, bytes, written);
  });
}

// ---- handles and the library itself; nothing is logged or cached ----

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = reinterpret_cast<cublasLtHandle_t>(new cublasContext);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
size_t cublasLtGetVersion() { return CUBLAS_VERSION; }
size_t cublasLtGetCudartVersion() { return CUDART_VERSION; }
cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value) {
  constexpr int kVersion[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *value = kVersion[type];
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasLtGetStatusName(cublasStatus_t status) { return name_of(status); }
const char* cublasLtGetStatusString(cublasStatus_t status) { return text_of(status); }
cublasStatus_t cublasLtLoggerSetCallback(cublasLtLoggerCallback_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerSetFile(FILE*) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerOpenFile(const char*) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerSetLevel(int level) {
  return level >= 0 && level <= 5 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtLoggerSetMask(int) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerForceDisable() { return CUBLAS_STATUS_SUCCESS; }
static size_t cache_capacity = 8192;
cublasStatus_t cublasLtHeuristicsCacheGetCapacity(size_t* capacity) {
  if (capacity == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *capacity = cache_capacity;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtHeuristicsCacheSetCapacity(size_t capacity) {
  cache_capacity = capacity;
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
