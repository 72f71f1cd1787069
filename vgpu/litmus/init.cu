// Uninitialised reads, where they matter and where they do not.
#include <cooperative_groups.h>

#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::copy_out;
using warpcheck::litmus::unwritten;
using warpcheck::litmus::zeroed;

// expect: uninitialized-read shared
__global__ void branches_on_shared(int* out) {
  __shared__ int s[64];
  if (threadIdx.x != 5) s[threadIdx.x] = 1;
  __syncthreads();
  if (s[threadIdx.x ^ 1] == 0) {             //~ read //~ branch
    for (int i = 0; i < 9; ++i) out[i * 64 + threadIdx.x] = i;
  }
}
LITMUS(branches_on_shared) { branches_on_shared<<<1, 64>>>(zeroed<int>(640)); }

// expect: clean
__global__ void branches_on_written_shared(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  __syncthreads();
  if (s[threadIdx.x ^ 1] == 0) {
    for (int i = 0; i < 9; ++i) out[i * 64 + threadIdx.x] = i;
  }
}
LITMUS(branches_on_written_shared) { branches_on_written_shared<<<1, 64>>>(zeroed<int>(640)); }

// expect: uninitialized-read global
__global__ void indexes_by_global(const int* index, int* out) {
  const int i = index[threadIdx.x];          //~ read
  out[i & 31] = 1;                           //~ address
}
LITMUS(indexes_by_global) { indexes_by_global<<<1, 1>>>(unwritten<int>(32), zeroed<int>(32)); }

// expect: clean
__global__ void indexes_by_written_global(const int* index, int* out) {
  const int i = index[threadIdx.x];
  out[i & 31] = 1;
}
LITMUS(indexes_by_written_global) {
  indexes_by_written_global<<<1, 1>>>(zeroed<int>(32), zeroed<int>(32));
}

// expect: uninitialized-read local
__global__ void outputs_local(int* out, int index) {
  int values[8];
  values[index & 1] = 1;
  out[threadIdx.x] = values[index];          //~ read
}
LITMUS(outputs_local) {                      //~ host copy
  int* const out = zeroed<int>(32);
  outputs_local<<<1, 32>>>(out, 7);
  copy_out(out, 32);
}

// expect: uninitialized-read local note
__global__ void outputs_local_beside_written(int* out, int index) {
  __align__(4) char values[4];
  values[index] = 1;
  *out = *reinterpret_cast<int*>(values);    //~ read
}
LITMUS(outputs_local_beside_written) {       //~ host copy
  int* const out = zeroed<int>(1);
  outputs_local_beside_written<<<1, 1>>>(out, 2);
  copy_out(out, 1);
}

// expect: clean
__global__ void outputs_written_local(int* out, int index) {
  int values[8] = {};
  values[index & 1] = 1;
  out[threadIdx.x] = values[index];
}
LITMUS(outputs_written_local) {
  int* const out = zeroed<int>(32);
  outputs_written_local<<<1, 32>>>(out, 7);
  copy_out(out, 32);
}

// expect: uninitialized-read global
__global__ void outputs_global(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x] * 3;    //~ read
}
LITMUS(outputs_global) {                     //~ host copy
  int* const out = zeroed<int>(32);
  outputs_global<<<1, 32>>>(unwritten<int>(32), out);
  copy_out(out, 32);
}

// Moving undefined bytes about harms nobody while nobody looks.
// expect: clean
__global__ void copies_only(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x]; }
LITMUS(copies_only) {
  int* const in = unwritten<int>(32);
  int* const out = unwritten<int>(32);
  copies_only<<<1, 32>>>(in, out);
  copies_only<<<1, 32>>>(out, in);
}

// expect: clean
LITMUS(copied_and_overwritten) {
  int* const out = unwritten<int>(32);
  copies_only<<<1, 32>>>(unwritten<int>(32), out);
  copies_only<<<1, 32>>>(zeroed<int>(32), out);
  copy_out(out, 32);
}

// Padding is copied along with what stands beside it.
struct Padded {
  char small;
  int large;
};

// expect: clean
__global__ void copies_padding(Padded* data) {
  data[threadIdx.x + 32] = data[threadIdx.x];
  if (data[threadIdx.x + 32].large == 0) data[threadIdx.x].small = 1;
}
__global__ void fills_members(Padded* data) {
  data[threadIdx.x].small = 0;
  data[threadIdx.x].large = 0;
}
LITMUS(copies_padding) {
  Padded* const data = unwritten<Padded>(64);
  fills_members<<<1, 32>>>(data);
  copies_padding<<<1, 32>>>(data);
}

