// The functions of cuFFT.
#include <cufft.h>
#include <cufftXt.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <new>

#include "vgpu/libraries/cufft/plan.hpp"

namespace warpcheck::libraries::fourier {
namespace {

// All plans by handle, and the mutex that protects them, because several threads may call
// functions.
struct Plans {
  std::mutex mutex;
  std::map<cufftHandle, std::unique_ptr<Plan>> by_handle;
  cufftHandle next = 1;  // never reused: the handle of a destroyed plan stays invalid
};
Plans& plans() {
  static auto* const all = new Plans;  // never destroyed: programs call cuFFT in their destructors
  return *all;
}

const char* name_of(cufftResult result) {
  switch (result) {
    case CUFFT_INVALID_PLAN: return "CUFFT_INVALID_PLAN";
    case CUFFT_ALLOC_FAILED: return "CUFFT_ALLOC_FAILED";
    case CUFFT_INVALID_TYPE: return "CUFFT_INVALID_TYPE";
    case CUFFT_INVALID_VALUE: return "CUFFT_INVALID_VALUE";
    case CUFFT_EXEC_FAILED: return "CUFFT_EXEC_FAILED";
    case CUFFT_INVALID_SIZE: return "CUFFT_INVALID_SIZE";
    case CUFFT_NO_WORKSPACE: return "CUFFT_NO_WORKSPACE";
    case CUFFT_NOT_SUPPORTED: return "CUFFT_NOT_SUPPORTED";
    default: return "CUFFT_INTERNAL_ERROR";
  }
}

template <class Body>
cufftResult answer(const Call& call, Body body) {
  try {
    const std::lock_guard lock(plans().mutex);
    body();
    return CUFFT_SUCCESS;
  } catch (const Rejected& rejected) {
    report_failure(call, "", name_of(rejected.result), rejected.why);
    return rejected.result;
  } catch (const Refused& refused) {
    refuse(call.function, refused.why);
    return CUFFT_NOT_SUPPORTED;
  } catch (const std::bad_alloc&) {
    report_failure(call, "", name_of(CUFFT_ALLOC_FAILED), "the host has no more memory");
    return CUFFT_ALLOC_FAILED;
  }
}

Plan& find(cufftHandle handle) {
  const auto found = plans().by_handle.find(handle);
  if (found == plans().by_handle.end()) {
    throw Rejected{CUFFT_INVALID_PLAN, fmt::format("{} is no plan, or has been destroyed", handle)};
  }
  return *found->second;
}

template <class Body>
cufftResult with_plan(const Call& call, cufftHandle handle, Body body) {
  return answer(call, [&] { body(find(handle)); });
}

template <class T>
void give(T* pointer, T value) {
  if (pointer == nullptr) throw Rejected{CUFFT_INVALID_VALUE, "a pointer to the result is null"};
  *pointer = value;
}

void set_type(Request& request, cufftType type) {
  request.precision = (type & 0x40) != 0 ? Precision::double_ : Precision::single;
  switch (type) {
    case CUFFT_C2C:
    case CUFFT_Z2Z: request.transform = Transform::complex_to_complex; return;
    case CUFFT_R2C:
    case CUFFT_D2Z: request.transform = Transform::real_to_complex; return;
    case CUFFT_C2R:
    case CUFFT_Z2D: request.transform = Transform::complex_to_real; return;
    default:
      throw Rejected{CUFFT_INVALID_TYPE,
                     fmt::format("there is no type {:#x} of transform", static_cast<int>(type))};
  }
}

Request request_of(std::initializer_list<int> lengths, cufftType type, int batch) {
  Request request;
  request.rank = static_cast<int>(lengths.size());
  std::copy(lengths.begin(), lengths.end(), request.lengths.begin());
  request.batch = batch;
  set_type(request, type);
  return request;
}

// A data layout as the functions receive it; T is int or long long.
template <class T>
struct Layout {
  const T* embed;
  T stride, dist;
};

template <class T>
std::optional<Storage> storage_of(int rank, const Layout<T>& layout) {
  if (layout.embed == nullptr) return std::nullopt;
  Storage storage{.stride = layout.stride, .dist = layout.dist};
  std::copy_n(layout.embed, rank, storage.embed.begin());
  return storage;
}

template <class T>
Request request_of(int rank, const T* lengths, const Layout<T>& input, const Layout<T>& output,
                   T batch) {
  Request request;
  request.rank = rank;
  if (rank < 1 || rank > 3) {
    throw Rejected{CUFFT_INVALID_VALUE, fmt::format("the rank is {}, not 1 to 3", rank)};
  }
  if (lengths == nullptr) throw Rejected{CUFFT_INVALID_VALUE, "n is null"};
  if ((input.embed == nullptr) != (output.embed == nullptr)) {
    throw Rejected{CUFFT_INVALID_VALUE, "one of inembed and onembed is null, the other is not"};
  }
  std::copy_n(lengths, rank, request.lengths.begin());
  request.input = storage_of(rank, input);
  request.output = storage_of(rank, output);
  request.batch = batch;
  return request;
}

template <class T>
Request request_of(int rank, const T* lengths, const Layout<T>& input, const Layout<T>& output,
                   cufftType type, T batch) {
  Request request = request_of(rank, lengths, input, output, batch);
  set_type(request, type);
  return request;
}

// The element types of cufftXtMakePlanMany.
struct XtType {
  Precision precision;
  bool is_complex;
};
XtType xt_type(cudaDataType type) {
  switch (type) {
    case CUDA_R_16F: return {Precision::half, false};
    case CUDA_C_16F: return {Precision::half, true};
    case CUDA_R_16BF: return {Precision::bfloat16, false};
    case CUDA_C_16BF: return {Precision::bfloat16, true};
    case CUDA_R_32F: return {Precision::single, false};
    case CUDA_C_32F: return {Precision::single, true};
    case CUDA_R_64F: return {Precision::double_, false};
    case CUDA_C_64F: return {Precision::double_, true};
    default:
      throw Rejected{CUFFT_INVALID_TYPE,
                     fmt::format("elements of type {}", static_cast<int>(type))};
  }
}

void set_types(Request& request, cudaDataType input, cudaDataType output, cudaDataType execution) {
  const XtType from = xt_type(input);
  const XtType to = xt_type(output);
  const XtType by = xt_type(execution);
  if (from.precision != to.precision || from.precision != by.precision || !by.is_complex ||
      (!from.is_complex && !to.is_complex)) {
    throw Rejected{
        CUFFT_INVALID_TYPE,
        "input, output and execution are not of one precision, with a complex side and a "
        "complex execution"};
  }
  request.precision = from.precision;
  request.transform = !from.is_complex ? Transform::real_to_complex
                      : !to.is_complex ? Transform::complex_to_real
                                       : Transform::complex_to_complex;
}

// These properties control how the vendor's library makes a plan; here they have no effect.
long long& property_of(Plan& plan, cufftProperty property) {
  switch (property) {
    case NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT: return plan.properties()[0];
    case NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS: return plan.properties()[1];
    default:
      throw Rejected{CUFFT_INVALID_VALUE,
                     fmt::format("there is no property {}", static_cast<int>(property))};
  }
}

cufftHandle create() {
  cufftHandle const handle = plans().next++;
  plans().by_handle.emplace(handle, std::make_unique<Plan>());
  return handle;
}

// cufftPlan*: creates a handle and its plan, or neither.
void make_new(cufftHandle* handle, const Request& request) {
  if (handle == nullptr) throw Rejected{CUFFT_INVALID_VALUE, "the pointer to the plan is null"};
  const Shape shape = shape_of(request);
  cufftHandle const created = create();
  try {
    find(created).make(shape);
  } catch (...) {
    plans().by_handle.erase(created);
    throw;
  }
  *handle = created;
}

void make(Plan& plan, const Request& request, size_t* work_size) {
  const Shape shape = shape_of(request);
  if (work_size == nullptr) throw Rejected{CUFFT_INVALID_VALUE, "workSize is null"};
  plan.make(shape);
  *work_size = plan.work_bytes();
}

void give_size(const Request& request, size_t* work_size) {
  give(work_size, work_bytes(shape_of(request)));
}

cufftResult execute(const Call& call, cufftHandle handle, const Plan::Use& use, void* input,
                    void* output, int direction) {
  return with_plan(call, handle,
                   [&](Plan& plan) { plan.execute(call, use, input, output, direction); });
}

}  // namespace
}  // namespace warpcheck::libraries::fourier

