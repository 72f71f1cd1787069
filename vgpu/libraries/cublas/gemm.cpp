#include "vgpu/libraries/cublas/gemm.hpp"

#include <functional>

#include "vgpu/libraries/cublas/batch.hpp"

namespace warpcheck::libraries::cublas {
namespace {

// A gemm whose arguments have been validated.
struct Job {
  CBLAS_TRANSPOSE transa, transb;
  Gemm gemm;
  std::int64_t a_rows, a_columns, b_rows, b_columns;
  bool reads_inputs = true, reads_c = true;
};

Job look_at(const Gemm& gemm) {
  Job job{
      operation_of("transa", gemm.transa), operation_of("transb", gemm.transb), gemm, 0, 0, 0, 0};
  require_size("m", gemm.m);
  require_size("n", gemm.n);
  require_size("k", gemm.k);
  require_size("batchCount", gemm.batch);
  const bool a_plain = job.transa == CblasNoTrans, b_plain = job.transb == CblasNoTrans;
  job.a_rows = a_plain ? gemm.m : gemm.k;
  job.a_columns = a_plain ? gemm.k : gemm.m;
  job.b_rows = b_plain ? gemm.k : gemm.n;
  job.b_columns = b_plain ? gemm.n : gemm.k;
  require_leading("lda", gemm.a.leading, job.a_rows);
  require_leading("ldb", gemm.b.leading, job.b_rows);
  require_leading("ldc", gemm.c.leading, gemm.m);
  return job;
}

// T: the type of the sums.  Exact sums of integers use double as the scalar type, which represents
// all of them.
template <typename T>
void compute_one(const Job& job, T alpha, T beta, const LibraryView& a, const LibraryView& b,
                 const LibraryView& c, std::int64_t slice) {
  const Gemm& gemm = job.gemm;
  const auto numbers = [&](const GemmMatrix& of, const LibraryView& view, std::int64_t rows,
                           std::int64_t columns, bool reads) {
    return Numbers<T>(of.type, view.data + slice * view.slice, rows, columns,
                      stride_of(view, of.type), reads);
  };
  const Numbers<T> result = numbers(gemm.c, c, gemm.m, gemm.n, job.reads_c);
  const bool has_inputs = job.reads_inputs && gemm.k != 0;
  const std::int64_t inner = has_inputs ? gemm.k : 0;
  const Numbers<T> left = has_inputs ? numbers(gemm.a, a, job.a_rows, job.a_columns, true)
                                     : Numbers<T>(kTypeOf<T>, nullptr, 0, 0, gemm.a.leading);
  const Numbers<T> right = has_inputs ? numbers(gemm.b, b, job.b_rows, job.b_columns, true)
                                      : Numbers<T>(kTypeOf<T>, nullptr, 0, 0, gemm.b.leading);
  if (inner == 0) {
    for (std::int64_t i = 0; i < gemm.m * gemm.n; ++i) {
      T& value = result.data()[i % gemm.m + i / gemm.m * result.leading()];
      assign(value, beta == T{} ? value_of(T{}) : value_of(beta) * value_of(value));
    }
  } else {
    Blas<T>::gemm(CblasColMajor, job.transa, job.transb, static_cast<int>(gemm.m),
                  static_cast<int>(gemm.n), static_cast<int>(inner), by(alpha), left.data(),
                  left.leading(), right.data(), right.leading(), by(beta), result.data(),
                  result.leading());
  }
  result.store();
}

Region region_of(const char* name, const GemmMatrix& all, const void* pointer, std::int64_t rows,
                 std::int64_t columns) {
  return matrix(name, pointer, bytes_of(all.type), rows, columns, all.leading);
}

Region unread_if(bool unread, Region region) {
  if (unread) region.height = region.depth = 0;
  return region;
}

// Adds the three matrices as strided regions, A, B and C in this order.
void add_strided(Operation& operation, const Job& job) {
  const Gemm& gemm = job.gemm;
  const auto batched = [&](const char* name, const GemmMatrix& all, std::int64_t rows,
                           std::int64_t columns) {
    Region region = region_of(name, all, all.pointer, rows, columns);
    region.on_host = all.on_host;
    if (all.on_host) operation.waits();
    return gemm.by == BatchBy::one ? region : std::move(region).batch(gemm.batch, all.stride);
  };
  operation.read(unread_if(!job.reads_inputs, batched("A", gemm.a, job.a_rows, job.a_columns)));
  operation.read(unread_if(!job.reads_inputs, batched("B", gemm.b, job.b_rows, job.b_columns)));
  Region c = batched("C", gemm.c, gemm.m, gemm.n);
  job.reads_c ? operation.update(std::move(c)) : operation.write(std::move(c));
}

Batch batch_of(Operation& operation, const Job& job) {
  const Gemm& gemm = job.gemm;
  const auto one = [](const char* name, const GemmMatrix& all, Use use, std::int64_t rows,
                      std::int64_t columns) {
    return BatchOf{name, all.pointer, use, [=](const char* element, void* pointer) {
                     return region_of(element, all, pointer, rows, columns);
                   }};
  };
  const Use reads = job.reads_inputs ? Use::read : Use::none;
  return {operation,
          gemm.batch,
          {one("Aarray", gemm.a, reads, job.a_rows, job.a_columns),
           one("Barray", gemm.b, reads, job.b_rows, job.b_columns),
           one("Carray", gemm.c, job.reads_c ? Use::update : Use::write, gemm.m, gemm.n)}};
}

template <typename T>
void compute_all(const Job& job, const Views& views,
                 const std::function<std::size_t(std::int64_t)>& first, T alpha, T beta) {
  const Gemm& gemm = job.gemm;
  const bool is_strided = gemm.by != BatchBy::pointers;
  for (std::int64_t i = 0; i < gemm.batch; ++i) {
    const std::size_t at = first(i);
    compute_one<T>(job, alpha, beta, views[at], views[at + 1], views[at + 2], is_strided ? i : 0);
  }
}

}  // namespace

void enqueue(BlasCall& call, const Gemm& gemm) {
  Job job = look_at(gemm);
  if (gemm.m == 0 || gemm.n == 0 || gemm.batch == 0) return;
  Operation operation(call);
  const TypedScalar alpha(call, operation, "alpha", gemm.alpha, gemm.scalars);
  const TypedScalar beta(call, operation, "beta", gemm.beta, gemm.scalars);
  job.reads_inputs = !alpha.is_zero() && gemm.k != 0;
  job.reads_c = !beta.is_zero();
  std::function<std::size_t(std::int64_t)> first;  // the first of the three matrices' regions
  if (gemm.by == BatchBy::pointers) {
    first = [batch = batch_of(operation, job)](std::int64_t i) { return batch.region(i, 0); };
  } else {
    first = [at = operation.regions()](std::int64_t) { return at; };
    add_strided(operation, job);
  }
  operation.computes([=](const Views& views) {
    const auto run = [&](auto type) {
      using T = decltype(type);
      compute_all<T>(job, views, first, alpha.in<T>(views), beta.in<T>(views));
    };
    switch (static_cast<int>(job.gemm.computes)) {
      case CUDA_R_32F: return run(float{});
      case CUDA_C_32F: return run(cuComplex{});
      case CUDA_C_64F: return run(cuDoubleComplex{});
      default: return run(double{});  // 64-bit floats, and exact sums of integers
    }
  });
  call.finish(operation);
}

void require_valid(const Gemm& gemm) { look_at(gemm); }

void set_types(Gemm& gemm, cublasComputeType_t compute) {
  const auto is_one_of = [](cudaDataType type, std::initializer_list<cudaDataType> types) {
    return std::find(types.begin(), types.end(), type) != types.end();
  };
  const cudaDataType a = gemm.a.type, b = gemm.b.type, c = gemm.c.type;
  bool is_known = a == b;
  switch (static_cast<int>(compute)) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      gemm.scalars = CUDA_R_16F;
      gemm.computes = CUDA_R_32F;
      is_known = is_known && a == CUDA_R_16F && c == CUDA_R_16F;
      break;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      gemm.scalars = gemm.computes = CUDA_R_32I;
      is_known = is_known && a == CUDA_R_8I && c == CUDA_R_32I;
      break;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      gemm.scalars = gemm.computes = is_complex(c) ? CUDA_C_64F : CUDA_R_64F;
      is_known = is_known && a == c && is_one_of(c, {CUDA_R_64F, CUDA_C_64F});
      break;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
      gemm.scalars = gemm.computes = is_complex(c) ? CUDA_C_32F : CUDA_R_32F;
      is_known = is_known &&
                 ((a == c && is_one_of(c, {CUDA_R_32F, CUDA_C_32F, CUDA_R_16F, CUDA_R_16BF})) ||
                  (c == CUDA_R_32F && is_one_of(a, {CUDA_R_16F, CUDA_R_16BF, CUDA_R_8I})));
      break;
    default: is_known = false;
  }
  if (is_known) return;
  throw Rejected{CUBLAS_STATUS_NOT_SUPPORTED,
                 fmt::format("there is no product of types {} and {} into {} by compute type {}",
                             static_cast<int>(a), static_cast<int>(b), static_cast<int>(c),
                             static_cast<int>(compute))};
}

}  // namespace warpcheck::libraries::cublas
