// Twin of tree_reduction.cu, statement for statement.
#define GROUP 256

kernel void bench_tree_reduction(global const int* in, global int* sums) {
  local int partial[GROUP];
  const int t = get_local_id(0);
  partial[t] = in[get_global_id(0)];
  for (int half_width = GROUP / 2; half_width > 0; half_width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < half_width) partial[t] += partial[t + half_width];
  }
  if (t == 0) sums[get_group_id(0)] = partial[0];
}
