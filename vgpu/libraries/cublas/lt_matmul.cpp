// cublasLtMatmul and what describes it.
//
// D := epilogue(alpha * op(A) * op(B) + beta * C), with elements of many types, in columns or in
// rows. There is one algorithm, which needs no workspace.  Epilogues are bias and ReLU; what else a
// descriptor may ask for is refused by name.
#include <cublasLt.h>

#include <cstring>

#include "vgpu/libraries/cublas/types.hpp"

namespace warpcheck::libraries::cublas {
namespace {

// The opaque structures as they are here.
struct Layout {
  std::int32_t type = 0, order = CUBLASLT_ORDER_COL;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t leading = 0;
  std::int32_t batch = 1;
  std::int64_t stride = 0;
};
static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
struct Description {
  std::int32_t compute = 0, scalars = 0, pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  std::int32_t transa = CUBLAS_OP_N, transb = CUBLAS_OP_N, transc = CUBLAS_OP_N;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  std::int64_t bias_stride = 0;
  std::int32_t bias_type = -1;
  const void *a_scale = nullptr, *b_scale = nullptr, *d_scale = nullptr;
  std::int8_t fast_accumulation = 0;
  std::int32_t multiprocessors = 0;
};
static_assert(sizeof(Description) <= sizeof(cublasLtMatmulDescOpaque_t));
struct Preference {
  std::uint64_t workspace_bytes = 0;
};

// Where an attribute is kept; null: it is not supported.
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
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return field(all.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return field(all.bias);
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE: return field(all.bias_stride);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return field(all.bias_type);
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER: return field(all.a_scale);
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER: return field(all.b_scale);
    case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER: return field(all.d_scale);
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM: return field(all.fast_accumulation);
    case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET: return field(all.multiprocessors);
    default: return {};
  }
}

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

Layout& layout_of(cublasLtMatrixLayout_t handle) {
  require(handle != nullptr, "a layout is a null pointer");
  return *reinterpret_cast<Layout*>(handle);
}
Description& description_of(cublasLtMatmulDesc_t handle) {
  require(handle != nullptr, "the descriptor is a null pointer");
  return *reinterpret_cast<Description*>(handle);
}
template <typename Opaque, typename T>
void begin(Opaque* handle, const T& value) {
  require(handle != nullptr, "the handle is a null pointer");
  *handle = {};
  new (handle) T(value);
}
template <typename Opaque, typename T>
void create(Opaque** handle, const T& value) {
  require(handle != nullptr, "the handle is a null pointer");
  *handle = new Opaque;
  begin(*handle, value);
}

// ---- the product ----

struct Operand {
  std::size_t region = 0;
  Layout layout;
  [[nodiscard]] cudaDataType type() const { return static_cast<cudaDataType>(layout.type); }
  // Of element (i, j), by a view's pitch.
  [[nodiscard]] std::int64_t index(const LibraryView& view, std::int64_t i, std::int64_t j) const {
    const std::int64_t pitch = view.pitch / static_cast<std::int64_t>(bytes_of(type()));
    return layout.order == CUBLASLT_ORDER_ROW ? j + i * pitch : i + j * pitch;
  }
};

Region region_of(const char* name, const void* pointer, const Layout& layout) {
  const bool by_rows = layout.order == CUBLASLT_ORDER_ROW;
  const auto rows = static_cast<std::int64_t>(layout.rows);
  const auto columns = static_cast<std::int64_t>(layout.columns);
  const std::int64_t width = by_rows ? columns : rows;
  if (layout.order != CUBLASLT_ORDER_COL && !by_rows) {
    throw Refused{fmt::format("{} in order {}", name, layout.order)};
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

struct Product {
  CBLAS_TRANSPOSE transa, transb;
  std::int64_t m, n, k;
  Description how;
  Operand a, b, c, d;
  std::size_t bias = 0, a_scale = 0, b_scale = 0, d_scale = 0;
  bool reads_inputs = true, reads_c = true;
  [[nodiscard]] bool has(cublasLtEpilogue_t epilogue) const {
    return (how.epilogue & static_cast<std::uint32_t>(epilogue)) != 0;
  }
};

template <typename T>
std::vector<T> gather(const Operand& from, const LibraryView& view, std::int64_t slice) {
  std::vector<T> numbers;
  const auto rows = static_cast<std::int64_t>(from.layout.rows);
  const auto columns = static_cast<std::int64_t>(from.layout.columns);
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) {
      numbers.push_back(
          number_at<T>(from.type(), view.data + slice * view.slice, from.index(view, i, j)));
    }
  }
  return numbers;
}

template <typename T>
void compute_one(const Product& all, const Views& views, std::int64_t slice, T alpha, T beta) {
  std::vector<T> sums(static_cast<std::size_t>(all.m * all.n));
  if (all.reads_inputs && all.k != 0) {
    const std::vector<T> left = gather<T>(all.a, views[all.a.region], slice);
    const std::vector<T> right = gather<T>(all.b, views[all.b.region], slice);
    const T zero{};
    Blas<T>::gemm(CblasColMajor, all.transa, all.transb, static_cast<int>(all.m),
                  static_cast<int>(all.n), static_cast<int>(all.k), by(alpha), left.data(),
                  static_cast<int>(all.a.layout.rows), right.data(),
                  static_cast<int>(all.b.layout.rows), by(zero), sums.data(),
                  static_cast<int>(all.m));
  }
  const auto scale = [&](const void* is_there, std::size_t region) -> float {
    return is_there == nullptr ? 1 : *views.data<float>(region);
  };
  const auto input_scale = static_cast<Real<T>>(scale(all.how.a_scale, all.a_scale) *
                                                scale(all.how.b_scale, all.b_scale));
  const auto output_scale = static_cast<Real<T>>(scale(all.how.d_scale, all.d_scale));
  const LibraryView &c = views[all.c.region], &d = views[all.d.region];
  for (std::int64_t j = 0; j < all.n; ++j) {
    for (std::int64_t i = 0; i < all.m; ++i) {
      auto sum = value_of(sums[static_cast<std::size_t>(i + j * all.m)]) * input_scale;
      if (all.reads_c && !(beta == T{})) {
        sum += value_of(beta) *
               value_of(number_at<T>(all.c.type(), c.data + slice * c.slice, all.c.index(c, i, j)));
      }
      if (all.has(CUBLASLT_EPILOGUE_BIAS)) {
        const auto type = static_cast<cudaDataType>(all.how.bias_type);
        sum += value_of(number_at<T>(type, views[all.bias].data, i + slice * all.how.bias_stride));
      }
      if constexpr (!kIsComplex<T>) {
        // A NaN stays one.
        if (all.has(CUBLASLT_EPILOGUE_RELU) && sum < 0) sum = 0;
      }
      T result;
      assign(result, sum * output_scale);
      put_number(all.d.type(), d.data + slice * d.slice, all.d.index(d, i, j), result);
    }
  }
}

Product look_at(const Description& how, const Layout& a, const Layout& b, const Layout& c,
                const Layout& d) {
  Product all{operation_of("transa", static_cast<cublasOperation_t>(how.transa)),
              operation_of("transb", static_cast<cublasOperation_t>(how.transb)),
              static_cast<std::int64_t>(d.rows),
              static_cast<std::int64_t>(d.columns),
              0,
              how,
              {0, a},
              {0, b},
              {0, c},
              {0, d}};
  const bool a_plain = all.transa == CblasNoTrans, b_plain = all.transb == CblasNoTrans;
  const std::uint64_t m = a_plain ? a.rows : a.columns, k = a_plain ? a.columns : a.rows;
  const std::uint64_t inner = b_plain ? b.rows : b.columns, n = b_plain ? b.columns : b.rows;
  require(m == d.rows && n == d.columns && k == inner,
          "op(A) is {} x {}, op(B) {} x {}, and D {} x {}", m, k, inner, n, d.rows, d.columns);
  require(c.rows == d.rows && c.columns == d.columns, "C is {} x {}, and D {} x {}", c.rows,
          c.columns, d.rows, d.columns);
  require(a.batch == d.batch && b.batch == d.batch && c.batch == d.batch,
          "the batches of A, B, C and D are {}, {}, {} and {}", a.batch, b.batch, c.batch, d.batch);
  all.k = static_cast<std::int64_t>(k);
  if (all.how.bias_type < 0) all.how.bias_type = d.type;
  constexpr std::uint32_t kDone =
      CUBLASLT_EPILOGUE_DEFAULT | CUBLASLT_EPILOGUE_RELU | CUBLASLT_EPILOGUE_BIAS;
  if ((how.epilogue & ~kDone) != 0) throw Refused{fmt::format("epilogue {}", how.epilogue)};
  if (how.pointer_mode > CUBLASLT_POINTER_MODE_DEVICE) {
    throw Refused{fmt::format("pointer mode {}", how.pointer_mode)};
  }
  if (how.transc != CUBLAS_OP_N) throw Refused{"a transposed C"};
  return all;
}

void enqueue(const Call& made, Product all, const void* alpha, const void* a, const void* b,
             const void* beta, const void* c, void* d) {
  BlasCall call{made, static_cast<cublasPointerMode_t>(all.how.pointer_mode)};
  const auto scalars = static_cast<cudaDataType>(all.how.scalars);
  if (bytes_of(scalars) == 0) throw Refused{fmt::format("scalars of type {}", all.how.scalars)};
  Operation operation(call);
  const TypedScalar by_alpha(call, operation, "alpha", alpha, scalars);
  const TypedScalar by_beta(call, operation, "beta", beta, scalars);
  all.reads_inputs = !by_alpha.is_zero();
  all.reads_c = !by_beta.is_zero();
  const auto read_if = [&](bool reads, Region region) {
    if (!reads) region.height = region.depth = 0;
    return operation.read(std::move(region));
  };
  all.a.region = read_if(all.reads_inputs && all.k != 0, region_of("A", a, all.a.layout));
  all.b.region = read_if(all.reads_inputs && all.k != 0, region_of("B", b, all.b.layout));
  all.c.region = read_if(all.reads_c, region_of("C", c, all.c.layout));
  if (all.has(CUBLASLT_EPILOGUE_BIAS)) {
    Region bias =
        array("bias", all.how.bias, bytes_of(static_cast<cudaDataType>(all.how.bias_type)), all.m);
    if (all.d.layout.batch != 1) {
      bias = std::move(bias).batch(all.d.layout.batch, all.how.bias_stride);
    }
    all.bias = operation.read(std::move(bias));
  }
  const auto read_scale = [&](const char* name, const void* pointer) {
    return pointer == nullptr ? 0 : operation.read(array(name, pointer, sizeof(float), 1));
  };
  all.a_scale = read_scale("the scale of A", all.how.a_scale);
  all.b_scale = read_scale("the scale of B", all.how.b_scale);
  all.d_scale = read_scale("the scale of D", all.how.d_scale);
  all.d.region = operation.write(region_of("D", d, all.d.layout));
  operation.computes([=](const Views& views) {
    const auto run = [&](auto type) {
      using T = decltype(type);
      for (std::int64_t i = 0; i < all.d.layout.batch; ++i) {
        compute_one<T>(all, views, i, by_alpha.in<T>(views), by_beta.in<T>(views));
      }
    };
    const bool complex = is_complex(all.d.type());
    const bool exact =
        all.how.compute == CUBLAS_COMPUTE_64F || all.how.compute == CUBLAS_COMPUTE_64F_PEDANTIC ||
        all.how.compute == CUBLAS_COMPUTE_32I || all.how.compute == CUBLAS_COMPUTE_32I_PEDANTIC;
    if (complex) return exact ? run(cuDoubleComplex{}) : run(cuComplex{});
    return exact ? run(double{}) : run(float{});
  });
  call.finish(operation);
}

}  // namespace
}  // namespace warpcheck::libraries::cublas

