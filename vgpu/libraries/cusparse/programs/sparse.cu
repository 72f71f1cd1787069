// Programs with cuSPARSE, one an argument: `right` calls each function and says whether it gives
// what its definition says; the others have a defect each, at the line behind its name, whose clean
// twins are `clean`.
#include <cusparse.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

__global__ void scale(float* x, float by) { x[threadIdx.x] *= by; }

namespace {

cusparseHandle_t handle;
bool clean = false;
int wrong = 0;
constexpr float one = 1, two = 2, zero = 0, half = 0.5F;
constexpr auto kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE, kTurned = CUSPARSE_OPERATION_TRANSPOSE;
constexpr auto kInt = CUSPARSE_INDEX_32I;
constexpr auto kZero = CUSPARSE_INDEX_BASE_ZERO;

void expect(const char* what, bool is_right) {
  if (is_right) return;
  ++wrong;
  std::printf("wrong: %s\n", what);
}
#define CHECK(call) expect(#call, (call) == 0)

template <class T>
T* to_device(const std::vector<T>& values) {
  T* pointer = nullptr;
  cudaMalloc(&pointer, values.size() * sizeof(T));
  cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return pointer;
}
template <class T>
T* fresh(std::size_t count) {
  T* pointer = nullptr;
  cudaMalloc(&pointer, count * sizeof(T));
  return pointer;
}
template <class T>
std::vector<T> to_host(const T* pointer, std::size_t count) {
  std::vector<T> values(count);
  cudaMemcpy(values.data(), pointer, count * sizeof(T), cudaMemcpyDeviceToHost);
  return values;
}
template <class T>
void expect_values(const char* what, const T* found, const std::vector<T>& wanted) {
  const std::vector<T> all = to_host(found, wanted.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::fabs(double(all[i]) - double(wanted[i])) <= 1e-4) continue;
    ++wrong;
    std::printf("wrong: %s: element %zu is %g, not %g\n", what, i, double(all[i]),
                double(wanted[i]));
    return;
  }
}

// 4 1 0     in three formats, and as a dense matrix by columns
// 0 3 0
// 2 0 5
// 0 0 6
constexpr int m = 4, n = 3, nonzeros = 6;
const std::vector<int> offsets = {0, 2, 3, 5, 6}, columns = {0, 1, 1, 0, 2, 2},
                       rows = {0, 0, 1, 2, 2, 3};
const std::vector<float> values = {4, 1, 3, 2, 5, 6};
const std::vector<int> csc_offsets = {0, 2, 4, 6}, csc_rows = {0, 2, 0, 1, 2, 3};
const std::vector<float> csc_values = {4, 2, 1, 3, 5, 6};
const std::vector<float> dense = {4, 0, 2, 0, 1, 3, 0, 0, 0, 0, 5, 6};

cusparseSpMatDescr_t csr() {
  cusparseSpMatDescr_t matrix = nullptr;
  CHECK(cusparseCreateCsr(&matrix, m, n, nonzeros, to_device(offsets), to_device(columns),
                          to_device(values), kInt, kInt, kZero, CUDA_R_32F));
  return matrix;
}
cusparseDnVecDescr_t vector(const std::vector<float>& all) {
  cusparseDnVecDescr_t made = nullptr;
  CHECK(cusparseCreateDnVec(&made, all.size(), to_device(all), CUDA_R_32F));
  return made;
}
float* values_of(cusparseDnVecDescr_t all) {
  void* pointer = nullptr;
  CHECK(cusparseDnVecGetValues(all, &pointer));
  return static_cast<float*>(pointer);
}

