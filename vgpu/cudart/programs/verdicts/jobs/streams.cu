// Small launches of several streams on several threads.  Most streams do not communicate; in some cases,
// some do.  Neither the results nor a byte of the report depends on the number of threads.
// jobs: 2 4
// also unoptimized: -G
// case chains: | | chains
// expect chains: clean
// case one_by_one: | | one-by-one
// expect one_by_one: clean
// case branches: | | branches
// expect branches: clean
// case events: | | events
// expect events: clean
// case waits: | | waits
// expect waits: clean
// case tickets: | | tickets
// expect tickets: clean
// case copies: | | copies
// expect copies: clean
// case callbacks: | | callbacks
// expect callbacks: clean
// case deep: | | deep
// expect deep: clean
// case prints: | | prints
// expect prints: clean
// case turns: | | turns
// expect turns: clean
// case turns_backwards: | | turns-backwards
// expect turns_backwards: clean
// case turns_polled: | | turns-polled
// expect turns_polled: clean
// case turns_by_event: | | turns-by-event
// expect turns_by_event: clean
// case turns_breadth: | | turns-breadth
// expect turns_breadth: clean
// case turns_pipelined: | | turns-pipelined
// expect turns_pipelined: clean
// case turns_events: | | turns-events
// expect turns_events: clean
// case turns_late_launch: | | turns-late-launch
// expect turns_late_launch: clean
// case turns_copy: | | turns-copy
// expect turns_copy: clean
// case turns_managed: | | turns-managed
// expect turns_managed: clean
// case turns_prints: | | turns-prints
// expect turns_prints: clean
// case turns_freed: | | turns-freed
// expect turns_freed: clean
// case turns_scatter: | | turns-scatter
// expect turns_scatter: clean
// case turns_flag: | | turns-flag
// expect turns_flag: clean
// case turns_never: | | turns-never
// expect turns_never: clean
// case turns_source_read: | | turns-source-read
// expect turns_source_read: clean
// case devices: | --devices 2 | devices
// expect devices: clean
// case met: | | met
// expect met: error data-race sum reads
// case missing: | | missing
// expect missing: error data-race sum reads
// case met_late: | | met-late
// expect met_late: error data-race sum reads
// case freed: | | freed
// expect freed: error data-race reads freed
// case turns_met_first: | | turns-met-first
// expect turns_met_first: error data-race sum reads
// case turns_met_last: | | turns-met-last
// expect turns_met_last: error data-race sum reads
// case turns_met_late_launch: | | turns-met-late-launch
// expect turns_met_late_launch: error data-race sum reads
// case turns_met_freed: | | turns-met-freed
// expect turns_met_freed: error data-race reads freed_in_turn
// case met_by_copy: | | met-by-copy
// expect met_by_copy: error data-race sum copied
// case met_by_late_copy: | | met-by-late-copy
// expect met_by_late_copy: error data-race sum copied
// case met_by_earlier_copy: | | met-by-earlier-copy
// expect met_by_earlier_copy: error data-race copied_before sum
// case turns_fill: | | turns-fill
// expect turns_fill: error data-race sum filled
// case turns_met_copy_back: | | turns-met-copy-back
// expect turns_met_copy_back: error data-race sum copied_back
// case constants: | | constants
// expect constants: error data-race factors set_factors
// case turns_met_copy: | | turns-met-copy
// expect turns_met_copy: error data-race load copied_over
// expect turns_met_copy: error data-race result copied_over
// case beyond: | | beyond
// expect beyond: error out-of-bounds store
// case turns_beyond: | | turns-beyond
// expect turns_beyond: error out-of-bounds store
// case unwritten: | | unwritten
// expect unwritten: error uninitialized-read branch
// case turns_branch: | | turns-branch
// expect turns_branch: error uninitialized-read branch
// case dies: | | dies
// expect dies: error trap assertion
// case turns_dies: | | turns-dies
// expect turns_dies: error trap assertion
// case turns_source: | | turns-source
// expect turns_source: error data-race changed source
// case turns_freed_elsewhere: | --devices 2 | turns-freed-elsewhere
// expect turns_freed_elsewhere: error use-after-free reads freed_remote
#include <fcntl.h>
#include <unistd.h>

#include <cassert>
#include <cstdio>
#include <cstring>
#include <vector>

constexpr int kStreams = 6, kLaunches = 12, kBlocks = 3, kThreads = 96, kCount = kBlocks * kThreads;

