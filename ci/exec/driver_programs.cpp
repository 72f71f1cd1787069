// A program of the driver API and NVRTC, as an application may use them: no nvcc, no runtime
// library, kernels that are compiled at run time.  The first argument selects what it does.
#include <cuda.h>
#include <dlfcn.h>
#include <nvrtc.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

const char* const kSource =
    R"(template <typename T> __device__ T twice(T value) { return value + value; }
__constant__ int offset = 3;
extern "C" __global__ void add_offset(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += offset;
}
extern "C" __global__ void past_the_end(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) data[i] = i;
}
extern "C" __global__ void reverse(int* data) {
  extern __shared__ int copy[];
  copy[threadIdx.x] = data[threadIdx.x];
  data[threadIdx.x] = copy[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void read_first(const int* data, int* result) {
  if (data[0] > 0) *result = 1;
}
template <typename T> __global__ void doubled(T* data) { data[threadIdx.x] = twice(data[threadIdx.x]); }
)";

bool failed(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return false;
  const char* name = "?";
  cuGetErrorName(result, &name);
  std::printf("%s: %s\n", call, name);
  return true;
}
#define CHECK(call) \
  if (failed(call, #call)) return 1

struct Compiled {
  std::string ptx, cubin, lowered;
};

Compiled compile(const char* architecture) {
  Compiled made;
  nvrtcProgram program = nullptr;
  nvrtcCreateProgram(&program, kSource, "kernels.cu", 0, nullptr, nullptr);
  nvrtcAddNameExpression(program, "doubled<float>");
  const char* const options[] = {architecture, "-lineinfo"};
  if (nvrtcCompileProgram(program, 2, options) != NVRTC_SUCCESS) return made;
  const char* lowered = nullptr;
  nvrtcGetLoweredName(program, "doubled<float>", &lowered);
  made.lowered = lowered;
  std::size_t bytes = 0;
  if (nvrtcGetPTXSize(program, &bytes) == NVRTC_SUCCESS) {
    made.ptx.resize(bytes);
    nvrtcGetPTX(program, made.ptx.data());
  }
  bytes = 0;
  if (nvrtcGetCUBINSize(program, &bytes) == NVRTC_SUCCESS && bytes != 0) {
    made.cubin.resize(bytes);
    nvrtcGetCUBIN(program, made.cubin.data());
  }
  nvrtcDestroyProgram(&program);
  return made;
}

struct Session {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUdeviceptr data = 0;
};

constexpr int kCount = 64;

int open(Session& session, const Compiled& compiled) {
  CHECK(cuInit(0));
  CHECK(cuCtxCreate(&session.context, nullptr, 0, 0));
  CHECK(cuModuleLoadData(&session.module, compiled.ptx.c_str()));
  CHECK(cuMemAlloc(&session.data, kCount * sizeof(int)));
  return 0;
}

int launch(const Session& session, const char* name, void** arguments, unsigned threads = kCount,
           CUstream stream = nullptr) {
  CUfunction function = nullptr;
  CHECK(cuModuleGetFunction(&function, session.module, name));
  CHECK(cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, threads * 4, stream, arguments, nullptr));
  return 0;
}

int print(const Session& session) {
  int host[kCount];
  CHECK(cuMemcpyDtoH(host, session.data, sizeof host));
  std::printf("%d %d\n", host[0], host[kCount - 1]);
  return 0;
}

int clean() {
  const Compiled compiled = compile("--gpu-architecture=compute_75");
  Session session;
  if (open(session, compiled) != 0) return 1;
  int count = kCount, offset = 0;
  void* arguments[] = {&session.data, &count};
  CHECK(cuMemsetD32(session.data, 5, kCount));
  if (launch(session, "add_offset", arguments) != 0 || print(session) != 0) return 1;
  CUdeviceptr variable = 0;
  std::size_t bytes = 0;
  CHECK(cuModuleGetGlobal(&variable, &bytes, session.module, "offset"));
  CHECK(cuMemcpyDtoH(&offset, variable, bytes));
  offset += 10;
  CHECK(cuMemcpyHtoD(variable, &offset, sizeof offset));
  struct {
    CUdeviceptr data;
    int count;
  } block{session.data, kCount};
  std::size_t block_bytes = sizeof block;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE,
                   &block_bytes, CU_LAUNCH_PARAM_END};
  CUfunction function = nullptr;
  CHECK(cuModuleGetFunction(&function, session.module, "add_offset"));
  CHECK(cuLaunchKernel(function, 1, 1, 1, kCount, 1, 1, 0, nullptr, nullptr, extra));
  if (print(session) != 0) return 1;
  const std::vector<float> ones(kCount, 1.5f);
  CHECK(cuMemcpyHtoD(session.data, ones.data(), kCount * sizeof(float)));
  if (launch(session, compiled.lowered.c_str(), arguments) != 0) return 1;
  float first = 0;
  CHECK(cuMemcpyDtoH(&first, session.data, sizeof first));
  std::printf("%g\n", first);
  CHECK(cuMemFree(session.data));
  CHECK(cuModuleUnload(session.module));
  CHECK(cuCtxDestroy(session.context));
  return 0;
}

int past_the_end() {
  Session session;
  if (open(session, compile("--gpu-architecture=compute_75")) != 0) return 1;
  int count = kCount;
  void* arguments[] = {&session.data, &count};
  return launch(session, "past_the_end", arguments, kCount * 2) != 0 || print(session) != 0;
}

int race() {
  Session session;
  if (open(session, compile("--gpu-architecture=compute_75")) != 0) return 1;
  CHECK(cuMemsetD32(session.data, 5, kCount));
  void* arguments[] = {&session.data};
  return launch(session, "reverse", arguments) != 0 || print(session) != 0;
}

int uninitialized() {
  Session session;
  if (open(session, compile("--gpu-architecture=compute_75")) != 0) return 1;
  CUdeviceptr result = 0;
  CHECK(cuMemAlloc(&result, sizeof(int)));
  CHECK(cuMemsetD32(result, 0, 1));
  void* arguments[] = {&session.data, &result};
  return launch(session, "read_first", arguments, 1);
}

int use_after_free() {
  Session session;
  if (open(session, compile("--gpu-architecture=compute_75")) != 0) return 1;
  CHECK(cuMemsetD32(session.data, 5, kCount));
  CHECK(cuMemFree(session.data));
  int count = kCount, host = 0;
  void* arguments[] = {&session.data, &count};
  static_cast<void>(launch(session, "add_offset", arguments));
  static_cast<void>(cuMemcpyDtoH(&host, session.data, sizeof host));
  return 0;
}

// Two streams without synchronisation.
int missing_order() {
  Session session;
  if (open(session, compile("--gpu-architecture=compute_75")) != 0) return 1;
  CUstream streams[2];
  CHECK(cuStreamCreate(&streams[0], CU_STREAM_NON_BLOCKING));
  CHECK(cuStreamCreate(&streams[1], CU_STREAM_NON_BLOCKING));
  int count = kCount;
  void* arguments[] = {&session.data, &count};
  CHECK(cuMemsetD32(session.data, 5, kCount));
  CHECK(cuCtxSynchronize());
  for (const CUstream stream : streams) {
    if (launch(session, "add_offset", arguments, kCount, stream) != 0) return 1;
  }
  CHECK(cuCtxSynchronize());
  return print(session);
}

// NVRTC's output for a real architecture, as frameworks store it in files.
int open_machine_code(Session& session, const Compiled& compiled) {
  const std::string kept(compiled.cubin.data(), compiled.cubin.size() - 1);  // as CuPy does
  CHECK(cuInit(0));
  CHECK(cuCtxCreate(&session.context, nullptr, 0, 0));
  CHECK(cuModuleLoadData(&session.module, kept.data()));
  CHECK(cuMemAlloc(&session.data, kCount * sizeof(int)));
  return 0;
}

int cubin() {
  Session session;
  const Compiled compiled = compile("--gpu-architecture=sm_75");
  if (open_machine_code(session, compiled) != 0) return 1;
  std::printf("%d %d\n", !compiled.ptx.empty(),
              compile("--gpu-architecture=compute_75").cubin.empty());
  CHECK(cuMemsetD32(session.data, 5, kCount));
  int count = kCount;
  void* arguments[] = {&session.data, &count};
  return launch(session, "add_offset", arguments) != 0 || print(session) != 0;
}

int past_the_end_of_cubin() {
  Session session;
  if (open_machine_code(session, compile("--gpu-architecture=sm_80")) != 0) return 1;
  int count = kCount;
  void* arguments[] = {&session.data, &count};
  return launch(session, "past_the_end", arguments, kCount * 2) != 0 || print(session) != 0;
}

int machine_code() {
  Session session;
  const char image[64] = "\177ELF";
  CHECK(cuInit(0));
  CHECK(cuCtxCreate(&session.context, nullptr, 0, 0));
  CHECK(cuModuleLoadData(&session.module, image));
  return 0;
}

// A graph made by calls and a captured one, over memory of the runtime API.
int graphs() {
  Session session;
  if (open(session, compile("--gpu-architecture=compute_75")) != 0) return 1;
  CHECK(cuMemFree(session.data));
  void* const runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
  if (runtime == nullptr) return std::puts(dlerror()), 1;
  const auto allocate =
      reinterpret_cast<int (*)(CUdeviceptr*, std::size_t)>(dlsym(runtime, "cudaMalloc"));
  const auto release = reinterpret_cast<int (*)(CUdeviceptr)>(dlsym(runtime, "cudaFree"));
  std::printf("%d\n", allocate(&session.data, kCount * sizeof(int)));
  CUfunction function = nullptr;
  CHECK(cuModuleGetFunction(&function, session.module, "add_offset"));
  int count = kCount;
  void* arguments[] = {&session.data, &count};
  CUgraph graph = nullptr;
  CUgraphNode fill = nullptr, add = nullptr;
  CUgraphExec made = nullptr;
  CHECK(cuGraphCreate(&graph, 0));
  CUDA_MEMSET_NODE_PARAMS filled{};
  filled.dst = session.data;
  filled.value = 7;
  filled.elementSize = 4;
  filled.width = kCount;
  filled.height = 1;
  CHECK(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &filled, session.context));
  CUDA_KERNEL_NODE_PARAMS launched{};
  launched.func = function;
  launched.gridDimX = launched.gridDimY = launched.gridDimZ = 1;
  launched.blockDimX = kCount;
  launched.blockDimY = launched.blockDimZ = 1;
  launched.kernelParams = arguments;
  CHECK(cuGraphAddKernelNode(&add, graph, &fill, 1, &launched));
  CHECK(cuGraphInstantiate(&made, graph, 0));
  CHECK(cuGraphLaunch(made, nullptr));
  if (print(session) != 0) return 1;
  CUstream stream = nullptr;
  CUgraph captured = nullptr;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  if (launch(session, "add_offset", arguments, kCount, stream) != 0) return 1;
  if (launch(session, "add_offset", arguments, kCount, stream) != 0) return 1;
  CHECK(cuStreamEndCapture(stream, &captured));
  CUgraphExec again = nullptr;
  CHECK(cuGraphInstantiate(&again, captured, 0));
  CHECK(cuGraphLaunch(again, stream));
  CHECK(cuStreamSynchronize(stream));
  if (print(session) != 0) return 1;
  CHECK(cuGraphExecDestroy(again));
  CHECK(cuGraphExecDestroy(made));
  CHECK(cuGraphDestroy(captured));
  CHECK(cuGraphDestroy(graph));
  CHECK(cuStreamDestroy(stream));
  std::printf("%d\n", release(session.data));
  return 0;
}