void* buffer_for(cusparseOperation_t operation, cusparseSpMatDescr_t matrix, cusparseDnVecDescr_t x,
                 cusparseDnVecDescr_t y) {
  std::size_t bytes = 0;
  CHECK(cusparseSpMV_bufferSize(handle, operation, &one, matrix, x, &zero, y, CUDA_R_32F,
                                CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
  return fresh<char>(bytes);
}

void products() {
  cusparseSpMatDescr_t coo = nullptr, csc = nullptr, of_const = nullptr;
  CHECK(cusparseCreateCoo(&coo, m, n, nonzeros, to_device(rows), to_device(columns),
                          to_device(values), kInt, kZero, CUDA_R_32F));
  CHECK(cusparseCreateCsc(&csc, m, n, nonzeros, to_device(csc_offsets), to_device(csc_rows),
                          to_device(csc_values), kInt, kInt, kZero, CUDA_R_32F));
  CHECK(cusparseCreateConstCsr(const_cast<cusparseConstSpMatDescr_t*>(&of_const), m, n, nonzeros,
                               to_device(offsets), to_device(columns), to_device(values), kInt,
                               kInt, kZero, CUDA_R_32F));
  for (cusparseSpMatDescr_t matrix : {csr(), coo, csc, of_const}) {
    const auto x = vector({1, 2, 3}), y = vector({2, 4, 6, 8}), z = vector({0, 0, 0});
    CHECK(cusparseSpMV_preprocess(handle, kPlain, &two, matrix, x, &half, y, CUDA_R_32F,
                                  CUSPARSE_SPMV_ALG_DEFAULT, buffer_for(kPlain, matrix, x, y)));
    CHECK(cusparseSpMV(handle, kPlain, &two, matrix, x, &half, y, CUDA_R_32F,
                       CUSPARSE_SPMV_ALG_DEFAULT, buffer_for(kPlain, matrix, x, y)));
    expect_values("SpMV", values_of(y), {13, 14, 37, 40});
    CHECK(cusparseDnVecSetValues(z, fresh<float>(n)));
    CHECK(cusparseSpMV(handle, kTurned, &one, matrix, vector({1, 2, 3, 4}), &zero, z, CUDA_R_32F,
                       CUSPARSE_SPMV_ALG_DEFAULT, buffer_for(kTurned, matrix, y, z)));
    expect_values("transposed SpMV", values_of(z), {10, 7, 39});
    // B by columns, and by rows.
    for (const auto order : {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW}) {
      const bool by_rows = order == CUSPARSE_ORDER_ROW;
      cusparseDnMatDescr_t b = nullptr, c = nullptr;
      std::size_t bytes = 0;
      float* const product = fresh<float>(m * 2);
      CHECK(cusparseCreateDnMat(&b, n, 2, by_rows ? 2 : n,
                                to_device(by_rows ? std::vector<float>{1, 0, 2, 1, 3, 0}
                                                  : std::vector<float>{1, 2, 3, 0, 1, 0}),
                                CUDA_R_32F, order));
      CHECK(cusparseCreateDnMat(&c, m, 2, m, product, CUDA_R_32F, CUSPARSE_ORDER_COL));
      CHECK(cusparseSpMM_bufferSize(handle, kPlain, kPlain, &one, matrix, b, &zero, c, CUDA_R_32F,
                                    CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
      CHECK(cusparseSpMM_preprocess(handle, kPlain, kPlain, &one, matrix, b, &zero, c, CUDA_R_32F,
                                    CUSPARSE_SPMM_ALG_DEFAULT, fresh<char>(bytes)));
      CHECK(cusparseSpMM(handle, kPlain, kPlain, &one, matrix, b, &zero, c, CUDA_R_32F,
                         CUSPARSE_SPMM_ALG_DEFAULT, fresh<char>(bytes)));
      expect_values("SpMM", product, {6, 6, 17, 18, 1, 3, 0, 0});
      void* got = nullptr;
      CHECK(cusparseDnMatGetValues(b, &got));
      CHECK(cusparseDnMatSetValues(b, got));
      CHECK(cusparseDestroyDnMat(b));
      CHECK(cusparseDestroyDnMat(c));
    }
    CHECK(cusparseDestroyDnVec(x));
    CHECK(cusparseDestroySpMat(matrix));
  }
}

// L = 2 0 0, of which only the lower triangle counts: 1 4 0 and 0 3 5; and beyond it a 9.
void triangular_systems() {
  cusparseSpMatDescr_t matrix = nullptr;
  cusparseSpSVDescr_t of_vector = nullptr;
  cusparseSpSMDescr_t of_matrix = nullptr;
  cusparseFillMode_t lower = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  std::size_t bytes = 0;
  CHECK(cusparseCreateCsr(&matrix, 3, 3, 6, to_device<int>({0, 2, 4, 6}),
                          to_device<int>({0, 2, 0, 1, 1, 2}), to_device<float>({2, 9, 1, 4, 3, 5}),
                          kInt, kInt, kZero, CUDA_R_32F));
  CHECK(cusparseSpMatSetAttribute(matrix, CUSPARSE_SPMAT_FILL_MODE, &lower, sizeof lower));
  CHECK(cusparseSpMatSetAttribute(matrix, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
  const auto x = vector({4, 10, 22}), y = vector({0, 0, 0});
  CHECK(cusparseSpSV_createDescr(&of_vector));
  CHECK(cusparseSpSV_bufferSize(handle, kPlain, &half, matrix, x, y, CUDA_R_32F,
                                CUSPARSE_SPSV_ALG_DEFAULT, of_vector, &bytes));
  void* const buffer = fresh<char>(bytes);
  CHECK(cusparseSpSV_analysis(handle, kPlain, &half, matrix, x, y, CUDA_R_32F,
                              CUSPARSE_SPSV_ALG_DEFAULT, of_vector, buffer));
  CHECK(cusparseSpSV_solve(handle, kPlain, &half, matrix, x, y, CUDA_R_32F,
                           CUSPARSE_SPSV_ALG_DEFAULT, of_vector));
  expect_values("SpSV", values_of(y), {1, 1, 1.6F});
  cusparseDnMatDescr_t b = nullptr, c = nullptr;
  float* const solution = fresh<float>(3);
  CHECK(cusparseCreateDnMat(&b, 3, 1, 3, to_device<float>({3, 7, 5}), CUDA_R_32F,
                            CUSPARSE_ORDER_COL));
  CHECK(cusparseCreateDnMat(&c, 3, 1, 3, solution, CUDA_R_32F, CUSPARSE_ORDER_COL));
  CHECK(cusparseSpSM_createDescr(&of_matrix));
  CHECK(cusparseSpSM_bufferSize(handle, kTurned, kPlain, &one, matrix, b, c, CUDA_R_32F,
                                CUSPARSE_SPSM_ALG_DEFAULT, of_matrix, &bytes));
  CHECK(cusparseSpSM_analysis(handle, kTurned, kPlain, &one, matrix, b, c, CUDA_R_32F,
                              CUSPARSE_SPSM_ALG_DEFAULT, of_matrix, buffer));
  CHECK(cusparseSpSM_solve(handle, kTurned, kPlain, &one, matrix, b, c, CUDA_R_32F,
                           CUSPARSE_SPSM_ALG_DEFAULT, of_matrix));
  expect_values("SpSM", solution, {1, 1, 1});
  CHECK(cusparseSpSV_destroyDescr(of_vector));
  CHECK(cusparseSpSM_destroyDescr(of_matrix));
}

void sparse_vectors() {
  cusparseSpVecDescr_t x = nullptr;
  float* const held = to_device<float>({10, 20});
  CHECK(cusparseCreateSpVec(&x, 4, 2, to_device<int>({1, 3}), held, kInt, kZero, CUDA_R_32F));
  const auto y = vector({1, 2, 3, 4});
  CHECK(cusparseAxpby(handle, &two, x, &half, y));
  expect_values("Axpby", values_of(y), {0.5F, 21, 1.5F, 42});
  CHECK(cusparseScatter(handle, x, y));
  expect_values("Scatter", values_of(y), {0.5F, 10, 1.5F, 20});
  float result = 0;
  std::size_t bytes = 0;
  CHECK(cusparseSpVV_bufferSize(handle, kPlain, x, y, &result, CUDA_R_32F, &bytes));
  CHECK(cusparseSpVV(handle, kPlain, x, y, &result, CUDA_R_32F, fresh<char>(bytes)));
  expect("SpVV", result == 500);
  CHECK(cusparseGather(handle, vector({7, 8, 9, 6}), x));
  expect_values("Gather", held, {8, 6});
  CHECK(cusparseDestroySpVec(x));
}

void conversions() {
  std::size_t bytes = 0;
  cusparseDnMatDescr_t of_dense = nullptr;
  float* const unpacked = fresh<float>(m * n);
  const auto matrix = csr();
  CHECK(cusparseCreateDnMat(&of_dense, m, n, m, unpacked, CUDA_R_32F, CUSPARSE_ORDER_COL));
  CHECK(cusparseSparseToDense_bufferSize(handle, matrix, of_dense,
                                         CUSPARSE_SPARSETODENSE_ALG_DEFAULT, &bytes));
  void* const buffer = fresh<char>(bytes);
  CHECK(
      cusparseSparseToDense(handle, matrix, of_dense, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, buffer));
  expect_values("SparseToDense", unpacked, dense);
  cusparseSpMatDescr_t packed = nullptr;
  std::int64_t r = 0, c = 0, count = 0;
  int* const new_offsets = fresh<int>(m + 1);
  CHECK(cusparseCreateCsr(&packed, m, n, 0, new_offsets, nullptr, nullptr, kInt, kInt, kZero,
                          CUDA_R_32F));
  CHECK(cusparseDenseToSparse_bufferSize(handle, of_dense, packed,
                                         CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &bytes));
  void* const packing = fresh<char>(bytes);
  CHECK(cusparseDenseToSparse_analysis(handle, of_dense, packed, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT,
                                       packing));
  CHECK(cusparseSpMatGetSize(packed, &r, &c, &count));
  expect("the number of entries", r == m && c == n && count == nonzeros);
  int* const new_columns = fresh<int>(count);
  float* const new_values = fresh<float>(count);
  CHECK(cusparseCsrSetPointers(packed, new_offsets, new_columns, new_values));
  CHECK(cusparseDenseToSparse_convert(handle, of_dense, packed, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT,
                                      packing));
  expect_values("offsets", new_offsets, offsets);
  expect_values("columns", new_columns, columns);
  expect_values("values", new_values, values);
  int *const by_columns = fresh<int>(n + 1), *const of_rows = fresh<int>(nonzeros);
  float* const turned = fresh<float>(nonzeros);
  CHECK(cusparseCsr2cscEx2_bufferSize(
      handle, m, n, nonzeros, new_values, new_offsets, new_columns, turned, by_columns, of_rows,
      CUDA_R_32F, CUSPARSE_ACTION_NUMERIC, kZero, CUSPARSE_CSR2CSC_ALG1, &bytes));
  CHECK(cusparseCsr2cscEx2(handle, m, n, nonzeros, new_values, new_offsets, new_columns, turned,
                           by_columns, of_rows, CUDA_R_32F, CUSPARSE_ACTION_NUMERIC, kZero,
                           CUSPARSE_CSR2CSC_ALG1, fresh<char>(bytes)));
  expect_values("CSC's offsets", by_columns, csc_offsets);
  expect_values("CSC's rows", of_rows, csc_rows);
  expect_values("CSC's values", turned, csc_values);
  CHECK(cusparseXcsr2coo(handle, new_offsets, nonzeros, m, of_rows, kZero));
  expect_values("COO's rows", of_rows, rows);
  CHECK(cusparseXcoo2csr(handle, of_rows, nonzeros, m, new_offsets, kZero));
  expect_values("CSR's offsets", new_offsets, offsets);
  void* got = nullptr;
  CHECK(cusparseSpMatGetValues(packed, &got));
  CHECK(cusparseSpMatSetValues(packed, got));
  expect("values", got == new_values);
}

// 4 1 0 / 2 5 1 / 0 3 6, of which the factors have no other entries.
template <class T, class Buffer, class Analysis, class Factor>
void incomplete_lu(Buffer buffer_size, Analysis analysis, Factor factor,
                   const std::vector<T>& entries, void (*look)(const T*)) {
  cusparseMatDescr_t description = nullptr;
  csrilu02Info_t info = nullptr;
  int bytes = 0, position = 7;
  T* const values = to_device(entries);
  int *const of_rows = to_device<int>({0, 2, 5, 7}), *const of_columns =
                                                         to_device<int>({0, 1, 0, 1, 2, 1, 2});
  CHECK(cusparseCreateMatDescr(&description));
  CHECK(cusparseSetMatType(description, CUSPARSE_MATRIX_TYPE_GENERAL));
  CHECK(cusparseSetMatFillMode(description, CUSPARSE_FILL_MODE_LOWER));
  CHECK(cusparseSetMatDiagType(description, CUSPARSE_DIAG_TYPE_NON_UNIT));
  CHECK(cusparseSetMatIndexBase(description, kZero));
  expect("settings", cusparseGetMatType(description) == CUSPARSE_MATRIX_TYPE_GENERAL &&
                         cusparseGetMatFillMode(description) == CUSPARSE_FILL_MODE_LOWER &&
                         cusparseGetMatDiagType(description) == CUSPARSE_DIAG_TYPE_NON_UNIT &&
                         cusparseGetMatIndexBase(description) == kZero);
  CHECK(cusparseCreateCsrilu02Info(&info));
  CHECK(buffer_size(handle, 3, 7, description, values, of_rows, of_columns, info, &bytes));
  void* const buffer = fresh<char>(bytes);
  CHECK(analysis(handle, 3, 7, description, values, of_rows, of_columns, info,
                 CUSPARSE_SOLVE_POLICY_NO_LEVEL, buffer));
  CHECK(factor(handle, 3, 7, description, values, of_rows, of_columns, info,
               CUSPARSE_SOLVE_POLICY_NO_LEVEL, buffer));
  CHECK(cusparseXcsrilu02_zeroPivot(handle, info, &position));
  expect("no pivot is 0", position == -1);
  look(values);
  CHECK(cusparseDestroyCsrilu02Info(info));
  CHECK(cusparseDestroyMatDescr(description));
}
const std::vector<double> kFactors = {4, 1, 0.5, 4.5, 1, 3 / 4.5, 6 - 3 / 4.5};
void factorizations() {
  incomplete_lu<float>(cusparseScsrilu02_bufferSize, cusparseScsrilu02_analysis, cusparseScsrilu02,
                       {4, 1, 2, 5, 1, 3, 6}, [](const float* found) {
                         expect_values("ilu", found, {kFactors.begin(), kFactors.end()});
                       });
  incomplete_lu<double>(cusparseDcsrilu02_bufferSize, cusparseDcsrilu02_analysis, cusparseDcsrilu02,
                        {4, 1, 2, 5, 1, 3, 6},
                        [](const double* found) { expect_values("ilu", found, kFactors); });
  const auto real_parts = [](const auto* found) {
    const auto all = to_host(found, 7);
    for (int i = 0; i < 7; ++i) {
      expect("complex ilu", std::fabs(all[i].x - kFactors[i]) < 1e-4 && all[i].y == 0);
    }
  };
  incomplete_lu<cuComplex>(cusparseCcsrilu02_bufferSize, cusparseCcsrilu02_analysis,
                           cusparseCcsrilu02,
                           {{4, 0}, {1, 0}, {2, 0}, {5, 0}, {1, 0}, {3, 0}, {6, 0}}, real_parts);
  incomplete_lu<cuDoubleComplex>(
      cusparseZcsrilu02_bufferSize, cusparseZcsrilu02_analysis, cusparseZcsrilu02,
      {{4, 0}, {1, 0}, {2, 0}, {5, 0}, {1, 0}, {3, 0}, {6, 0}}, real_parts);
}

void settings() {
  cudaStream_t stream = nullptr, got = nullptr;
  cusparsePointerMode_t mode = CUSPARSE_POINTER_MODE_HOST;
  int version = 0, major = 0;
  cudaStreamCreate(&stream);
  CHECK(cusparseSetStream(handle, stream));
  CHECK(cusparseGetStream(handle, &got));
  CHECK(cusparseSetStream(handle, nullptr));
  CHECK(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_DEVICE));
  CHECK(cusparseGetPointerMode(handle, &mode));
  CHECK(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST));
  CHECK(cusparseGetVersion(handle, &version));
  CHECK(cusparseGetProperty(MAJOR_VERSION, &major));
  expect("settings",
         got == stream && mode == CUSPARSE_POINTER_MODE_DEVICE && version / 1000 == major);
  expect("a name", std::strcmp(cusparseGetErrorName(CUSPARSE_STATUS_INVALID_VALUE),
                               "CUSPARSE_STATUS_INVALID_VALUE") == 0);
  expect("a text", cusparseGetErrorString(CUSPARSE_STATUS_SUCCESS)[0] != 0);
  cusparseDnVecDescr_t x = vector({1});
  cusparseConstDnVecDescr_t of_const = nullptr;
  cusparseConstDnMatDescr_t const_matrix = nullptr;
  std::int64_t size = 0;
  void* values = nullptr;
  cudaDataType type = CUDA_R_64F;
  CHECK(cusparseDnVecGet(x, &size, &values, &type));
  expect("a vector", size == 1 && type == CUDA_R_32F);
  CHECK(cusparseCreateConstDnVec(&of_const, 1, values, CUDA_R_32F));
  CHECK(cusparseCreateConstDnMat(&const_matrix, 1, 1, 1, values, CUDA_R_32F, CUSPARSE_ORDER_COL));
}

// Of a matrix in each format.
void pointers() {
  int* const made = fresh<int>(8);
  cusparseSpMatDescr_t coo = nullptr, csc = nullptr;
  CHECK(cusparseCreateCoo(&coo, m, n, nonzeros, made, made, made, kInt, kZero, CUDA_R_32F));
  CHECK(cusparseCreateCsc(&csc, m, n, nonzeros, made, made, made, kInt, kInt, kZero, CUDA_R_32F));
  CHECK(cusparseCscSetPointers(csc, made, made, made));
  CHECK(cusparseCooSetPointers(coo, made, made, made));
}

void right() {
  settings();
  pointers();
  products();
  triangular_systems();
  sparse_vectors();
  conversions();
  factorizations();
  if (wrong == 0) std::puts("right");
}

// ---- defects ----

struct Parts {
  std::vector<int> offsets = ::offsets, columns = ::columns;
  std::vector<float> values = ::values;
};
void multiply(const Parts& parts, const std::vector<float>& x_values) {
  cusparseSpMatDescr_t matrix = nullptr;
  cusparseDnVecDescr_t x = nullptr, y = nullptr;
  cusparseCreateCsr(&matrix, m, n, nonzeros, to_device(parts.offsets), to_device(parts.columns),
                    to_device(parts.values), kInt, kInt, kZero, CUDA_R_32F);
  cusparseCreateDnVec(&x, n, to_device(x_values), CUDA_R_32F);
  cusparseCreateDnVec(&y, m, fresh<float>(m), CUDA_R_32F);
  void* const buffer = buffer_for(kPlain, matrix, x, y);
  //~ spmv
  cusparseSpMV(handle, kPlain, &one, matrix, x, &zero, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
               buffer);
  to_host(values_of(y), m);
}

void short_values() {
  Parts parts;
  if (!clean) parts.values.pop_back();
  multiply(parts, {1, 2, 3});
}
void short_offsets() {
  Parts parts;
  if (!clean) parts.offsets.pop_back();
  multiply(parts, {1, 2, 3});
}
void stray_column() {
  Parts parts;
  if (!clean) parts.columns[3] = 3;
  multiply(parts, {1, 2, 3});
}
void short_x() { multiply({}, clean ? std::vector<float>{1, 2, 3} : std::vector<float>{1, 2}); }

void no_buffer() {
  const auto matrix = csr();
  const auto x = vector({1, 2, 3}), y = vector({0, 0, 0, 0});
  void* const buffer = clean ? buffer_for(kPlain, matrix, x, y) : nullptr;
  //~ no_buffer
  cusparseSpMV(handle, kPlain, &one, matrix, x, &zero, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
               buffer);
  cudaDeviceSynchronize();
}

// Row 1 depends on an element that nothing has written.
void unwritten_x() {
  const auto matrix = csr();
  const auto y = vector({0, 0, 0, 0});
  float* const of_x = fresh<float>(n);
  cudaMemset(of_x, 0, (clean ? 3 : 1) * sizeof(float));
  cudaMemset(of_x + 2, 0, sizeof(float));
  cusparseDnVecDescr_t x = nullptr;
  cusparseCreateDnVec(&x, n, of_x, CUDA_R_32F);
  void* const buffer = buffer_for(kPlain, matrix, x, y);
  //~ unwritten_x
  cusparseSpMV(handle, kPlain, &one, matrix, x, &zero, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
               buffer);
  to_host(values_of(y) + 2, 2);
  to_host(values_of(y), 2);
}

void race() {
  const auto matrix = csr();
  const auto x = vector({1, 2, 3}), y = vector({0, 0, 0, 0});
  void* const buffer = buffer_for(kPlain, matrix, x, y);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  scale<<<1, n>>>(values_of(x), 2);
  if (clean) cudaDeviceSynchronize();
  cusparseSetStream(handle, stream);
  //~ race
  cusparseSpMV(handle, kPlain, &one, matrix, x, &zero, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
               buffer);
  cudaDeviceSynchronize();
}

void refused() {
  int count = 0;
  if (!clean) cusparseSpMatGetStridedBatch(csr(), &count);
}

// Calls that the documentation forbids.
void invalid() {
  const auto matrix = csr();
  int* const parts = fresh<int>(8);
  std::size_t bytes = 0;
  CHECK(cusparseCsr2cscEx2_bufferSize(handle, m, n, nonzeros, parts, parts, parts, parts, parts,
                                      parts, CUDA_R_32F, CUSPARSE_ACTION_NUMERIC, kZero,
                                      CUSPARSE_CSR2CSC_ALG1, &bytes));
  const cusparseStatus_t answers[] = {
      cusparseCscSetPointers(matrix, parts, parts, parts),
      cusparseCooSetPointers(matrix, parts, parts, parts),
      cusparseCsr2cscEx2(handle, m, n, nonzeros, nullptr, parts, parts, nullptr, parts, parts,
                         CUDA_R_32F, CUSPARSE_ACTION_NUMERIC, kZero, CUSPARSE_CSR2CSC_ALG1,
                         fresh<char>(bytes))};
  for (const cusparseStatus_t answer : answers) std::puts(cusparseGetErrorName(answer));
}

struct Row {
  const char* name;
  void (*run)();
};
constexpr Row kRows[] = {{"short_values", short_values},
                         {"short_offsets", short_offsets},
                         {"stray_column", stray_column},
                         {"short_x", short_x},
                         {"no_buffer", no_buffer},
                         {"unwritten_x", unwritten_x},
                         {"race", race},
                         {"refused", refused}};

}  // namespace

int main(int count, char** arguments) {
  const char* const mode = count > 1 ? arguments[1] : "right";
  clean = std::strcmp(mode, "clean") == 0;
  cusparseCreate(&handle);
  if (std::strcmp(mode, "right") == 0) right();
  if (std::strcmp(mode, "invalid") == 0) invalid();
  for (const Row& row : kRows) {
    if (clean || std::strcmp(mode, row.name) == 0) row.run();
    cusparseSetStream(handle, nullptr);
  }
  cusparseDestroy(handle);
}
