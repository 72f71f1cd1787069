// What the programs with one defect share: an input, an output, and a check of the result that the
// exit status tells.  The first line of each program says the kind of its first finding, and how
// the change that helps begins; a second one, how many devices it needs.  `//@` marks the lines of
// that finding.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

constexpr int kElements = 64;

inline int input_at(int i) { return (7 * i + 3) % 16; }

struct Buffers {
  int* in = nullptr;
  int* out = nullptr;
  explicit Buffers(int elements = kElements) : elements_(elements) {
    std::vector<int> values;
    for (int i = 0; i < elements; ++i) values.push_back(input_at(i));
    cudaMalloc(&in, bytes());
    cudaMalloc(&out, bytes());
    cudaMemcpy(in, values.data(), bytes(), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, bytes());
  }
  ~Buffers() {
    cudaFree(in);
    cudaFree(out);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  std::size_t bytes() const { return elements_ * sizeof(int); }
  // 0: out[i] is what it should be, everywhere.
  template <class Expected>
  int status(Expected expected) const {
    std::vector<int> values(elements_);
    cudaMemcpy(values.data(), out, bytes(), cudaMemcpyDeviceToHost);
    for (int i = 0; i < elements_; ++i) {
      if (values[i] != expected(i)) return 1;
    }
    return 0;
  }

 private:
  int elements_;
};