// Linked texts, and a texture over an array.
int linked() {
  static const char* const kCaller = R"(.version 7.0
.target sm_75
.address_size 64
.extern .func (.param .b32 result) next(.param .b32 value);
.visible .entry fetch(.param .u64 out, .param .u64 texture) {
  .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .f32 %f<5>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [texture];
  mov.u32 %r1, %tid.x;
  cvt.rn.f32.u32 %f1, %r1;
  mov.f32 %f2, 0f3F000000;
  add.f32 %f1, %f1, %f2;
  tex.2d.v4.u32.f32 {%r2, %r3, %r4, %r5}, [%rd2, {%f1, %f2}];
  { .param .b32 given; .param .b32 answer;
    st.param.b32 [given], %r2;
    call (answer), next, (given);
    ld.param.b32 %r6, [answer]; }
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd1, %rd1, %rd3;
  st.global.u32 [%rd1], %r6;
  ret;
}
)";
  static const char* const kCallee = R"(.version 7.0
.target sm_75
.address_size 64
.visible .func (.param .b32 result) next(.param .b32 value) {
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [value];
  add.u32 %r2, %r1, 1;
  st.param.b32 [result], %r2;
  ret;
}
)";
  Session session;
  CHECK(cuInit(0));
  CHECK(cuCtxCreate(&session.context, nullptr, 0, 0));
  CUlinkState state = nullptr;
  void* image = nullptr;
  std::size_t bytes = 0;
  CHECK(cuLinkCreate(0, nullptr, nullptr, &state));
  for (const char* const text : {kCaller, kCallee}) {
    CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(text), std::strlen(text) + 1,
                        "part", 0, nullptr, nullptr));
  }
  CHECK(cuLinkComplete(state, &image, &bytes));
  CHECK(cuModuleLoadData(&session.module, image));
  CHECK(cuLinkDestroy(state));
  CUDA_ARRAY_DESCRIPTOR wanted{8, 1, CU_AD_FORMAT_UNSIGNED_INT32, 1};
  CUarray array = nullptr;
  CHECK(cuArrayCreate(&array, &wanted));
  unsigned host[8] = {10, 20, 30, 40, 50, 60, 70, 80};
  CHECK(cuMemcpyHtoA(array, 0, host, sizeof host));
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC how{};
  how.flags = CU_TRSF_READ_AS_INTEGER;
  CUtexObject texture = 0;
  CHECK(cuTexObjectCreate(&texture, &resource, &how, nullptr));
  CHECK(cuMemAlloc(&session.data, sizeof host));
  void* arguments[] = {&session.data, &texture};
  if (launch(session, "fetch", arguments, 8) != 0) return 1;
  CHECK(cuMemcpyDtoH(host, session.data, sizeof host));
  std::printf("%u %u\n", host[0], host[7]);
  CHECK(cuTexObjectDestroy(texture));
  CHECK(cuArrayDestroy(array));
  return 0;
}

