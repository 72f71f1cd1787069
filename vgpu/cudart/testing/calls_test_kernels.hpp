// Device functions as real programs use them, for calls_test.cpp.  Each returns one value per
// thread of one block of 64 threads, from which the test can tell what was called.
#pragma once

#include <cstdint>
#include <vector>

namespace warpcheck::cudart::calls_test {

inline constexpr int kThreads = 64;

std::vector<int> factorials_and_parities();  // direct and mutual recursion
std::vector<int> fibonacci_numbers();        // two recursive calls, diverging
std::vector<int> ackermann_numbers();        // a recursive call as an argument
std::vector<int> table_entries();            // __device__ and __constant__ tables of functions
std::vector<int> pointer_from_host();        // cudaMemcpyFromSymbol, then a kernel's argument
std::vector<int> virtual_calls();            // four classes in one warp
std::vector<int> lambdas();                  // with and without captures
std::vector<int> recursion_by_pointer();     // a function that calls itself through a table
std::vector<int> structures_by_value();      // packed, large, returned
std::vector<int> variadic_sums();
std::vector<int> stack_arrays();  // alloca of a different size in each thread
std::vector<int> local_arrays_of_recursion();
std::vector<int> heap_nodes();  // a list of virtual objects on the device heap
std::vector<int> switches();    // a dense switch

// Uses every conversion of printf; returns the results of printf.
std::vector<int> prints();
void prints_much(int lines);
void prints_from_threads();
// Fails in threads >= limit.
void asserts(int limit);
void breaks();
void calls_address(std::uint64_t address);
void calls_another_shape();
void dereferences_a_function();
void recurses_for_ever();

}  // namespace warpcheck::cudart::calls_test
