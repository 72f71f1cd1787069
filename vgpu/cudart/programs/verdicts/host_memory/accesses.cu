// Host accesses without a call to memory that a kernel or a copy may be using.
// case read: | | read
// expect read: error data-race store read_early
// says read: the host does not wait for the kernel of (1) before (2)
// says read: allocation of 16384 bytes [68]
// case read_shared_runtime: -cudart shared | | read
// expect read_shared_runtime: error data-race store read_early
// says read_shared_runtime: the host does not wait for the kernel of (1) before (2)
// says read_shared_runtime: allocation of 16384 bytes [68]
// case write: | | write
// expect write: error data-race load written_early
// says write: the host does not wait for the kernel of (1) before (2)
// says write: allocation of 16384 bytes [20]
// case beside_a_thread_that_begins: | | beside-a-thread-that-begins
// expect beside_a_thread_that_begins: error data-race store read_beside
// says beside_a_thread_that_begins: the host does not wait for the kernel of (1) before (2)
// conceals beside_a_thread_that_begins: not checked
// case copied: | | copied
// expect copied: error data-race store copied_early
// says copied: the host does not wait for the kernel of (1) before (2)
// says copied: allocation of 16384 bytes [4000]
// case variable: | | variable
// expect variable: error data-race update variable
// says variable: counter[0]
// case addition: | | addition
// expect addition: error data-race addition result
// says addition: the host does not wait for the kernel of (1) before (2)
// says addition: allocation of 4 bytes [0]
// says addition: in kernel add_up
// prints addition: 0
// case store_beside_an_addition: | | store-beside-an-addition
// expect store_beside_an_addition: error data-race addition stored_early
// says store_beside_an_addition: the host does not wait for the kernel of (1) before (2)
// says store_beside_an_addition: allocation of 4 bytes [0]
// says store_beside_an_addition: in kernel add_up
// case constant: | | constant
// expect constant: error data-race constant_read constant_written
// says constant: nothing orders the kernel of (1) and cudaMemcpyToSymbolAsync (2): they are in different streams
// case list: | | list
// expect list: error data-race list_update list_written
// case mapped: | | mapped
// expect mapped: error data-race store mapped
// says mapped: the host does not wait for the kernel of (1) before (2)
// case source: | | source
// expect source: error data-race source_written source_copied
// says source: the host does not wait for cudaMemcpyAsync (2) before (1)
// case unreleased: | | unreleased
// expect unreleased: error data-race data data_read
// says unreleased: between (1) and the thread's signal to the host, nothing releases (1) at system scope
// case released_on_the_device: | | released-on-the-device
// expect released_on_the_device: error data-race data data_read
// says released_on_the_device: between (1) and the thread's signal to the host, nothing releases (1) at system scope
// case signalled_early: | | signalled-early
// expect signalled_early: error data-race data_behind data_read
// says signalled_early: (1) comes behind the last release of its launch at system scope, so no signal tells the host of it
// case freed: | | freed
// expect freed: error use-after-free used freed
// says freed: (1) uses memory that has been freed; (2) freed it
// prints freed: 0
// case freed_host: | | freed-host
// expect freed_host: error use-after-free used freed_host
// says freed_host: (1) uses memory that has been freed; (2) freed it
// prints freed_host: 0
// case freed_as_another: | | freed-as-another
// expect freed_as_another: error invalid-free freed_wrongly
// says freed_as_another: cudaFree of page-locked memory: cudaFreeHost frees what cudaMallocHost or cudaHostAlloc allocated, and cudaHostUnregister ends cudaHostRegister
// case halves: | | halves
// expect halves: clean
// case flag_to_host: | | flag-to-host
// expect flag_to_host: clean
// prints flag_to_host: 42
// case flag_of_a_block: | | flag-of-a-block
// expect flag_of_a_block: clean
// prints flag_of_a_block: 42
// case flag_to_kernel: | | flag-to-kernel
// expect flag_to_kernel: clean
// prints flag_to_kernel: 7
// case progress: | | progress
// expect progress: clean
// prints progress: 64
// case progress_asked_for_between: | | progress-asked-for-between
// expect progress_asked_for_between: clean
// prints progress_asked_for_between: 64
// case progress_for_the_system: | | progress-for-the-system
// expect progress_for_the_system: clean
// prints progress_for_the_system: 1
// case addition_before_and_after: | | addition-before-and-after
// expect addition_before_and_after: clean
// prints addition_before_and_after: 0
// prints addition_before_and_after: 64
// case store_beside_an_addition_for_all: | | store-beside-an-addition-for-all
// expect store_beside_an_addition_for_all: clean
// case store_for_a_kernel_that_takes: | | store-for-a-kernel-that-takes
// expect store_for_a_kernel_that_takes: clean
// prints store_for_a_kernel_that_takes: 5
// case store_before_a_signal: | | store-before-a-signal
// expect store_before_a_signal: clean
// prints store_before_a_signal: 6
// case callback: | | callback
// expect callback: clean
// prints callback: 17
// case query: | | query
// expect query: clean
// prints query: 17
// case blocked: | | blocked
// expect blocked: clean
// case system_calls: | | system-calls
// expect system_calls: clean
// prints system_calls: write 8192
// prints system_calls: pread 8192
// prints system_calls: fread 8192
// prints system_calls: fwrite 8192
// prints system_calls: writev 8192
// prints system_calls: preadv 8192
// prints system_calls: sendmsg 4096
// prints system_calls: recvmsg 4096
// case own_faults: | | own-faults
// expect own_faults: clean
// prints own_faults: caught
// prints own_faults: 3
// case crash: | | crash
// expect crash: clean
// says crash: was killed by signal 11 (Segmentation fault)
// status crash: 139
// case device_read: | | device-read
// expect device_read: error out-of-bounds device_read
// says device_read: 4 bytes at byte 12 of an allocation of 256 bytes
// says device_read: (1) uses an address of device memory, which host code cannot access
// says device_read: was killed by signal 11 (Segmentation fault)
// case device_write: | | device-write
// expect device_write: error out-of-bounds device_write
// says device_write: 4 bytes at byte 12 of an allocation of 256 bytes
// case device_copied: | | device-copied
// expect device_copied: error out-of-bounds device_copied
// case device_printed: | | device-printed
// expect device_printed: error out-of-bounds device_printed
// case device_variable: | | device-variable
// expect device_variable: error out-of-bounds device_variable
// case device_in_callback: | | device-in-callback
// expect device_in_callback: error out-of-bounds device_in_callback
// case device_caught: | | device-caught
// expect device_caught: error out-of-bounds device_caught
// prints device_caught: caught
// case device_given_to_free: | | device-given-to-free
// expect device_given_to_free: error invalid-free given_to_free
// says device_given_to_free: (1) gives memory of a device to free(), realloc() or delete
// says device_given_to_free: was killed by signal 11 (Segmentation fault)
// case device_deleted: | | device-deleted
// expect device_deleted: error invalid-free deleted
// case managed_given_to_free: | | edge-given-to-free
// expect managed_given_to_free: error invalid-free managed_given_to_free
// says managed_given_to_free: (1) gives managed memory to free(), realloc() or delete
// case page_locked_deleted: | | edge-deleted
// expect page_locked_deleted: error invalid-free page_locked_deleted
// says page_locked_deleted: (1) gives page-locked memory to free(), realloc() or delete
// case freed_given_to_free: | | edge-freed-given-to-free
// expect freed_given_to_free: error invalid-free freed_given_to_free
// case overrun: | | edge-behind
// expect overrun: error out-of-bounds overrun
// says overrun: (1) is outside of the managed memory
// says overrun: 0 bytes past the end of an allocation of 16384 bytes
// prints overrun: 3
// case underrun: | | edge-before
// expect underrun: error out-of-bounds underrun
// says underrun: 4 bytes before an allocation of 4 bytes
// prints underrun: 0
// case device_freed: | | device-freed
// expect device_freed: error use-after-free device_used freed_on_device
// says device_freed: (1) uses memory that has been freed; (2) freed it
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <setjmp.h>
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>