using namespace warpcheck::libraries::cublas;  // NOLINT(google-build-using-namespace)
using warpcheck::libraries::Call;

#define HERE(function) function, __builtin_return_address(0)

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = reinterpret_cast<cublasLtHandle_t>(new cublasContext);
  return CUBLAS_STATUS_SUCCESS;
}
// Handles hold nothing.
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

// ---- layouts ----

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
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* from, size_t bytes) {
  return answer_lt(HERE("cublasLtMatrixLayoutSetAttribute"), [&](const Call&) {
    set(field_of(layout_of(layout), attribute), attribute, from, bytes);
  });
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, void* to,
                                                size_t bytes, size_t* written) {
  return answer_lt(HERE("cublasLtMatrixLayoutGetAttribute"), [&](const Call&) {
    get(field_of(layout_of(layout), attribute), attribute, to, bytes, written);
  });
}

// ---- descriptors ----

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
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  delete description;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* from, size_t bytes) {
  return answer_lt(HERE("cublasLtMatmulDescSetAttribute"), [&](const Call&) {
    set(field_of(description_of(description), attribute), attribute, from, bytes);
  });
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute, void* to,
                                              size_t bytes, size_t* written) {
  return answer_lt(HERE("cublasLtMatmulDescGetAttribute"), [&](const Call&) {
    get(field_of(description_of(description), attribute), attribute, to, bytes, written);
  });
}

