// Programs with cuSOLVER, one an argument: `right` calls each function in each of its types and
// says whether what it gives fits its definition; the others have a defect each, at the line behind
// its name, whose clean twins are `clean`.
#include <cusolverDn.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <vector>

__global__ void scale(double* x, double by) { x[threadIdx.x] *= by; }

namespace {

using Number = std::complex<double>;
cusolverDnHandle_t handle;
bool clean = false;
int wrong = 0;
unsigned draws = 1;

void expect(const char* what, bool is_right) {
  if (is_right) return;
  ++wrong;
  std::printf("wrong: %s\n", what);
}
#define CHECK(call) expect(#call, (call) == 0)

template <class T>
constexpr bool kIsComplex = std::is_same_v<T, cuComplex> || std::is_same_v<T, cuDoubleComplex>;
template <class T>
T from(Number value) {
  if constexpr (kIsComplex<T>) {
    T made;
    made.x = value.real(), made.y = value.imag();
    return made;
  } else {
    return static_cast<T>(value.real());
  }
}
template <class T>
Number number(T value) {
  if constexpr (kIsComplex<T>) {
    return {value.x, value.y};
  } else {
    return static_cast<double>(value);
  }
}
double draw() {
  draws = draws * 1664525 + 1013904223;
  return static_cast<int>(draws >> 24) / 16.0 - 8;
}

template <class T>
T* fresh(std::size_t count) {
  T* pointer = nullptr;
  cudaMalloc(&pointer, count * sizeof(T));
  return pointer;
}

// Columns are as long as `leading`; what is between them is not written.
struct Matrix {
  int rows, columns;
  std::vector<Number> all;
  Matrix(int r, int c) : rows(r), columns(c), all(r * c) {}
  Number& operator()(int i, int j) { return all[i + j * rows]; }
  const Number& operator()(int i, int j) const { return all[i + j * rows]; }
};
template <class T>
Matrix drawn(int rows, int columns) {
  Matrix made(rows, columns);
  for (Number& value : made.all) value = {draw(), kIsComplex<T> ? draw() : 0};
  return made;
}
Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.columns);
  for (int j = 0; j < c.columns; ++j) {
    for (int i = 0; i < c.rows; ++i) {
      for (int l = 0; l < a.columns; ++l) c(i, j) += a(i, l) * b(l, j);
    }
  }
  return c;
}
Matrix adjoint(const Matrix& a) {
  Matrix b(a.columns, a.rows);
  for (int j = 0; j < b.columns; ++j) {
    for (int i = 0; i < b.rows; ++i) b(i, j) = std::conj(a(j, i));
  }
  return b;
}
Matrix part(const Matrix& a, int rows, int columns) {
  Matrix b(rows, columns);
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < rows; ++i) b(i, j) = a(i, j);
  }
  return b;
}

template <class T>
T* put(const Matrix& a, int leading, bool (*is_there)(int, int) = nullptr) {
  T* const device = fresh<T>(leading * (a.columns - 1) + a.rows);
  for (int j = 0; j < a.columns; ++j) {
    for (int i = 0; i < a.rows; ++i) {
      if (is_there != nullptr && !is_there(i, j)) continue;
      const T value = from<T>(a(i, j));
      cudaMemcpy(device + i + j * leading, &value, sizeof value, cudaMemcpyHostToDevice);
    }
  }
  return device;
}
template <class T>
Matrix get(const T* device, int rows, int columns, int leading) {
  std::vector<T> all(rows * columns);
  cudaMemcpy2D(all.data(), rows * sizeof(T), device, leading * sizeof(T), rows * sizeof(T), columns,
               cudaMemcpyDeviceToHost);
  Matrix made(rows, columns);
  for (std::size_t i = 0; i < all.size(); ++i) made.all[i] = number(all[i]);
  return made;
}
int get_int(const int* device) {
  int value = -7;
  cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost);
  return value;
}
void expect_near(const char* what, const Matrix& found, const Matrix& wanted, double tolerance) {
  for (std::size_t i = 0; i < wanted.all.size(); ++i) {
    if (std::abs(found.all[i] - wanted.all[i]) <= tolerance) continue;
    ++wrong;
    std::printf("wrong: %s: element %zu is (%g, %g), not (%g, %g)\n", what, i, found.all[i].real(),
                found.all[i].imag(), wanted.all[i].real(), wanted.all[i].imag());
    return;
  }
}
Matrix identity(int n) {
  Matrix a(n, n);
  for (int i = 0; i < n; ++i) a(i, i) = 1;
  return a;
}
bool is_lower(int i, int j) { return i >= j; }
bool is_upper(int i, int j) { return i <= j; }

