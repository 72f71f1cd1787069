// cublasLt: products with epilogues, and matrix transformations.
#include "cases.hpp"

namespace {

constexpr int m = 8, n = 4, k = 8, kCount = 2;
cublasLtHandle_t lt;

template <class T>
constexpr cudaDataType kType = CUDA_R_32F;
template <>
constexpr cudaDataType kType<__half> = CUDA_R_16F;
template <>
constexpr cudaDataType kType<__nv_bfloat16> = CUDA_R_16BF;
template <>
constexpr cudaDataType kType<double> = CUDA_R_64F;
template <>
constexpr cudaDataType kType<std::int8_t> = CUDA_R_8I;

// A layout that is destroyed at the end of its scope.
struct Shape {
  cublasLtMatrixLayout_t layout = nullptr;
  template <class T>
  static Shape of(int rows, int columns, int leading) {
    Shape shape;
    CALL(cublasLtMatrixLayoutCreate, &shape.layout, kType<T>, rows, columns, leading);
    return shape;
  }
  Shape() = default;
  Shape(Shape&& other) noexcept : layout(std::exchange(other.layout, nullptr)) {}
  ~Shape() {
    if (layout != nullptr) CALL(cublasLtMatrixLayoutDestroy, layout);
  }
  template <class V>
  void set(cublasLtMatrixLayoutAttribute_t attribute, V value) const {
    V got{};
    std::size_t written = 0;
    CALL(cublasLtMatrixLayoutSetAttribute, layout, attribute, &value, sizeof value);
    CALL(cublasLtMatrixLayoutGetAttribute, layout, attribute, &got, sizeof got, &written);
    expect("the attribute", got == value && written == sizeof value);
  }
  void by_rows() const { set(CUBLASLT_MATRIX_LAYOUT_ORDER, CUBLASLT_ORDER_ROW); }
  void batch(int count, std::int64_t stride) const {
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count);
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
  }
};

class Product {
 public:
  explicit Product(cublasComputeType_t compute = CUBLAS_COMPUTE_32F,
                   cudaDataType scalars = CUDA_R_32F) {
    CALL(cublasLtMatmulDescCreate, &description_, compute, scalars);
  }
  ~Product() { CALL(cublasLtMatmulDescDestroy, description_); }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  template <class V>
  Product& set(cublasLtMatmulDescAttributes_t attribute, V value) {
    V got{};
    std::size_t written = 0;
    CALL(cublasLtMatmulDescSetAttribute, description_, attribute, &value, sizeof value);
    CALL(cublasLtMatmulDescGetAttribute, description_, attribute, &got, sizeof got, &written);
    expect("the attribute", got == value && written == sizeof value);
    return *this;
  }
  Product& epilogue(cublasLtEpilogue_t one) { return set(CUBLASLT_MATMUL_DESC_EPILOGUE, one); }
  template <class T>
  Product& bias(T* pointer) {
    return set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<void*>(pointer));
  }
  Product& aux(void* pointer, std::int64_t leading) {
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, pointer);
    return set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, leading);
  }

  // Runs the algorithm that the library proposes.
  void run(const void* alpha, const void* a, const Shape& of_a, const void* b, const Shape& of_b,
           const void* beta, const void* c, const Shape& of_c, void* d, const Shape& of_d) const {
    cublasLtMatmulPreference_t preference = nullptr;
    cublasLtMatmulHeuristicResult_t result{};
    int found = 0;
    const std::size_t bytes = 1 << 22;
    std::size_t got = 0, written = 0;
    void* const workspace = allocate(bytes);
    CALL(cublasLtMatmulPreferenceCreate, &preference);
    CALL(cublasLtMatmulPreferenceSetAttribute, preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
         &bytes, sizeof bytes);
    CALL(cublasLtMatmulPreferenceGetAttribute, preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
         &got, sizeof got, &written);
    expect("the preference", got == bytes);
    CALL(cublasLtMatmulAlgoGetHeuristic, lt, description_, of_a.layout, of_b.layout, of_c.layout,
         of_d.layout, preference, 1, &result, &found);
    expect("an algorithm", found == 1);
    CALL(cublasLtMatmul, lt, description_, alpha, a, of_a.layout, b, of_b.layout, beta, c,
         of_c.layout, d, of_d.layout, &result.algo, workspace, bytes, nullptr);
    CALL(cublasLtMatmulPreferenceDestroy, preference);
    free_at_end(workspace);
  }
  [[nodiscard]] cublasLtMatmulDesc_t description() const { return description_; }

 private:
  cublasLtMatmulDesc_t description_ = nullptr;
};

