// The cuBLAS API before handles (cublas.h): one implicit handle, scalars by value, results as
// return values, letters in place of enumerations, and a separate query for errors.
#pragma once

#include "vgpu/libraries/cublas/call.hpp"

namespace warpcheck::libraries::cublas {

// Like answer(), on the handle that cublasInit() created; the status is kept for cublasGetError().
cublasStatus_t answer_legacy(const Call& made, Body body, std::initializer_list<Count> counts);

// Letters of either case; any other letter becomes a value that every routine rejects.
inline cublasOperation_t operation_named(char letter) {
  switch (letter) {
    case 'N':
    case 'n': return CUBLAS_OP_N;
    case 'T':
    case 't': return CUBLAS_OP_T;
    case 'C':
    case 'c': return CUBLAS_OP_C;
    default: return static_cast<cublasOperation_t>(letter);
  }
}
inline cublasFillMode_t fill_named(char letter) {
  if (letter == 'L' || letter == 'l') return CUBLAS_FILL_MODE_LOWER;
  return letter == 'U' || letter == 'u' ? CUBLAS_FILL_MODE_UPPER
                                        : static_cast<cublasFillMode_t>(letter);
}
inline cublasSideMode_t side_named(char letter) {
  if (letter == 'L' || letter == 'l') return CUBLAS_SIDE_LEFT;
  return letter == 'R' || letter == 'r' ? CUBLAS_SIDE_RIGHT : static_cast<cublasSideMode_t>(letter);
}
inline cublasDiagType_t diagonal_named(char letter) {
  if (letter == 'U' || letter == 'u') return CUBLAS_DIAG_UNIT;
  return letter == 'N' || letter == 'n' ? CUBLAS_DIAG_NON_UNIT
                                        : static_cast<cublasDiagType_t>(letter);
}

}  // namespace warpcheck::libraries::cublas
