// Handles and their settings, copies between host and device, versions and names.
#include <cstring>

#include "vgpu/libraries/cublas/call.hpp"
#include "vgpu/libraries/handles.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::libraries::cublas {
namespace {

// Implements a setter or getter: calls body(context).
template <typename Setting>
cublasStatus_t with_context(const char* function, const void* return_address, cublasHandle_t handle,
                            const Setting& body) {
  return answer({function, return_address}, handle, [&](BlasCall&) { body(*handle); }, {});
}

template <typename T>
void give(T* to, const T& value, const char* name) {
  require(to != nullptr, "{} is a null pointer", name);
  *to = value;
}

// A copy of `columns` columns of `rows` elements.  The call returns when the copy is complete, or,
// if `asynchronous`, when it has been enqueued.
struct MatrixCopy {
  std::int64_t rows, columns, element_bytes;
  const void* source;
  std::int64_t source_leading;
  void* target;
  std::int64_t target_leading;
  cudaMemcpyKind kind;
  cudaStream_t stream;
  bool asynchronous;
};

cublasStatus_t run(const Call& made, const MatrixCopy& all) {
  try {
    require_size("rows", all.rows);
    require_size("cols", all.columns);
    require(all.element_bytes > 0, "elemSize is {}", all.element_bytes);
    require(all.source_leading >= std::max<std::int64_t>(all.rows, 1),
            "the source's ld is {}, less than {}", all.source_leading, all.rows);
    require(all.target_leading >= std::max<std::int64_t>(all.rows, 1),
            "the target's ld is {}, less than {}", all.target_leading, all.rows);
    if (all.rows == 0 || all.columns == 0) return CUBLAS_STATUS_SUCCESS;
    Call call = made;
    call.stream = all.stream;
    const auto bytes = [&](std::int64_t elements) {
      return static_cast<std::size_t>(elements * all.element_bytes);
    };
    const cudaError_t error = copy(call, {.target = all.target,
                                          .target_pitch = bytes(all.target_leading),
                                          .source = all.source,
                                          .source_pitch = bytes(all.source_leading),
                                          .width = bytes(all.rows),
                                          .rows = static_cast<std::size_t>(all.columns),
                                          .kind = all.kind,
                                          .asynchronous = all.asynchronous});
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
  } catch (...) {
    return rejected(made, {});
  }
}

// Copies vectors whose elements are `incx` and `incy` apart: as a matrix of one row, or of one
// column where both increments are 1.
MatrixCopy vector_copy(std::int64_t n, std::int64_t element_bytes, const void* x, std::int64_t incx,
                       void* y, std::int64_t incy, cudaMemcpyKind kind,
                       cudaStream_t stream = nullptr, bool asynchronous = false) {
  const bool is_dense = incx == 1 && incy == 1;
  if (is_dense)
    return {n,
            1,
            element_bytes,
            x,
            std::max<std::int64_t>(n, 1),
            y,
            std::max<std::int64_t>(n, 1),
            kind,
            stream,
            asynchronous};
  return {1, n, element_bytes, x, incx, y, incy, kind, stream, asynchronous};
}

}  // namespace

cublasStatus_t answer(const Call& made, cublasHandle_t handle, Body body,
                      std::initializer_list<Count> counts) {
  try {
    const cublasContext* const context = find_handle(handle);
    if (context == nullptr) {
      throw Rejected{CUBLAS_STATUS_NOT_INITIALIZED,
                     "the handle is none that cublasCreate() gave, or has been destroyed"};
    }
    BlasCall call{made, context->pointer_mode};
    call.stream = context->stream;
    body(call);
    return CUBLAS_STATUS_SUCCESS;
  } catch (...) {
    return rejected(made, counts);
  }
}

cublasContext* find_handle(cublasHandle_t handle) { return handles<cublasContext>().find(handle); }

}  // namespace warpcheck::libraries::cublas

using namespace warpcheck::libraries::cublas;  // NOLINT(google-build-using-namespace)

#define HERE(function) function, __builtin_return_address(0)

