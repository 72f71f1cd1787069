// Two processes of one program share device memory and events: it starts itself again as MODE HANDLES, with
// a pipe in each direction.
// alone: it starts itself with other arguments
// case memory: | | memory
// expect memory: error invalid-free
// prints memory: 1 cudaErrorInvalidValue
// prints memory: 42
// case atomics: | | atomics
// expect atomics: clean
// says atomics: not checked: what processes do to memory that they share (cudaIpcOpenMemHandle): it is not known what orders them, nor what the others have written
// prints atomics: 12800
// case flag: | | flag
// expect flag: clean
// says flag: not checked: what processes do to memory that they share (cudaIpcOpenMemHandle): it is not known what orders them, nor what the others have written
// prints flag: 7
// prints flag: 1
// case event: | | event
// expect event: clean
// says event: not checked: what processes do to memory that they share (cudaIpcOpenMemHandle): it is not known what orders them, nor what the others have written
// prints event: 1100
// case driver: | | driver
// expect driver: clean
// says driver: not checked: what processes do to memory that they share (cudaIpcOpenMemHandle): it is not known what orders them, nor what the others have written
// prints driver: 1100
// case same_process: | | same-process
// expect same_process: note api-error
// prints same_process: cudaErrorDeviceUninitialized
// prints same_process: 0
// case overrun: | | overrun
// expect overrun: error out-of-bounds overrun
// case driver_overrun: | | driver-overrun
// expect driver_overrun: error out-of-bounds overrun
// case driver_late: | | driver-late
// expect driver_late: error use-after-free addition closed_by_driver
// case late: | | late
// expect late: error use-after-free late closed
#include <cuda.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

constexpr int kCount = 64, kBlocks = 200;

struct Shared {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t event;
};

__global__ void add(int* values, int what) { values[threadIdx.x] += what; }  //~ addition
__global__ void overrun(int* values) { values[kCount + threadIdx.x] = 1; }  //~ overrun
__global__ void late(const int* values, int* sum) { *sum = values[3]; }  //~ late
__global__ void count(int* counter) { atomicAdd_system(counter, 1); }
__global__ void set(volatile int* flag) { *flag = 1; }
__global__ void wait_for(volatile int* flag, int* result) {
  while (*flag == 0) {
  }
  *result = 7;
}

static void require(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::printf("line %d: %s\n", line, cudaGetErrorName(error));
  std::exit(1);
}
#define REQUIRE(call) require(call, __LINE__)

// The processes alternate by single bytes in each direction.
struct Pipes {
  int in = 0, out = 0;
  void tell() const { static_cast<void>(!::write(out, "x", 1)); }
  void await() const {
    char byte = 0;
    if (::read(in, &byte, 1) != 1) std::exit(2);
  }
};

static int get(const int* value) {
  int host = 0;
  REQUIRE(cudaMemcpy(&host, value, sizeof host, cudaMemcpyDeviceToHost));
  return host;
}

// The driver's function of this name.  The program is not linked with libcuda.so.1, because its
// other modes do not need it.
template <class Function>
static Function* driver(const char* name) {
  static void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  void* const found = library == nullptr ? nullptr : ::dlsym(library, name);
  if (found == nullptr) std::exit(3);
  return reinterpret_cast<Function*>(found);
}
#define DRIVER_NAME(function) #function
#define DRIVER(function, ...)                                                                   \
  require(                                                                                      \
      static_cast<cudaError_t>(driver<decltype(function)>(DRIVER_NAME(function))(__VA_ARGS__)), \
      __LINE__)

static void give_handles(const std::string& mode, Shared& shared, int* values, cudaEvent_t event) {
  if (mode.rfind("driver", 0) == 0) {
    CUipcMemHandle memory;
    CUipcEventHandle of_event;
    DRIVER(cuIpcGetMemHandle, &memory, reinterpret_cast<CUdeviceptr>(values));
    DRIVER(cuIpcGetEventHandle, &of_event, event);
    std::memcpy(&shared.memory, &memory, sizeof memory);
    std::memcpy(&shared.event, &of_event, sizeof of_event);
    return;
  }
  REQUIRE(cudaIpcGetMemHandle(&shared.memory, values));
  REQUIRE(cudaIpcGetEventHandle(&shared.event, event));
}

