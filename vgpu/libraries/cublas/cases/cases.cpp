// Calls every function of cuBLAS and cuBLASLt that the replacements of these libraries implement,
// on small matrices, and compares the results with the function's definition:
//
//    cases [--called FILE] [--record FILE]
//
// Prints "right", or what is wrong.  --called writes the names of the called functions.  --record
// writes the results of all calls, also of wrong ones, for compare_recordings.py.  The program runs
// on a GPU as well:
//
//    nvcc -std=c++17 -arch=sm_90 *.cpp -lcublas -lcublasLt -o cases && ./cases --record gpu.txt
//    warpcheck exec -- ./cases --record ours.txt
#include "cases.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

cublasHandle_t handle;
bool is_wide = false;

namespace {

int wrong = 0;
unsigned draws = 1;
std::set<std::string> called;
std::map<std::string, int> calls;
std::string latest;  // "cublasSgemm_v2 3"
FILE* recording = nullptr;

void report(const std::string& what) {
  // Only the first failures are printed.
  if (++wrong <= 40) std::printf("wrong: %s: %s\n", latest.c_str(), what.c_str());
}

std::string text_of(Number value, bool is_single) {
  char text[80];
  const char* const format = is_single ? "%.9g,%.9g" : "%.17g,%.17g";
  std::snprintf(text, sizeof text, format, value.real(), value.imag());
  std::string all = text;
  if (all.size() > 2 && all.substr(all.size() - 2) == ",0") all.resize(all.size() - 2);
  return all;
}

}  // namespace

double draw_real() {
  draws = draws * 1664525 + 1013904223;
  return static_cast<int>(draws >> 24) / 16.0 - 8;
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", latest.c_str(), cudaGetErrorString(error));
  std::exit(1);
}
void* allocate(std::size_t bytes) {
  void* pointer = nullptr;
  check(cudaMalloc(&pointer, std::max<std::size_t>(bytes, 1)));
  return pointer;
}
void free_at_end(void* pointer) { check(cudaFree(pointer)); }

void note_call(const char* function, int status) {
  called.insert(function);
  latest = std::string(function) + " " + std::to_string(++calls[function]);
  if (status != 0) report("answered " + std::to_string(status));
}

void expect(const char* what, bool is_right) {
  if (!is_right) report(what);
}
void expect_status(int found, cublasStatus_t wanted) {
  if (recording != nullptr) {
    std::fprintf(recording, "%s status: %d\n", latest.c_str(), found);
    std::fflush(recording);  // the next call may end the process
  }
  if (found != wanted) report("answered " + std::to_string(found));
}

void expect_numbers(const std::vector<Number>& found, const std::vector<Bounded>& wanted,
                    double roundoff, double roundoff_stored) {
  std::string line;
  double largest_bound = 0;
  bool was_told = false;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Bounded& one = wanted[i];
    const double bound =
        2 * roundoff * one.error + 2 * roundoff_stored * (std::abs(one.value) + 0x1p-20);
    largest_bound = std::max(largest_bound, bound);
    line += " " + text_of(found[i], roundoff_stored > 1e-12);
    if (std::abs(found[i] - one.value) <= bound || was_told) continue;
    was_told = true;
    report("element " + std::to_string(i) + " is " + text_of(found[i], false) + ", not " +
           text_of(one.value, false));
  }
  if (recording == nullptr) return;
  std::fprintf(recording, "%s within %.2g:%s\n", latest.c_str(), largest_bound, line.c_str());
}

namespace {

void run_all() {
  try_level_1();
  try_level_2();
  try_level_3();
  try_batches();
  try_typed();
}

}  // namespace

int main(int count, char** arguments) {
  FILE* names = nullptr;
  for (int i = 1; i + 1 < count; i += 2) {
    FILE* const file = std::fopen(arguments[i + 1], "w");
    if (std::strcmp(arguments[i], "--record") == 0) recording = file;
    if (std::strcmp(arguments[i], "--called") == 0) names = file;
  }
  try_settings();
  check(cudaDeviceSynchronize());
  cublasCreate(&handle);
  run_all();
  is_wide = true;
  run_all();
  is_wide = false;
  try_matmul();
  // Cases that are newer than the recordings come last, because all numbers are drawn from one
  // sequence.
  try_legacy_settings();
  try_xt();
  cublasDestroy(handle);
  if (recording != nullptr) {
    std::fflush(recording);
    try_statuses();
  }
  check(cudaDeviceSynchronize());
  for (const std::string& name : called) {
    if (names != nullptr) std::fprintf(names, "%s\n", name.c_str());
  }
  if (names != nullptr) std::fclose(names);
  if (recording != nullptr) std::fclose(recording);
  if (wrong == 0) std::puts("right");
  return wrong != 0;
}
