// Digests of many messages with the rounds of SHA-256, a thread a message, constants in constant
// memory.
// MUTANT: the last block of the last message is not copied.
// expect: uninitialized-read
#include <cstdint>
#include <cstring>
#include <vector>

#include "check.hpp"

__constant__ uint32_t device_rounds[64];
uint32_t host_rounds[64];

__host__ __device__ uint32_t turned(uint32_t x, int n) { return x >> n | x << (32 - n); }

__host__ __device__ void digest_block(const uint32_t* rounds, const uint32_t* message,
                                      uint32_t* h) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i) w[i] = message[i];
  for (int i = 16; i < 64; ++i) {
    const uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) + w[i - 7] +
           (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
  }
  uint32_t s[8];
  for (int i = 0; i < 8; ++i) s[i] = h[i];
  for (int i = 0; i < 64; ++i) {
    const uint32_t one = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) +
                         ((s[4] & s[5]) ^ (~s[4] & s[6])) + rounds[i] + w[i];
    const uint32_t two = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) +
                         ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    for (int k = 7; k > 0; --k) s[k] = s[k - 1];
    s[4] += one;
    s[0] = one + two;
  }
  for (int i = 0; i < 8; ++i) h[i] += s[i];
}

__global__ void digest(const uint32_t* messages, int blocks, uint32_t* digests, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint32_t h[8];
  for (int k = 0; k < 8; ++k) h[k] = 0x6a09e667u + 0x01010101u * k;
  for (int block = 0; block < blocks; ++block) {
    digest_block(device_rounds, messages + (i * blocks + block) * 16, h);
  }
  for (int k = 0; k < 8; ++k) digests[8 * i + k] = h[k];
}

int main() {
  const int n = 40, blocks = 2, words = n * blocks * 16;
  for (int i = 0; i < 64; ++i) host_rounds[i] = 0x428a2f98u * (2 * i + 1);
  std::vector<uint32_t> messages(words), result(8 * n);
  for (int i = 0; i < words; ++i) messages[i] = i * 2654435761u;
  uint32_t *in, *out;
  require(cudaMalloc(&in, words * sizeof *in));
  require(cudaMalloc(&out, 8 * n * sizeof *out));
  require(cudaMemcpyToSymbol(device_rounds, host_rounds, sizeof host_rounds));
#ifdef MUTANT
  const int copied = words - 16;
#else
  const int copied = words;
#endif
  require(cudaMemcpy(in, messages.data(), copied * sizeof *in, cudaMemcpyHostToDevice));
  digest<<<2, 32>>>(in, blocks, out, n);
  require(cudaMemcpy(result.data(), out, 8 * n * sizeof *out, cudaMemcpyDeviceToHost));
  require(cudaFree(out));
  require(cudaFree(in));
  bool is_right = true;
  for (int i = 0; i < n; ++i) {
    uint32_t h[8];
    for (int k = 0; k < 8; ++k) h[k] = 0x6a09e667u + 0x01010101u * k;
    for (int block = 0; block < blocks; ++block) {
      digest_block(host_rounds, &messages[(i * blocks + block) * 16], h);
    }
    is_right &= std::memcmp(h, &result[8 * i], sizeof h) == 0;
  }
  return verdict(is_right);
}
