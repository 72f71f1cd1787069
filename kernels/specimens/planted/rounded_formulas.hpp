// Formulas of learning and statistics that within_rounding() must accept; from kRoundedWrongFormula
// on, each with another constant, term or step, which it must refuse
// (properties/rounded_formulas_test.cpp says what each is).
#pragma once

#include <cuda_runtime_api.h>

// One block of n threads; out[n].  Those from 10 on are for n = 32.
inline constexpr int kRoundedWrongFormula = 100, kRoundedFormulas = 21;
cudaError_t rounded_formula(const float* in, float* out, int n, int way);
