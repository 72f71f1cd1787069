// Twin of block_scan.cu, statement for statement.
#define GROUP 256

kernel void bench_block_scan(global const int* in, global int* out) {
  local int buffers[2][GROUP];
  const int t = get_local_id(0);
  const int i = get_global_id(0);
  int from = 0;
  buffers[from][t] = in[i];
  for (int distance = 1; distance < GROUP; distance *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = buffers[from][t];
    if (t >= distance) sum += buffers[from][t - distance];
    from = 1 - from;
    buffers[from][t] = sum;
  }
  out[i] = buffers[from][t];
}