extern "C" {

// ---- handles ----

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  // cublasCreate() on a GPU creates the device's context, so this creates it too.
  warpcheck::libraries::services().memory_at(nullptr);
  *handle = new cublasContext;
  warpcheck::libraries::handles<cublasContext>().add(*handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  return with_context(HERE("cublasDestroy"), handle, [&](cublasContext& context) {
    warpcheck::libraries::handles<cublasContext>().remove(&context);
  });
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return with_context(HERE("cublasSetStream"), handle,
                      [&](cublasContext& context) { context.stream = stream; });
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  return with_context(HERE("cublasGetStream"), handle,
                      [&](cublasContext& context) { give(stream, context.stream, "streamId"); });
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  return with_context(HERE("cublasSetPointerMode"), handle, [&](cublasContext& context) {
    require(mode == CUBLAS_POINTER_MODE_HOST || mode == CUBLAS_POINTER_MODE_DEVICE,
            "mode is {}, no pointer mode", static_cast<int>(mode));
    context.pointer_mode = mode;
  });
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return with_context(HERE("cublasGetPointerMode"), handle,
                      [&](cublasContext& context) { give(mode, context.pointer_mode, "mode"); });
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  return with_context(HERE("cublasSetAtomicsMode"), handle,
                      [&](cublasContext& context) { context.atomics = mode; });
}
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  return with_context(HERE("cublasGetAtomicsMode"), handle,
                      [&](cublasContext& context) { give(mode, context.atomics, "mode"); });
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return with_context(HERE("cublasSetMathMode"), handle,
                      [&](cublasContext& context) { context.math = mode; });
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return with_context(HERE("cublasGetMathMode"), handle,
                      [&](cublasContext& context) { give(mode, context.math, "mode"); });
}
cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count) {
  return with_context(HERE("cublasSetSmCountTarget"), handle, [&](cublasContext& context) {
    require_size("smCountTarget", count);
    context.multiprocessors = count;
  });
}
cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* count) {
  return with_context(HERE("cublasGetSmCountTarget"), handle, [&](cublasContext& context) {
    give(count, context.multiprocessors, "smCountTarget");
  });
}
// The workspace is ignored, because no function needs it here.
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes) {
  return with_context(HERE("cublasSetWorkspace"), handle, [&](cublasContext&) {
    require(workspace != nullptr || bytes == 0, "the workspace of {} is a null pointer",
            warpcheck::counted(bytes, "byte"));
  });
}

// ---- copies ----