constexpr float kOne = 1, kZero = 0, kHalf = 0.5F;

// Tests D = A * B' + C / 2 with half precision, with B in columns and with the same bytes in rows.
void try_orders() {
  const Dense a = drawn<__half>(m, k), b = drawn<__half>(n, k), c = drawn<float>(m, n);
  const OnDevice<__half> on_a(a, full(m + 8)), on_b(b, full(n + 4));
  const OnDevice<float> on_c(c, full(m + 4));
  const Dense wanted = a * transposed(b) + Bounded(0.5) * c;
  const Shape of_a = Shape::of<__half>(m, k, m + 8), of_c = Shape::of<float>(m, n, m + 4),
              of_d = Shape::of<float>(m, n, m);
  for (const bool by_rows : {false, true}) {
    const OnDevice<float> d(Dense(m, n), full(m), true);
    Product product;
    const Shape of_b = by_rows ? Shape::of<__half>(k, n, n + 4) : Shape::of<__half>(n, k, n + 4);
    if (by_rows) {
      of_b.by_rows();
    } else {
      product.set(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_T);
    }
    product.run(&kOne, on_a.device, of_a, on_b.device, of_b, &kHalf, on_c.device, of_c, d.device,
                of_d);
    expect_matrix(d, wanted);
  }
}

void try_batch() {
  const Dense a = drawn<float>(m, k * kCount), b = drawn<float>(k, n * kCount);
  const int stride_a = m * k + 8, stride_d = m * n + 16;
  const OnDevice<float> on_a(a, strided(k, m, stride_a)), on_b(b, full(k)),
      d(Dense(m, n * kCount), strided(n, m, stride_d), true);
  const Shape of_a = Shape::of<float>(m, k, m), of_b = Shape::of<float>(k, n, k),
              of_d = Shape::of<float>(m, n, m);
  of_a.batch(kCount, stride_a);
  of_b.batch(kCount, k * n);
  of_d.batch(kCount, stride_d);
  Product().run(&kOne, on_a.device, of_a, on_b.device, of_b, &kZero, d.device, of_d, d.device,
                of_d);
  expect_matrix(d, matrix_of(m, n * kCount, [&](int i, int j) {
                  return (slice_of(a, k, j / n) * slice_of(b, n, j / n))(i, j % n);
                }));
}

// ---- epilogues of half precision inputs with sums in single precision ----

// Activations propagate errors; the slope of none is greater than 1.13.
Bounded with_error_of(const Bounded& from, double value) {
  return {value, std::abs(value), 1.2 * from.error + 100 * std::abs(value)};
}
double tanh_of(double x) { return std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)); }
Bounded gelu(const Bounded& x) {
  const double value = x.value.real();
  return with_error_of(x, 0.5 * value * (1 + tanh_of(value)));
}
double gelu_derivative(double x) {
  const double t = tanh_of(x);
  return 0.5 * (1 + t) +
         0.5 * x * (1 - t * t) * 0.79788456080286535588 * (1 + 3 * 0.044715 * x * x);
}
Bounded relu(const Bounded& x) { return x.value.real() > 0 ? x : Bounded(); }