// What the host takes beyond what was written are whole elements.
// expect: uninitialized-read global
__global__ void writes_half(int* out) { out[threadIdx.x] = 1; }
LITMUS(host_copies_more_than_was_written) {  //~ host copy
  int* const out = unwritten<int>(64);
  writes_half<<<1, 32>>>(out);
  copy_out(out, 64);
}

// expect: uninitialized-read global
LITMUS(host_copies_what_nothing_has_written) {  //~ host copy
  copy_out(unwritten<int>(64), 64);
}

// expect: uninitialized-read global note
LITMUS(host_copies_structs_with_padding) {  //~ host copy
  Padded* const data = unwritten<Padded>(32);
  fills_members<<<1, 32>>>(data);
  copy_out(data, 32);
}

// expect: uninitialized-read global
LITMUS(host_copies_one_struct_too_many) {  //~ host copy
  Padded* const data = unwritten<Padded>(32);
  fills_members<<<1, 31>>>(data);
  copy_out(data, 32);
}

// expect: uninitialized-read global note
struct alignas(16) Vector {
  float x, y, z;
};
__global__ void fills_vectors(Vector* out) {
  const float i = float(threadIdx.x);
  out[threadIdx.x].x = i;
  out[threadIdx.x].y = i * i;
  out[threadIdx.x].z = i * i * i;
}
LITMUS(host_copies_aligned_vectors) {  //~ host copy
  auto* const data = unwritten<Vector>(32);
  fills_vectors<<<1, 32>>>(data);
  copy_out(data, 32);
}

// expect: uninitialized-read global note
struct Result {
  double sums[4];
  int count;
};
__global__ void fills_a_result(Result* out) {
  if (threadIdx.x < 4) out->sums[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) out->count = 4;
}
LITMUS(host_copies_one_struct) {  //~ host copy
  auto* const data = unwritten<Result>(1);
  fills_a_result<<<1, 32>>>(data);
  copy_out(data, 1);
}

// expect: uninitialized-read global
__global__ void misses_the_last_column(int* out, int columns) {
  for (int column = 0; column + 1 < columns; ++column) out[threadIdx.x * columns + column] = 1;
}
LITMUS(host_copies_a_matrix_with_a_column_missing) {  //~ host copy
  int* const out = unwritten<int>(32 * 20);
  misses_the_last_column<<<1, 32>>>(out, 20);
  copy_out(out, 32 * 20);
}

// expect: clean
LITMUS(host_copies_what_was_written) {
  int* const out = unwritten<int>(64);
  writes_half<<<1, 32>>>(out);
  copy_out(out, 32);
}

// Variables without an initialiser are zero.
__device__ int counter;
__constant__ int step;

// expect: clean
__global__ void reads_module_variables(int* out) {
  if (counter == step) out[0] = 1;
}
LITMUS(reads_module_variables) {
  int* const out = zeroed<int>(1);
  reads_module_variables<<<1, 1>>>(out);
  copy_out(out, 1);
}

// A vector is as many values: one undefined element does not make its neighbour undefined.
// expect: uninitialized-read global
__global__ void branches_on_the_unwritten_half(const int2* pairs, int* out) {
  const int2 pair = pairs[threadIdx.x];      //~ read
  if (pair.y == 0) out[threadIdx.x] = pair.x;  //~ branch
}
__global__ void writes_first_halves(int2* pairs) { pairs[threadIdx.x].x = 0; }
LITMUS(branches_on_the_unwritten_half) {
  int2* const pairs = unwritten<int2>(32);
  writes_first_halves<<<1, 32>>>(pairs);
  branches_on_the_unwritten_half<<<1, 32>>>(pairs, zeroed<int>(32));
}

// expect: clean
__global__ void branches_on_the_written_half(const int2* pairs, int* out) {
  const int2 pair = pairs[threadIdx.x];
  if (pair.x == 0) out[threadIdx.x] = pair.y;
}
LITMUS(branches_on_the_written_half) {
  int2* const pairs = unwritten<int2>(32);
  writes_first_halves<<<1, 32>>>(pairs);
  branches_on_the_written_half<<<1, 32>>>(pairs, zeroed<int>(32));
}

__global__ void writes_all_but_z(float4* quads) {
  quads[threadIdx.x].x = quads[threadIdx.x].y = quads[threadIdx.x].w = 1;
}