constexpr int kCount = 4096, kHalf = kCount / 2;

__global__ void fill(int* values, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] = i;  //~ store
}
__global__ void sum(const int* values, int* result, int count) {
  int total = 0;
  for (int i = 0; i < count; ++i) total += values[i];  //~ load
  *result = total;
}
__global__ void signal_host(int* data, volatile int* flag) {
  data[0] = 42;
  __threadfence_system();
  *flag = 1;
}
__global__ void signal_too_narrowly(int* data, volatile int* flag, bool fences) {
  data[0] = 42;  //~ data
  if (fences) __threadfence();
  *flag = 1;
}
__global__ void signal_early(int* data, volatile int* flag) {
  data[1] = 1;
  __threadfence_system();
  *flag = 1;
  data[0] = 42;  //~ data_behind
}
// The whole block writes, and one thread releases its own writes.
__global__ void signal_for_the_block(int* data, volatile int* flag) {
  data[threadIdx.x] = 42;
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence_system();
  *flag = 1;
}
__global__ void wait_for_host(const int* data, volatile int* flag, int* result) {
  while (*flag == 0) {
  }
  __threadfence_system();
  *result = data[0];
}
__managed__ int counter;
__global__ void count() { counter += 1; }  //~ update
__global__ void add_up(int* result) { atomicAdd(result, 1); }  //~ addition
__global__ void add_for_all(int* result) { atomicAdd_system(result, 1); }
__global__ void take(int* mailbox, int* result) {
  while ((*result = atomicExch(mailbox, 0)) == 0) {
  }
}
__global__ void add_after_signal(volatile int* flag, int* result) {
  while (*flag == 0) {
  }
  atomicAdd(result, 1);
}
__constant__ int factor;
__global__ void scale(int* result) { *result *= factor; }  //~ constant_read