// The functions of one type.
template <class T>
struct Api;
#define API(T, R, p, orm, org, syev, allowed)                            \
  template <>                                                            \
  struct Api<T> {                                                        \
    using Real = R;                                                      \
    static constexpr double tolerance = allowed;                         \
    static constexpr auto potrf_size = cusolverDn##p##potrf_bufferSize;  \
    static constexpr auto potrf = cusolverDn##p##potrf;                  \
    static constexpr auto potrs = cusolverDn##p##potrs;                  \
    static constexpr auto getrf_size = cusolverDn##p##getrf_bufferSize;  \
    static constexpr auto getrf = cusolverDn##p##getrf;                  \
    static constexpr auto getrs = cusolverDn##p##getrs;                  \
    static constexpr auto geqrf_size = cusolverDn##p##geqrf_bufferSize;  \
    static constexpr auto geqrf = cusolverDn##p##geqrf;                  \
    static constexpr auto ormqr_size = cusolverDn##p##orm##_bufferSize;  \
    static constexpr auto ormqr = cusolverDn##p##orm;                    \
    static constexpr auto orgqr_size = cusolverDn##p##org##_bufferSize;  \
    static constexpr auto orgqr = cusolverDn##p##org;                    \
    static constexpr auto syevd_size = cusolverDn##p##syev##_bufferSize; \
    static constexpr auto syevd = cusolverDn##p##syev;                   \
    static constexpr auto gesvd_size = cusolverDn##p##gesvd_bufferSize;  \
    static constexpr auto gesvd = cusolverDn##p##gesvd;                  \
  };
API(float, float, S, ormqr, orgqr, syevd, 5e-2)
API(double, double, D, ormqr, orgqr, syevd, 1e-9)
API(cuComplex, float, C, unmqr, ungqr, heevd, 5e-2)
API(cuDoubleComplex, double, Z, unmqr, ungqr, heevd, 1e-9)

// Positive definite, and of it one triangle alone.
template <class T>
void try_cholesky() {
  using A = Api<T>;
  constexpr int n = 5, k = 2;
  const Matrix root = drawn<T>(n, n), b = drawn<T>(n, k);
  Matrix a = root * adjoint(root);
  for (int i = 0; i < n; ++i) a(i, i) += 20;
  for (const auto uplo : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    const bool lower = uplo == CUBLAS_FILL_MODE_LOWER;
    T *const on_a = put<T>(a, n + 1, lower ? is_lower : is_upper), *const on_b = put<T>(b, n + 2);
    int size = 0, *const info = fresh<int>(1);
    CHECK(A::potrf_size(handle, uplo, n, on_a, n + 1, &size));
    CHECK(A::potrf(handle, uplo, n, on_a, n + 1, fresh<T>(size), size, info));
    expect("potrf's info", get_int(info) == 0);
    CHECK(A::potrs(handle, uplo, n, k, on_a, n + 1, on_b, n + 2, info));
    expect("potrs's info", get_int(info) == 0);
    expect_near("potrs", a * get(on_b, n, k, n + 2), b, A::tolerance);
  }
  Matrix other = identity(n);
  other(2, 2) = -1;
  int size = 0, *const info = fresh<int>(1);
  T* const on_other = put<T>(other, n);
  CHECK(A::potrf_size(handle, CUBLAS_FILL_MODE_LOWER, n, on_other, n, &size));
  CHECK(A::potrf(handle, CUBLAS_FILL_MODE_LOWER, n, on_other, n, fresh<T>(size), size, info));
  expect("potrf's info of a matrix that is not positive definite", get_int(info) == 3);
}