// Copied as a vector, every element stays what it is.
// expect: uninitialized-read global
__global__ void copies_quads(const float4* in, float4* out) {
  out[threadIdx.x] = in[threadIdx.x];  //~ read
}
__global__ void branches_on_z(const float4* quads, int* out) {
  if (quads[threadIdx.x].z == 1) out[threadIdx.x] = 1;  //~ read //~ branch
}
LITMUS(branches_on_a_copied_undefined_element) {
  float4* const from = unwritten<float4>(32);
  float4* const to = unwritten<float4>(32);
  writes_all_but_z<<<1, 32>>>(from);
  copies_quads<<<1, 32>>>(from, to);
  branches_on_z<<<1, 32>>>(to, zeroed<int>(32));
}

// expect: clean
__global__ void branches_on_w(const float4* quads, int* out) {
  if (quads[threadIdx.x].w == 1) out[threadIdx.x] = 1;
}
LITMUS(branches_on_a_copied_defined_element) {
  float4* const from = unwritten<float4>(32);
  float4* const to = unwritten<float4>(32);
  writes_all_but_z<<<1, 32>>>(from);
  copies_quads<<<1, 32>>>(from, to);
  branches_on_w<<<1, 32>>>(to, zeroed<int>(32));
}

// What was discarded is nobody's value any more.
// expect: uninitialized-read global
__global__ void discarded(int* data, int* out) {
  asm volatile("discard.global.L2 [%0], 128;" ::"l"(data) : "memory");
  if (data[threadIdx.x] == 0) {              //~ read  //~ branch
    out[threadIdx.x] = 1;
  }
}
LITMUS(discarded) { discarded<<<1, 1>>>(zeroed<int>(32), zeroed<int>(1)); }

// expect: clean
__global__ void discarded_and_written(int* data, int* out) {
  asm volatile("discard.global.L2 [%0], 128;" ::"l"(data) : "memory");
  data[threadIdx.x] = 3;
  if (data[threadIdx.x] == 0) out[threadIdx.x] = 1;
}
LITMUS(discarded_and_written) {
  discarded_and_written<<<1, 1>>>(zeroed<int>(32), zeroed<int>(1));
}

// Lane 0 adds what lane 16 holds, which is not in the mask.
// expect: uninitialized-read global
__global__ void shuffles_from_outside_the_mask(int* out) {
  int sum = threadIdx.x;
  if (threadIdx.x >= 8) return;
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xff, sum, offset);  //~ shuffle
  }
  if (threadIdx.x == 0) *out = sum;
}
LITMUS(shuffles_from_outside_the_mask) {     //~ host copy
  int* const out = zeroed<int>(1);
  shuffles_from_outside_the_mask<<<1, 32>>>(out);
  copy_out(out, 1);
}

// Here the upper lanes alone get undefined values, and nobody looks at them.
// expect: clean
__global__ void shuffles_within_the_mask(int* out) {
  int sum = threadIdx.x;
  if (threadIdx.x >= 8) return;
  for (int offset = 4; offset > 0; offset /= 2) sum += __shfl_down_sync(0xff, sum, offset);
  if (threadIdx.x == 0) *out = sum;
}
LITMUS(shuffles_within_the_mask) {
  int* const out = zeroed<int>(1);
  shuffles_within_the_mask<<<1, 32>>>(out);
  copy_out(out, 1);
}

// The value of the last element is loaded whether it is in range or not.
// expect: clean
__global__ void looks_past_the_end(const int* in, int n, int* out) {
  int count = 0;
  for (int i = 0; i < 4; ++i) {
    const int value = in[i];
    const bool is_wanted = i < n && value > 2;
    count += is_wanted ? 1 : 0;
  }
  *out = count;
}
LITMUS(looks_past_the_end) {
  int* const in = unwritten<int>(4);
  cudaMemset(in, 1, 2 * sizeof(int));
  int* const out = zeroed<int>(1);
  looks_past_the_end<<<1, 1>>>(in, 2, out);
  copy_out(out, 1);
}

// Wide loads and stores bring padding along; what they say of the members is what was written.
// expect: uninitialized-read global
__global__ void copies_words(const unsigned long long* in, unsigned long long* out) {
  out[threadIdx.x] = in[threadIdx.x];  //~ read
}
unsigned long long* copied_with_padding() {
  Padded* const from = unwritten<Padded>(32);
  auto* const to = unwritten<unsigned long long>(32);
  fills_members<<<1, 32>>>(from);
  copies_words<<<1, 32>>>(reinterpret_cast<unsigned long long*>(from), to);
  return to;
}

