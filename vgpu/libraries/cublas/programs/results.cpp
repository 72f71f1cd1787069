// Functions of cuBLAS and what they should compute, written down from their definitions: prints
// "right", or what is wrong.  All matrices lie in memory with room between their columns that
// nothing has written.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <type_traits>
#include <vector>

namespace {

using Number = std::complex<double>;
cublasHandle_t handle;
int wrong = 0;
unsigned draws = 1;

double next() {
  draws = draws * 1664525 + 1013904223;
  return static_cast<int>(draws >> 24) / 16.0 - 8;
}

template <typename T>
T from(Number value);
template <>
float from(Number value) {
  return static_cast<float>(value.real());
}
template <>
double from(Number value) {
  return value.real();
}
template <>
cuComplex from(Number value) {
  return {from<float>(value), static_cast<float>(value.imag())};
}
template <>
cuDoubleComplex from(Number value) {
  return {value.real(), value.imag()};
}
template <>
__half from(Number value) {
  return __float2half(from<float>(value));
}
template <>
__nv_bfloat16 from(Number value) {
  return __float2bfloat16(from<float>(value));
}
template <>
std::int8_t from(Number value) {
  return static_cast<std::int8_t>(value.real());
}
template <>
std::int32_t from(Number value) {
  return static_cast<std::int32_t>(value.real());
}

Number to(float value) { return value; }
Number to(double value) { return value; }
Number to(cuComplex value) { return {value.x, value.y}; }
Number to(cuDoubleComplex value) { return {value.x, value.y}; }
Number to(__half value) { return __half2float(value); }
Number to(__nv_bfloat16 value) { return __bfloat162float(value); }
Number to(std::int32_t value) { return value; }
Number to(std::int8_t value) { return value; }

template <typename T>
constexpr bool kComplex = sizeof(T) >= 8 && alignof(T) == sizeof(T) && !std::is_same_v<T, double>;

// A matrix on the device and what is in it; columns are two elements longer than they need be.
template <typename T>
struct Matrix {
  int rows, columns, leading;
  T* device = nullptr;
  std::vector<Number> values;