// The driver's errors for invalid calls.
int errors() {
  CUdeviceptr data = 0;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  const auto told = [](const char* what, CUresult result) {
    const char *name = "?", *text = "?";
    cuGetErrorName(result, &name);
    cuGetErrorString(result, &text);
    std::printf("%s: %s, %s\n", what, name, text);
  };
  told("before cuInit", cuMemAlloc(&data, 4));
  told("cuInit", cuInit(0));
  told("without a context", cuMemAlloc(&data, 4));
  CUcontext context = nullptr;
  told("primary", cuDevicePrimaryCtxRetain(&context, 0));
  told("current", cuCtxSetCurrent(context));
  told("no bytes", cuMemAlloc(&data, 0));
  told("too much", cuMemAlloc(&data, std::size_t{1} << 40));  // told: too much
  told("no image", cuModuleLoadData(&module, "this is no module"));
  char log[512] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  const char* const unknown = ".version 8.0\n.target sm_75\n.address_size 64\nnonsense\n";
  told("bad PTX", cuModuleLoadDataEx(&module, unknown, 2, options, values));
  std::printf("log: %s\n", std::strlen(log) == reinterpret_cast<std::size_t>(values[1]) &&
                                   std::strstr(log, "nonsense") != nullptr
                               ? "names the place"
                               : log);
  const char* const empty = ".version 8.0\n.target sm_75\n.address_size 64\n";
  told("empty module", cuModuleLoadData(&module, empty));
  told("no function", cuModuleGetFunction(&function, module, "absent"));
  told("no stream", cuStreamSynchronize(reinterpret_cast<CUstream>(0x1234)));
  told("a context that is none", cuCtxSetCurrent(reinterpret_cast<CUcontext>(0x1234)));
  told("device 7", cuDeviceGet(reinterpret_cast<CUdevice*>(&data), 7));
  return 0;
}