struct Node {
  Node* next;
  int value;
};
__global__ void double_list(Node* list) {
  for (; list != nullptr; list = list->next) list->value *= 2;  //~ list_update
}

static int *values, *result;

// The kernel writes half of the values, the host the others.
static void launch_half() { fill<<<kHalf / 256, 256>>>(values, kHalf); }

static void races(const std::string& mode) {
  if (mode == "read") {
    fill<<<kCount / 256, 256>>>(values, kCount);
    std::printf("%d\n", values[17] == -1);  //~ read_early
  } else if (mode == "write") {
    std::fill(values, values + kCount, 1);
    sum<<<1, 1>>>(values, result, 100);
    values[5] = 3;  //~ written_early
  } else if (mode == "copied") {
    static int copy[kCount];
    fill<<<1, 32>>>(values + 1000, 1);
    std::memcpy(copy, values, sizeof copy);  //~ copied_early
  } else if (mode == "variable") {
    count<<<1, 1>>>();
    std::printf("%d\n", counter == -1);  //~ variable
  } else if (mode == "addition") {
    *result = 0;
    add_up<<<2, 32>>>(result);
    std::printf("%d\n", *result == -1);  //~ result
  } else if (mode == "store-beside-an-addition") {
    *result = 0;
    add_up<<<2, 32>>>(result);
    *result = 5;  //~ stored_early
  } else if (mode == "store-beside-an-addition-for-all") {
    *result = 0;
    add_for_all<<<2, 32>>>(result);
    *result = 5;
  } else if (mode == "store-for-a-kernel-that-takes") {
    *result = 0;
    take<<<1, 1>>>(result, values);
    *result = 5;
    cudaDeviceSynchronize();
    std::printf("%d\n", *values);
  } else if (mode == "store-before-a-signal") {
    volatile int* const flag = values;
    *flag = 0;
    add_after_signal<<<1, 1>>>(flag, result);
    *result = 5;
    *flag = 1;
    cudaDeviceSynchronize();
    std::printf("%d\n", *result);
  } else if (mode == "constant") {
    static const int two = 2;
    cudaStream_t each, other;
    cudaStreamCreate(&each);
    cudaStreamCreate(&other);
    scale<<<1, 1, 0, each>>>(result);
    const auto kind = cudaMemcpyHostToDevice;
    cudaMemcpyToSymbolAsync(factor, &two, sizeof two, 0, kind, other);  //~ constant_written
  } else if (mode == "list") {
    Node* nodes[2];
    for (Node*& node : nodes) cudaMallocManaged(&node, sizeof *node);
    *nodes[0] = {nodes[1], 1};
    *nodes[1] = {nullptr, 2};
    double_list<<<1, 1>>>(nodes[0]);
    nodes[1]->value = 3;  //~ list_written
  } else if (mode == "mapped") {
    int *host, *device;
    cudaHostAlloc(&host, 64, cudaHostAllocMapped);
    cudaHostGetDevicePointer(&device, host, 0);
    fill<<<1, 16>>>(device, 16);
    host[3] = 1;  //~ mapped
  } else if (mode == "unreleased" || mode == "released-on-the-device" ||
             mode == "signalled-early") {
    *result = 0;
    if (mode == "signalled-early") {
      signal_early<<<1, 1>>>(values, result);
    } else {
      signal_too_narrowly<<<1, 1>>>(values, result, mode != "unreleased");
    }
    while (*static_cast<volatile int*>(result) == 0) {
    }
    std::printf("%d\n", values[0]);  //~ data_read
  } else if (mode == "source") {
    int *host, *device;
    cudaMallocHost(&host, 4096);
    cudaMalloc(&device, 4096);
    std::memset(host, 0, 4096);
    cudaMemcpyAsync(device, host, 4096, cudaMemcpyHostToDevice, nullptr);  //~ source_copied
    host[10] = 1;  //~ source_written
  }
  cudaDeviceSynchronize();
}

