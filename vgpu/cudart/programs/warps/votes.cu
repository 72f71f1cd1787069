// Votes, matches and reductions of a warp: all, any, ballot, match_any, match_all, active masks.
// arch: compute_80
// MUTANT: only lanes that found something vote with the full mask.
// expect: barrier-divergence
#include "check.hpp"

__global__ void vote(const int* data, unsigned* out) {
  const int lane = threadIdx.x, value = data[lane];
  unsigned* const mine = out + 10 * lane;
  mine[0] = __all_sync(~0u, value >= 0);
  mine[1] = __any_sync(~0u, value == 7);
#ifdef MUTANT
  if (value % 2 == 0) mine[2] = __ballot_sync(~0u, value % 2 == 0);  //~
#else
  mine[2] = __ballot_sync(~0u, value % 2 == 0);
#endif
  mine[3] = __match_any_sync(~0u, value % 4);  //~
  int is_same;
  mine[4] = __match_all_sync(~0u, value / 100, &is_same) + is_same;
  mine[5] = __reduce_add_sync(~0u, value);
  mine[6] = __reduce_max_sync(~0u, value - 16);
  mine[7] = __reduce_xor_sync(~0u, static_cast<unsigned>(value));
  if (lane < 16) {
    mine[8] = __activemask();
    mine[9] = __ballot_sync(0xffff, lane % 3 == 0);
  }
}

int main() {
  Buffer<int> data(32);
  Buffer<unsigned> out(320);
  for (int i = 0; i < 32; ++i) data[i] = i * 5 % 32;
  vote<<<1, 32>>>(data, out);
  finish();
  unsigned even = 0, sum = 0, parity = 0;
  for (int i = 0; i < 32; ++i) {
    even |= (data[i] % 2 == 0) << i;
    sum += data[i];
    parity ^= data[i];
  }
  bool is_right = true;
  for (int i = 0; i < 32; ++i) {
    const unsigned* const mine = out + 10 * i;
    unsigned alike = 0;
    for (int j = 0; j < 32; ++j) alike |= (data[j] % 4 == data[i] % 4) << j;
    is_right &= mine[0] == 1 && mine[1] == 1 && mine[2] == even && mine[3] == alike;
    is_right &= mine[4] == 0 && mine[5] == sum && mine[6] == 15 && mine[7] == parity;
    is_right &= i >= 16 || (mine[8] == 0xffff && mine[9] == 0x9249);
  }
  return verdict(is_right);
}
