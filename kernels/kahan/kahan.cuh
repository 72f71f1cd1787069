// Compensated summation (Kahan 1965), as a running sum on the device.
#pragma once

// The build that a kernel is compiled in, as a type: kernels of the same text, compiled with
// different options, then have different names.
struct WithoutContraction {};  // -fmad=false
struct Contracted {};          // nvcc's default
struct FastMath {};            // -use_fast_math

// sum is what has been added up so far, lost what rounding has added to it too much.
struct KahanSum {
  float sum = 0;
  float lost = 0;

  __device__ void add(float value) {
    const float term = value - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
};