using namespace warpcheck::libraries::fourier;  // NOLINT(google-build-using-namespace)

// The call of the program that entered this function.
#define CALL() (warpcheck::libraries::Call{__func__, __builtin_return_address(0)})

extern "C" {

cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch) {
  return answer(CALL(), [&] { make_new(plan, request_of({nx}, type, batch)); });
}

cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
  return answer(CALL(), [&] { make_new(plan, request_of({nx, ny}, type, 1)); });
}

cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
  return answer(CALL(), [&] { make_new(plan, request_of({nx, ny, nz}, type, 1)); });
}

cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed, int istride, int idist,
                          int* onembed, int ostride, int odist, cufftType type, int batch) {
  return answer(CALL(), [&] {
    make_new(plan, request_of<int>(rank, n, {inembed, istride, idist}, {onembed, ostride, odist},
                                   type, batch));
  });
}

cufftResult cufftCreate(cufftHandle* handle) {
  return answer(CALL(), [&] {
    if (handle == nullptr) throw Rejected{CUFFT_INVALID_VALUE, "the pointer to the plan is null"};
    *handle = create();
  });
}

cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* workSize) {
  return with_plan(CALL(), plan,
                   [&](Plan& one) { make(one, request_of({nx}, type, batch), workSize); });
}

cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* workSize) {
  return with_plan(CALL(), plan, [&](Plan& one) {
    make(one, request_of({nx, ny}, type, 1), workSize);
  });
}

cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type,
                            size_t* workSize) {
  return with_plan(CALL(), plan, [&](Plan& one) {
    make(one, request_of({nx, ny, nz}, type, 1), workSize);
  });
}

cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* inembed, int istride,
                              int idist, int* onembed, int ostride, int odist, cufftType type,
                              int batch, size_t* workSize) {
  return with_plan(CALL(), plan, [&](Plan& one) {
    make(
        one,
        request_of<int>(rank, n, {inembed, istride, idist}, {onembed, ostride, odist}, type, batch),
        workSize);
  });
}

cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long int* n,
                                long long int* inembed, long long int istride, long long int idist,
                                long long int* onembed, long long int ostride, long long int odist,
                                cufftType type, long long int batch, size_t* workSize) {
  return with_plan(CALL(), plan, [&](Plan& one) {
    make(one,
         request_of<long long>(rank, n, {inembed, istride, idist}, {onembed, ostride, odist}, type,
                               batch),
         workSize);
  });
}

cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long int* n,
                                long long int* inembed, long long int istride, long long int idist,
                                cudaDataType inputtype, long long int* onembed,
                                long long int ostride, long long int odist, cudaDataType outputtype,
                                long long int batch, size_t* workSize, cudaDataType executiontype) {
  return with_plan(CALL(), plan, [&](Plan& one) {
    Request request =
        request_of<long long>(rank, n, {inembed, istride, idist}, {onembed, ostride, odist}, batch);
    set_types(request, inputtype, outputtype, executiontype);
    make(one, request, workSize);
  });
}

cufftResult cufftGetSize1d(cufftHandle handle, int nx, cufftType type, int batch,
                           size_t* workSize) {
  return with_plan(CALL(), handle,
                   [&](Plan&) { give_size(request_of({nx}, type, batch), workSize); });
}

cufftResult cufftGetSize2d(cufftHandle handle, int nx, int ny, cufftType type, size_t* workSize) {
  return with_plan(CALL(), handle, [&](Plan&) {
    give_size(request_of({nx, ny}, type, 1), workSize);
  });
}

cufftResult cufftGetSize3d(cufftHandle handle, int nx, int ny, int nz, cufftType type,
                           size_t* workSize) {
  return with_plan(CALL(), handle, [&](Plan&) {
    give_size(request_of({nx, ny, nz}, type, 1), workSize);
  });
}

cufftResult cufftGetSizeMany(cufftHandle handle, int rank, int* n, int* inembed, int istride,
                             int idist, int* onembed, int ostride, int odist, cufftType type,
                             int batch, size_t* workArea) {
  return with_plan(CALL(), handle, [&](Plan&) {
    give_size(
        request_of<int>(rank, n, {inembed, istride, idist}, {onembed, ostride, odist}, type, batch),
        workArea);
  });
}

cufftResult cufftGetSizeMany64(cufftHandle plan, int rank, long long int* n, long long int* inembed,
                               long long int istride, long long int idist, long long int* onembed,
                               long long int ostride, long long int odist, cufftType type,
                               long long int batch, size_t* workSize) {
  return with_plan(CALL(), plan, [&](Plan&) {
    give_size(request_of<long long>(rank, n, {inembed, istride, idist}, {onembed, ostride, odist},
                                    type, batch),
              workSize);
  });
}

cufftResult cufftXtGetSizeMany(cufftHandle plan, int rank, long long int* n, long long int* inembed,
                               long long int istride, long long int idist, cudaDataType inputtype,
                               long long int* onembed, long long int ostride, long long int odist,
                               cudaDataType outputtype, long long int batch, size_t* workSize,
                               cudaDataType executiontype) {
  return with_plan(CALL(), plan, [&](Plan&) {
    Request request =
        request_of<long long>(rank, n, {inembed, istride, idist}, {onembed, ostride, odist}, batch);
    set_types(request, inputtype, outputtype, executiontype);
    give_size(request, workSize);
  });
}