static void wait_for_callback() {
  static std::mutex mutex;
  static std::condition_variable is_told;
  static bool told = false;
  cudaLaunchHostFunc(
      nullptr,
      [](void*) {
        const std::lock_guard lock(mutex);
        told = true;
        is_told.notify_one();
      },
      nullptr);
  std::unique_lock lock(mutex);
  is_told.wait(lock, [] { return told; });
}

static void clean(const std::string& mode) {
  if (mode == "halves") {
    launch_half();
    std::iota(values + kHalf, values + kCount, 0);
    std::sort(values + kHalf, values + kCount, std::greater<>());
  } else if (mode == "flag-to-host") {
    *result = 0;
    signal_host<<<1, 1>>>(values, result);
    while (*static_cast<volatile int*>(result) == 0) {
    }
    std::printf("%d\n", values[0]);
  } else if (mode == "flag-of-a-block") {
    *result = 0;
    signal_for_the_block<<<1, 64>>>(values, result);
    while (*static_cast<volatile int*>(result) == 0) {
    }
    std::printf("%d\n", values[63]);
  } else if (mode == "flag-to-kernel") {
    *result = 0;
    wait_for_host<<<1, 1>>>(values, result, values + 100);
    values[0] = 7;
    *static_cast<volatile int*>(result) = 1;
    cudaDeviceSynchronize();
    std::printf("%d\n", values[100]);
  } else if (mode == "callback") {
    fill<<<kCount / 256, 256>>>(values, kCount);
    wait_for_callback();
    std::printf("%d\n", values[17]);
  } else if (mode == "progress") {
    *result = 0;
    add_up<<<2, 32>>>(result);
    while (*static_cast<volatile int*>(result) < 64) {
    }
    std::printf("%d\n", *result);
  } else if (mode == "progress-asked-for-between") {
    *result = 0;
    add_up<<<2, 32>>>(result);
    int last = 0;
    do {
      last = *static_cast<volatile int*>(result);
    } while (cudaStreamQuery(nullptr) == cudaErrorNotReady);
    last = *static_cast<volatile int*>(result);
    std::printf("%d\n", last);
  } else if (mode == "progress-for-the-system") {
    *result = 0;
    add_for_all<<<2, 32>>>(result);
    std::printf("%d\n", *static_cast<volatile int*>(result) <= 64);
  } else if (mode == "addition-before-and-after") {
    *result = 0;
    std::printf("%d\n", *result);
    add_up<<<2, 32>>>(result);
    cudaDeviceSynchronize();
    std::printf("%d\n", *result);
  } else if (mode == "query") {
    fill<<<kCount / 256, 256>>>(values, kCount);
    while (cudaStreamQuery(nullptr) == cudaErrorNotReady) {
    }
    std::printf("%d\n", values[17]);
  }
  cudaDeviceSynchronize();
}

// Each while a kernel has not been waited for.
static void system_calls() {
  int* const own = values + kHalf;
  const std::size_t bytes = kHalf * sizeof(int);
  std::memset(own, 'x', bytes);
  const int file = ::memfd_create("data", 0);
  launch_half();
  std::printf("write %zd\n", ::write(file, own, bytes));
  launch_half();
  std::printf("pread %zd\n", ::pread(file, own, bytes, 0));
  std::FILE* const stream = ::fdopen(file, "r+");
  std::rewind(stream);
  launch_half();
  std::printf("fread %zu\n", std::fread(own, 1, bytes, stream));
  std::rewind(stream);
  launch_half();
  std::printf("fwrite %zu\n", std::fwrite(own, 1, bytes, stream));
  iovec halves[2] = {{own, bytes / 2}, {own + kHalf / 2, bytes / 2}};
  launch_half();
  std::printf("writev %zd\n", ::writev(::fileno(stream), halves, 2));
  launch_half();
  std::printf("preadv %zd\n", ::preadv(::fileno(stream), halves, 2, 0));
  int sockets[2];
  ::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
  msghdr message{};
  message.msg_iov = halves;
  message.msg_iovlen = 1;
  launch_half();
  std::printf("sendmsg %zd\n", ::sendmsg(sockets[0], &message, 0));
  launch_half();
  std::printf("recvmsg %zd\n", ::recvmsg(sockets[1], &message, 0));
  cudaDeviceSynchronize();
}

static sigjmp_buf back;

static void own_faults() {
  std::signal(SIGSEGV, [](int) { siglongjmp(back, 1); });
  launch_half();
  values[kCount - 1] = 0;
  if (sigsetjmp(back, 1) == 0) {
    *reinterpret_cast<volatile int*>(8) = 1;
  } else {
    std::puts("caught");
  }
  cudaDeviceSynchronize();
  std::printf("%d\n", values[3]);
}