  Matrix(int r, int c, bool empty = false) : rows(r), columns(c), leading(r + 2) {
    cudaMalloc(reinterpret_cast<void**>(&device), sizeof(T) * (leading * (columns - 1) + rows));
    values.resize(rows * columns);
    if (empty) return;
    for (Number& value : values) {
      value = to(from<T>(Number(next(), kComplex<T> ? next() : 0)));
    }
    put();
  }
  ~Matrix() { cudaFree(device); }
  Number& at(int i, int j) { return values[i + j * rows]; }
  void put() {
    std::vector<T> all;
    for (const Number& value : values) all.push_back(from<T>(value));
    cudaMemcpy2D(device, leading * sizeof(T), all.data(), rows * sizeof(T), rows * sizeof(T),
                 columns, cudaMemcpyHostToDevice);
  }
  std::vector<Number> get() const {
    std::vector<T> all(rows * columns);
    cudaMemcpy2D(all.data(), rows * sizeof(T), device, leading * sizeof(T), rows * sizeof(T),
                 columns, cudaMemcpyDeviceToHost);
    std::vector<Number> numbers;
    for (const T& value : all) numbers.push_back(to(value));
    return numbers;
  }
};
void expect(const char* what, bool is_right) {
  if (is_right) return;
  ++wrong;
  std::printf("wrong: %s\n", what);
}
void expect_near(const char* what, Number found, Number wanted, double tolerance) {
  if (std::abs(found - wanted) <= tolerance * (1 + std::abs(wanted))) return;
  ++wrong;
  std::printf("wrong: %s: (%g, %g), not (%g, %g)\n", what, found.real(), found.imag(),
              wanted.real(), wanted.imag());
}
template <typename T>
void expect_matrix(const char* what, const Matrix<T>& found, const std::vector<Number>& wanted,
                   double tolerance) {
  const std::vector<Number> all = found.get();
  for (std::size_t i = 0; i < all.size(); ++i) expect_near(what, all[i], wanted[i], tolerance);
}

template <typename T>
Number op(Matrix<T>& a, cublasOperation_t operation, int i, int j) {
  if (operation == CUBLAS_OP_N) return a.at(i, j);
  return operation == CUBLAS_OP_T ? a.at(j, i) : std::conj(a.at(j, i));
}
// Element (i, j) of a triangle, or of the symmetric matrix that it stands for.
template <typename T>
Number part(Matrix<T>& a, cublasFillMode_t uplo, int i, int j, bool symmetric) {
  const bool is_there = uplo == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
  if (is_there) return a.at(i, j);
  return symmetric ? a.at(j, i) : 0;
}

constexpr cublasOperation_t kOperations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
constexpr cublasFillMode_t kParts[] = {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER};

// ---- each type's functions ----

template <typename T>
struct Api;
#define API(T, p, tolerance_of_type)                               \
  template <>                                                      \
  struct Api<T> {                                                  \
    static constexpr double tolerance = tolerance_of_type;         \
    static constexpr auto gemm = cublas##p##gemm;                  \
    static constexpr auto strided = cublas##p##gemmStridedBatched; \
    static constexpr auto batched = cublas##p##gemmBatched;        \
    static constexpr auto gemv = cublas##p##gemv;                  \
    static constexpr auto symm = cublas##p##symm;                  \
    static constexpr auto syrk = cublas##p##syrk;                  \
    static constexpr auto syr2k = cublas##p##syr2k;                \
    static constexpr auto trmm = cublas##p##trmm;                  \
    static constexpr auto trsm = cublas##p##trsm;                  \
    static constexpr auto trsv = cublas##p##trsv;                  \
    static constexpr auto trmv = cublas##p##trmv;                  \
    static constexpr auto syr = cublas##p##syr;                    \
    static constexpr auto symv = cublas##p##symv;                  \
    static constexpr auto tpttr = cublas##p##tpttr;                \
    static constexpr auto trttp = cublas##p##trttp;                \
    static constexpr auto geam = cublas##p##geam;                  \
    static constexpr auto dgmm = cublas##p##dgmm;                  \
    static constexpr auto axpy = cublas##p##axpy;                  \
    static constexpr auto scal = cublas##p##scal;                  \
    static constexpr auto swap = cublas##p##swap;                  \
    static constexpr auto getrf = cublas##p##getrfBatched;         \
    static constexpr auto getrs = cublas##p##getrsBatched;         \
    static constexpr auto getri = cublas##p##getriBatched;         \
    static constexpr auto matinv = cublas##p##matinvBatched;       \
    static constexpr auto geqrf = cublas##p##geqrfBatched;         \
  };
API(float, S, 1e-4)
API(double, D, 1e-12)
API(cuComplex, C, 1e-4)
API(cuDoubleComplex, Z, 1e-12)

template <typename T>
void try_products() {
  using A = Api<T>;
  const int m = 5, n = 4, k = 3;
  const T alpha = from<T>(2), beta = from<T>(-0.5), zero = from<T>(0);
  for (const auto ta : kOperations) {
    for (const auto tb : kOperations) {
      Matrix<T> a(ta == CUBLAS_OP_N ? m : k, ta == CUBLAS_OP_N ? k : m);
      Matrix<T> b(tb == CUBLAS_OP_N ? k : n, tb == CUBLAS_OP_N ? n : k);
      Matrix<T> c(m, n), fresh(m, n, true);
      std::vector<Number> wanted, plain;
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) {
          Number sum = 0;
          for (int l = 0; l < k; ++l) sum += op(a, ta, i, l) * op(b, tb, l, j);
          wanted.push_back(2.0 * sum - 0.5 * c.at(i, j));
          plain.push_back(2.0 * sum);
        }
      }
      A::gemm(handle, ta, tb, m, n, k, &alpha, a.device, a.leading, b.device, b.leading, &beta,
              c.device, c.leading);
      expect_matrix("gemm", c, wanted, A::tolerance);
      A::gemm(handle, ta, tb, m, n, k, &alpha, a.device, a.leading, b.device, b.leading, &zero,
              fresh.device, fresh.leading);
      expect_matrix("gemm into fresh memory", fresh, plain, A::tolerance);
      // Two by strides, B the same for both; and one by pointers.
      A::strided(handle, ta, tb, m, n, k, &alpha, a.device, a.leading, 0, b.device, b.leading, 0,
                 &zero, fresh.device, fresh.leading, 0, 2);
      expect_matrix("gemmStridedBatched", fresh, plain, A::tolerance);
      T** pointers = nullptr;
      cudaMallocManaged(reinterpret_cast<void**>(&pointers), 3 * sizeof(T*));
      pointers[0] = a.device, pointers[1] = b.device, pointers[2] = c.device;
      A::batched(handle, ta, tb, m, n, k, &alpha, pointers, a.leading, pointers + 1, b.leading,
                 &zero, pointers + 2, c.leading, 1);
      expect_matrix("gemmBatched", c, plain, A::tolerance);
      cudaFree(pointers);
    }
    Matrix<T> a(m, n);
    const int from_x = ta == CUBLAS_OP_N ? n : m, to_y = ta == CUBLAS_OP_N ? m : n;
    Matrix<T> vx(from_x, 1), vy(to_y, 1);
    std::vector<Number> wanted;
    for (int i = 0; i < to_y; ++i) {
      Number sum = 0;
      // Backwards through x.
      for (int j = 0; j < from_x; ++j) sum += op(a, ta, i, j) * vx.at(from_x - 1 - j, 0);
      wanted.push_back(2.0 * sum - 0.5 * vy.at(i, 0));
    }
    A::gemv(handle, ta, m, n, &alpha, a.device, a.leading, vx.device, -1, &beta, vy.device, 1);
    expect_matrix("gemv", vy, wanted, A::tolerance);
  }
}

