// Statuses of cuBLAS and cuBLASLt: their names, and their conversion from exceptions.
#include "vgpu/libraries/cublas/call.hpp"

namespace warpcheck::libraries::cublas {
namespace {

struct StatusRow {
  cublasStatus_t status;
  const char *name, *text;
};
constexpr StatusRow kStatuses[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED",
     "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE", "an invalid value was used"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH",
     "an absent device architectural feature is required"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR",
     "an access to GPU memory space failed"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED",
     "the function failed to launch on the GPU"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED",
     "the functionality is not supported"},
    {CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR", "a license is required"}};

const StatusRow* row_of(cublasStatus_t status) {
  for (const StatusRow& row : kStatuses) {
    if (row.status == status) return &row;
  }
  return nullptr;
}

}  // namespace

const char* name_of(cublasStatus_t status) {
  const StatusRow* const row = row_of(status);
  return row == nullptr ? "CUBLAS_STATUS_UNKNOWN" : row->name;
}

const char* text_of(cublasStatus_t status) {
  const StatusRow* const row = row_of(status);
  return row == nullptr ? "an unknown status" : row->text;
}

cublasStatus_t rejected(const Call& call, std::initializer_list<Count> counts) {
  std::string arguments;
  for (const Count& count : counts) {
    arguments += fmt::format("{}{} {}", arguments.empty() ? "" : ", ", count.name, count.value);
  }
  try {
    throw;
  } catch (const Rejected& why) {
    report_failure(call, arguments, name_of(why.status), why.why);
    return why.status;
  } catch (const Refused& why) {
    refuse(call.function, why.why);
    return CUBLAS_STATUS_NOT_SUPPORTED;
  } catch (cublasStatus_t status) {  // it has already been reported
    return status;
  }
}

cublasStatus_t refused(const char* function) {
  refuse(function, {});
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

void BlasCall::finish(Operation& operation) {
  switch (static_cast<int>(operation.enqueue())) {
    case cudaSuccess: return;
    case cudaErrorNotSupported: throw cublasStatus_t{CUBLAS_STATUS_NOT_SUPPORTED};
    case cudaErrorMemoryAllocation: throw cublasStatus_t{CUBLAS_STATUS_ALLOC_FAILED};
    default: throw cublasStatus_t{CUBLAS_STATUS_EXECUTION_FAILED};
  }
}

}  // namespace warpcheck::libraries::cublas