template <class T>
void try_lu() {
  using A = Api<T>;
  constexpr int n = 5, k = 2;
  Matrix a = drawn<T>(n, n);
  const Matrix b = drawn<T>(n, k);
  for (int i = 0; i < n; ++i) a(i, (i + 2) % n) += 30;
  T* const on_a = put<T>(a, n + 1);
  int size = 0, *const info = fresh<int>(1), *const pivots = fresh<int>(n);
  CHECK(A::getrf_size(handle, n, n, on_a, n + 1, &size));
  CHECK(A::getrf(handle, n, n, on_a, n + 1, fresh<T>(size), pivots, info));
  expect("getrf's info", get_int(info) == 0);
  for (const auto trans : {CUBLAS_OP_N, CUBLAS_OP_C}) {
    T* const on_b = put<T>(b, n + 2);
    CHECK(A::getrs(handle, trans, n, k, on_a, n + 1, pivots, on_b, n + 2, info));
    expect_near("getrs", (trans == CUBLAS_OP_N ? a : adjoint(a)) * get(on_b, n, k, n + 2), b,
                A::tolerance);
  }
  // High and wide: P * A = L * U.
  for (const auto [rows, columns] : {std::pair{6, 4}, std::pair{4, 6}}) {
    const Matrix given = drawn<T>(rows, columns);
    T* const matrix = put<T>(given, rows);
    CHECK(A::getrf(handle, rows, columns, matrix, rows, fresh<T>(size), pivots, info));
    const Matrix lu = get(matrix, rows, columns, rows);
    Matrix lower(rows, 4), upper(4, columns), exchanged = given;
    for (int l = 0; l < 4; ++l) {
      for (int i = l; i < rows; ++i) lower(i, l) = i == l ? 1 : lu(i, l);
      for (int j = l; j < columns; ++j) upper(l, j) = lu(l, j);
      const int other = get_int(pivots + l) - 1;
      for (int j = 0; other != l && j < columns; ++j) {
        std::swap(exchanged(l, j), exchanged(other, j));
      }
    }
    expect_near("getrf of a rectangle", lower * upper, exchanged, A::tolerance);
  }
}

template <class T>
void try_qr() {
  using A = Api<T>;
  constexpr int m = 6, n = 4;
  const auto turned = kIsComplex<T> ? CUBLAS_OP_C : CUBLAS_OP_T;
  const Matrix a = drawn<T>(m, n);
  T *const on_a = put<T>(a, m + 1), *const tau = fresh<T>(n);
  int size = 0, *const info = fresh<int>(1);
  CHECK(A::geqrf_size(handle, m, n, on_a, m + 1, &size));
  CHECK(A::geqrf(handle, m, n, on_a, m + 1, tau, fresh<T>(size), size, info));
  expect("geqrf's info", get_int(info) == 0);
  Matrix r = get(on_a, m, n, m + 1);
  for (int j = 0; j < n; ++j) {
    for (int i = j + 1; i < m; ++i) r(i, j) = 0;
  }
  const auto apply = [&](cublasSideMode_t side, cublasOperation_t trans, const Matrix& to) {
    T* const on_c = put<T>(to, to.rows + 1);
    CHECK(A::ormqr_size(handle, side, trans, to.rows, to.columns, n, on_a, m + 1, tau, on_c,
                        to.rows + 1, &size));
    CHECK(A::ormqr(handle, side, trans, to.rows, to.columns, n, on_a, m + 1, tau, on_c, to.rows + 1,
                   fresh<T>(size), size, info));
    return get(on_c, to.rows, to.columns, to.rows + 1);
  };
  expect_near("Q * R", apply(CUBLAS_SIDE_LEFT, CUBLAS_OP_N, r), a, A::tolerance);
  expect_near("Q' * A", apply(CUBLAS_SIDE_LEFT, turned, a), r, A::tolerance);
  expect_near("R' * Q'", apply(CUBLAS_SIDE_RIGHT, turned, adjoint(r)), adjoint(a), A::tolerance);
  expect_near("A' * Q", apply(CUBLAS_SIDE_RIGHT, CUBLAS_OP_N, adjoint(a)), adjoint(r),
              A::tolerance);
  CHECK(A::orgqr_size(handle, m, n, n, on_a, m + 1, tau, &size));
  CHECK(A::orgqr(handle, m, n, n, on_a, m + 1, tau, fresh<T>(size), size, info));
  const Matrix q = get(on_a, m, n, m + 1);
  expect_near("Q's columns", adjoint(q) * q, identity(n), A::tolerance);
  expect_near("Q * R again", q * part(r, n, n), a, A::tolerance);
}