template <class Apply>
Dense each(const Dense& a, Apply apply) {
  return matrix_of(a.rows, a.columns, [&](int i, int j) { return apply(a(i, j)); });
}

struct Fixture {
  // Small inputs, where GELU is not nearly a straight line.
  Dense a = Bounded(0.125) * drawn<__half>(m, k), b = Bounded(0.125) * drawn<__half>(k, n),
        bias = Bounded(0.125) * drawn<__half>(m);
  Dense product = a * b;
  OnDevice<__half> on_a{a, full(m)}, on_b{b, full(k)}, on_bias{bias, full(m)},
      d{product, full(m), true};
  Shape of_a = Shape::of<__half>(m, k, m), of_b = Shape::of<__half>(k, n, k),
        of_d = Shape::of<__half>(m, n, m);

  [[nodiscard]] Dense with_bias() const {
    return matrix_of(m, n, [&](int i, int j) { return product(i, j) + bias(i); });
  }
  void run(const Product& how) const {
    how.run(&kOne, on_a.device, of_a, on_b.device, of_b, &kZero, d.device, of_d, d.device, of_d);
  }
  void expect_result(const Dense& wanted) const { expect_matrix(d, wanted, kRoundoff<float>); }
};

// Reads the signs of ReLU's inputs, one bit each; columns are 128 bits apart.
constexpr int kBits = 128;
std::vector<int> signs_of(const OnDevice<std::uint8_t>& bits) {
  std::vector<int> all;
  for (const Bounded& byte : bits.get().all) all.push_back(static_cast<int>(byte.value.real()));
  return all;
}

void try_forward() {
  Fixture f;
  f.run(Product().epilogue(CUBLASLT_EPILOGUE_RELU));
  f.expect_result(each(f.product, relu));
  f.run(Product().epilogue(CUBLASLT_EPILOGUE_BIAS).bias(f.on_bias.device));
  f.expect_result(f.with_bias());
  f.run(Product().epilogue(CUBLASLT_EPILOGUE_RELU_BIAS).bias(f.on_bias.device));
  f.expect_result(each(f.with_bias(), relu));
  f.run(Product().epilogue(CUBLASLT_EPILOGUE_GELU));
  f.expect_result(each(f.product, gelu));
  f.run(Product().epilogue(CUBLASLT_EPILOGUE_GELU_BIAS).bias(f.on_bias.device));
  f.expect_result(each(f.with_bias(), gelu));
  for (const bool has_bias : {false, true}) {
    const Dense input = has_bias ? f.with_bias() : f.product;
    const OnDevice<__half> aux(input, full(m + 8), true);
    __half* const bias = has_bias ? f.on_bias.device : nullptr;
    f.run(Product()
              .epilogue(has_bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX)
              .bias(bias)
              .aux(aux.device, m + 8));
    f.expect_result(each(input, gelu));
    expect_matrix(aux, input, kRoundoff<float>);
    const OnDevice<std::uint8_t> bits(
        Dense(1, n), [](int, int j) { return j * kBits / 8; }, true,
        [](int, int j) { return (j + 1) * kBits / 8 - 1; });
    f.run(Product()
              .epilogue(has_bias ? CUBLASLT_EPILOGUE_RELU_AUX_BIAS : CUBLASLT_EPILOGUE_RELU_AUX)
              .bias(bias)
              .aux(bits.device, kBits));
    f.expect_result(each(input, relu));
    const std::vector<int> signs = signs_of(bits);
    for (int j = 0; j < n; ++j) {
      int wanted = 0;
      for (int i = 0; i < m; ++i) wanted |= input(i, j).value.real() > 0 ? 1 << i : 0;
      expect_value(static_cast<std::uint8_t>(signs[j]), Number(wanted), 0);
    }
  }
}