// ---- preferences, which nothing here depends on ----

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference,
                                                     size_t) {
  return answer_lt(HERE("cublasLtMatmulPreferenceInit"),
                   [&](const Call&) { begin(preference, Preference{}); });
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return answer_lt(HERE("cublasLtMatmulPreferenceCreate"),
                   [&](const Call&) { create(preference, Preference{}); });
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void* from, size_t) {
  return answer_lt(HERE("cublasLtMatmulPreferenceSetAttribute"), [&](const Call&) {
    require(preference != nullptr && from != nullptr, "an argument is a null pointer");
  });
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t, int requested,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* found) {
  return answer_lt(HERE("cublasLtMatmulAlgoGetHeuristic"), [&](const Call&) {
    require(requested > 0 && results != nullptr && found != nullptr,
            "there is no room for an algorithm");
    look_at(description_of(description), layout_of(a), layout_of(b), layout_of(c), layout_of(d));
    results[0] = {};
    results[0].state = CUBLAS_STATUS_SUCCESS;
    results[0].wavesCount = 1;
    *found = 1;
  });
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                              const void* alpha, const void* A, cublasLtMatrixLayout_t a,
                              const void* B, cublasLtMatrixLayout_t b, const void* beta,
                              const void* C, cublasLtMatrixLayout_t c, void* D,
                              cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t*, void*, size_t,
                              cudaStream_t stream) {
  return answer_lt(HERE("cublasLtMatmul"), [&](const Call& made) {
    require(handle != nullptr, "the handle is a null pointer");
    Call call = made;
    call.stream = stream;
    const Product all = look_at(description_of(description), layout_of(a), layout_of(b),
                                layout_of(c), layout_of(d));
    if (all.m == 0 || all.n == 0) return;
    enqueue(call, all, alpha, A, B, beta, C, D);
  });
}

}  // extern "C"
