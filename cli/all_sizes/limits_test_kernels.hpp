// Launchers of kernels whose indices of 32 bits are right up to a certain size.
#pragma once

void triples(float* out, int n);              // 3 n floats, by an index of 32 bits
void grid_stride(float* out, int n);          // n floats, by a counter of 32 bits
void hundreds(char* out, long long n);        // 100 n bytes, by an index of 32 bits
void hundreds_of_64(char* out, long long n);  // ... of 64 bits
