// Green contexts: a device's multiprocessors are split in parts, and a part is a context with
// streams of its own.
//
// build: -arch=compute_90 -lcuda
// case run:
// expect run: clean
// prints run: 16 of 8 and 8, by 8
// prints run: parts 2 of 24, rest all but 48
// prints run: context 48, current 1, streams 1 1 1
// prints run: 42
// case wrong: | | wrong
// expect wrong: note api-error again
// expect wrong: note api-error mixed
// expect wrong: note api-error other
// prints wrong: again 915, mixed 915, other 914
#include <cuda.h>
#include <cstdio>

__global__ void store(int* p) { *p = 42; }

int main(int words, char**) {
  CUdevice device;
  CUcontext primary, current, of_stream;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&primary, device);
  cuCtxSetCurrent(primary);

  CUdevResource all, least, parts[2], rest, again;
  unsigned count = 1;
  cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM);
  cuDevSmResourceSplitByCount(&least, &count, &all, nullptr, 0, 9);
  printf("%u of %u and %u, by %u\n", least.sm.smCount, all.sm.minSmPartitionSize,
         least.sm.minSmPartitionSize, all.sm.smCoscheduledAlignment);
  count = 2;
  cuDevSmResourceSplitByCount(parts, &count, &all, &rest, 0, 20);
  printf("parts %u of %u, rest all but %u\n", count, parts[0].sm.smCount,
         all.sm.smCount - rest.sm.smCount);

  CUdevResourceDesc both;
  if (words > 1) {
    CUdevResource mixed[] = {parts[0], least};
    CUresult results[3];
    results[0] = cuDevSmResourceSplitByCount(&again, &count, &parts[0], nullptr, 0, 8);  //~ again
    results[1] = cuDevResourceGenerateDesc(&both, mixed, 2);                             //~ mixed
    results[2] = cuDeviceGetDevResource(device, &again, CU_DEV_RESOURCE_TYPE_INVALID);   //~ other
    printf("again %d, mixed %d, other %d\n", results[0], results[1], results[2]);
    return 0;
  }
  cuDevResourceGenerateDesc(&both, parts, 2);

  CUgreenCtx green, found;
  CUcontext context;
  CUstream stream, plain;
  CUdevResource own;
  cuGreenCtxCreate(&green, both, device, CU_GREEN_CTX_DEFAULT_STREAM);
  cuGreenCtxGetDevResource(green, &own, CU_DEV_RESOURCE_TYPE_SM);
  cuCtxFromGreenCtx(&context, green);
  cuCtxPushCurrent(context);
  cuCtxGetCurrent(&current);
  cuCtxPopCurrent(nullptr);
  cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0);
  cuStreamCreate(&plain, CU_STREAM_NON_BLOCKING);
  cuStreamGetGreenCtx(stream, &found);
  const bool is_of_green = found == green;
  cuStreamGetGreenCtx(plain, &found);
  const bool is_of_none = found == nullptr;
  cuStreamGetCtx_v2(stream, &of_stream, &found);
  printf("context %u, current %d, streams %d %d %d\n", own.sm.smCount, current == context,
         is_of_green, is_of_none, of_stream == primary && found == green);

  int *p, value = 0;
  cudaMalloc(&p, sizeof(int));
  store<<<1, 1, 0, stream>>>(p);
  cuStreamSynchronize(stream);
  cudaMemcpy(&value, p, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(p);
  cuStreamDestroy(stream);
  cuStreamDestroy(plain);
  cuGreenCtxDestroy(green);
  printf("%d\n", value);
  cuDevicePrimaryCtxRelease(device);
  return 0;
}