template <typename T>
void try_symmetric() {
  using A = Api<T>;
  const int n = 4, k = 3;
  const T alpha = from<T>(2), beta = from<T>(-0.5);
  for (const auto uplo : kParts) {
    Matrix<T> s(n, n), b(n, k), c(n, k), a(n, k), d(n, k), full(n, n), other(n, n);
    std::vector<Number> product, update, update2;
    for (int j = 0; j < k; ++j) {
      for (int i = 0; i < n; ++i) {
        Number sum = 0;
        for (int l = 0; l < n; ++l) sum += part(s, uplo, i, l, true) * b.at(l, j);
        product.push_back(2.0 * sum - 0.5 * c.at(i, j));
      }
    }
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        Number sum = 0, both = 0;
        for (int l = 0; l < k; ++l) {
          sum += a.at(i, l) * a.at(j, l);
          both += a.at(i, l) * d.at(j, l) + d.at(i, l) * a.at(j, l);
        }
        const bool is_there = uplo == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
        update.push_back(is_there ? 2.0 * sum - 0.5 * full.at(i, j) : full.at(i, j));
        update2.push_back(is_there ? 2.0 * both - 0.5 * other.at(i, j) : other.at(i, j));
      }
    }
    A::symm(handle, CUBLAS_SIDE_LEFT, uplo, n, k, &alpha, s.device, s.leading, b.device, b.leading,
            &beta, c.device, c.leading);
    expect_matrix("symm", c, product, A::tolerance);
    A::syrk(handle, uplo, CUBLAS_OP_N, n, k, &alpha, a.device, a.leading, &beta, full.device,
            full.leading);
    expect_matrix("syrk", full, update, A::tolerance);
    A::syr2k(handle, uplo, CUBLAS_OP_N, n, k, &alpha, a.device, a.leading, d.device, d.leading,
             &beta, other.device, other.leading);
    expect_matrix("syr2k", other, update2, A::tolerance);

    Matrix<T> x(n, 1), y(n, 1), r(n, n), packed(n * (n + 1) / 2, 1, true), unpacked(n, n);
    std::vector<Number> vector, rank, again = unpacked.values;
    for (int i = 0; i < n; ++i) {
      Number sum = 0;
      for (int l = 0; l < n; ++l) sum += part(s, uplo, i, l, true) * x.at(l, 0);
      vector.push_back(2.0 * sum - 0.5 * y.at(i, 0));
    }
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        const bool is_there = uplo == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
        rank.push_back(r.at(i, j) + (is_there ? 2.0 * x.at(i, 0) * x.at(j, 0) : 0.0));
        if (is_there) again[i + j * n] = s.at(i, j);
      }
    }
    A::symv(handle, uplo, n, &alpha, s.device, s.leading, x.device, 1, &beta, y.device, 1);
    expect_matrix("symv", y, vector, A::tolerance);
    A::syr(handle, uplo, n, &alpha, x.device, 1, r.device, r.leading);
    expect_matrix("syr", r, rank, A::tolerance);
    A::trttp(handle, uplo, n, s.device, s.leading, packed.device);
    A::tpttr(handle, uplo, n, packed.device, unpacked.device, unpacked.leading);
    expect_matrix("trttp and tpttr", unpacked, again, A::tolerance);
  }
}

