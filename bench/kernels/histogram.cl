// Twin of histogram.cu, statement for statement.
#define BINS 256

kernel void bench_histogram(global const int* in, global int* counts) {
  local int bins[BINS];
  const int t = get_local_id(0);
  const int i = get_global_id(0);
  bins[t] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[in[i] & (BINS - 1)], 1);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&counts[t], bins[t]);
}
