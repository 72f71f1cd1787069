// Programs of many small launches in several streams, for exec_jobs.py: exec_streams WHAT ROUNDS.
// Each launch has too few blocks for a team of machines of its own.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int kStreams = 8, kLaunches = 40, kBlocks = 4, kThreads = 128,
              kCount = kBlocks * kThreads;

__global__ void iterate(float* data, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = data[i];
  for (int round = 0; round < rounds; ++round) x = 0.5f * x + 1.0f / (1.0f + x * x);
  data[i] = x;
}

__global__ void add_neighbours(const float* in, float* out, int n) {
  __shared__ float tile[kThreads];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = in[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < kThreads; ++k) sum += tile[(threadIdx.x + k) % kThreads];
  if (i < n) out[i] = sum / kThreads + in[i];
}

struct Lane {
  cudaStream_t stream;
  cudaEvent_t event;
  float *a, *b, *host;
};

void CUDART_CB count(void* counter) { ++*static_cast<int*>(counter); }

void launch_chain(const Lane& lane, int launches) {
  for (int i = 0; i < launches; i += 2) {
    iterate<<<kBlocks, kThreads, 0, lane.stream>>>(lane.a, 60);
    add_neighbours<<<kBlocks, kThreads, 0, lane.stream>>>(lane.a, lane.b, kCount);
  }
}

std::vector<Lane> make_lanes(int devices) {
  std::vector<Lane> lanes(kStreams);
  for (int s = 0; s < kStreams; ++s) {
    Lane& lane = lanes[s];
    cudaSetDevice(s % devices);
    cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&lane.event, cudaEventDisableTiming);
    cudaMalloc(&lane.a, kCount * sizeof(float));
    cudaMalloc(&lane.b, kCount * sizeof(float));
    cudaMallocHost(&lane.host, kCount * sizeof(float));
    for (int i = 0; i < kCount; ++i) lane.host[i] = static_cast<float>(i * 7919 % 1000 + s);
    cudaMemcpy(lane.a, lane.host, kCount * sizeof(float), cudaMemcpyHostToDevice);
  }
  return lanes;
}

int main(int, char** argv) {
  const char* const what = argv[1];
  const int rounds = std::atoi(argv[2]);
  const auto is = [&](const char* name) { return std::strcmp(what, name) == 0; };
  std::vector<int> counters(kStreams);
  int devices = 1;
  if (is("devices")) cudaGetDeviceCount(&devices);
  const std::vector<Lane> lanes = make_lanes(devices);
  cudaStream_t last;
  cudaStreamCreateWithFlags(&last, cudaStreamNonBlocking);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  if (is("branches")) {
    cudaStreamBeginCapture(lanes[0].stream, cudaStreamCaptureModeGlobal);
    cudaEventRecord(lanes[0].event, lanes[0].stream);
    for (int s = 1; s < kStreams; ++s) cudaStreamWaitEvent(lanes[s].stream, lanes[0].event, 0);
    for (const Lane& lane : lanes) launch_chain(lane, kLaunches);
    for (int s = 1; s < kStreams; ++s) {
      cudaEventRecord(lanes[s].event, lanes[s].stream);
      cudaStreamWaitEvent(lanes[0].stream, lanes[s].event, 0);
    }
    cudaStreamEndCapture(lanes[0].stream, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
  }
  const std::size_t bytes = kCount * sizeof(float);
  const auto copy_in = [&](const Lane& lane) {
    cudaMemcpyAsync(lane.a, lane.host, bytes, cudaMemcpyHostToDevice, lane.stream);
  };
  const auto copy_out = [&](const Lane& lane) {
    cudaEventRecord(lane.event, lane.stream);
    cudaStreamWaitEvent(last, lane.event, 0);
    cudaMemcpyAsync(lane.host, lane.b, bytes, cudaMemcpyDeviceToHost, lane.stream);
  };
  for (int round = 0; round < rounds; ++round) {
    if (is("branches")) {
      cudaGraphLaunch(executable, lanes[0].stream);
      cudaStreamSynchronize(lanes[0].stream);
      continue;
    }
    if (is("breadth")) {  // all streams copy, then all compute, then all copy back
      for (const Lane& lane : lanes) copy_in(lane);
      for (const Lane& lane : lanes) launch_chain(lane, kLaunches);
      for (const Lane& lane : lanes) copy_out(lane);
    } else {
      for (int s = 0; s < kStreams; ++s) {
        cudaSetDevice(s % devices);
        if (is("copies")) copy_in(lanes[s]);
        launch_chain(lanes[s], kLaunches);
        if (is("copies")) copy_out(lanes[s]);
      }
    }
    for (int s = 0; s < kStreams && is("callbacks"); ++s) {
      cudaLaunchHostFunc(lanes[s].stream, count, &counters[s]);
    }
    for (const Lane& lane : lanes) {
      if (is("one-by-one") || devices > 1) cudaStreamSynchronize(lane.stream);
    }
    cudaDeviceSynchronize();
  }
  double sum = 0;
  for (int s = 0; s < kStreams; ++s) {
    const Lane& lane = lanes[s];
    cudaMemcpy(lane.host, lane.b, kCount * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < kCount; ++i) sum += lane.host[i];
    sum += counters[s];
  }
  std::printf("%s %.6f %s\n", what, sum, cudaGetErrorString(cudaGetLastError()));
}