// What trmm multiplies by, trsm divides by; of one triangle, which alone is written.
template <typename T>
void try_triangles() {
  using A = Api<T>;
  const int n = 4, k = 3;
  const T one = from<T>(1);
  for (const auto uplo : kParts) {
    for (const auto trans : kOperations) {
      for (const auto diag : {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT}) {
        Matrix<T> t(n, n), b(n, k), c(n, k, true), x(n, 1);
        for (int i = 0; i < n; ++i) t.at(i, i) += 20.0;
        t.put();
        const auto element = [&](int i, int j) -> Number {
          if (i == j && diag == CUBLAS_DIAG_UNIT) return 1;
          const Number value =
              trans == CUBLAS_OP_N ? part(t, uplo, i, j, false) : part(t, uplo, j, i, false);
          return trans == CUBLAS_OP_C ? std::conj(value) : value;
        };
        std::vector<Number> product;
        for (int j = 0; j < k; ++j) {
          for (int i = 0; i < n; ++i) {
            Number sum = 0;
            for (int l = 0; l < n; ++l) sum += element(i, l) * b.at(l, j);
            product.push_back(sum);
          }
        }
        A::trmm(handle, CUBLAS_SIDE_LEFT, uplo, trans, diag, n, k, &one, t.device, t.leading,
                b.device, b.leading, c.device, c.leading);
        expect_matrix("trmm", c, product, A::tolerance);
        A::trsm(handle, CUBLAS_SIDE_LEFT, uplo, trans, diag, n, k, &one, t.device, t.leading,
                c.device, c.leading);
        expect_matrix("trsm", c, b.values, A::tolerance * 100);
        A::trmv(handle, uplo, trans, diag, n, t.device, t.leading, x.device, 1);
        A::trsv(handle, uplo, trans, diag, n, t.device, t.leading, x.device, 1);
        expect_matrix("trmv and trsv", x, x.values, A::tolerance * 100);
      }
    }
  }
}

