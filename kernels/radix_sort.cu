#include "kernels/radix_sort.hpp"

#include "kernels/merge_lists_tree.cuh"
#include "kernels/radix_sort_lists.cuh"

// Keys as unsigned integers of the same order.  Floats: sign and magnitude, so negative ones are
// complemented and the others put above them.
inline constexpr std::uint32_t kSignBit = 0x80000000;
__device__ std::uint32_t encode(std::uint32_t key) { return key; }
__device__ std::uint32_t encode(std::int32_t key) {
  return static_cast<std::uint32_t>(key) ^ kSignBit;
}
__device__ std::uint32_t encode(float key) {
  const std::uint32_t bits = __float_as_uint(key);
  return (bits & kSignBit) != 0 ? ~bits : bits | kSignBit;
}

template <class Key>
__device__ Key decode(std::uint32_t code);
template <>
__device__ std::uint32_t decode(std::uint32_t code) {
  return code;
}
template <>
__device__ std::int32_t decode(std::uint32_t code) {
  return static_cast<std::int32_t>(code ^ kSignBit);
}
template <>
__device__ float decode(std::uint32_t code) {
  return __uint_as_float((code & kSignBit) != 0 ? code ^ kSignBit : ~code);
}

// What is sorted, as arrays from which records are loaded and to which they are stored.
template <class Key>
struct Keys {
  using Record = std::uint32_t;
  static constexpr int kFirstBit = 0;
  static constexpr int kEndBit = 32;

  __device__ Record load(int i) const { return encode(in[i]); }
  __device__ void store(int i, Record record) const { out[i] = decode<Key>(record); }

  const Key* in;
  Key* out;
};

// A record is a key above its place in the input.  Lists are sorted by the key, which keeps places
// in order; the merge compares whole records, so that equal keys come in the order of places,
// whatever list they are in.
struct KeysWithValues {
  using Record = std::uint64_t;
  static constexpr int kFirstBit = 32;
  static constexpr int kEndBit = 64;

  __device__ Record load(int i) const { return Record{keys[i]} << 32 | static_cast<unsigned>(i); }
  __device__ void store(int i, Record record) const {
    sorted_keys[i] = static_cast<std::uint32_t>(record >> 32);
    sorted_values[i] = values[static_cast<std::uint32_t>(record)];
  }

  const std::uint32_t* keys;
  const std::uint32_t* values;
  std::uint32_t* sorted_keys;
  std::uint32_t* sorted_values;
};

template <class Data>
__global__ void radix_sort_kernel(Data data, typename Data::Record* scratch, int n) {
  typename Data::Record* const records = scratch;
  typename Data::Record* const ones = scratch + n;
  const int list = static_cast<int>(threadIdx.x);
  const int lists = static_cast<int>(blockDim.x);
  for (int i = list; i < n; i += lists) records[i] = data.load(i);
  radix_sort_list(records, ones, n, list, lists, Data::kFirstBit, Data::kEndBit);
  __syncthreads();
  merge_lists_by_tree(records, n,
                      [&data](int i, typename Data::Record record) { data.store(i, record); });
}

namespace {

template <class Data>
cudaError_t launch(Data data, typename Data::Record* scratch, int n, dim3 block) {
  const std::size_t shared_bytes = merge_by_tree_shared_bytes<typename Data::Record>(block.x);
  radix_sort_kernel<<<1, block, shared_bytes>>>(data, scratch, n);
  return cudaGetLastError();
}

}  // namespace

cudaError_t radix_sort(const std::uint32_t* in, std::uint32_t* out, std::uint32_t* scratch, int n,
                       dim3 block) {
  return launch(Keys<std::uint32_t>{in, out}, scratch, n, block);
}

cudaError_t radix_sort(const std::int32_t* in, std::int32_t* out, std::uint32_t* scratch, int n,
                       dim3 block) {
  return launch(Keys<std::int32_t>{in, out}, scratch, n, block);
}

cudaError_t radix_sort(const float* in, float* out, std::uint32_t* scratch, int n, dim3 block) {
  return launch(Keys<float>{in, out}, scratch, n, block);
}

cudaError_t radix_sort_by_key(const std::uint32_t* keys, const std::uint32_t* values,
                              std::uint32_t* sorted_keys, std::uint32_t* sorted_values,
                              std::uint64_t* scratch, int n, dim3 block) {
  return launch(KeysWithValues{keys, values, sorted_keys, sorted_values}, scratch, n, block);
}
