// Functions of the driver API that only call a runtime function: the rows of driver_calls.def.
#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_profiler_api.h>

#include "vgpu/cudart/driver/driver_call.hpp"
#include "vgpu/cudart/driver/forwarded_call.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

// PARAMETERS_3(f): the parameters of a function with three, named as in ARGUMENTS_3.
#define PARAMETER(function, at) ParameterOf<decltype(function), at>::Type a##at
#define PARAMETERS_0(f)
#define PARAMETERS_1(f) PARAMETER(f, 0)
#define PARAMETERS_2(f) PARAMETERS_1(f), PARAMETER(f, 1)
#define PARAMETERS_3(f) PARAMETERS_2(f), PARAMETER(f, 2)
#define PARAMETERS_4(f) PARAMETERS_3(f), PARAMETER(f, 3)
#define PARAMETERS_5(f) PARAMETERS_4(f), PARAMETER(f, 4)
#define PARAMETERS_6(f) PARAMETERS_5(f), PARAMETER(f, 5)
#define PARAMETERS_7(f) PARAMETERS_6(f), PARAMETER(f, 6)
#define PARAMETERS_8(f) PARAMETERS_7(f), PARAMETER(f, 7)
#define ARGUMENTS_0
#define ARGUMENTS_1 , a0
#define ARGUMENTS_2 ARGUMENTS_1, a1
#define ARGUMENTS_3 ARGUMENTS_2, a2
#define ARGUMENTS_4 ARGUMENTS_3, a3
#define ARGUMENTS_5 ARGUMENTS_4, a4
#define ARGUMENTS_6 ARGUMENTS_5, a5
#define ARGUMENTS_7 ARGUMENTS_6, a6
#define ARGUMENTS_8 ARGUMENTS_7, a7

extern "C" {

// virtual_##: the name itself, which cuda.h may define as a macro.
#define FORWARDED(frame, parameters, driver_function, runtime_function)               \
  CUresult virtual_##driver_function(PARAMETERS_##parameters(driver_function)) {      \
    return frame([&] { return call_with(runtime_function ARGUMENTS_##parameters); }); \
  }
#include "vgpu/cudart/driver/driver_calls.def"
#undef FORWARDED

}  // extern "C"