__global__ void compares_padding(const unsigned long long* in, int* out) {
  if ((in[threadIdx.x] & 0xff00) == 0) out[threadIdx.x] = 1;  //~ read //~ branch
}
LITMUS(compares_padding_of_a_wide_copy) {
  compares_padding<<<1, 32>>>(copied_with_padding(), zeroed<int>(32));
}

// expect: clean
__global__ void compares_members(const unsigned long long* in, int* out) {
  const unsigned long long whole = in[threadIdx.x];
  const auto small = static_cast<signed char>(whole);
  const int large = static_cast<int>(whole >> 32);
  if (small == large) out[threadIdx.x] = 1;
}
LITMUS(compares_members_of_a_wide_copy) {
  compares_members<<<1, 32>>>(copied_with_padding(), zeroed<int>(32));
}

// Nobody knows whether the host wants it.
// expect: uninitialized-read global note
__global__ void copies_words_for_host(const unsigned long long* in, unsigned long long* out) {
  out[threadIdx.x] = in[threadIdx.x];         //~ read
}
LITMUS(host_copies_padding_of_a_wide_copy) {  //~ host copy
  Padded* const from = unwritten<Padded>(32);
  auto* const to = unwritten<unsigned long long>(32);
  fills_members<<<1, 32>>>(from);
  copies_words_for_host<<<1, 32>>>(reinterpret_cast<unsigned long long*>(from), to);
  copy_out(to, 32);
}

// A byte at a time, as structs are read from the middle of a message.
// expect: uninitialized-read global note
__global__ void assembles_structs(const unsigned char* in, unsigned long long* out) {
  unsigned long long whole = 0;
  for (int i = 0; i < 8; ++i) {
    whole |= static_cast<unsigned long long>(in[8 * threadIdx.x + i]) << (8 * i);  //~ read
  }
  out[threadIdx.x] = whole;
}
LITMUS(host_copies_padding_of_assembled_structs) {  //~ host copy
  Padded* const from = unwritten<Padded>(32);
  auto* const to = unwritten<unsigned long long>(32);
  fills_members<<<1, 32>>>(from);
  assembles_structs<<<1, 32>>>(reinterpret_cast<unsigned char*>(from), to);
  copy_out(to, 32);
}

// What was read as a whole is no padding of the wider value that it becomes.
// expect: uninitialized-read global
__global__ void widens_words(const unsigned* in, unsigned long long* out) {
  out[threadIdx.x] = in[threadIdx.x];  //~ read
}
LITMUS(host_copies_widened_words) {  //~ host copy
  auto* const out = unwritten<unsigned long long>(32);
  widens_words<<<1, 32>>>(unwritten<unsigned>(32), out);
  copy_out(out, 32);
}

// expect: uninitialized-read global
__global__ void widens_bytes(const unsigned char* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x];  //~ read
}
LITMUS(host_copies_widened_bytes) {  //~ host copy
  int* const out = unwritten<int>(32);
  widens_bytes<<<1, 32>>>(unwritten<unsigned char>(32), out);
  copy_out(out, 32);
}

// expect: uninitialized-read shared
__global__ void widens_counts(unsigned long long* out) {
  __shared__ unsigned counts[32];
  atomicAdd(&counts[threadIdx.x / 2], 1u);  //~ read
  __syncthreads();
  out[threadIdx.x] = threadIdx.x < 16 ? counts[threadIdx.x] : 0;
}
LITMUS(host_copies_widened_counts) {  //~ host copy
  auto* const out = unwritten<unsigned long long>(32);
  widens_counts<<<1, 32>>>(out);
  copy_out(out, 32);
}

// Nor is what was calculated, wherever it is packed.
// expect: uninitialized-read global
__global__ void packs_pixels(const float* red, unsigned* out) {
  const auto value = static_cast<unsigned>(__saturatef(red[threadIdx.x]) * 255);  //~ read
  out[threadIdx.x] = value << 8 | threadIdx.x;
}
LITMUS(host_copies_packed_pixels) {  //~ host copy
  auto* const out = unwritten<unsigned>(32);
  packs_pixels<<<1, 32>>>(unwritten<float>(32), out);
  copy_out(out, 32);
}