void try_backward() {
  Fixture f;
  const Dense inputs = Bounded(0.25) * drawn<__half>(m, n);
  const OnDevice<__half> aux(inputs, full(m + 8));
  const auto sums_of = [](const Dense& all) {
    return matrix_of(all.rows, 1, [&](int i, int) {
      Bounded sum;
      for (int j = 0; j < all.columns; ++j) sum = sum + all(i, j);
      return sum;
    });
  };
  Dense signs(1, n);
  for (int j = 0; j < n; ++j) {
    int byte = 0;
    for (int i = 0; i < m; ++i) byte |= inputs(i, j).value.real() > 0 ? 1 << i : 0;
    signs(0, j) = Number(byte);
  }
  const OnDevice<std::uint8_t> bits(
      signs, [](int, int j) { return j * kBits / 8; }, false,
      [](int, int j) { return (j + 1) * kBits / 8 - 1; });
  const Dense through_relu = matrix_of(m, n, [&](int i, int j) {
    return inputs(i, j).value.real() > 0 ? f.product(i, j) : Bounded();
  });
  const Dense through_gelu = matrix_of(m, n, [&](int i, int j) {
    const Bounded& x = f.product(i, j);
    return with_error_of(x, x.value.real() * gelu_derivative(inputs(i, j).value.real()));
  });
  for (const bool sums_up : {false, true}) {
    const OnDevice<__half> sums(Dense(m, 1), full(m), true);
    __half* const gradient = sums_up ? sums.device : nullptr;
    f.run(Product()
              .epilogue(sums_up ? CUBLASLT_EPILOGUE_DRELU_BGRAD : CUBLASLT_EPILOGUE_DRELU)
              .bias(gradient)
              .aux(bits.device, kBits));
    f.expect_result(through_relu);
    if (sums_up) expect_matrix(sums, sums_of(through_relu), kRoundoff<__half>);
    f.run(Product()
              .epilogue(sums_up ? CUBLASLT_EPILOGUE_DGELU_BGRAD : CUBLASLT_EPILOGUE_DGELU)
              .bias(gradient)
              .aux(aux.device, m + 8));
    f.expect_result(through_gelu);
    if (sums_up) expect_matrix(sums, sums_of(through_gelu), kRoundoff<__half>);
  }
  const OnDevice<__half> rows(Dense(m, 1), full(m), true), columns(Dense(n, 1), full(n), true);
  f.run(Product().epilogue(CUBLASLT_EPILOGUE_BGRADA).bias(rows.device));
  f.expect_result(f.product);
  expect_matrix(rows, sums_of(f.a), kRoundoff<__half>);
  const OnDevice<__half> transposed_b(transposed(f.b), full(n));
  const Shape of_b = Shape::of<__half>(n, k, n);
  Product()
      .epilogue(CUBLASLT_EPILOGUE_BGRADB)
      .bias(columns.device)
      .set(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_T)
      .run(&kOne, f.on_a.device, f.of_a, transposed_b.device, of_b, &kZero, f.d.device, f.of_d,
           f.d.device, f.of_d);
  f.expect_result(f.product);
  expect_matrix(columns, sums_of(transposed(f.b)), kRoundoff<__half>);
}

// Tests a vector of scalars on the device, one for each row, for results that are 8-bit integers.
void try_vectors_of_scalars() {
  const auto sign = [](const Bounded& x) { return Bounded(x.value.real() < 0 ? -1 : 1); };
  const Dense a = each(drawn<std::int8_t>(m, k), sign), b = each(drawn<std::int8_t>(k, n), sign),
              c = matrix_of(m, n, [](int i, int j) { return Bounded(i - j); });
  const Dense alphas = each(drawn<float>(m), sign), betas = drawn<std::int8_t>(m);
  const OnDevice<std::int8_t> on_a(a, full(m)), on_b(b, full(k)), on_c(c, full(m)),
      d(Dense(m, n), full(m), true);
  const OnDevice<float> on_alphas(alphas, full(m)), on_betas(betas, full(m));
  const Shape of_a = Shape::of<std::int8_t>(m, k, m), of_b = Shape::of<std::int8_t>(k, n, k),
              of_d = Shape::of<std::int8_t>(m, n, m);
  const Dense product = a * b;
  Product(CUBLAS_COMPUTE_32I)
      .set(CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_DEVICE_VECTOR)
      .run(on_alphas.device, on_a.device, of_a, on_b.device, of_b, on_betas.device, on_c.device,
           of_d, d.device, of_d);
  expect_matrix(d, matrix_of(m, n, [&](int i, int j) {
                  return alphas(i) * product(i, j) + betas(i) * c(i, j);
                }));
}

