// The game of life with the board in bits, a word a thread; generations in one cooperative
// launch.
// MUTANT: generations are not separated by the grid's barrier.
// expect: data-race
#include <cooperative_groups.h>
#include <vector>

#include "check.hpp"

constexpr int kWords = 2, kRows = 64;  // of 32 cells

__global__ void live(unsigned* boards, int generations) {
  const auto grid = cooperative_groups::this_grid();
  const int i = grid.thread_rank(), row = i / kWords, word = i % kWords;
  for (int generation = 0; generation < generations; ++generation) {
    const unsigned* const now = boards + generation % 2 * kRows * kWords;
    unsigned* const next = boards + (generation + 1) % 2 * kRows * kWords;
    unsigned ones = 0, twos = 0, fours = 0;
    const auto count = [&](unsigned cells) {
      const unsigned carry = ones & cells;
      ones ^= cells;
      fours |= twos & carry;
      twos ^= carry;
    };
    for (int other = row - 1; other <= row + 1; ++other) {
      const unsigned* const line = now + (other + kRows) % kRows * kWords;
      const unsigned middle = line[word];                        //~
      const unsigned left = line[(word + kWords - 1) % kWords];  //~
      const unsigned right = line[(word + 1) % kWords];          //~
      count(__funnelshift_l(left, middle, 1));
      count(__funnelshift_r(middle, right, 1));
      if (other != row) count(middle);
    }
    next[i] = twos & ~fours & (ones | now[i]);  //~
#ifndef MUTANT
    grid.sync();
#endif
  }
}

int main() {
  constexpr int n = kRows * kWords, kColumns = 32 * kWords, kCells = kRows * kColumns;
  Buffer<unsigned> boards(2 * n);
  std::vector<char> cells(kCells);
  for (int i = 0; i < kCells; ++i) {
    cells[i] = i * 7919 % 11 < 4;
    boards[i / 32] |= static_cast<unsigned>(cells[i]) << i % 32;
  }
  int generations = 6;
  unsigned* board = boards;
  void* arguments[] = {&board, &generations};
  require(cudaLaunchCooperativeKernel((void*)live, dim3(4), dim3(n / 4), arguments));
  finish();
  for (int generation = 0; generation < generations; ++generation) {
    const std::vector<char> before = cells;
    for (int i = 0; i < kCells; ++i) {
      int sum = -before[i];
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          const int y = (i / kColumns + dy + kRows) % kRows, x = (i + dx + kColumns) % kColumns;
          sum += before[y * kColumns + x];
        }
      }
      cells[i] = sum == 3 || (sum == 2 && before[i] != 0);
    }
  }
  bool is_right = true;
  for (int i = 0; i < kCells; ++i) {
    is_right &= (boards[i / 32] >> i % 32 & 1) == static_cast<unsigned>(cells[i]);
  }
  return verdict(is_right);
}