__global__ void writes_low_halves(unsigned* halves) { halves[2 * threadIdx.x] = threadIdx.x; }
unsigned long long* half_written() {
  auto* const data = unwritten<unsigned long long>(32);
  writes_low_halves<<<1, 32>>>(reinterpret_cast<unsigned*>(data));
  return data;
}

// expect: uninitialized-read global
__global__ void branches_on_the_high_half(const unsigned long long* in, int* out) {
  const unsigned long long whole = in[threadIdx.x] + 1;    //~ read
  if (whole >> 40 == 0) out[threadIdx.x] = int(whole);     //~ branch
}
LITMUS(branches_on_the_high_half) {
  branches_on_the_high_half<<<1, 32>>>(half_written(), zeroed<int>(32));
}

// expect: clean
__global__ void branches_on_the_low_half(const unsigned long long* in, int* out) {
  const unsigned long long whole = in[threadIdx.x] + 1;
  if (unsigned(whole) == 5) out[threadIdx.x] = int(whole >> 40);
}
LITMUS(branches_on_the_low_half) {
  branches_on_the_low_half<<<1, 32>>>(half_written(), zeroed<int>(32));
}

// Bit fields share bytes: to write one is to read its neighbours.
struct Fields {
  unsigned kind : 3;
  unsigned rank : 7;
  unsigned size : 22;
};
// expect: uninitialized-read global
__global__ void writes_kind_and_size(Fields* fields) {
  fields[threadIdx.x].kind = 2;  //~ read
  fields[threadIdx.x].size = 77;
}
Fields* without_rank() {
  Fields* const fields = unwritten<Fields>(32);
  writes_kind_and_size<<<1, 32>>>(fields);
  return fields;
}

__global__ void branches_on_an_unwritten_field(const Fields* fields, int* out) {
  if (fields[threadIdx.x].rank == 2) out[threadIdx.x] = 1;  //~ read //~ branch
}
LITMUS(branches_on_an_unwritten_field) {
  branches_on_an_unwritten_field<<<1, 32>>>(without_rank(), zeroed<int>(32));
}

// expect: clean
__global__ void branches_on_written_fields(const Fields* fields, int* out) {
  const Fields mine = fields[threadIdx.x];
  if (mine.kind == 2 && mine.size < 78) out[threadIdx.x] = mine.kind;
}
LITMUS(branches_on_written_fields) {
  int* const out = zeroed<int>(32);
  branches_on_written_fields<<<1, 32>>>(without_rank(), out);
  copy_out(out, 32);
}

// Structs with padding go from lane to lane and into functions word by word.
struct Best {
  float value;
  int index;
  bool is_set;
};
__device__ __noinline__ bool is_better(Best a, Best b) {
  return a.is_set && (!b.is_set || a.value > b.value || (a.value == b.value && a.index < b.index));
}
__device__ Best shuffled_down(Best mine, int lanes) {
  Best other;
  int words[sizeof(Best) / sizeof(int)];
  memcpy(words, &mine, sizeof words);
  for (int& word : words) word = __shfl_down_sync(~0u, word, lanes);
  memcpy(&other, words, sizeof words);
  return other;
}

// expect: clean
__global__ void finds_the_best(const float* in, int* out) {
  __shared__ Best copies[32];
  Best best;
  best.value = in[threadIdx.x];
  best.index = int(threadIdx.x);
  best.is_set = threadIdx.x % 3 != 0;
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    const Best other = shuffled_down(best, lanes);
    copies[threadIdx.x] = is_better(other, best) ? other : best;
    best = copies[threadIdx.x];
  }
  if (threadIdx.x == 0) *out = best.index;
}
LITMUS(finds_the_best) {
  int* const out = zeroed<int>(1);
  finds_the_best<<<1, 32>>>(zeroed<float>(32), out);
  copy_out(out, 1);
}

// Groups of cooperative groups keep their size and rank in bit fields.
// expect: clean
__global__ void counts_coalesced(int* out) {
  if (threadIdx.x % 4 == 1) {
    const auto group = cooperative_groups::coalesced_threads();
    int sum = int(threadIdx.x);
    for (unsigned lanes = group.size() / 2; lanes > 0; lanes /= 2) {
      sum += group.shfl_down(sum, lanes);
    }
    group.sync();
    if (group.thread_rank() == 0) *out = sum + int(group.size());
  }
}
LITMUS(counts_coalesced) {
  int* const out = zeroed<int>(1);
  counts_coalesced<<<1, 32>>>(out);
  copy_out(out, 1);
}