void try_transform() {
  cublasLtMatrixTransformDesc_t description = nullptr;
  const cublasOperation_t transposes = CUBLAS_OP_T;
  cublasOperation_t got = CUBLAS_OP_N;
  std::size_t written = 0;
  CALL(cublasLtMatrixTransformDescCreate, &description, CUDA_R_32F);
  CALL(cublasLtMatrixTransformDescSetAttribute, description, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA,
       &transposes, sizeof transposes);
  CALL(cublasLtMatrixTransformDescGetAttribute, description, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA,
       &got, sizeof got, &written);
  expect("the attribute", got == transposes);
  const Dense a = drawn<float>(n, m), b = drawn<float>(m, n);
  const OnDevice<float> on_a(a, full(n + 4)), on_b(b, by_rows(n + 4)),
      c(Dense(m, n), full(m + 4), true);
  const Shape of_a = Shape::of<float>(n, m, n + 4), of_b = Shape::of<float>(m, n, n + 4),
              of_c = Shape::of<float>(m, n, m + 4);
  of_b.by_rows();
  CALL(cublasLtMatrixTransform, lt, description, &kOne, on_a.device, of_a.layout, &kHalf,
       on_b.device, of_b.layout, c.device, of_c.layout, nullptr);
  expect_matrix(c, transposed(a) + Bounded(0.5) * b);
  CALL(cublasLtMatrixTransformDescDestroy, description);
}

// ---- algorithms, and the library ----

void try_algorithms() {
  int ids[8], found = 0;
  CALL(cublasLtMatmulAlgoGetIds, lt, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
       CUDA_R_32F, CUDA_R_32F, 8, ids, &found);
  expect("an algorithm", found > 0);
  cublasLtMatmulAlgo_t algorithm;
  CALL(cublasLtMatmulAlgoInit, lt, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
       CUDA_R_32F, CUDA_R_32F, ids[0], &algorithm);
  std::int32_t splits = 1, got = 0, supports = 0;
  std::size_t written = 0;
  CALL(cublasLtMatmulAlgoConfigSetAttribute, &algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &splits,
       sizeof splits);
  CALL(cublasLtMatmulAlgoConfigGetAttribute, &algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &got,
       sizeof got, &written);
  expect("the number of splits", got == splits);
  CALL(cublasLtMatmulAlgoCapGetAttribute, &algorithm, CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT,
       &supports, sizeof supports, &written);
  expect("a capability", written == sizeof supports);
  // The library decides whether an algorithm suits a product.
  const Product product;
  const Shape square = Shape::of<float>(m, m, m);
  cublasLtMatmulHeuristicResult_t result{};
  const cublasStatus_t status =
      cublasLtMatmulAlgoCheck(lt, product.description(), square.layout, square.layout,
                              square.layout, square.layout, &algorithm, &result);
  note_call("cublasLtMatmulAlgoCheck", 0);
  expect("an answer", status == CUBLAS_STATUS_SUCCESS || status == CUBLAS_STATUS_INVALID_VALUE ||
                          status == CUBLAS_STATUS_NOT_SUPPORTED);
}

