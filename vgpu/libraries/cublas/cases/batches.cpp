// Batches of matrices: addressed by strides, and by arrays of pointers on the device.
#include "cases.hpp"

namespace {

constexpr int m = 5, n = 4, k = 3, kCount = 2;

template <class T, class F, class G>
void try_gemm(const F& by_strides, const G& by_pointers, double roundoff = kRoundoff<T>) {
  const T alpha = from<T>(scalar<T>());
  for (const auto trans : kOperations) {
    for (const double factor : {-0.5, 0.0}) {
      const T beta = from<T>(factor);
      const int rows = trans == CUBLAS_OP_N ? m : k, columns = trans == CUBLAS_OP_N ? k : m;
      const int lda = rows + 2, stride_a = lda * columns + 1, ldb = k + 1, ldc = m + 1,
                stride_c = ldc * n + 3;
      const Dense a = drawn<T>(rows, columns * kCount), b = drawn<T>(k, n),
                  c = drawn<T>(m, n * kCount);
      const OnDevice<T> on_a(a, strided(columns, lda, stride_a)), on_b(b, full(ldb)),
          on_c(c, strided(n, ldc, stride_c), factor == 0),
          other_c(c, strided(n, ldc, stride_c), factor == 0);
      const Pointers<T> as({on_a.device, on_a.device + stride_a}), bs({on_b.device, on_b.device}),
          cs({other_c.device, other_c.device + stride_c});
      const Dense wanted = matrix_of(m, n * kCount, [&](int i, int j) {
        Bounded sum;
        const Dense left = op(trans, slice_of(a, columns, j / n));
        for (int l = 0; l < k; ++l) sum = sum + left(i, l) * b(l, j % n);
        sum = Bounded(scalar<T>()) * sum;
        return factor == 0 ? sum : sum + Bounded(factor) * c(i, j);
      });
      // The same B is used in every product of the batch.
      run(by_strides, handle, trans, CUBLAS_OP_N, m, n, k, &alpha, on_a.device, lda, stride_a,
          on_b.device, ldb, 0, &beta, on_c.device, ldc, stride_c, kCount);
      expect_matrix(on_c, wanted, roundoff);
      run(by_pointers, handle, trans, CUBLAS_OP_N, m, n, k, &alpha, as.device, lda, bs.device, ldb,
          &beta, cs.device, ldc, kCount);
      expect_matrix(other_c, wanted, roundoff);
    }
  }
}

// Types: X of A and x; Y of y; S of the scalars and the sums.
template <class S, class X, class Y, class F, class G>
void try_gemv(const F& by_strides, const G& by_pointers) {
  const S alpha = from<S>(scalar<S>());
  for (const auto trans : kOperations) {
    for (const int step : {1, -2}) {
      for (const double factor : {-0.5, 0.0}) {
        const S beta = from<S>(factor);
        const int count = trans == CUBLAS_OP_N ? n : m, results = trans == CUBLAS_OP_N ? m : n;
        const int lda = m + 2, stride_a = lda * n, stride_x = 2 * count + 1,
                  stride_y = 2 * results + 2;
        const Dense a = drawn<X>(m, n * kCount), x = drawn<X>(count, kCount),
                    y = drawn<Y>(results, kCount);
        const auto batch_of = [&](int length, int stride) -> Layout {
          return [=](int i, int j) { return spaced(length, step)(i, 0) + j * stride; };
        };
        const OnDevice<X> on_a(a, strided(n, lda, stride_a)), on_x(x, batch_of(count, stride_x));
        const OnDevice<Y> on_y(y, batch_of(results, stride_y), factor == 0),
            other_y(y, batch_of(results, stride_y), factor == 0);
        const Pointers<X> as({on_a.device, on_a.device + stride_a}),
            xs({on_x.device, on_x.device + stride_x});
        const Pointers<Y> ys({other_y.device, other_y.device + stride_y});
        const Dense wanted = matrix_of(results, kCount, [&](int i, int j) {
          Bounded sum;
          const Dense left = op(trans, slice_of(a, n, j));
          for (int l = 0; l < count; ++l) sum = sum + left(i, l) * x(l, j);
          sum = Bounded(scalar<S>()) * sum;
          return factor == 0 ? sum : sum + Bounded(factor) * y(i, j);
        });
        run(by_strides, handle, trans, m, n, &alpha, on_a.device, lda, stride_a, on_x.device, step,
            stride_x, &beta, on_y.device, step, stride_y, kCount);
        expect_matrix(on_y, wanted, kRoundoff<S>);
        run(by_pointers, handle, trans, m, n, &alpha, as.device, lda, xs.device, step, &beta,
            ys.device, step, kCount);
        expect_matrix(other_y, wanted, kRoundoff<S>);
      }
    }
  }
}

template <class T, class F>
void try_trsm(const F& trsm) {
  const Bounded alpha = scalar<T>();
  const T by = from<T>(alpha.value);
  for (const auto side : kSides) {
    for (const auto uplo : kTriangles) {
      for (const auto trans : kOperations) {
        const bool is_left = side == CUBLAS_SIDE_LEFT;
        const int order = is_left ? m : n;
        const Dense a = drawn_dominant<T>(order), b = drawn<T>(m, n), other = drawn<T>(m, n),
                    all = op(trans, triangular(uplo, CUBLAS_DIAG_NON_UNIT, a));
        const OnDevice<T> on_a(a, triangle(uplo, order + 2)), on_b(b, full(m + 1)),
            on_other(other, full(m + 1));
        const Pointers<T> as({on_a.device, on_a.device}), bs({on_b.device, on_other.device});
        run(trsm, handle, side, uplo, trans, CUBLAS_DIAG_NON_UNIT, m, n, &by, as.device, order + 2,
            bs.device, m + 1, kCount);
        const auto solution = [&](const Dense& right) {
          return is_left ? solved(all, alpha * right)
                         : transposed(solved(transposed(all), alpha * transposed(right)));
        };
        expect_matrix(on_b, solution(b));
        expect_matrix(on_other, solution(other));
      }
    }
  }
}

template <class T>
std::vector<T> values_of(const OnDevice<T>& from_device) {
  std::vector<T> all;
  for (const Bounded& value : from_device.get().all) all.push_back(from<T>(value.value));
  return all;
}
// Checks an error bound of backward stable algorithms: `steps` roundings of numbers of this size.
void expect_near(const Dense& found, const Dense& wanted, double steps, double roundoff) {
  std::vector<Number> numbers;
  std::vector<Bounded> bounded;
  for (std::size_t i = 0; i < found.all.size(); ++i) {
    numbers.emplace_back(found.all[i].value);
    const double size = std::max(found.all[i].size, wanted.all[i].size);
    bounded.push_back({wanted.all[i].value, size, steps * size + found.all[i].error});
  }
  expect_numbers(numbers, bounded, roundoff, roundoff);
}

// Tests P * A = L * U, and solutions and inverses computed from it.
template <class T, class Getrf, class Getrs, class Getri>
void try_lu(const Getrf& getrf, const Getrs& getrs, const Getri& getri) {
  Dense a = drawn_dominant<T>(n);
  for (int j = 0; j < n; ++j) std::swap(a(0, j), a(2, j));
  for (const bool has_pivots : {true, false}) {
    if (!has_pivots) a = drawn_dominant<T>(n);
    const Dense b = drawn<T>(n, k);
    const OnDevice<T> on_a(a, full(n + 1)), on_inverse(a, full(n + 2), true);
    const OnDevice<int> pivots(Dense(n, 1), full(n), true), info(Dense(1, 1), full(1), true);
    const Pointers<T> as({on_a.device}), inverses({on_inverse.device});
    int* const rows = has_pivots ? pivots.device : nullptr;
    run(getrf, handle, n, as.device, n + 1, rows, info.device, 1);
    expect("info", values_of(info)[0] == 0);
    const Dense lu = on_a.get();
    const Dense lower = triangular(CUBLAS_FILL_MODE_LOWER, CUBLAS_DIAG_UNIT, lu),
                upper = triangular(CUBLAS_FILL_MODE_UPPER, CUBLAS_DIAG_NON_UNIT, lu);
    Dense exchanged = a;
    for (int i = 0; has_pivots && i < n; ++i) {
      const int other = values_of(pivots)[i] - 1;
      expect("a pivot", other >= i && other < n);
      for (int j = 0; other != i && j < n; ++j) std::swap(exchanged(i, j), exchanged(other, j));
    }
    expect_near(lower * upper, exchanged, n, kRoundoff<T>);
    for (const auto trans : kOperations) {
      const OnDevice<T> on_b(b, full(n + 2));
      const Pointers<T> bs({on_b.device});
      int host_info = 7;
      run(getrs, handle, trans, n, k, as.device, n + 1, rows, bs.device, n + 2, &host_info, 1);
      expect("info", host_info == 0);
      expect_near(op(trans, a) * on_b.get(), b, 20 * n, kRoundoff<T>);
    }
    run(getri, handle, n, as.device, n + 1, rows, inverses.device, n + 2, info.device, 1);
    expect("info", values_of(info)[0] == 0);
    expect_near(a * on_inverse.get(), identity(n), 20 * n, kRoundoff<T>);
  }
  // A column of zeros has no pivot.
  Dense singular = drawn_dominant<T>(n);
  for (int i = 0; i < n; ++i) singular(i, 1) = Number(0);
  const OnDevice<T> on_a(singular, full(n));
  const OnDevice<int> pivots(Dense(n, 1), full(n), true), info(Dense(1, 1), full(1), true);
  const Pointers<T> as({on_a.device});
  run(getrf, handle, n, as.device, n, pivots.device, info.device, 1);
  expect_value(values_of(info)[0], Number(2), 0);
}

template <class T, class Matinv, class Geqrf>
void try_inverse_and_qr(const Matinv& matinv, const Geqrf& geqrf) {
  const Dense a = drawn_dominant<T>(n), tall = drawn<T>(m, n);
  const OnDevice<T> on_a(a, full(n + 1)), on_inverse(a, full(n + 2), true), on_tall(tall, full(m)),
      on_tau(Dense(n, 1), full(n), true);
  const OnDevice<int> info(Dense(1, 1), full(1), true);
  const Pointers<T> as({on_a.device}), inverses({on_inverse.device}), qrs({on_tall.device}),
      taus({on_tau.device});
  run(matinv, handle, n, as.device, n + 1, inverses.device, n + 2, info.device, 1);
  expect("info", values_of(info)[0] == 0);
  expect_near(a * on_inverse.get(), identity(n), 20 * n, kRoundoff<T>);
  // Checks R' * R = A' * A, and Q * R = A, where Q is the product of the I - tau * v * v'.
  int host_info = 7;
  run(geqrf, handle, m, n, qrs.device, m, taus.device, &host_info, 1);
  expect("info", host_info == 0);
  const Dense factors = on_tall.get(), tau = on_tau.get();
  Dense product = matrix_of(m, n, [&](int i, int j) { return i <= j ? factors(i, j) : Bounded(); });
  for (int l = n; l-- > 0;) {
    const Dense v = matrix_of(m, 1, [&](int i, int) {
      return i < l ? Bounded() : i == l ? Bounded(1.0) : factors(i, l);
    });
    product = product + -tau(l) * (v * (adjoint(v) * product));
  }
  expect_near(product, tall, 20 * m, kRoundoff<T>);
}

template <class T, class F>
void try_least_squares(const F& gels) {
  const Dense a = drawn<T>(m, n), b = drawn<T>(m, k);
  const OnDevice<T> on_a(a, full(m + 1)), on_b(b, full(m + 2));
  const OnDevice<int> each_info(Dense(1, 1), full(1), true);
  const Pointers<T> as({on_a.device}), bs({on_b.device});
  int info = 7;
  run(gels, handle, CUBLAS_OP_N, m, n, k, as.device, m + 1, bs.device, m + 2, &info,
      each_info.device, 1);
  expect("info", info == 0 && values_of(each_info)[0] == 0);
  // The residual of B must be orthogonal to the columns of A.
  const Dense solution = on_b.get();
  const Dense x = matrix_of(n, k, [&](int i, int j) { return solution(i, j); });
  expect_near(adjoint(a) * (a * x), adjoint(a) * b, 100 * m, kRoundoff<T>);
}

// Two groups of different shapes; the first has two products.  types: inserts the type arguments,
// where a function has them, behind the arguments that they describe.
template <class T, class F, class Types>
void try_groups(const F& gemm, Types types) {
  const cublasOperation_t transa[] = {CUBLAS_OP_N, CUBLAS_OP_T},
                          transb[] = {CUBLAS_OP_N, CUBLAS_OP_C};
  const int ms[] = {3, 2}, ns[] = {2, 4}, ks[] = {4, 3};
  const T alphas[] = {2, -1}, betas[] = {0, T(0.5)};
  const Dense a[] = {drawn<T>(3, 4), drawn<T>(3, 4), drawn<T>(3, 2)},
              b[] = {drawn<T>(4, 2), drawn<T>(4, 2), drawn<T>(4, 3)}, c = drawn<T>(2, 4);
  const OnDevice<T> a0(a[0], full(5)), a1(a[1], full(5)), a2(a[2], full(3)), b0(b[0], full(4)),
      b1(b[1], full(4)), b2(b[2], full(6)), c0(Dense(3, 2), full(4), true),
      c1(Dense(3, 2), full(4), true), c2(c, full(2));
  const Pointers<T> as({a0.device, a1.device, a2.device}), bs({b0.device, b1.device, b2.device}),
      cs({c0.device, c1.device, c2.device});
  const auto call = [&](auto size) {
    using Size = decltype(size);
    const Size sizes_m[] = {ms[0], ms[1]}, sizes_n[] = {ns[0], ns[1]}, sizes_k[] = {ks[0], ks[1]},
               lda[] = {5, 3}, ldb[] = {4, 6}, ldc[] = {4, 2}, group_size[] = {2, 1};
    const auto with = [&](const char* name, auto function) {
      note_call(name, types(function, transa, transb, sizes_m, sizes_n, sizes_k, alphas, as.device,
                            lda, bs.device, ldb, betas, cs.device, ldc, group_size));
    };
    if constexpr (sizeof(Size) == 8) {
      with(gemm.wide_name, gemm.wide);
    } else {
      with(gemm.narrow_name, gemm.narrow);
    }
  };
  is_wide ? call(std::int64_t{}) : call(int{});
  expect_matrix(c0, Bounded(2.0) * (a[0] * b[0]));
  expect_matrix(c1, Bounded(2.0) * (a[1] * b[1]));
  expect_matrix(c2, Bounded(-1.0) * (transposed(a[2]) * transposed(b[2])) + Bounded(0.5) * c);
}

constexpr auto kTypesInName = [](auto function, auto transa, auto transb, auto m, auto n, auto k,
                                 auto alpha, auto a, auto lda, auto b, auto ldb, auto beta, auto c,
                                 auto ldc, auto count) {
  return function(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, 2, count);
};
constexpr auto kTypesAsArguments = [](auto function, auto transa, auto transb, auto m, auto n,
                                      auto k, auto alpha, auto a, auto lda, auto b, auto ldb,
                                      auto beta, auto c, auto ldc, auto count) {
  const auto plain = [](float** all) { return reinterpret_cast<void**>(all); };
  return function(handle, transa, transb, m, n, k, alpha, plain(a), CUDA_R_32F, lda, plain(b),
                  CUDA_R_32F, ldb, beta, plain(c), CUDA_R_32F, ldc, 2, count, CUBLAS_COMPUTE_32F);
};

#define OF_ALL(T, p)                                                                    \
  try_gemm<T>(BOTH(cublas##p##gemmStridedBatched), BOTH(cublas##p##gemmBatched));       \
  try_gemv<T, T, T>(BOTH(cublas##p##gemvStridedBatched), BOTH(cublas##p##gemvBatched)); \
  try_trsm<T>(BOTH(cublas##p##trsmBatched));                                            \
  try_lu<T>(ONLY(cublas##p##getrfBatched), ONLY(cublas##p##getrsBatched),               \
            ONLY(cublas##p##getriBatched));                                             \
  try_inverse_and_qr<T>(ONLY(cublas##p##matinvBatched), ONLY(cublas##p##geqrfBatched)); \
  try_least_squares<T>(ONLY(cublas##p##gelsBatched));

}  // namespace

void try_batches() {
  OF_ALL(float, S)
  OF_ALL(double, D)
  OF_ALL(cuComplex, C)
  OF_ALL(cuDoubleComplex, Z)
  try_gemm<__half>(BOTH(cublasHgemmStridedBatched), BOTH(cublasHgemmBatched));
  try_gemm<cuComplex>(BOTH(cublasCgemm3mStridedBatched), BOTH(cublasCgemm3mBatched),
                      4 * kRoundoff<float>);
  try_gemv<float, __half, __half>(BOTH(cublasHSHgemvStridedBatched), BOTH(cublasHSHgemvBatched));
  try_gemv<float, __half, float>(BOTH(cublasHSSgemvStridedBatched), BOTH(cublasHSSgemvBatched));
  try_gemv<float, __nv_bfloat16, __nv_bfloat16>(BOTH(cublasTSTgemvStridedBatched),
                                                BOTH(cublasTSTgemvBatched));
  try_gemv<float, __nv_bfloat16, float>(BOTH(cublasTSSgemvStridedBatched),
                                        BOTH(cublasTSSgemvBatched));
  try_groups<float>(BOTH(cublasSgemmGroupedBatched), kTypesInName);
  try_groups<double>(BOTH(cublasDgemmGroupedBatched), kTypesInName);
  try_groups<float>(BOTH(cublasGemmGroupedBatchedEx), kTypesAsArguments);
}
