// Two processes of one program share memory by file descriptors, which a socket carries: memory of
// cuMemCreate, and of a pool.  The second process is forked before either uses CUDA; with an argument
// "again" it starts the program once more.
// build: -lcuda
// case mapped: | | mapped forked
// expect mapped: clean
// says mapped: not checked: what processes do to memory that they share (cuMemImportFromShareableHandle): it is not known what orders them, nor what the others have written
// prints mapped: 7 49
// case again: | | mapped again
// expect again: clean
// prints again: 7 49
// case overrun: | | mapped-overrun forked
// expect overrun: error out-of-bounds stored
// case unmapped: | | mapped-late forked
// expect unmapped: error use-after-free stored
// case no_access: | | mapped-closed forked
// expect no_access: error out-of-bounds stored
// case same_process: | | itself forked
// expect same_process: note api-error
// prints same_process: 1 5
// prints same_process: not announced: CUDA_ERROR_INVALID_VALUE
// prints same_process: no memory: CUDA_ERROR_INVALID_VALUE
// case pool: | | pool forked
// expect pool: note api-error
// says pool: not checked: what processes do to memory that they share (cudaMemPoolImportPointer): it is not known what orders them, nor what the others have written
// prints pool: allocation: cudaErrorInvalidValue
// prints pool: 7 49
// case pool_overrun: | | pool-overrun forked
// expect pool_overrun: error out-of-bounds stored
// case pool_late: | | pool-late forked
// expect pool_late: error use-after-free stored freed
#include <cuda.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

constexpr int kCount = 64;
constexpr size_t kPiece = 2 << 20;

__global__ void add(int* values, int what) { values[threadIdx.x] += what; }
__global__ void set(int* values) { values[threadIdx.x] = 1; }  //~ stored

static void require(int error, int line) {
  if (error == 0) return;
  std::printf("line %d: %d\n", line, error);
  std::exit(1);
}
#define REQUIRE(call) require(static_cast<int>(call), __LINE__)

static void send(int socket, int descriptor, const void* data, size_t bytes) {
  iovec part{const_cast<void*>(data), bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  REQUIRE(::sendmsg(socket, &message, 0) != static_cast<ssize_t>(bytes));
  ::close(descriptor);
}

static int receive(int socket, void* data, size_t bytes) {
  iovec part{data, bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  REQUIRE(::recvmsg(socket, &message, 0) != static_cast<ssize_t>(bytes));
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
  return descriptor;
}

static void* as_handle(int descriptor) {
  return reinterpret_cast<void*>(static_cast<intptr_t>(descriptor));
}

static CUmemAllocationProp properties_of(CUmemAllocationHandleType type) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.requestedHandleTypes = type;
  return properties;
}

// Memory of cuMemCreate, mapped at an address of this process.
struct Mapped {
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr address = 0;
  int* map(bool open = true) {
    REQUIRE(cuMemAddressReserve(&address, kPiece, 0, 0, 0));
    REQUIRE(cuMemMap(address, kPiece, 0, handle, 0));
    const CUmemAccessDesc access{properties_of(CU_MEM_HANDLE_TYPE_NONE).location,
                                 CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (open) REQUIRE(cuMemSetAccess(address, kPiece, &access, 1));
    return reinterpret_cast<int*>(address);
  }
  void unmap() {
    REQUIRE(cuMemUnmap(address, kPiece));
    REQUIRE(cuMemRelease(handle));
  }
};

constexpr auto kDescriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

static const char* name_of(CUresult result) {
  const char* name = nullptr;
  cuGetErrorName(result, &name);
  return name;
}

static int get(const int* value) {
  int host = 0;
  REQUIRE(cudaMemcpy(&host, value, sizeof host, cudaMemcpyDeviceToHost));
  return host;
}

static void itself() {
  Mapped first, second;
  int descriptor = -1;
  const auto with = properties_of(kDescriptor), without = properties_of(CU_MEM_HANDLE_TYPE_NONE);
  REQUIRE(cuMemCreate(&first.handle, kPiece, &with, 0));
  int* const values = first.map();
  REQUIRE(cudaMemset(values, 0, kPiece));
  REQUIRE(cuMemExportToShareableHandle(&descriptor, first.handle, kDescriptor, 0));
  REQUIRE(cuMemImportFromShareableHandle(&second.handle, as_handle(descriptor), kDescriptor));
  int* const alias = second.map();
  add<<<1, kCount>>>(alias, 5);
  std::printf("%d %d\n", alias != values, get(values));
  first.unmap();
  second.unmap();
  REQUIRE(cuMemCreate(&first.handle, kPiece, &without, 0));
  std::printf("not announced: %s\n",
              name_of(cuMemExportToShareableHandle(&descriptor, first.handle, kDescriptor, 0)));
  REQUIRE(cuMemRelease(first.handle));
  std::printf("no memory: %s\n",
              name_of(cuMemImportFromShareableHandle(&second.handle, as_handle(0), kDescriptor)));
}

static void give_mapped(int socket) {
  Mapped memory;
  int descriptor = -1;
  const auto properties = properties_of(kDescriptor);
  REQUIRE(cuMemCreate(&memory.handle, kPiece, &properties, 0));
  int* const values = memory.map();
  REQUIRE(cudaMemset(values, 0, kPiece));
  add<<<1, kCount>>>(values, 7);
  REQUIRE(cuMemExportToShareableHandle(&descriptor, memory.handle, kDescriptor, 0));
  const int before = get(values);
  send(socket, descriptor, "x", 1);
  char done = 0;
  REQUIRE(::read(socket, &done, 1) != 1);
  std::printf("%d %d\n", before, get(values));
  memory.unmap();
}

static void take_mapped(const std::string& mode, int socket) {
  Mapped memory;
  char byte = 0;
  const int descriptor = receive(socket, &byte, 1);
  REQUIRE(cuMemImportFromShareableHandle(&memory.handle, as_handle(descriptor), kDescriptor));
  ::close(descriptor);
  int* const values = memory.map(mode != "mapped-closed");
  mode == "mapped" ? add<<<1, kCount>>>(values, 42)
                   : set<<<1, kCount>>>(mode == "mapped-overrun" ? values + kPiece / sizeof(int) : values);
  REQUIRE(cudaDeviceSynchronize());
  memory.unmap();
  if (mode == "mapped-late") set<<<1, kCount>>>(values);
  REQUIRE(cudaDeviceSynchronize());
}

static void give_pool(int socket) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool = nullptr;
  REQUIRE(cudaMemPoolCreate(&pool, &properties));
  int* values = nullptr;
  REQUIRE(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&values), kCount * sizeof(int), pool, nullptr));
  REQUIRE(cudaMemsetAsync(values, 0, kCount * sizeof(int)));
  add<<<1, kCount>>>(values, 7);
  int descriptor = -1;
  REQUIRE(cudaMemPoolExportToShareableHandle(&descriptor, pool, cudaMemHandleTypePosixFileDescriptor, 0));
  cudaMemPoolPtrExportData pointer;
  REQUIRE(cudaMemPoolExportPointer(&pointer, values));
  const int before = get(values);
  send(socket, descriptor, &pointer, sizeof pointer);
  char done = 0;
  REQUIRE(::read(socket, &done, 1) != 1);
  std::printf("%d %d\n", before, get(values));
  REQUIRE(cudaFreeAsync(values, nullptr));
  REQUIRE(cudaMemPoolDestroy(pool));
}

