// Switches with tables and fall-through, goto, nested loops with break and continue, early
// returns, do-while, short-circuits: an interpreter of a small byte code, a thread a program.
// MUTANT: a program jumps over its end.
// expect: out-of-bounds
#include <vector>

#include "check.hpp"

enum Code : unsigned char {
  kPush,
  kAdd,
  kMultiply,
  kDuplicate,
  kSwap,
  kJumpIfZero,
  kJump,
  kOutput,
  kEnd
};

__global__ void interpret(const unsigned char* programs, const int* starts, int* outputs) {
  const unsigned char* code = programs + starts[threadIdx.x];
  int stack[16], top = 0, output = threadIdx.x, steps = 0;
  while (true) {
    if (++steps > 1000) goto done;
    switch (*code++) {  //~
      case kPush: stack[top++] = *code++; break;
      case kAdd: --top, stack[top - 1] += stack[top]; break;
      case kMultiply: --top, stack[top - 1] *= stack[top]; break;
      case kDuplicate: stack[top] = stack[top - 1], ++top; break;
      case kSwap: {
        const int held = stack[top - 1];
        stack[top - 1] = stack[top - 2];
        stack[top - 2] = held;
        break;
      }
      case kJumpIfZero:
        if (stack[--top] != 0) {
          ++code;
          continue;
        }
        [[fallthrough]];
      case kJump: code += static_cast<signed char>(*code); break;
      case kOutput: output = 10 * output + stack[--top]; break;
      case kEnd: goto done;
      default: output = -1; goto done;
    }
  }
done:
  outputs[threadIdx.x] = output;
}

int main() {
  // Thread i computes something of its own.
  const std::vector<std::vector<unsigned char>> sources = {
      {kPush, 2, kPush, 3, kAdd, kOutput, kEnd},
      {kPush, 4, kDuplicate, kMultiply, kOutput, kEnd},
      {kPush, 7, kPush, 9, kSwap, kOutput, kOutput, kEnd},
      {kPush, 0, kJumpIfZero, 3, kPush, 1, kPush, 5, kOutput, kEnd},
      // Never ends by itself.
      {kPush, 1, kDuplicate, kJumpIfZero, 2, kJump, 252, kEnd},
#ifdef MUTANT
      {kPush, 1, kOutput, kJump, 1},
#else
      {kPush, 1, kOutput, kEnd},
#endif
  };
  std::vector<unsigned char> bytes;
  std::vector<int> starts;
  for (const auto& source : sources) {
    starts.push_back(bytes.size());
    bytes.insert(bytes.end(), source.begin(), source.end());
  }
  unsigned char* programs;
  int *offsets, *outputs;
  const int n = starts.size();
  require(cudaMalloc(&programs, bytes.size()));
  require(cudaMalloc(&offsets, n * sizeof(int)));
  require(cudaMalloc(&outputs, n * sizeof(int)));
  require(cudaMemcpy(programs, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  require(cudaMemcpy(offsets, starts.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  interpret<<<1, n>>>(programs, offsets, outputs);
  std::vector<int> out(n);
  require(cudaMemcpy(out.data(), outputs, n * sizeof(int), cudaMemcpyDeviceToHost));
  require(cudaFree(outputs));
  require(cudaFree(offsets));
  require(cudaFree(programs));
  return verdict(out == std::vector<int>{5, 26, 279, 35, 4, 51});
}