template <typename T>
void try_own_routines() {
  using A = Api<T>;
  const int m = 4, n = 3;
  const T alpha = from<T>(2), beta = from<T>(-0.5);
  Matrix<T> a(m, n), b(n, m), c(m, n, true), d(m, n, true), x(n, 1), y(m * n, 1), z(m * n, 1);
  std::vector<Number> sum, scaled, axpy, times;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      sum.push_back(2.0 * a.at(i, j) - 0.5 * b.at(j, i));
      scaled.push_back(a.at(i, j) * x.at(j, 0));
    }
  }
  A::geam(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, &alpha, a.device, a.leading, &beta, b.device,
          b.leading, c.device, c.leading);
  expect_matrix("geam", c, sum, A::tolerance);
  A::dgmm(handle, CUBLAS_SIDE_RIGHT, m, n, a.device, a.leading, x.device, 1, d.device, d.leading);
  expect_matrix("dgmm", d, scaled, A::tolerance);
  for (int i = 0; i < m * n; ++i) {
    axpy.push_back(y.at(i, 0) + (i % 2 == 0 ? 2.0 * z.at(i, 0) : 0.0));
    times.push_back(2.0 * z.at(i, 0));
  }
  A::axpy(handle, m * n / 2, &alpha, z.device, 2, y.device, 2);
  expect_matrix("axpy", y, axpy, A::tolerance);
  A::scal(handle, m * n, &alpha, z.device, 1);
  A::swap(handle, m * n, z.device, 1, y.device, 1);
  expect_matrix("scal and swap", y, times, A::tolerance);
  expect_matrix("swap", z, axpy, A::tolerance);
}

template <typename T>
void try_factorizations() {
  using A = Api<T>;
  const int n = 4, k = 2;
  const double tolerance = A::tolerance * 100;
  Matrix<T> a(n, n), b(n, k), lu(n, n), inverse(n, n, true), other(n, n, true), qr(n, n),
      tau(n, 1, true);
  for (int i = 0; i < n; ++i) a.at(i, (i + 1) % n) += 30.0;
  a.put();
  lu.values = a.values;
  lu.put();
  std::vector<Number> product, identity;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) identity.push_back(i == j ? 1 : 0);
  }
  T** of = nullptr;
  int *pivots = nullptr, *info = nullptr, host_info = 7;
  cudaMallocManaged(reinterpret_cast<void**>(&of), 8 * sizeof(T*));
  cudaMallocManaged(reinterpret_cast<void**>(&pivots), n * sizeof(int));
  cudaMallocManaged(reinterpret_cast<void**>(&info), sizeof(int));
  T* const all[] = {lu.device,    b.device,  inverse.device, a.device,
                    other.device, qr.device, tau.device};
  for (int i = 0; i < 7; ++i) of[i] = all[i];
  A::getrf(handle, n, of, lu.leading, pivots, info, 1);
  A::getrs(handle, CUBLAS_OP_N, n, k, of, lu.leading, pivots, of + 1, b.leading, &host_info, 1);
  cudaDeviceSynchronize();
  expect("getrf: info", *info == 0);
  expect("getrs: info", host_info == 0);
  const std::vector<Number> solution = b.get();
  for (int j = 0; j < k; ++j) {
    for (int i = 0; i < n; ++i) {
      Number sum = 0;
      for (int l = 0; l < n; ++l) sum += a.at(i, l) * solution[l + j * n];
      expect_near("getrf and getrs", sum, b.at(i, j), tolerance);
    }
  }
  A::getri(handle, n, of, lu.leading, pivots, of + 2, inverse.leading, info, 1);
  A::matinv(handle, n, of + 3, a.leading, of + 4, other.leading, info, 1);
  for (Matrix<T>* one : {&inverse, &other}) {
    const std::vector<Number> values = one->get();
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        Number sum = 0;
        for (int l = 0; l < n; ++l) sum += a.at(i, l) * values[l + j * n];
        expect_near("getri, matinv", sum, identity[i + j * n], tolerance);
      }
    }
  }
  // R' * R = A' * A
  A::geqrf(handle, n, n, of + 5, qr.leading, of + 6, &host_info, 1);
  const std::vector<Number> r = qr.get();
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      Number found = 0, wanted = 0;
      for (int l = 0; l < n; ++l) {
        if (l <= i && l <= j) found += std::conj(r[l + i * n]) * r[l + j * n];
        wanted += std::conj(qr.at(l, i)) * qr.at(l, j);
      }
      expect_near("geqrf", found, wanted, tolerance);
    }
  }
  for (void* pointer :
       {static_cast<void*>(of), static_cast<void*>(pivots), static_cast<void*>(info)}) {
    cudaFree(pointer);
  }
}