__device__ int number() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void iterate(float* data, int rounds) {
  float x = data[number()];
  for (int round = 0; round < rounds; ++round) x = 0.5f * x + 1.0f / (1.0f + x * x);
  data[number()] = x;  //~ result
}

__global__ void add_neighbours(const float* in, float* out) {
  __shared__ float tile[kThreads];
  tile[threadIdx.x] = in[number()];  //~ load
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < kThreads; ++k) sum += tile[(threadIdx.x + k) % kThreads];
  out[number()] = sum / kThreads;  //~ sum
}

// The order of the blocks shows.
__global__ void take_tickets(int* next, int* taken) { taken[number()] += atomicAdd(next, 1); }

__global__ void add(float* data, const float* other) {
  data[number()] += other[number()];  //~ reads
}

__global__ void fail(float* data, int at) {
  data[number()] += 1;
  assert(number() != at);  //~ assertion
}

__global__ void write_beyond(float* data, int at) {
  data[number() + at] = 1;  //~ store
}

__global__ void branch(const float* in, float* out) {
  if (in[number()] > 0) out[number()] = 1;  //~ branch
}

__global__ void say(float* data, int stream) {
  data[number()] += 1;
  if (number() == 7) printf("stream %d\n", stream);
}

// Waits for another stream, or for the host.
__global__ void wait_for_flag(volatile int* flag, float* data) {
  while (*flag == 0) {
  }
  data[number()] += 1;
}

// Writes where the data says.
__global__ void scatter(const float* at, float* data) {
  data[static_cast<int>(at[number()])] = 1;
}

__constant__ float factors[4];
__global__ void scale(float* data) {
  data[number()] *= factors[threadIdx.x % 4];  //~ factors
}

struct Lane {
  cudaStream_t stream;
  cudaEvent_t event;
  float *a, *b, *host;
  int* tickets;
};
Lane lanes[kStreams];

void launch_chain(const Lane& lane, int launches = kLaunches) {
  for (int i = 0; i < launches; ++i) {
    iterate<<<kBlocks, kThreads, 0, lane.stream>>>(lane.a, 40);
    add_neighbours<<<kBlocks, kThreads, 0, lane.stream>>>(lane.a, lane.b);
  }
}