static void parent(const std::string& mode, const Pipes& pipes) {
  int* values = nullptr;
  REQUIRE(cudaMalloc(&values, kCount * sizeof(int)));
  REQUIRE(cudaMemset(values, 0, kCount * sizeof(int)));
  cudaEvent_t event = nullptr;
  REQUIRE(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
  Shared shared{};
  give_handles(mode, shared, values, event);
  if (mode == "event" || mode == "driver") {
    for (int i = 0; i < 100; ++i) add<<<1, kCount>>>(values, 1);
    REQUIRE(cudaEventRecord(event));  // nobody waits here
  }
  if (mode == "same-process") {
    void* opened = nullptr;
    const auto error = cudaIpcOpenMemHandle(&opened, shared.memory, cudaIpcMemLazyEnablePeerAccess);
    std::printf("%s\n", cudaGetErrorName(error));
  }
  static_cast<void>(!::write(pipes.out, &shared, sizeof shared));
  if (mode == "atomics") count<<<kBlocks, 32>>>(values);
  if (mode == "flag") {
    pipes.await();
    ::usleep(100'000);
    set<<<1, 1>>>(values);
  }
  if (mode == "atomics" || mode == "flag") REQUIRE(cudaDeviceSynchronize());
  pipes.await();
  std::printf("%d\n", get(values));
  REQUIRE(cudaFree(values));
}

static void child(const std::string& mode, const Pipes& pipes) {
  Shared shared{};
  if (::read(pipes.in, &shared, sizeof shared) != sizeof shared) std::exit(2);
  int *values = nullptr, *again = nullptr, *own = nullptr;
  void** const opened = reinterpret_cast<void**>(&values);
  REQUIRE(cudaIpcOpenMemHandle(opened, shared.memory, cudaIpcMemLazyEnablePeerAccess));
  REQUIRE(cudaMalloc(&own, sizeof(int)));
  if (mode == "memory") {
    REQUIRE(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&again), shared.memory,
                                 cudaIpcMemLazyEnablePeerAccess));
    REQUIRE(cudaIpcCloseMemHandle(again));
    std::printf("%d %s\n", again == values, cudaGetErrorName(cudaFree(values)));
    std::fflush(stdout);
    add<<<1, kCount>>>(values, 42);
  }
  if (mode == "event") {
    cudaEvent_t event = nullptr;
    cudaStream_t stream = nullptr;
    REQUIRE(cudaIpcOpenEventHandle(&event, shared.event));
    REQUIRE(cudaStreamCreate(&stream));
    REQUIRE(cudaStreamWaitEvent(stream, event, 0));
    add<<<1, kCount, 0, stream>>>(values, 1000);
    REQUIRE(cudaEventRecord(event, stream));
    REQUIRE(cudaEventSynchronize(event));
    REQUIRE(cudaEventDestroy(event));
  }
  if (mode == "overrun") overrun<<<1, 2>>>(values);
  if (mode == "atomics") count<<<kBlocks, 32>>>(values);
  if (mode == "flag") {
    wait_for<<<1, 1>>>(values, own);
    pipes.tell();
    std::printf("%d\n", get(own));
    std::fflush(stdout);
  }
  REQUIRE(cudaDeviceSynchronize());
  REQUIRE(cudaIpcCloseMemHandle(values));  //~ closed
  if (mode == "late") late<<<1, 1>>>(values, own);
  REQUIRE(cudaDeviceSynchronize());
  REQUIRE(cudaFree(own));
  pipes.tell();
}

// child() for an event, by the driver's functions.
static void child_by_driver(const std::string& mode, const Pipes& pipes) {
  Shared shared{};
  if (::read(pipes.in, &shared, sizeof shared) != sizeof shared) std::exit(2);
  CUipcMemHandle memory;
  CUipcEventHandle of_event;
  std::memcpy(&memory, &shared.memory, sizeof memory);
  std::memcpy(&of_event, &shared.event, sizeof of_event);
  REQUIRE(cudaFree(nullptr));  // the device's own context
  CUdeviceptr opened = 0;
  CUevent event = nullptr;
  DRIVER(cuIpcOpenMemHandle, &opened, memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  DRIVER(cuIpcOpenEventHandle, &event, of_event);
  int* const values = reinterpret_cast<int*>(opened);
  DRIVER(cuStreamWaitEvent, nullptr, event, 0);
  add<<<1, kCount>>>(values, 1000);
  if (mode == "driver-overrun") overrun<<<1, 2>>>(values);
  DRIVER(cuEventRecord, event, nullptr);
  DRIVER(cuEventSynchronize, event);
  DRIVER(cuEventDestroy, event);
  DRIVER(cuIpcCloseMemHandle, opened);  //~ closed_by_driver
  if (mode == "driver-late") add<<<1, kCount>>>(values, 1);
  REQUIRE(cudaDeviceSynchronize());
  pipes.tell();
}

int main(int argc, char** argv) {
  if (argc > 3) {
    const std::string mode = argv[1];
    const Pipes pipes{std::atoi(argv[2]), std::atoi(argv[3])};
    mode.rfind("driver", 0) == 0 ? child_by_driver(mode, pipes) : child(mode, pipes);
    return 0;
  }
  int down[2], up[2];
  if (::pipe(down) != 0 || ::pipe(up) != 0) return 2;
  const pid_t process = ::fork();
  if (process == 0) {
    ::close(down[1]);
    ::close(up[0]);
    ::execl(argv[0], argv[0], argv[1], std::to_string(down[0]).c_str(),
            std::to_string(up[1]).c_str(), nullptr);
    ::_exit(2);
  }
  ::close(down[0]);
  ::close(up[1]);
  parent(argv[1], {up[0], down[1]});
  int status = 0;
  ::waitpid(process, &status, 0);
  return WEXITSTATUS(status);
}