static void take_pool(const std::string& mode, int socket) {
  cudaMemPoolPtrExportData pointer;
  cudaMemPool_t pool = nullptr;
  const int descriptor = receive(socket, &pointer, sizeof pointer);
  REQUIRE(cudaMemPoolImportFromShareableHandle(&pool, as_handle(descriptor),
                                               cudaMemHandleTypePosixFileDescriptor, 0));
  ::close(descriptor);
  if (mode == "pool") {
    void* own = nullptr;
    std::printf("allocation: %s\n", cudaGetErrorName(cudaMallocFromPoolAsync(&own, 64, pool, nullptr)));
    std::fflush(stdout);
  }
  int* values = nullptr;
  REQUIRE(cudaMemPoolImportPointer(reinterpret_cast<void**>(&values), pool, &pointer));
  mode == "pool" ? add<<<1, kCount>>>(values, 42) : set<<<1, kCount>>>(mode == "pool-overrun" ? values + 1 : values);
  REQUIRE(cudaFreeAsync(values, nullptr));  //~ freed
  REQUIRE(cudaDeviceSynchronize());
  // What now has the freed memory's size has its own bytes, and not those of the other process.
  int* own = nullptr;
  REQUIRE(cudaMalloc(&own, kCount * sizeof(int)));
  REQUIRE(cudaMemset(own, 0, kCount * sizeof(int)));
  if (mode == "pool-late") set<<<1, kCount>>>(values);
  REQUIRE(cudaDeviceSynchronize());
  REQUIRE(cudaFree(own));
}

static void child(const std::string& mode, int socket) {
  REQUIRE(cudaFree(nullptr));
  mode.rfind("pool", 0) == 0 ? take_pool(mode, socket) : take_mapped(mode, socket);
  static_cast<void>(!::write(socket, "x", 1));
}

int main(int argc, char** argv) {
  const std::string mode = argv[1];
  if (argc > 3) {
    child(mode, std::atoi(argv[3]));
    return 0;
  }
  if (mode == "itself") {
    REQUIRE(cudaFree(nullptr));
    itself();
    return 0;
  }
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return 2;
  const pid_t process = ::fork();
  if (process == 0) {
    ::close(sockets[0]);
    if (std::strcmp(argv[2], "again") == 0) {
      ::execl(argv[0], argv[0], argv[1], argv[2], std::to_string(sockets[1]).c_str(), nullptr);
    }
    child(mode, sockets[1]);
    return 0;
  }
  ::close(sockets[1]);
  REQUIRE(cudaFree(nullptr));
  mode.rfind("pool", 0) == 0 ? give_pool(sockets[0]) : give_mapped(sockets[0]);
  int status = 0;
  ::waitpid(process, &status, 0);
  return WEXITSTATUS(status);
}
