// cublasLtMatrixTransform: C := alpha * op(A) + beta * op(B), from columns to rows and from one
// type of elements to another.
#include "vgpu/libraries/cublas/lt_descriptors.hpp"

namespace warpcheck::libraries::cublas {
namespace {

struct Sum {
  CBLAS_TRANSPOSE transa, transb;
  Operand a, b, c;
};

void require_shape(const char* name, CBLAS_TRANSPOSE operation, const Layout& from,
                   const Layout& to) {
  const bool is_plain = operation == CblasNoTrans;
  const std::uint64_t rows = is_plain ? from.rows : from.columns;
  const std::uint64_t columns = is_plain ? from.columns : from.rows;
  require(rows == to.rows && columns == to.columns, "op({}) is {} x {}, and C {} x {}", name, rows,
          columns, to.rows, to.columns);
  require(from.batch == to.batch, "the batches of {} and C are {} and {}", name, from.batch,
          to.batch);
}

template <typename T>
auto element_of(const Operand& operand, const Views& views, CBLAS_TRANSPOSE operation,
                std::int64_t slice, std::int64_t i, std::int64_t j) {
  const LibraryView& view = views[operand.region];
  const bool is_plain = operation == CblasNoTrans;
  const std::int64_t at = operand.index(view, is_plain ? i : j, is_plain ? j : i);
  const auto value = value_of(number_at<T>(operand.type(), view.data + slice * view.slice, at));
  return operation == CblasConjTrans ? conjugate(value) : value;
}

template <typename T>
void compute(const Sum& all, const Views& views, T alpha, T beta) {
  const LibraryView& to = views[all.c.region];
  const Layout& layout = all.c.layout;
  const auto rows = static_cast<std::int64_t>(layout.rows);
  const auto columns = static_cast<std::int64_t>(layout.columns);
  for (std::int64_t slice = 0; slice < layout.batch; ++slice) {
    for (std::int64_t j = 0; j < columns; ++j) {
      for (std::int64_t i = 0; i < rows; ++i) {
        auto sum = value_of(T{});
        if (!(alpha == T{})) {
          sum += value_of(alpha) * element_of<T>(all.a, views, all.transa, slice, i, j);
        }
        if (!(beta == T{})) {
          sum += value_of(beta) * element_of<T>(all.b, views, all.transb, slice, i, j);
        }
        T result;
        assign(result, sum);
        put_number(all.c.type(), to.data + slice * to.slice, all.c.index(to, i, j), result);
      }
    }
  }
}

void enqueue(const Call& made, const Transformation& how, Sum all, const void* alpha, const void* a,
             const void* beta, const void* b, void* c) {
  if (how.pointer_mode > CUBLASLT_POINTER_MODE_DEVICE) {
    throw Refused{fmt::format("pointer mode {}", how.pointer_mode)};
  }
  BlasCall call{made, static_cast<cublasPointerMode_t>(how.pointer_mode)};
  const auto type = static_cast<cudaDataType>(how.scalars);
  if (bytes_of(type) == 0) throw Refused{fmt::format("scalars of type {}", how.scalars)};
  Operation operation(call);
  const TypedScalar by_alpha(call, operation, "alpha", alpha, type);
  const TypedScalar by_beta(call, operation, "beta", beta, type);
  const auto read = [&](const char* name, const void* pointer, Operand& operand,
                        const TypedScalar& factor) {
    Region region = region_of(name, pointer, operand.layout);
    if (factor.is_zero()) region.height = region.depth = 0;
    operand.region = operation.read(std::move(region));
  };
  read("A", a, all.a, by_alpha);
  read("B", b, all.b, by_beta);
  all.c.region = operation.write(region_of("C", c, all.c.layout));
  operation.computes([=](const Views& views) {
    const auto run = [&](auto of_type) {
      using T = decltype(of_type);
      compute<T>(all, views, by_alpha.in<T>(views), by_beta.in<T>(views));
    };
    switch (static_cast<int>(type)) {
      case CUDA_C_32F: return run(cuComplex{});
      case CUDA_C_64F: return run(cuDoubleComplex{});
      case CUDA_R_16F:
      case CUDA_R_32F: return run(float{});
      default: return run(double{});  // 64-bit floats, and exact sums of integers
    }
  });
  call.finish(operation);
}

}  // namespace
}  // namespace warpcheck::libraries::cublas

using namespace warpcheck::libraries::cublas;  // NOLINT(google-build-using-namespace)
using warpcheck::libraries::Call;

// The layout of a matrix that is not used may be null.
extern "C" cublasStatus_t cublasLtMatrixTransform(cublasLtHandle_t handle,
                                                  cublasLtMatrixTransformDesc_t description,
                                                  const void* alpha, const void* A,
                                                  cublasLtMatrixLayout_t a, const void* beta,
                                                  const void* B, cublasLtMatrixLayout_t b, void* C,
                                                  cublasLtMatrixLayout_t c, cudaStream_t stream) {
  return answer_lt(HERE("cublasLtMatrixTransform"), [&](const Call& made) {
    require(handle != nullptr, "the handle is a null pointer");
    const Transformation& how = transformation_of(description);
    const Layout& to = layout_of(c);
    const auto operand = [&](const char* name, cublasLtMatrixLayout_t layout,
                             CBLAS_TRANSPOSE operation) {
      Operand one{0, layout == nullptr ? to : layout_of(layout)};
      if (layout != nullptr) require_shape(name, operation, one.layout, to);
      return one;
    };
    Sum all{operation_of("transa", static_cast<cublasOperation_t>(how.transa)),
            operation_of("transb", static_cast<cublasOperation_t>(how.transb)),
            {},
            {},
            {0, to}};
    all.a = operand("A", a, all.transa);
    all.b = operand("B", b, all.transb);
    if (to.rows == 0 || to.columns == 0) return;
    Call call = made;
    call.stream = stream;
    enqueue(call, how, all, alpha, A, beta, B, C);
  });
}