template <typename T>
void try_type() {
  try_products<T>();
  try_symmetric<T>();
  try_triangles<T>();
  try_own_routines<T>();
  try_factorizations<T>();
}

// ---- what has values for results ----

void try_values() {
  const int n = 7;
  Matrix<float> x(n, 1), y(n, 1);
  Matrix<cuDoubleComplex> z(n, 1), w(n, 1);
  Number dot = 0, dotc = 0;
  double squares = 0, sizes = 0;
  int largest = 0;
  for (int i = 0; i < n; ++i) {
    dot += x.at(i, 0) * y.at(i, 0);
    dotc += std::conj(z.at(i, 0)) * w.at(i, 0);
    squares += std::norm(z.at(i, 0));
    sizes += std::abs(x.at(i, 0));
    if (std::abs(x.at(i, 0)) > std::abs(x.at(largest, 0))) largest = i;
  }
  float result = 0, *on_device = nullptr;
  double norm = 0;
  cuDoubleComplex conjugated;
  int index = 0;
  cublasSdot(handle, n, x.device, 1, y.device, 1, &result);
  expect_near("dot", result, dot, 1e-5);
  cublasZdotc(handle, n, z.device, 1, w.device, 1, &conjugated);
  expect_near("dotc", to(conjugated), dotc, 1e-12);
  cublasDznrm2(handle, n, z.device, 1, &norm);
  expect_near("nrm2", norm, std::sqrt(squares), 1e-12);
  cublasSasum(handle, n, x.device, 1, &result);
  expect_near("asum", result, sizes, 1e-5);
  cublasIsamax(handle, n, x.device, 1, &index);
  expect("amax", index == largest + 1);
  cublasIsamax(handle, 0, x.device, 1, &index);
  expect("amax of nothing", index == 0);
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
  cudaMalloc(reinterpret_cast<void**>(&on_device), sizeof(float));
  cublasSdot(handle, n, x.device, 1, y.device, 1, on_device);
  cublasSscal(handle, n, on_device, x.device, 1);
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
  std::vector<Number> scaled = x.values;
  for (Number& value : scaled) value *= dot;
  expect_matrix("scal by a dot product on the device", x, scaled, 1e-4);
  cudaFree(on_device);
  float a = 3, b = 4, c = 0, s = 0;
  cublasSrotg(handle, &a, &b, &c, &s);
  expect_near("rotg", a * c, 3, 1e-5);
}

template <typename In, typename Out, typename Scalar>
void try_gemm_ex(const char* what, cudaDataType in, cudaDataType out, cublasComputeType_t compute,
                 double tolerance) {
  const int m = 4, n = 8, k = 4;
  const Scalar one = from<Scalar>(1), zero = from<Scalar>(0);
  Matrix<In> a(m, k), b(k, n);
  Matrix<Out> c(m, n, true);
  std::vector<Number> wanted;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      Number sum = 0;
      for (int l = 0; l < k; ++l) sum += a.at(i, l) * b.at(l, j);
      wanted.push_back(sum);
    }
  }
  const cublasStatus_t status = cublasGemmEx(
      handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a.device, in, a.leading, b.device, in,
      b.leading, &zero, c.device, out, c.leading, compute, CUBLAS_GEMM_DEFAULT);
  expect(what, status == CUBLAS_STATUS_SUCCESS);
  expect_matrix(what, c, wanted, tolerance);
}