void set_up(int devices) {
  for (int s = 0; s < kStreams; ++s) {
    Lane& lane = lanes[s];
    cudaSetDevice(s % devices);
    cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking);
    cudaEventCreate(&lane.event);
    cudaMalloc(&lane.a, kCount * sizeof(float));
    cudaMalloc(&lane.b, kCount * sizeof(float));
    cudaMalloc(&lane.tickets, (kCount + 1) * sizeof(int));
    cudaMallocHost(&lane.host, kCount * sizeof(float));
    for (int i = 0; i < kCount; ++i) lane.host[i] = static_cast<float>(i * 7919 % 1000 + s);
    cudaMemcpy(lane.a, lane.host, kCount * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(lane.b, lane.host, kCount * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(lane.tickets, 0, (kCount + 1) * sizeof(int));
    cudaDeviceSynchronize();
    cudaEventRecord(lane.event, lane.stream);
  }
}

void show(bool has_times) {
  for (const Lane& lane : lanes) {
    unsigned hash = 2166136261u;
    for (const void* const from : {static_cast<void*>(lane.a), static_cast<void*>(lane.b),
                                   static_cast<void*>(lane.tickets)}) {
      unsigned char bytes[kCount * sizeof(float)] = {};
      cudaMemcpy(bytes, from, sizeof bytes, cudaMemcpyDeviceToHost);
      for (const unsigned char byte : bytes) hash = (hash ^ byte) * 16777619u;
    }
    float milliseconds = 0;
    if (has_times) cudaEventElapsedTime(&milliseconds, lanes[0].event, lane.event);
    std::printf("%08x %g %s\n", hash, milliseconds, cudaGetErrorString(cudaGetLastError()));
  }
}

void fork_and_join(int branches) {
  cudaEventRecord(lanes[0].event, lanes[0].stream);
  for (int s = 1; s < branches; ++s) cudaStreamWaitEvent(lanes[s].stream, lanes[0].event, 0);
  for (int s = 0; s < branches; ++s) launch_chain(lanes[s]);
  for (int s = 1; s < branches; ++s) {
    cudaEventRecord(lanes[s].event, lanes[s].stream);
    cudaStreamWaitEvent(lanes[0].stream, lanes[s].event, 0);
  }
  add<<<kBlocks, kThreads, 0, lanes[0].stream>>>(lanes[0].a, lanes[1].a);
}

void CUDART_CB say_done(void* lane) { std::printf("%g\n", static_cast<Lane*>(lane)->host[5]); }

void copy_in(const Lane& lane) {
  cudaMemcpyAsync(lane.a, lane.host, kCount * sizeof(float), cudaMemcpyHostToDevice, lane.stream);  //~ source
}

void copy_out(const Lane& lane) {
  cudaMemcpyAsync(lane.host, lane.b, kCount * sizeof(float), cudaMemcpyDeviceToHost, lane.stream);
}

// Waits for one stream after the other.
void wait_for_each(int from = 0) {
  for (int i = 0; i < kStreams; ++i) cudaStreamSynchronize(lanes[(from + i) % kStreams].stream);
}

// The host waits for one stream after the other.  Each function returns false if the mode is none
// of its own.

bool take_turns(const char* mode) {  // chains of one stream after the other
  const auto is = [&](const char* name) { return std::strcmp(mode, name) == 0; };
  const Lane &first = lanes[0], &third = lanes[2];
  const std::size_t bytes = kCount * sizeof(float);
  float* extra;
  cudaMalloc(&extra, bytes);
  if (is("turns") || is("turns-backwards") || is("turns-polled") || is("turns-by-event")) {
    for (int round = 0; round < 3; ++round) {
      for (const Lane& lane : lanes) {
        copy_in(lane);
        launch_chain(lane);
        copy_out(lane);
        cudaEventRecord(lane.event, lane.stream);
      }
      if (is("turns")) wait_for_each();
      for (int s = kStreams; s-- > 0 && is("turns-backwards");) {
        cudaStreamSynchronize(lanes[s].stream);
      }
      for (const Lane& lane : lanes) {
        if (is("turns-by-event")) cudaEventSynchronize(lane.event);
        while (is("turns-polled") && cudaStreamQuery(lane.stream) == cudaErrorNotReady) {
        }
      }
    }
  } else if (is("turns-breadth")) {
    for (int i = 0; i < kLaunches; ++i) {
      for (const Lane& lane : lanes) launch_chain(lane, 1);
    }
    wait_for_each();
  } else if (is("turns-pipelined")) {  // the next work is requested before the other streams end
    for (int round = 0; round < 4; ++round) {
      for (const Lane& lane : lanes) {
        cudaStreamSynchronize(lane.stream);
        for (int i = 0; i < kCount; ++i) lane.host[i] += 1;
        copy_in(lane);
        launch_chain(lane, 3);
        copy_out(lane);
      }
    }
  } else if (is("turns-events")) {  // a stream comes after one that the first wait covers
    for (const Lane& lane : lanes) {
      if (&lane != &first) cudaStreamWaitEvent(lane.stream, first.event, 0);
      launch_chain(lane);
      if (&lane == &first) cudaEventRecord(first.event, first.stream);
      if (&lane == &third) {
        add<<<kBlocks, kThreads, 0, lane.stream>>>(third.b, first.b);
        add<<<kBlocks, kThreads, 0, lane.stream>>>(first.b, third.b);
      }
    }
    wait_for_each();
  } else if (is("turns-scatter")) {  // the order of the scattered words is that of one stream
    std::vector<float> at(kCount);
    for (int i = 0; i < kCount; ++i) at[i] = static_cast<float>(i * 5 % kCount);
    cudaMemcpy(extra, at.data(), bytes, cudaMemcpyHostToDevice);
    for (const Lane& lane : lanes) {
      launch_chain(lane);
      scatter<<<kBlocks, kThreads, 0, lane.stream>>>(extra, lane.b);
    }
    wait_for_each();
  } else if (is("turns-never")) {  // the host waits for one stream only
    for (const Lane& lane : lanes) launch_chain(lane);
    cudaStreamSynchronize(first.stream);
  } else {
    return false;
  }
  return true;
}

bool meet_in_turn(const char* mode) {  // launches of two streams may meet
  const auto is = [&](const char* name) { return std::strcmp(mode, name) == 0; };
  const Lane &first = lanes[0], &third = lanes[2], &last = lanes[kStreams - 1];
  const std::size_t bytes = kCount * sizeof(float);
  if (is("turns-met-first")) {  // what the first wait covers meets what comes later
    for (const Lane& lane : lanes) launch_chain(lane);
    add<<<kBlocks, kThreads, 0, third.stream>>>(third.b, first.b);
    wait_for_each();
  } else if (is("turns-met-last")) {  // two that the first wait does not cover
    for (const Lane& lane : lanes) launch_chain(lane);
    add<<<kBlocks, kThreads, 0, last.stream>>>(last.b, third.b);
    wait_for_each();
  } else if (is("turns-met-late-launch")) {  // requested after the first wait
    for (const Lane& lane : lanes) launch_chain(lane);
    cudaStreamSynchronize(first.stream);
    add<<<kBlocks, kThreads, 0, first.stream>>>(first.b, third.b);
    wait_for_each(1);
  } else if (is("turns-late-launch")) {
    for (const Lane& lane : lanes) launch_chain(lane);
    cudaStreamSynchronize(first.stream);
    launch_chain(first, 2);
    wait_for_each(1);
  } else if (is("turns-freed") || is("turns-met-freed")) {
    float* pooled;
    cudaMallocAsync(&pooled, bytes, first.stream);
    cudaMemsetAsync(pooled, 0, bytes, first.stream);
    cudaStreamSynchronize(first.stream);
    for (const Lane& lane : lanes) launch_chain(lane);
    if (is("turns-met-freed")) add<<<kBlocks, kThreads, 0, third.stream>>>(third.a, pooled);
    cudaStreamSynchronize(first.stream);
    cudaFreeAsync(pooled, first.stream);  //~ freed_in_turn
    wait_for_each();
  } else {
    return false;
  }
  return true;
}

bool copy_in_turn(const char* mode) {  // copies and the host come between two waits
  const auto is = [&](const char* name) { return std::strcmp(mode, name) == 0; };
  const Lane &first = lanes[0], &second = lanes[1], &third = lanes[2];
  const std::size_t bytes = kCount * sizeof(float);
  float* extra;
  cudaMalloc(&extra, bytes);
  if (is("turns-met-copy") || is("turns-copy")) {  // a copy between two waits
    for (const Lane& lane : lanes) launch_chain(lane);
    cudaStreamSynchronize(first.stream);
    cudaMemcpyAsync(is("turns-copy") ? first.a : third.a, first.host, bytes, cudaMemcpyHostToDevice,  //~ copied_over
                    first.stream);
    wait_for_each(1);
  } else if (is("turns-met-copy-back")) {
    for (const Lane& lane : lanes) {
      launch_chain(lane);
      if (&lane == &third) iterate<<<kBlocks, kThreads, 0, lane.stream>>>(lane.a, 3);
      if (&lane == &third) add_neighbours<<<kBlocks, kThreads, 0, lane.stream>>>(lane.a, extra);
    }
    cudaStreamSynchronize(first.stream);
    cudaMemcpyAsync(first.host, extra, bytes, cudaMemcpyDeviceToHost, first.stream);  //~ copied_back
    wait_for_each(1);
  } else if (is("turns-fill")) {
    for (const Lane& lane : lanes) launch_chain(lane);
    cudaStreamSynchronize(first.stream);
    cudaMemsetAsync(third.b, 0, bytes, second.stream);  //~ filled
    wait_for_each(1);
  } else if (is("turns-source") ||
             is("turns-source-read")) {  // the host changes the source of a pending copy
    for (const Lane& lane : lanes) {
      copy_in(lane);
      launch_chain(lane);
      copy_in(lane);
    }
    cudaStreamSynchronize(first.stream);
    if (is("turns-source-read")) {  // an access by the system is not seen
      const int zeros = open("/dev/zero", O_RDONLY);
      if (read(zeros, third.host, bytes) < 0) return true;
    }
    for (int i = 0; i < kCount && is("turns-source"); ++i) third.host[i] = static_cast<float>(i);  //~ changed
    wait_for_each(1);
  } else if (is("turns-freed-elsewhere")) {  // cudaFree() waits for the owner of the memory only
    float* remote;
    cudaSetDevice(1);
    cudaMalloc(&remote, bytes);
    cudaMemset(remote, 0, bytes);
    cudaDeviceSynchronize();
    cudaSetDevice(0);
    cudaDeviceEnablePeerAccess(1, 0);
    for (const Lane& lane : lanes) launch_chain(lane);
    add<<<kBlocks, kThreads, 0, third.stream>>>(third.a, remote);
    cudaStreamSynchronize(first.stream);
    cudaFree(remote);  //~ freed_remote
    wait_for_each(1);
  } else if (is("turns-flag")) {  // a pending launch ends only after a later request
    for (const Lane& lane : lanes) {
      launch_chain(lane);
      if (&lane == &third) {
        wait_for_flag<<<kBlocks, kThreads, 0, lane.stream>>>(first.tickets, lane.a);
      }
    }
    cudaStreamSynchronize(first.stream);
    const int one = 1;
    cudaMemcpyAsync(first.tickets, &one, sizeof one, cudaMemcpyHostToDevice, first.stream);
    wait_for_each(1);
  } else if (is("turns-managed")) {
    float* shared;
    cudaMallocManaged(&shared, bytes);
    for (int i = 0; i < kCount; ++i) shared[i] = 1;
    for (const Lane& lane : lanes) {
      launch_chain(lane);
      if (&lane == &third) add<<<kBlocks, kThreads, 0, lane.stream>>>(third.a, shared);
    }
    cudaStreamSynchronize(first.stream);
    wait_for_each();
    for (int i = 0; i < kCount; ++i) shared[i] += 1;
    add<<<kBlocks, kThreads, 0, third.stream>>>(third.a, shared);
    wait_for_each();
  } else {
    return false;
  }
  return true;
}

bool find_in_turn(const char* mode) {  // launches report, print or fail
  const auto is = [&](const char* name) { return std::strcmp(mode, name) == 0; };
  const Lane& third = lanes[2];
  const std::size_t bytes = kCount * sizeof(float);
  float* extra;
  cudaMalloc(&extra, bytes);
  if (is("turns-beyond") || is("turns-dies") || is("turns-prints") || is("turns-branch")) {
    for (const Lane& lane : lanes) {
      launch_chain(lane);
      if (is("turns-prints")) say<<<kBlocks, kThreads, 0, lane.stream>>>(lane.a, &lane - lanes);
      if (&lane != &third) continue;
      if (is("turns-beyond")) write_beyond<<<kBlocks, kThreads, 0, lane.stream>>>(lane.a, 40);
      if (is("turns-dies")) fail<<<kBlocks, kThreads, 0, lane.stream>>>(lane.a, 130);
      if (is("turns-branch")) branch<<<kBlocks, kThreads, 0, lane.stream>>>(extra, lane.a);
    }
    wait_for_each();
  } else {
    return false;
  }
  return true;
}

void branch_out(const char* mode) {  // branches of a graph, or streams that wait for events
  const auto is = [&](const char* name) { return std::strcmp(mode, name) == 0; };
  const Lane& first = lanes[0];
  if (is("branches")) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamBeginCapture(first.stream, cudaStreamCaptureModeGlobal);
    fork_and_join(kStreams);
    cudaStreamEndCapture(first.stream, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    for (int round = 0; round < 3; ++round) cudaGraphLaunch(executable, first.stream);
    cudaStreamSynchronize(first.stream);
  }
  if (is("events")) {
    for (int round = 0; round < 3; ++round) fork_and_join(kStreams);
    cudaStreamSynchronize(first.stream);
  }
}

void launch_chains(const char* mode, int devices) {  // streams that do not meet
  const auto is = [&](const char* name) { return std::strcmp(mode, name) == 0; };
  if (is("chains") || is("one-by-one") || is("devices") || is("dies") || is("beyond") ||
      is("unwritten") || is("prints") || is("tickets")) {
    for (int s = 0; s < kStreams; ++s) {
      const auto& [stream, event, a, b, host, tickets] = lanes[s];
      cudaSetDevice(s % devices);
      launch_chain(lanes[s]);
      float* unwritten;
      cudaMalloc(&unwritten, kCount * sizeof(float));
      if (is("tickets")) take_tickets<<<kBlocks, kThreads, 0, stream>>>(tickets + kCount, tickets);
      if (is("prints")) say<<<kBlocks, kThreads, 0, stream>>>(a, s);
      if (s == 3 && is("dies")) fail<<<kBlocks, kThreads, 0, stream>>>(a, 130);
      if (s == 3 && is("beyond")) write_beyond<<<kBlocks, kThreads, 0, stream>>>(a, 40);
      if (s == 3 && is("unwritten")) branch<<<kBlocks, kThreads, 0, stream>>>(unwritten, a);
      cudaEventRecord(event, stream);
    }
    if (is("one-by-one") || devices > 1) wait_for_each();
  }
}

void meet(const char* mode) {  // a launch of one stream uses what another stream computes
  const auto is = [&](const char* name) { return std::strcmp(mode, name) == 0; };
  const Lane &first = lanes[0], &third = lanes[2];
  if (is("met") || is("missing")) {
    for (const Lane& lane : lanes) launch_chain(lane);
    if (is("missing")) cudaEventRecord(first.event, first.stream);
    add<<<kBlocks, kThreads, 0, third.stream>>>(third.b, first.b);
    for (const Lane& lane : lanes) launch_chain(lane, 2);
  }
  if (is("waits")) {
    for (const Lane& lane : lanes) launch_chain(lane);
    cudaEventRecord(first.event, first.stream);
    cudaStreamWaitEvent(third.stream, first.event, 0);
    add<<<kBlocks, kThreads, 0, third.stream>>>(third.b, first.b);
    launch_chain(third, 2);
  }
  if (is("met-late")) {  // by a launch that is requested after the host has waited for one stream
    for (const Lane& lane : lanes) launch_chain(lane);
    cudaStreamSynchronize(first.stream);
    add<<<kBlocks, kThreads, 0, first.stream>>>(first.b, third.b);
  }
}

void copy(const char* mode) {  // copies beside launches
  const auto is = [&](const char* name) { return std::strcmp(mode, name) == 0; };
  const Lane &first = lanes[0], &third = lanes[2];
  if (is("met-by-copy") || is("met-by-late-copy")) {
    for (const Lane& lane : lanes) launch_chain(lane);
    if (is("met-by-late-copy")) cudaStreamSynchronize(first.stream);
    cudaMemcpyAsync(first.host, third.b, kCount * sizeof(float), cudaMemcpyDeviceToHost,  //~ copied
                    first.stream);
  }
  if (is("met-by-earlier-copy")) {
    cudaMemcpyAsync(third.b, first.host, kCount * sizeof(float), cudaMemcpyHostToDevice,  //~ copied_before
                    first.stream);
    for (const Lane& lane : lanes) launch_chain(lane);
  }
  if (is("constants")) {
    for (const Lane& lane : lanes) {
      launch_chain(lane);
      scale<<<kBlocks, kThreads, 0, lane.stream>>>(lane.a);
    }
    const float values[4] = {1, 2, 3, 4};
    cudaMemcpyToSymbolAsync(factors, values, sizeof values, 0, cudaMemcpyHostToDevice,  //~ set_factors
                            first.stream);
  }
  if (is("freed")) {
    float* pooled;
    cudaMallocAsync(&pooled, kCount * sizeof(float), first.stream);
    cudaMemsetAsync(pooled, 0, kCount * sizeof(float), first.stream);
    cudaStreamSynchronize(first.stream);
    for (const Lane& lane : lanes) launch_chain(lane);
    add<<<kBlocks, kThreads, 0, third.stream>>>(third.a, pooled);
    cudaFreeAsync(pooled, first.stream);  //~ freed
  }
  if (is("copies") || is("callbacks")) {
    for (const Lane& lane : lanes) copy_in(lane);
    for (const Lane& lane : lanes) launch_chain(lane);
    for (Lane& lane : lanes) {
      copy_out(lane);
      if (is("callbacks")) cudaLaunchHostFunc(lane.stream, say_done, &lane);
    }
  }
  if (is("deep")) {  // each stream copies, computes and copies back
    for (int round = 0; round < 2; ++round) {
      for (const Lane& lane : lanes) {
        copy_in(lane);
        launch_chain(lane);
        copy_out(lane);
        cudaEventRecord(lane.event, lane.stream);
      }
    }
  }
}

int main(int, char** argv) {
  const char* const mode = argv[1];
  const auto is = [&](const char* name) { return std::strcmp(mode, name) == 0; };
  int devices = 1;
  if (is("devices")) cudaGetDeviceCount(&devices);
  set_up(devices);
  const bool is_known =
      take_turns(mode) || meet_in_turn(mode) || copy_in_turn(mode) || find_in_turn(mode);
  if (is_known && is("turns-never")) return 0;
  if (!is_known) {
    branch_out(mode);
    launch_chains(mode, devices);
    meet(mode);
    copy(mode);
  }
  for (int device = 0; device < devices; ++device) {
    cudaSetDevice(device);
    cudaDeviceSynchronize();
  }
  for (const Lane& lane : lanes) std::printf("%g\n", lane.host[3]);
  show(devices == 1 && !is("branches"));
  return 0;
}
