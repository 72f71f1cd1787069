// Attention of one head: for each query i, the mean of the values j that it sees, weighed by the
// softmax of scale * (query i . key j).  Query i sees keys i - window + 1 to i.
#pragma once

#include <cuda_runtime_api.h>

constexpr int kAttentionRows = 8;   // queries of a block, and keys of a tile
constexpr int kAttentionWidth = 8;  // of a query, key and value

// All of n x kAttentionWidth floats, by rows; window >= 1.  Keys are read tile by tile, and sums
// are scaled when a maximum grows: Dao, Fu, Ermon, Rudra, Re, FlashAttention, NeurIPS 2022.
cudaError_t attention(const float* queries, const float* keys, const float* values, float* out,
                      int n, int window, float scale);
