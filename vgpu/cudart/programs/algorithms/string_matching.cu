// String matching with a trie in device memory, matches appended by atomics.
// MUTANT: characters are taken for letters.
// expect: out-of-bounds
#include <cstring>
#include <string>
#include <vector>

#include "check.hpp"

constexpr int kLetters = 26;
struct State {
  int next[kLetters];
  int pattern;  // that ends here, -1: none
};

__global__ void match(const State* states, const char* text, int n, int longest, int2* found,
                      int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int state = 0;
  for (int at = i; at < n && at < i + longest; ++at) {
#ifndef MUTANT
    if (text[at] < 'a' || text[at] > 'z') break;
#endif
    state = states[state].next[text[at] - 'a'];  //~
    if (state == 0) break;
    if (states[state].pattern >= 0)
      found[atomicAdd(count, 1)] = make_int2(i, states[state].pattern);
  }
}

int main() {
  const std::vector<std::string> patterns = {"he", "she", "his", "hers", "a"};
  std::vector<State> trie(1);
  std::memset(trie[0].next, 0, sizeof trie[0].next);
  trie[0].pattern = -1;
  for (size_t k = 0; k < patterns.size(); ++k) {
    int state = 0;
    for (const char letter : patterns[k]) {
      if (trie[state].next[letter - 'a'] == 0) {
        trie[state].next[letter - 'a'] = trie.size();
        trie.push_back({{}, -1});
      }
      state = trie[state].next[letter - 'a'];
    }
    trie[state].pattern = k;
  }
  std::string text;
  for (int i = 0; i < 20; ++i) text += i % 3 == 0 ? "ushers and his~" : "she hershey ";
  State* states;
  const size_t bytes = trie.size() * sizeof(State);
  require(cudaMalloc(&states, bytes));
  require(cudaMemcpy(states, trie.data(), bytes, cudaMemcpyHostToDevice));
  const int n = text.size();
  Buffer<char> characters(n);
  Buffer<int2> found(n);
  Buffer<int> count(1);
  std::memcpy(characters.begin(), text.data(), n);
  match<<<(n + 63) / 64, 64>>>(states, characters, n, 4, found, count);
  finish();
  require(cudaFree(states));
  int expected = 0;
  long sum = 0, expected_sum = 0;
  for (size_t k = 0; k < patterns.size(); ++k) {
    for (size_t at = text.find(patterns[k]); at != std::string::npos;
         at = text.find(patterns[k], at + 1)) {
      ++expected;
      expected_sum += at * 10 + k;
    }
  }
  for (int i = 0; i < count[0]; ++i) sum += found[i].x * 10 + found[i].y;
  return verdict(count[0] == expected && sum == expected_sum);
}