// Functions by name and version.
int lookups() {
  void *of_2 = nullptr, *of_3020 = nullptr, *per_thread = nullptr, *absent = nullptr;
  CUdriverProcAddressQueryResult status;
  cuGetProcAddress("cuMemAlloc", &of_2, 2000, CU_GET_PROC_ADDRESS_DEFAULT, &status);
  cuGetProcAddress("cuMemAlloc", &of_3020, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &status);
  std::printf("%d %d\n", of_2 != of_3020,
              of_3020 == reinterpret_cast<void*>(&cuMemAlloc) || of_3020 != nullptr);
  cuGetProcAddress("cuMemcpyAsync", &per_thread, 13000,
                   CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status);
  std::printf("%d %d\n", per_thread != nullptr, status);
  cuGetProcAddress("cuNever", &absent, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &status);
  std::printf("%d %d\n", absent == nullptr, status);
  cuGetProcAddress("cuCtxCreate", &absent, 1000, CU_GET_PROC_ADDRESS_DEFAULT, &status);
  std::printf("%d %d\n", absent == nullptr, status);
  CUcontext context = nullptr;
  CHECK(cuInit(0));
  CHECK(cuCtxCreate(&context, nullptr, 0, 0));
  unsigned narrow = 0;
  const auto old = reinterpret_cast<CUresult (*)(unsigned*, unsigned)>(of_2);
  std::printf("%d\n", old(&narrow, 4));
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const struct {
    const char* name;
    int (*run)();
  } kModes[] = {{"clean", clean},
                {"past_the_end", past_the_end},
                {"race", race},
                {"uninitialized", uninitialized},
                {"use_after_free", use_after_free},
                {"missing_order", missing_order},
                {"graphs", graphs},
                {"linked", linked},
                {"cubin", cubin},
                {"past_the_end_of_cubin", past_the_end_of_cubin},
                {"machine_code", machine_code},
                {"errors", errors},
                {"lookups", lookups}};
  for (const auto& mode : kModes) {
    if (count > 1 && std::strcmp(words[1], mode.name) == 0) return mode.run();
  }
  return 2;
}