cufftResult cufftGetSize(cufftHandle handle, size_t* workSize) {
  return with_plan(CALL(), handle, [&](Plan& one) { give(workSize, one.work_bytes()); });
}

cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t* workSize) {
  return answer(CALL(), [&] { give_size(request_of({nx}, type, batch), workSize); });
}

cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t* workSize) {
  return answer(CALL(), [&] { give_size(request_of({nx, ny}, type, 1), workSize); });
}

cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t* workSize) {
  return answer(CALL(), [&] { give_size(request_of({nx, ny, nz}, type, 1), workSize); });
}

cufftResult cufftEstimateMany(int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                              int ostride, int odist, cufftType type, int batch, size_t* workSize) {
  return answer(CALL(), [&] {
    give_size(
        request_of<int>(rank, n, {inembed, istride, idist}, {onembed, ostride, odist}, type, batch),
        workSize);
  });
}

cufftResult cufftSetWorkArea(cufftHandle plan, void* workArea) {
  return with_plan(CALL(), plan, [&](Plan& one) { one.set_work_area(workArea); });
}

cufftResult cufftSetAutoAllocation(cufftHandle plan, int autoAllocate) {
  return with_plan(CALL(), plan, [&](Plan& one) { one.set_auto_allocation(autoAllocate != 0); });
}

cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  return with_plan(CALL(), plan, [&](Plan& one) { one.set_stream(stream); });
}

cufftResult cufftDestroy(cufftHandle plan) {
  if (plan == CUFFT_PLAN_NULL) return CUFFT_SUCCESS;
  return with_plan(CALL(), plan, [&](Plan&) { plans().by_handle.erase(plan); });
}

cufftResult cufftGetVersion(int* version) {
  return answer(CALL(), [&] { give(version, CUFFT_VERSION); });
}

cufftResult cufftGetProperty(libraryPropertyType type, int* value) {
  return answer(CALL(), [&] {
    switch (type) {
      case MAJOR_VERSION: return give(value, CUFFT_VER_MAJOR);
      case MINOR_VERSION: return give(value, CUFFT_VER_MINOR);
      case PATCH_LEVEL: return give(value, CUFFT_VER_PATCH);
      default: throw Rejected{CUFFT_INVALID_TYPE, "there is no such property"};
    }
  });
}

cufftResult cufftSetPlanPropertyInt64(cufftHandle plan, cufftProperty property,
                                      const long long int inputValueInt) {
  return with_plan(CALL(), plan, [&](Plan& one) { property_of(one, property) = inputValueInt; });
}

cufftResult cufftGetPlanPropertyInt64(cufftHandle plan, cufftProperty property,
                                      long long int* returnPtrValue) {
  return with_plan(CALL(), plan,
                   [&](Plan& one) { give(returnPtrValue, property_of(one, property)); });
}

cufftResult cufftResetPlanProperty(cufftHandle plan, cufftProperty property) {
  return with_plan(CALL(), plan, [&](Plan& one) { property_of(one, property) = 0; });
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* idata, cufftComplex* odata,
                         int direction) {
  return execute(CALL(), plan, {Transform::complex_to_complex, Precision::single}, idata, odata,
                 direction);
}

cufftResult cufftExecR2C(cufftHandle plan, cufftReal* idata, cufftComplex* odata) {
  return execute(CALL(), plan, {Transform::real_to_complex, Precision::single}, idata, odata,
                 CUFFT_FORWARD);
}

cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* idata, cufftReal* odata) {
  return execute(CALL(), plan, {Transform::complex_to_real, Precision::single}, idata, odata,
                 CUFFT_INVERSE);
}

cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* idata, cufftDoubleComplex* odata,
                         int direction) {
  return execute(CALL(), plan, {Transform::complex_to_complex, Precision::double_}, idata, odata,
                 direction);
}

cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* idata, cufftDoubleComplex* odata) {
  return execute(CALL(), plan, {Transform::real_to_complex, Precision::double_}, idata, odata,
                 CUFFT_FORWARD);
}

cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* idata, cufftDoubleReal* odata) {
  return execute(CALL(), plan, {Transform::complex_to_real, Precision::double_}, idata, odata,
                 CUFFT_INVERSE);
}

cufftResult cufftXtExec(cufftHandle plan, void* input, void* output, int direction) {
  return execute(CALL(), plan, {}, input, output, direction);
}

}  // extern "C"
