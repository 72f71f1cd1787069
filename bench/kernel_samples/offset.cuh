// A header of language.cu.
#pragma once

__device__ inline int offset_of(int row, int column, int pitch) { return row * pitch + column; }