// D = max(0, A * B + bias), where B is a transposed matrix, and then the same bytes by rows.
void try_matmul() {
  const int m = 4, n = 3, k = 5;
  Matrix<__half> a(m, k), b(n, k);
  Matrix<float> d(m, n, true), bias(m, 1);
  std::vector<Number> wanted;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      Number sum = bias.at(i, 0);
      for (int l = 0; l < k; ++l) sum += a.at(i, l) * b.at(j, l);
      wanted.push_back(sum.real() < 0 ? 0 : sum);
    }
  }
  cublasLtHandle_t lt;
  cublasLtMatmulDesc_t product;
  cublasLtMatrixLayout_t of_a, of_b, of_d;
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulHeuristicResult_t algorithm;
  const cublasLtOrder_t by_rows = CUBLASLT_ORDER_ROW;
  const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
  const cublasOperation_t transposed = CUBLAS_OP_T;
  const float one = 1, zero = 0;
  int found = 0;
  cublasLtCreate(&lt);
  cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                 sizeof epilogue);
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias.device,
                                 sizeof bias.device);
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSB, &transposed,
                                 sizeof transposed);
  cublasLtMatrixLayoutCreate(&of_a, CUDA_R_16F, m, k, a.leading);
  cublasLtMatrixLayoutCreate(&of_b, CUDA_R_16F, n, k, b.leading);
  cublasLtMatrixLayoutCreate(&of_d, CUDA_R_32F, m, n, d.leading);
  cublasLtMatmulPreferenceCreate(&preference);
  expect("cublasLtMatmulAlgoGetHeuristic",
         cublasLtMatmulAlgoGetHeuristic(lt, product, of_a, of_b, of_d, of_d, preference, 1,
                                        &algorithm, &found) == CUBLAS_STATUS_SUCCESS &&
             found == 1);
  const auto multiply = [&] {
    return cublasLtMatmul(lt, product, &one, a.device, of_a, b.device, of_b, &zero, d.device, of_d,
                          d.device, of_d, &algorithm.algo, nullptr, 0, nullptr);
  };
  expect("cublasLtMatmul", multiply() == CUBLAS_STATUS_SUCCESS);
  expect_matrix("matmul", d, wanted, 1e-3);
  // The same bytes as k x n by rows.
  const cublasOperation_t plain = CUBLAS_OP_N;
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSB, &plain, sizeof plain);
  cublasLtMatrixLayoutDestroy(of_b);
  cublasLtMatrixLayoutCreate(&of_b, CUDA_R_16F, k, n, b.leading);
  cublasLtMatrixLayoutSetAttribute(of_b, CUBLASLT_MATRIX_LAYOUT_ORDER, &by_rows, sizeof by_rows);
  expect("cublasLtMatmul by rows", multiply() == CUBLAS_STATUS_SUCCESS);
  expect_matrix("matmul by rows", d, wanted, 1e-3);
  cublasLtMatmulPreferenceDestroy(preference);
  cublasLtMatrixLayoutDestroy(of_a);
  cublasLtMatrixLayoutDestroy(of_b);
  cublasLtMatrixLayoutDestroy(of_d);
  cublasLtMatmulDescDestroy(product);
  cublasLtDestroy(lt);
}

void try_copies() {
  const float values[] = {1, 2, 3, 4, 5, 6};
  float back[6] = {}, *device = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&device), sizeof values);
  expect("cublasSetMatrix",
         cublasSetMatrix(2, 3, sizeof(float), values, 2, device, 2) == CUBLAS_STATUS_SUCCESS);
  cublasGetVector(3, sizeof(float), device, 2, back, 1);
  expect("cublasGetVector", back[0] == 1 && back[1] == 3 && back[2] == 5);
  cudaFree(device);
}

}  // namespace

int main() {
  cublasCreate(&handle);
  try_type<float>();
  try_type<double>();
  try_type<cuComplex>();
  try_type<cuDoubleComplex>();
  try_values();
  try_gemm_ex<__half, float, float>("half into float", CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F,
                                    1e-4);
  try_gemm_ex<__half, __half, __half>("half", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, 1e-2);
  try_gemm_ex<__nv_bfloat16, __nv_bfloat16, float>("bfloat16", CUDA_R_16BF, CUDA_R_16BF,
                                                   CUBLAS_COMPUTE_32F, 1e-1);
  try_gemm_ex<std::int8_t, std::int32_t, std::int32_t>("integers", CUDA_R_8I, CUDA_R_32I,
                                                       CUBLAS_COMPUTE_32I, 0);
  try_matmul();
  try_copies();
  cublasDestroy(handle);
  if (wrong == 0) std::puts("right");
  return wrong != 0;
}