void try_library() {
  int major = 0;
  CALL(cublasLtGetProperty, MAJOR_VERSION, &major);
  note_call("cublasLtGetVersion", 0);
  expect("the version", static_cast<int>(cublasLtGetVersion() / 10000) == major);
  note_call("cublasLtGetCudartVersion", cublasLtGetCudartVersion() >= 12000 ? 0 : 1);
  note_call("cublasLtGetStatusName", 0);
  expect("a name",
         cublasLtGetStatusName(CUBLAS_STATUS_SUCCESS) == std::string("CUBLAS_STATUS_SUCCESS"));
  note_call("cublasLtGetStatusString", 0);
  expect("a text", cublasLtGetStatusString(CUBLAS_STATUS_SUCCESS) != std::string());
  CALL(cublasLtLoggerSetLevel, 0);
  CALL(cublasLtLoggerSetMask, 0);
  CALL(cublasLtLoggerSetCallback, nullptr);
  CALL(cublasLtLoggerSetFile, stderr);
  CALL(cublasLtLoggerOpenFile, "/dev/null");
  CALL(cublasLtLoggerForceDisable);
  std::size_t capacity = 0;
  CALL(cublasLtHeuristicsCacheGetCapacity, &capacity);
  CALL(cublasLtHeuristicsCacheSetCapacity, capacity);
  cublasLtMatrixLayoutOpaque_t layout;
  cublasLtMatmulDescOpaque_t product;
  cublasLtMatrixTransformDescOpaque_t transform;
  cublasLtMatmulPreferenceOpaque_t preference;
  CALL(cublasLtMatrixLayoutInit_internal, &layout, sizeof layout, CUDA_R_32F, 4, 4, 4);
  CALL(cublasLtMatmulDescInit_internal, &product, sizeof product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  CALL(cublasLtMatrixTransformDescInit_internal, &transform, sizeof transform, CUDA_R_32F);
  CALL(cublasLtMatmulPreferenceInit_internal, &preference, sizeof preference);
}

}  // namespace

void try_matmul() {
  CALL(cublasLtCreate, &lt);
  try_orders();
  try_batch();
  try_forward();
  try_backward();
  try_vectors_of_scalars();
  try_transform();
  try_algorithms();
  try_library();
  CALL(cublasLtDestroy, lt);
}

// Products that an H200 rejects, and the statuses that it returns.
void try_product_statuses() {
  CALL(cublasLtCreate, &lt);
  {
    const Fixture f;
    const OnDevice<__half> aux(f.product, full(m + 8)), rest(f.product, full(m));
    const OnDevice<float> scalars(drawn<float>(m), full(m));
    const auto expect_of = [&](const char* what, cublasStatus_t wanted, const Product& how,
                               const void* alpha = &kOne) {
      const cublasStatus_t found =
          cublasLtMatmul(lt, how.description(), alpha, f.on_a.device, f.of_a.layout, f.on_b.device,
                         f.of_b.layout, &kZero, f.d.device, f.of_d.layout, f.d.device,
                         f.of_d.layout, nullptr, nullptr, 0, nullptr);
      note_call(what, 0);
      expect_status(found, wanted);
    };
    for (const auto& [what, epilogue] :
         {std::pair("GELU's input kept, and a bias", CUBLASLT_EPILOGUE_GELU_AUX),
          std::pair("GELU's derivative, and a bias", CUBLASLT_EPILOGUE_DGELU)}) {
      expect_of(what, CUBLAS_STATUS_INVALID_VALUE,
                Product().epilogue(epilogue).bias(f.on_bias.device).aux(aux.device, m + 8));
    }
    expect_of("sums of B as it is", CUBLAS_STATUS_NOT_SUPPORTED,
              Product().epilogue(CUBLASLT_EPILOGUE_BGRADB).bias(rest.device));
    expect_of("a vector of scalars for half", CUBLAS_STATUS_NOT_SUPPORTED,
              Product().set(CUBLASLT_MATMUL_DESC_POINTER_MODE,
                            CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST),
              scalars.device);
  }
  CALL(cublasLtDestroy, lt);
}
