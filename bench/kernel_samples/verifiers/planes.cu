//== transpose_any_size
//pass
//--blockDim=[32,8]
#define TILE 32
#define ROWS 8
__global__ void transpose_any_size(float* out, const float* in, int width, int height) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int i = 0; i < TILE; i += ROWS)
    if (x < width && y + i < height) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * width + x];  //~ data-race
  __syncthreads();  //twin:
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (int i = 0; i < TILE; i += ROWS)
    if (x < height && y + i < width) out[(y + i) * height + x] = tile[threadIdx.x][threadIdx.y + i];  //~ data-race
}
//== copy_shared_tile
//pass
//--blockDim=[32,8] --gridDim=[8,8]
__global__ void copy_shared_tile(float* out, const float* in, int width) {
  __requires(width == 256);
  __shared__ float tile[32 * 32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[(threadIdx.y + j) * 32 + threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  for (int j = 0; j < 32; j += 8) out[(y + j) * width + x] = tile[(threadIdx.y + j) * 32 + threadIdx.x];  //~ data-race //twin: for (int j = 0; j < 32; j += 4) out[(y + j) * width + x] = tile[(threadIdx.y + j) % 32 * 32 + threadIdx.x] + threadIdx.y;
}
//== transpose_diagonal
//pass
//--blockDim=[16,16] --gridDim=[8,8]
__global__ void transpose_diagonal(float* out, const float* in, int width, int height) {
  __requires(width == 128);
  __requires(height == 128);
  __shared__ float tile[16][17];
  int by = blockIdx.x, bx = (blockIdx.x + blockIdx.y) % gridDim.x;
  int x = bx * 16 + threadIdx.x, y = by * 16 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();  //twin:
  x = by * 16 + threadIdx.x;
  y = bx * 16 + threadIdx.y;
  out[y * height + x] = tile[threadIdx.x][threadIdx.y];  //~ data-race
}
//== transpose_in_place
//pass
//--blockDim=[16,16] --gridDim=[4,4]
__global__ void transpose_in_place(float* m, int n) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < n && y < x) {  //twin: if (x < n && y < n) {
    float t = m[y * n + x];
    m[y * n + x] = m[x * n + y];  //~ data-race
    m[x * n + y] = t;
  }
}
//== matmul_k_tiles
//pass
//--blockDim=[16,16]
__global__ void matmul_k_tiles(float* c, const float* a, const float* b, int wa, int wb) {
  __requires(wa % 16 == 0);
  __requires(wb % 16 == 0);
  __requires(wa > 0);
  __requires(wb == 16 * gridDim.x);
  __shared__ float as[16][16], bs[16][16];
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int first = wa * 16 * by, last = first + wa - 1;
  float sum = 0;
  for (int i = first, j = 16 * bx; i <= last; i += 16, j += 16 * wb) {
    as[ty][tx] = a[i + wa * ty + tx];  //~ data-race
    bs[ty][tx] = b[j + wb * ty + tx];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) sum += as[ty][k] * bs[k][tx];  //~ data-race
    __syncthreads();  //twin:
  }
  c[wb * 16 * by + 16 * bx + wb * ty + tx] = sum;
}
//== matmul_two_per_thread
//pass
//--blockDim=[16,8] --gridDim=[4,4]
__global__ void matmul_two_per_thread(float* c, const float* a, const float* b) {
  __shared__ float as[16][16], bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  float s0 = 0, s1 = 0;
  for (int m = 0; m < 64; m += 16) {
    as[ty][tx] = a[row * 64 + m + tx];
    as[ty + 8][tx] = a[(row + 8) * 64 + m + tx];
    bs[ty][tx] = b[(m + ty) * 64 + column];
    bs[ty + 8][tx] = b[(m + ty + 8) * 64 + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
      s0 += as[ty][k] * bs[k][tx];
      s1 += as[ty + 8][k] * bs[k][tx];
    }
    __syncthreads();
  }
  c[row * 64 + column] = s0;
  c[(row + 8) * 64 + column] = s1;  //~ data-race //twin: c[(row + 4) * 64 + column] = s1 + row;
}
//== game_of_life
//pass
//--blockDim=[16,16] --gridDim=[4,4]
__global__ void game_of_life(const unsigned char* in, unsigned char* out, int w, int h) {
  __requires(w == 64);
  __requires(h == 64);
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, count = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx != 0 || dy != 0) count += in[(y + dy + h) % h * w + (x + dx + w) % w];
  unsigned char now = in[y * w + x];
  out[y * w + x] = count == 3 || (count == 2 && now);  //~ data-race //twin: out[y / 2 * w + x] = count == 3 || (count == 2 && now);
}
//== jacobi_in_place
//xfail:BOOGIE_ERROR
//--blockDim=[16,16] --gridDim=[4,4]
__global__ void jacobi_in_place(float* m) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x > 0 && x < 63 && y > 0 && y < 63)
    m[y * 64 + x] = (m[y * 64 + x - 1] + m[y * 64 + x + 1] + m[(y - 1) * 64 + x] + m[(y + 1) * 64 + x]) / 4;  //~ data-race
}
//== red_black
//pass
//--blockDim=[16,16] --gridDim=[4,4]
__global__ void red_black(float* m, int color) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x > 0 && x < 63 && y > 0 && y < 63 && (x + y) % 2 == (color & 1))  //twin: if (x > 0 && x < 63 && y > 0 && y < 63 && (x + y / 2) % 2 == (color & 1))
    m[y * 64 + x] = (m[y * 64 + x - 1] + m[y * 64 + x + 1] + m[(y - 1) * 64 + x] + m[(y + 1) * 64 + x]) / 4;  //~ data-race
}
//== shift_rows_in_place
//pass
//--blockDim=128 --gridDim=32
__global__ void shift_rows_in_place(int* m) {
  int* row = m + blockIdx.x * 128;
  int v = row[(threadIdx.x + 1) % 128];  //~ data-race
  __syncthreads();  //twin:
  row[threadIdx.x] = v;  //~ data-race
}
//== shift_long_rows_in_place
//pass
//--blockDim=64 --gridDim=8
__global__ void shift_long_rows_in_place(int* m, int width) {
  __requires(width >= 64);
  __requires(width <= 100000);
  int* row = m + blockIdx.x * width;
  for (int base = 0; base < width - 1; base += 64) {
    int i = base + threadIdx.x, v = 0;
    if (i < width - 1) v = row[i + 1];  //~ data-race
    __syncthreads();  //twin:
    if (i < width - 1) row[i] = v;  //~ data-race
    __syncthreads();
  }
}
//== only_x_of_plane
//xfail:BOOGIE_ERROR
//--blockDim=[16,4] --gridDim=2
__global__ void only_x_of_plane(int* a, const int* b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = b[i] + threadIdx.y;  //~ data-race
}
//== linear_of_plane
//pass
//--blockDim=[8,8,4]
__global__ void linear_of_plane(int* a) {
  int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  int b = blockIdx.x + gridDim.x * blockIdx.y;
  a[b * blockDim.x * blockDim.y * blockDim.z + t] = t;  //~ data-race //twin: a[b * blockDim.x * blockDim.y + t] = b;
}
//== image_box_columns
//pass
//--blockDim=64
__global__ void image_box_columns(const float* in, float* out, int w, int h, int r) {
  __requires(r >= 0);
  __requires(r < h);
  __requires(w > 0);
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= w) return;
  const float* from = in + x;
  float* to = out + x;
  float t = from[0] * r;
  for (int y = 0; y < r + 1; y++) t += from[y * w];
  to[0] = t;
  for (int y = 1; y < h; y++) {
    t += from[min(y + r, h - 1) * w];
    to[y * w] = t;  //~ data-race //twin: to[y * w / 2] = t;
  }
}
//== three_dimensional_shared
//pass
//--blockDim=[4,4,4] --gridDim=2
__global__ void three_dimensional_shared(int* a) {
  __shared__ int s[4][4][5];
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  s[z][y][x] = a[((blockIdx.x * 4 + z) * 4 + y) * 4 + x];
  __syncthreads();  //twin:
  a[((blockIdx.x * 4 + z) * 4 + y) * 4 + x] = s[x][z][y];  //~ data-race
}
//== floyd_warshall
//pass
//--blockDim=[16,16] --gridDim=[4,4]
__global__ void floyd_warshall(unsigned* d, int k, int n) {
  __requires(n == 64);
  __requires(k >= 0);
  __requires(k < n);
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x == k || y == k) return;  //twin: if (x == k && y == k) return;
  unsigned via = d[y * n + k] + d[k * n + x];  //~ data-race
  if (d[y * n + x] > via) d[y * n + x] = via;  //~ data-race
}
//== lu_column
//pass
//--blockDim=64
__global__ void lu_column(float* m, int n, int k) {
  __requires(k >= 0);
  __requires(k < n);
  int i = blockIdx.x * blockDim.x + threadIdx.x + k + 1;
  if (i < n) m[i * n + k] /= m[k * n + k];  //~ data-race //twin: if (i <= n) m[(i - 1) * n + k] /= m[k * n + k];
}
//== cholesky_in_block
//pass
//--blockDim=64 --gridDim=1
__global__ void cholesky_in_block(float* m, int n) {
  __requires(n == 64);
  int t = threadIdx.x;
  for (int k = 0; k < n; ++k) {
    if (t == k) m[k * n + k] = sqrtf(m[k * n + k]);  //~ data-race
    __syncthreads();  //twin:
    if (t > k) m[t * n + k] /= m[k * n + k];  //~ data-race
    __syncthreads();
    if (t > k)
      for (int j = k + 1; j <= t; ++j) m[t * n + j] -= m[t * n + k] * m[j * n + k];
    __syncthreads();
  }
}
//== shared_matrix_of_rows
//pass
//--blockDim=[16,16] --gridDim=[4,4]
__global__ void shared_matrix_of_rows(float* out, const float* in, int pitch) {
  __requires(pitch == 64);
  __shared__ float rows[4][16][16];
  int x = threadIdx.x, y = threadIdx.y;
  for (int p = 0; p < 4; ++p) rows[p][y][x] = in[(blockIdx.y * 16 + y) * pitch + blockIdx.x * 16 + x] * p;
  __syncthreads();  //twin:
  float v = 0;
  for (int p = 0; p < 4; ++p) v += rows[p][x][15 - y];  //~ data-race
  out[(blockIdx.y * 16 + y) * pitch + blockIdx.x * 16 + x] = v;
}