template <class T>
void try_eigenvalues() {
  using A = Api<T>;
  using R = typename A::Real;
  constexpr int n = 6;
  const Matrix half = drawn<T>(n, n);
  Matrix a = half;
  for (int i = 0; i < n * n; ++i) a.all[i] += adjoint(half).all[i];
  for (const auto uplo : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    T* const on_a = put<T>(a, n + 1, uplo == CUBLAS_FILL_MODE_LOWER ? is_lower : is_upper);
    R* const on_w = fresh<R>(n);
    int size = 0, *const info = fresh<int>(1);
    CHECK(A::syevd_size(handle, CUSOLVER_EIG_MODE_VECTOR, uplo, n, on_a, n + 1, on_w, &size));
    CHECK(A::syevd(handle, CUSOLVER_EIG_MODE_VECTOR, uplo, n, on_a, n + 1, on_w, fresh<T>(size),
                   size, info));
    expect("syevd's info", get_int(info) == 0);
    const Matrix w = get(on_w, n, 1, n), v = get(on_a, n, n, n + 1);
    Matrix scaled = v;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) scaled(i, j) *= w(j, 0);
      expect("ascending eigenvalues", j == 0 || w(j - 1, 0).real() <= w(j, 0).real());
    }
    expect_near("A * V", a * v, scaled, A::tolerance);
    expect_near("V' * V", adjoint(v) * v, identity(n), A::tolerance);
    T* const again = put<T>(a, n + 1);
    R* const values = fresh<R>(n);
    CHECK(A::syevd(handle, CUSOLVER_EIG_MODE_NOVECTOR, uplo, n, again, n + 1, values,
                   fresh<T>(size), size, info));
    expect_near("eigenvalues alone", get(values, n, 1, n), w, A::tolerance);
  }
}

template <class T>
void try_singular_values() {
  using A = Api<T>;
  using R = typename A::Real;
  constexpr int m = 6, n = 4;
  Matrix a = drawn<T>(m, n);
  for (const bool is_singular : {false, true}) {
    for (int i = 0; is_singular && i < m; ++i) a(i, 3) = a(i, 1);
    int size = 0, *const info = fresh<int>(1);
    R* const on_s = fresh<R>(n);
    T *const on_u = fresh<T>(m * m), *const on_v = fresh<T>(n * n);
    CHECK(A::gesvd_size(handle, m, n, &size));
    CHECK(A::gesvd(handle, 'A', 'A', m, n, put<T>(a, m + 1), m + 1, on_s, on_u, m, on_v, n,
                   fresh<T>(size), size, nullptr, info));
    expect("gesvd's info", get_int(info) == 0);
    const Matrix s = get(on_s, n, 1, n), u = get(on_u, m, m, m), v = get(on_v, n, n, n);
    Matrix scaled = part(u, m, n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) scaled(i, j) *= s(j, 0);
      expect("descending singular values", j == 0 || s(j - 1, 0).real() >= s(j, 0).real());
    }
    expect_near("U * S * V'", scaled * v, a, A::tolerance);
    expect_near("U' * U", adjoint(u) * u, identity(m), A::tolerance);
    expect_near("V * V'", v * adjoint(v), identity(n), A::tolerance);
    expect("the last singular value", (s(n - 1, 0).real() < A::tolerance) == is_singular);
    R* const alone = fresh<R>(n);
    CHECK(A::gesvd(handle, 'N', 'N', m, n, put<T>(a, m), m, alone, nullptr, m, nullptr, n,
                   fresh<T>(size), size, nullptr, info));
    expect_near("singular values alone", get(alone, n, 1, n), s, A::tolerance);
  }
}

template <class T>
void try_type() {
  try_cholesky<T>();
  try_lu<T>();
  try_qr<T>();
  try_eigenvalues<T>();
  try_singular_values<T>();
}