cublasStatus_t cublasSetVector(int n, int elemSize, const void* x, int incx, void* y, int incy) {
  return run({HERE("cublasSetVector")},
             vector_copy(n, elemSize, x, incx, y, incy, cudaMemcpyHostToDevice));
}
cublasStatus_t cublasGetVector(int n, int elemSize, const void* x, int incx, void* y, int incy) {
  return run({HERE("cublasGetVector")},
             vector_copy(n, elemSize, x, incx, y, incy, cudaMemcpyDeviceToHost));
}
cublasStatus_t cublasSetVectorAsync(int n, int elemSize, const void* x, int incx, void* y, int incy,
                                    cudaStream_t stream) {
  return run({HERE("cublasSetVectorAsync")},
             vector_copy(n, elemSize, x, incx, y, incy, cudaMemcpyHostToDevice, stream, true));
}
cublasStatus_t cublasGetVectorAsync(int n, int elemSize, const void* x, int incx, void* y, int incy,
                                    cudaStream_t stream) {
  return run({HERE("cublasGetVectorAsync")},
             vector_copy(n, elemSize, x, incx, y, incy, cudaMemcpyDeviceToHost, stream, true));
}
cublasStatus_t cublasSetMatrix(int rows, int cols, int elemSize, const void* A, int lda, void* B,
                               int ldb) {
  return run({HERE("cublasSetMatrix")},
             {rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyHostToDevice, nullptr, false});
}
cublasStatus_t cublasGetMatrix(int rows, int cols, int elemSize, const void* A, int lda, void* B,
                               int ldb) {
  return run({HERE("cublasGetMatrix")},
             {rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyDeviceToHost, nullptr, false});
}
cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int elemSize, const void* A, int lda,
                                    void* B, int ldb, cudaStream_t stream) {
  return run({HERE("cublasSetMatrixAsync")},
             {rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyHostToDevice, stream, true});
}
cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int elemSize, const void* A, int lda,
                                    void* B, int ldb, cudaStream_t stream) {
  return run({HERE("cublasGetMatrixAsync")},
             {rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyDeviceToHost, stream, true});
}
cublasStatus_t cublasSetVector_64(int64_t n, int64_t elemSize, const void* x, int64_t incx, void* y,
                                  int64_t incy) {
  return run({HERE("cublasSetVector_64")},
             vector_copy(n, elemSize, x, incx, y, incy, cudaMemcpyHostToDevice));
}
cublasStatus_t cublasGetVector_64(int64_t n, int64_t elemSize, const void* x, int64_t incx, void* y,
                                  int64_t incy) {
  return run({HERE("cublasGetVector_64")},
             vector_copy(n, elemSize, x, incx, y, incy, cudaMemcpyDeviceToHost));
}
cublasStatus_t cublasSetVectorAsync_64(int64_t n, int64_t elemSize, const void* x, int64_t incx,
                                       void* y, int64_t incy, cudaStream_t stream) {
  return run({HERE("cublasSetVectorAsync_64")},
             vector_copy(n, elemSize, x, incx, y, incy, cudaMemcpyHostToDevice, stream, true));
}
cublasStatus_t cublasGetVectorAsync_64(int64_t n, int64_t elemSize, const void* x, int64_t incx,
                                       void* y, int64_t incy, cudaStream_t stream) {
  return run({HERE("cublasGetVectorAsync_64")},
             vector_copy(n, elemSize, x, incx, y, incy, cudaMemcpyDeviceToHost, stream, true));
}
cublasStatus_t cublasSetMatrix_64(int64_t rows, int64_t cols, int64_t elemSize, const void* A,
                                  int64_t lda, void* B, int64_t ldb) {
  return run({HERE("cublasSetMatrix_64")},
             {rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyHostToDevice, nullptr, false});
}
cublasStatus_t cublasGetMatrix_64(int64_t rows, int64_t cols, int64_t elemSize, const void* A,
                                  int64_t lda, void* B, int64_t ldb) {
  return run({HERE("cublasGetMatrix_64")},
             {rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyDeviceToHost, nullptr, false});
}
cublasStatus_t cublasSetMatrixAsync_64(int64_t rows, int64_t cols, int64_t elemSize, const void* A,
                                       int64_t lda, void* B, int64_t ldb, cudaStream_t stream) {
  return run({HERE("cublasSetMatrixAsync_64")},
             {rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyHostToDevice, stream, true});
}
cublasStatus_t cublasGetMatrixAsync_64(int64_t rows, int64_t cols, int64_t elemSize, const void* A,
                                       int64_t lda, void* B, int64_t ldb, cudaStream_t stream) {
  return run({HERE("cublasGetMatrixAsync_64")},
             {rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyDeviceToHost, stream, true});
}

// ---- about the library ----

// The version does not depend on the handle: programs ask before they have one.
cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  switch (static_cast<int>(type)) {
    case MAJOR_VERSION: *value = CUBLAS_VER_MAJOR; return CUBLAS_STATUS_SUCCESS;
    case MINOR_VERSION: *value = CUBLAS_VER_MINOR; return CUBLAS_STATUS_SUCCESS;
    case PATCH_LEVEL: *value = CUBLAS_VER_PATCH; return CUBLAS_STATUS_SUCCESS;
    default: return CUBLAS_STATUS_INVALID_VALUE;
  }
}
size_t cublasGetCudartVersion() { return CUDART_VERSION; }
const char* cublasGetStatusName(cublasStatus_t status) { return name_of(status); }
const char* cublasGetStatusString(cublasStatus_t status) { return text_of(status); }

// The callback is stored but never called, because nothing is logged.
static cublasLogCallback log_callback = nullptr;
cublasStatus_t cublasLoggerConfigure(int, int, int, const char*) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetLoggerCallback(cublasLogCallback callback) {
  log_callback = callback;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetLoggerCallback(cublasLogCallback* callback) {
  if (callback == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *callback = log_callback;
  return CUBLAS_STATUS_SUCCESS;
}
void cublasXerbla(const char* function, int argument) {
  std::fprintf(stderr, " ** On entry to %s parameter number %d had an illegal value\n", function,
               argument);
}

}  // extern "C"
