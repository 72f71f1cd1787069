//== csr_row_sums
//pass
__global__ void csr_row_sums(const int* ptr, const float* v, float* out, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0;
  for (int k = ptr[r]; k < ptr[r + 1]; ++k) s += v[k];
  out[r] = s;
}
//== row_lengths
//pass
__global__ void row_lengths(const int* ptr, int* lengths, int rows) {
  for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += gridDim.x * blockDim.x) lengths[r] = ptr[r + 1] - ptr[r];
}
//== csr_spmv_warp
//pass
__global__ void csr_spmv_warp(const int* ptr, const int* col, const float* v, const float* x, float* y, int rows) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (r >= rows) return;
  float s = 0;
  for (int k = ptr[r] + lane; k < ptr[r + 1]; k += 32) s += v[k] * x[col[k]];
  for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, s, d);
  if (lane == 0) y[r] = s;
}
//== offsets_by_search
//pass
__global__ void offsets_by_search(const int* rows_of, int nnz, int* ptr, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r > rows) return;
  int lo = 0, hi = nnz;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (rows_of[mid] < r) lo = mid + 1; else hi = mid;
  }
  ptr[r] = lo;
}
//== exclusive_from_inclusive
//pass
__global__ void exclusive_from_inclusive(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = i == 0 ? 0 : in[i - 1];
}
//== prefix_with_total
//pass
__global__ void prefix_with_total(const int* in, int* out, int n) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    int s = 0;
    for (int i = 0; i < n; ++i) { out[i] = s; s += in[i]; }
    out[n] = s;
  }
}
//== prefix_shifted
//pass
__global__ void prefix_shifted(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) out[0] = 0;
  if (i < n) out[i + 1] = in[i];
}
//== three_point_halo
//pass
__global__ void three_point_halo(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + in[i + 1] + in[i + 2];
}
//== forward_difference
//pass
__global__ void forward_difference(const float* edge, float* width, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) width[i] = edge[i + 1] - edge[i];
}
//== flux_at_faces
//pass
__global__ void flux_at_faces(const float* u, float* flux, int cells) {
  int f = blockIdx.x * blockDim.x + threadIdx.x;
  if (f > cells) return;
  float left = f > 0 ? u[f - 1] : u[0], right = f < cells ? u[f] : u[cells - 1];
  flux[f] = (left + right) / 2;
}
//== update_from_faces
//pass
__global__ void update_from_faces(const float* flux, float* u, int cells) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < cells) u[c] -= 0.1f * (flux[c + 1] - flux[c]);
}
//== segment_sums
//pass
__global__ void segment_sums(const int* begin, const float* values, float* sums, int segments) {
  int s = blockIdx.x;
  if (s >= segments) return;
  __shared__ float partial[256];
  float sum = 0;
  for (int i = begin[s] + threadIdx.x; i < begin[s + 1]; i += blockDim.x) sum += values[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[s] = partial[0];
}
//== bin_edges
//pass
__global__ void bin_edges(const float* edges, const float* x, int* bin, int n, int bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int found = -1;
  for (int b = 0; b < bins; ++b)
    if (x[i] >= edges[b] && x[i] < edges[b + 1]) found = b;
  bin[i] = found;
}
//== polynomial
//pass
__global__ void polynomial(const float* c, const float* x, float* y, int n, int degree) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0;
  for (int k = degree; k >= 0; --k) s = s * x[i] + c[k];
  y[i] = s;
}
//== window_weights
//pass
__global__ void window_weights(const float* in, const float* w, float* out, int n, int r) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0;
  for (int j = -r; j <= r; ++j)
    if (i + j >= 0 && i + j < n) s += w[j + r] * in[i + j];
  out[i] = s;
}
//== edit_distance_diagonal
//pass
__global__ void edit_distance_diagonal(const char* a, const char* b, int* d, int n, int m, int diagonal) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = diagonal - i;
  if (i < 1 || i > n || j < 1 || j > m) return;
  int up = d[(i - 1) * (m + 1) + j] + 1, left = d[i * (m + 1) + j - 1] + 1;
  int corner = d[(i - 1) * (m + 1) + j - 1] + (a[i - 1] != b[j - 1]);
  d[i * (m + 1) + j] = min(min(up, left), corner);
}
//== border_of_table
//pass
__global__ void border_of_table(int* d, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) d[i * (m + 1)] = i;
  if (i <= m && i > 0) d[i] = i;
}
//== staggered_grid
//pass
__global__ void staggered_grid(const float* ez, float* hy, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny) hy[y * nx + x] += 0.5f * (ez[y * (nx + 1) + x + 1] - ez[y * (nx + 1) + x]);
}
//== vertices_of_cells
//pass
__global__ void vertices_of_cells(const float* cell, float* vertex, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > nx || y > ny) return;
  float s = 0;
  if (x > 0 && y > 0) s += cell[(y - 1) * nx + x - 1];
  if (x < nx && y < ny) s += cell[y * nx + x];
  vertex[y * (nx + 1) + x] = s;
}
//== csr_to_coo
//pass
__global__ void csr_to_coo(const int* ptr, int* row_of, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows)
    for (int k = ptr[r]; k < ptr[r + 1]; ++k) row_of[k] = r;
}
//== closed_ring
//pass
__global__ void closed_ring(float* ring, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) { ring[0] = ring[n - 1 > 0 ? n - 1 : 0]; ring[n + 1] = 1; }
}
//== binomial_leaves
//pass
__global__ void binomial_leaves(float* v, float s, float u, int last) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= last) v[i] = s * i + u;
}
//== centred_gradient
//pass
__global__ void centred_gradient(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (i <= n) out[i - 1] = in[i + 1] - in[i - 1];
}
//== one_based
//pass
__global__ void one_based(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (i <= n) b[i] = a[i];
}
//== fill
//pass
__global__ void fill(float* out, float v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = v;  //~ out-of-bounds //twin: if (i <= n) out[i] = v;
}
//== copy
//pass
__global__ void copy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;  //twin: if (i > n) return;
  out[i] = in[i];  //~ out-of-bounds
}
//== strided_saxpy
//pass
__global__ void strided_saxpy(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)  //twin: for (int i = blockIdx.x * blockDim.x + threadIdx.x; i <= n; i += blockDim.x * gridDim.x)
    y[i] = a * x[i] + y[i];  //~ out-of-bounds
}
//== reversed_global
//pass
__global__ void reversed_global(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[n - 1 - i];  //~ out-of-bounds //twin: if (i < n) out[i] = in[n - i];
}
//== dot_of_rows
//pass
__global__ void dot_of_rows(const float* a, const float* x, float* y, int rows, int columns) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0;
  for (int c = 0; c < columns; ++c)  //twin: for (int c = 0; c <= columns; ++c)
    s += a[r * columns + c] * x[c];  //~ out-of-bounds
  y[r] = s;
}
//== matrix_add
//pass
__global__ void matrix_add(const float* a, const float* b, float* c, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height)  //twin: if (x < width && y <= height)
    c[y * width + x] = a[y * width + x] + b[y * width + x];  //~ out-of-bounds
}
//== matrix_scale
//pass
__global__ void matrix_scale(float* a, float k, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > width - 1 || y >= height) return;  //twin: if (x > width || y >= height) return;
  a[y * width + x] *= k;  //~ out-of-bounds
}
//== spmv_row
//pass
__global__ void spmv_row(const int* ptr, const int* col, const float* v, const float* x, float* y, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {  //twin: if (r <= rows) {
    float s = 0;
    for (int k = ptr[r]; k < ptr[r + 1]; ++k) s += v[k] * x[col[k]];  //~ out-of-bounds
    y[r] = s;
  }
}
//== sum_of_block
//pass
__global__ void sum_of_block(const float* in, float* sums, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = i < n ? in[i] : 0;  //~ out-of-bounds //twin: s[threadIdx.x] = i <= n ? in[i] : 0;
  __syncthreads();
  for (int h = 128; h > 0; h /= 2) {
    if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = s[0];
}
//== through_a_tile
//pass
__global__ void through_a_tile(const float* in, float* out, int n) {
  __shared__ float tile[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  if (i < n) out[i] = tile[255 - threadIdx.x];  //~ out-of-bounds //twin: if (i <= n) out[i] = tile[255 - threadIdx.x];
}
//== counted
//pass
__global__ void counted(const int* in, int* count, int n, int limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] < limit) atomicAdd(count, 1);  //~ out-of-bounds //twin: if (i <= n && in[i] < limit) atomicAdd(count, 1);
}
//== smoothed
//pass
__global__ void smoothed(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;
}
//== relu_u
//pass
__global__ void relu_u(const float* in, float* out, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] > 0 ? in[i] : 0;  //~ out-of-bounds //twin: if (i < n + 1) out[i] = in[i] > 0 ? in[i] : 0;
}
//== gather_rows
//pass
__global__ void gather_rows(const int* index, const float* table, float* out, int n, int width) {
  int i = blockIdx.x;
  if (i >= n) return;
  for (int c = threadIdx.x; c < width; c += blockDim.x) out[i * width + c] = table[index[i] * width + c];
}
//== column_maxima
//pass
__global__ void column_maxima(const float* m, float* top, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  float best = m[c];
  for (int r = 1; r < rows; ++r) best = fmaxf(best, m[r * columns + c]);
  top[c] = best;
}
//== tail_of_four
//pass
__global__ void tail_of_four(const float4* in, float4* out, int quads) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < quads) { float4 v = in[i]; v.x *= 2; out[i] = v; }  //~ out-of-bounds //twin: if (i <= quads) { float4 v = in[i]; v.x *= 2; out[i] = v; }
}
//== volume_scaled
//pass
__global__ void volume_scaled(float* v, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  for (int z = 0; z < nz; ++z) v[(z * ny + y) * nx + x] *= 2;  //~ out-of-bounds //twin: for (int z = 0; z <= nz; ++z) v[(z * ny + y) * nx + x] *= 2;
}
//== last_is_first
//pass
__global__ void last_is_first(float* ring, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0 && n > 0) ring[n - 1] = 0;
  if (i < n - 1) ring[i] = 1;
}
//== odd_even_pairs
//pass
__global__ void odd_even_pairs(int* a, int n, int phase) {
  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + (phase & 1);
  if (i + 1 < n) {
    int l = a[i], r = a[i + 1];
    if (l > r) { a[i] = r; a[i + 1] = l; }
  }
}
//== batched_bias
//pass
__global__ void batched_bias(float* x, const float* bias, int batch, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < batch * width) x[i] += bias[i % width];  //~ out-of-bounds //twin: if (i <= batch * width) x[i] += bias[i % width];
}
//== dot_of_two
//pass
__global__ void dot_of_two(const float* a, const float* b, float* out, int n) {
  if (threadIdx.x != 0 || blockIdx.x != 0) return;
  float s = 0;
  for (int i = 0; i < n; ++i) s += a[i] * b[i];  //~ out-of-bounds //twin: for (int i = 0; i <= n; ++i) s += a[i] * b[i];
  out[0] = s;
}