// The other thread blocks all signals, as the C library does while it begins or ends a thread.
static void read_beside_a_thread_that_begins() {
  std::atomic<bool> is_blocked = false, is_done = false;
  std::thread other([&] {
    const unsigned long all = ~0ul;
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, nullptr, sizeof all);
    is_blocked = true;
    while (!is_done) std::this_thread::yield();
  });
  while (!is_blocked) std::this_thread::yield();
  launch_half();
  std::printf("%d\n", values[70] == -1);  //~ read_beside
  cudaDeviceSynchronize();
  is_done = true;
  other.join();
}

__device__ int on_device = 3;

// The host uses addresses of device memory itself.
static void device_memory(const std::string& mode) {
  static int* device;
  cudaMalloc(&device, 256);
  if (mode == "device-read") {
    std::printf("%d\n", device[3]);  //~ device_read
  } else if (mode == "device-write") {
    device[3] = 1;  //~ device_write
  } else if (mode == "device-copied") {
    int copy[64];
    std::memcpy(copy, device, sizeof copy);  //~ device_copied
    std::printf("%d\n", copy[3]);
  } else if (mode == "device-printed") {
    std::printf("%s\n", reinterpret_cast<char*>(device));  //~ device_printed
  } else if (mode == "device-variable") {
    void* address;
    cudaGetSymbolAddress(&address, on_device);
    std::printf("%d\n", *static_cast<int*>(address));  //~ device_variable
  } else if (mode == "device-in-callback") {
    const auto add = [](void*) { device[0] += 1; };  //~ device_in_callback
    cudaLaunchHostFunc(nullptr, add, nullptr);
    cudaDeviceSynchronize();
  } else if (mode == "device-caught") {
    std::signal(SIGSEGV, [](int) { siglongjmp(back, 1); });
    launch_half();  // its memory is watched
    if (sigsetjmp(back, 1) == 0) {
      device[3] = 1;  //~ device_caught
    } else {
      std::puts("caught");
    }
  } else if (mode == "device-given-to-free") {
    std::free(device);  //~ given_to_free
  } else if (mode == "device-deleted") {
    static int* other;  // what free() looks at lies in `device`
    cudaMalloc(&other, 256);
    delete[] other;  //~ deleted
  } else if (mode == "device-freed") {
    cudaFree(device);  //~ freed_on_device
    device[3] = 1;  //~ device_used
  }
}

void edges(const std::string& mode) {
  if (mode == "edge-given-to-free") {
    std::free(result);  //~ managed_given_to_free
  } else if (mode == "edge-deleted") {
    int* other = nullptr;
    cudaMallocHost(&other, 64);
    delete[] other;  //~ page_locked_deleted
  } else if (mode == "edge-freed-given-to-free") {
    cudaFree(values);
    std::free(values);  //~ freed_given_to_free
  } else if (mode == "edge-behind") {
    int* const behind = values + kCount;
    for (int i = 0; i < 3; ++i) behind[i] = i + 1;  //~ overrun
    std::printf("%d\n", behind[2]);
  } else if (mode == "edge-before") {
    std::printf("%d\n", *(result - 1));  //~ underrun
  }
}

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  cudaMallocManaged(&values, kCount * sizeof(int));
  cudaMallocManaged(&result, sizeof(int));
  races(mode);
  clean(mode);
  if (mode == "system-calls") system_calls();
  if (mode == "own-faults") own_faults();
  if (mode.rfind("device-", 0) == 0) device_memory(mode);
  if (mode.rfind("edge-", 0) == 0) edges(mode);
  if (mode == "beside-a-thread-that-begins") read_beside_a_thread_that_begins();
  if (mode == "crash") {
    launch_half();
    *reinterpret_cast<volatile int*>(8) = 1;
  }
  if (mode == "blocked") {  // signals that nobody can take: nothing is watched, and all goes well
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    launch_half();
    values[kCount - 1] = 0;
    cudaDeviceSynchronize();
  }
  if (mode == "freed-as-another") {
    int* pointer = nullptr;
    cudaMallocHost(&pointer, 64);
    cudaFree(pointer);  //~ freed_wrongly
    cudaFreeHost(pointer);
  }
  if (mode == "freed" || mode == "freed-host") {
    int* pointer = values;
    if (mode == "freed-host") cudaMallocHost(&pointer, 64);
    if (mode == "freed-host") cudaFreeHost(pointer);  //~ freed_host
    if (mode == "freed") cudaFree(pointer);  //~ freed
    std::printf("%d\n", pointer[3] == -1);  //~ used
  }
  return 0;
}
