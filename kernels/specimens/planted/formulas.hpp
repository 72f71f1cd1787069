// Specimens: formulas, each written in several ways.  The first way of a family is the formula;
// of the others, those below kWrongWay are the same function in exact arithmetic, and those from it
// on are another one.  properties/formulas_test.cpp says what each is.
#pragma once

#include <cuda_runtime_api.h>

inline constexpr int kWaysOfFamily = 100, kWrongWay = 50;

// way: kWaysOfFamily * family + the way; at most kFormulaSize numbers
inline constexpr int kFormulaSize = 64;
cudaError_t formula_of_floats(const float* in, float* out, int n, int way);
cudaError_t formula_of_ints(const int* in, int* out, int n, int way);