void right() {
  cudaStream_t stream = nullptr, got = nullptr;
  int version = 0, major = 0;
  cudaStreamCreate(&stream);
  CHECK(cusolverDnSetStream(handle, stream));
  CHECK(cusolverDnGetStream(handle, &got));
  CHECK(cusolverDnSetStream(handle, nullptr));
  CHECK(cusolverGetVersion(&version));
  CHECK(cusolverGetProperty(MAJOR_VERSION, &major));
  expect("settings", got == stream && version / 1000 == major);
  try_type<float>();
  try_type<double>();
  try_type<cuComplex>();
  try_type<cuDoubleComplex>();
  if (wrong == 0) std::puts("right");
}

// ---- defects ----

constexpr int kOrder = 4;
double* filled(int count) {
  std::vector<double> values(count, 0.5);
  for (int i = 0; i < count; i += kOrder + 1) values[i] = 4;
  double* const device = fresh<double>(count);
  cudaMemcpy(device, values.data(), count * sizeof(double), cudaMemcpyHostToDevice);
  return device;
}

void cholesky(double* a, int work_count) {
  int* const info = fresh<int>(1);
  int size = 0;
  cusolverDnDpotrf_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, kOrder, a, kOrder, &size);
  double* const work = fresh<double>(work_count == 0 ? size : work_count);
  //~ cholesky
  cusolverDnDpotrf(handle, CUBLAS_FILL_MODE_LOWER, kOrder, a, kOrder, work, size, info);
  get_int(info);
}
void short_matrix() { cholesky(filled(clean ? 16 : 15), 0); }
void short_workspace() { cholesky(filled(16), clean ? 0 : 4); }

void unwritten_pivots() {
  double *const a = filled(16), *const b = filled(4);
  int *const info = fresh<int>(1), *const pivots = fresh<int>(kOrder);
  if (clean) {
    cusolverDnDgetrf(handle, kOrder, kOrder, a, kOrder, fresh<double>(256), pivots, info);
  }
  //~ unwritten_pivots
  cusolverDnDgetrs(handle, CUBLAS_OP_N, kOrder, 1, a, kOrder, pivots, b, kOrder, info);
  cudaDeviceSynchronize();
}

void race() {
  double *const a = filled(16), *const b = filled(4), *const work = fresh<double>(256);
  int *const info = fresh<int>(1), *const pivots = fresh<int>(kOrder);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cusolverDnDgetrf(handle, kOrder, kOrder, a, kOrder, work, pivots, info);
  cudaDeviceSynchronize();
  scale<<<1, kOrder>>>(b, 2);
  if (clean) cudaDeviceSynchronize();
  cusolverDnSetStream(handle, stream);
  //~ race
  cusolverDnDgetrs(handle, CUBLAS_OP_N, kOrder, 1, a, kOrder, pivots, b, kOrder, info);
  cudaDeviceSynchronize();
}

// The matrix is destroyed by its singular values.
void used_again() {
  double *const a = filled(16), *const s = fresh<double>(kOrder);
  int* const info = fresh<int>(1);
  double* const again = clean ? filled(16) : a;
  //~ used_again
  cusolverDnDgesvd(handle, 'N', 'N', kOrder, kOrder, a, kOrder, s, nullptr, kOrder, nullptr, kOrder,
                   fresh<double>(256), 256, nullptr, info);
  double values[16];
  cudaMemcpy(values, again, sizeof values, cudaMemcpyDeviceToHost);
}

void refused() {
  int size = 0;
  if (!clean) {
    cusolverDnDsyevj_bufferSize(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, kOrder,
                                nullptr, kOrder, nullptr, &size, nullptr);
  }
}

struct Row {
  const char* name;
  void (*run)();
};
constexpr Row kRows[] = {{"short_matrix", short_matrix},
                         {"short_workspace", short_workspace},
                         {"unwritten_pivots", unwritten_pivots},
                         {"race", race},
                         {"used_again", used_again},
                         {"refused", refused}};

}  // namespace

int main(int count, char** arguments) {
  const char* const mode = count > 1 ? arguments[1] : "right";
  clean = std::strcmp(mode, "clean") == 0;
  cusolverDnCreate(&handle);
  if (std::strcmp(mode, "right") == 0) right();
  for (const Row& row : kRows) {
    if (clean || std::strcmp(mode, row.name) == 0) row.run();
    cusolverDnSetStream(handle, nullptr);
  }
  cusolverDnDestroy(handle);
}
