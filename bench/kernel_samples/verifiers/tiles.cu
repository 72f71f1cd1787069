//== transpose
//pass
//--blockDim=[16,16] --gridDim=[4,4]
__global__ void transpose(const float* in, float* out) {
  __shared__ float t[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  t[threadIdx.y][threadIdx.x] = in[y * 64 + x];
  __syncthreads();  //twin:
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  out[y * 64 + x] = t[threadIdx.x][threadIdx.y];  //~ data-race
}
//== transpose_rows
//pass
//--blockDim=[16,4] --gridDim=[2,2]
__global__ void transpose_rows(const float* in, float* out, int width, int height) {
  __requires(width == 32);
  __requires(height == 32);
  __shared__ float t[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int j = 0; j < 16; j += 4) t[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();  //twin:
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  for (int j = 0; j < 16; j += 4) out[(y + j) * height + x] = t[threadIdx.x][threadIdx.y + j];  //~ data-race
}
//== naive_transpose
//pass
//--blockDim=[16,16] --gridDim=[8,8]
__global__ void naive_transpose(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < width && y < height) out[x * height + y] = in[y * width + x];  //~ data-race //twin: if (x < width && y < height) out[x * 4 + y] = in[y * width + x];
}
//== matmul
//pass
//--blockDim=[8,8] --gridDim=[4,4]
__global__ void matmul(const float* a, const float* b, float* c, int n) {
  int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 8 + threadIdx.x;
  if (row < n && column < n) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;  //~ data-race //twin: c[row + column] = sum;
  }
}
//== matmul_tiled
//pass
//--blockDim=[16,16] --gridDim=[4,4]
__global__ void matmul_tiled(const float* a, const float* b, float* c, int n) {
  __requires(n == 64);
  __shared__ float ta[16][16], tb[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int m = 0; m < n / 16; ++m) {
    ta[threadIdx.y][threadIdx.x] = a[row * n + m * 16 + threadIdx.x];  //~ data-race
    tb[threadIdx.y][threadIdx.x] = b[(m * 16 + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];  //~ data-race
    __syncthreads();  //twin:
  }
  c[row * n + column] = sum;
}
//== matmul_tiled_free
//pass
//--blockDim=[16,16]
__global__ void matmul_tiled_free(const float* a, const float* b, float* c, int width) {
  __shared__ float ta[16][16], tb[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int m = 0; m < (width + 15) / 16; ++m) {
    int k = m * 16;
    ta[threadIdx.y][threadIdx.x] =
        row < width && k + threadIdx.x < width ? a[row * width + k + threadIdx.x] : 0;
    tb[threadIdx.y][threadIdx.x] =
        column < width && k + threadIdx.y < width ? b[(k + threadIdx.y) * width + column] : 0;
    __syncthreads();  //twin:
    for (int i = 0; i < 16; ++i) sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];  //~ data-race
    __syncthreads();
  }
  if (row < width && column < width) c[row * width + column] = sum;
}
//== stencil_2d
//pass
//--blockDim=[16,16] --gridDim=[4,4]
__global__ void stencil_2d(const float* in, float* out, int width, int height) {
  __shared__ float t[18][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  bool in_range = x < width && y < height;
  t[ty][tx] = in_range ? in[y * width + x] : 0;
  if (threadIdx.x == 0) t[ty][0] = x > 0 && x - 1 < width && y < height ? in[y * width + x - 1] : 0;
  if (threadIdx.x == 15) t[ty][17] = x + 1 < width && y < height ? in[y * width + x + 1] : 0;
  if (threadIdx.y == 0)
    t[0][tx] = y > 0 && y - 1 < height && x < width ? in[(y - 1) * width + x] : 0;
  if (threadIdx.y == 15) t[17][tx] = y + 1 < height && x < width ? in[(y + 1) * width + x] : 0;
  __syncthreads();  //twin:
  if (in_range) out[y * width + x] = t[ty - 1][tx] + t[ty + 1][tx] + t[ty][tx - 1] + t[ty][tx + 1];  //~ data-race
}
//== stencil_1d
//pass
//--blockDim=128 --gridDim=8
__global__ void stencil_1d(const int* in, int* out) {
  __shared__ int s[128 + 6];
  int g = blockIdx.x * 128 + threadIdx.x, l = threadIdx.x + 3;
  s[l] = in[g + 3];
  if (threadIdx.x < 3) {
    s[l - 3] = in[g];
    s[l + 128] = in[g + 131];
  }
  __syncthreads();  //twin:
  int sum = 0;
  for (int o = -3; o <= 3; ++o) sum += s[l + o];  //~ data-race
  out[g] = sum;
}
//== in_place_stencil
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=2
__global__ void in_place_stencil(float* a) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i > 0) a[i] = a[i - 1] + a[i];  //~ data-race
}
//== convolution_rows
//pass
//--blockDim=[16,4] --gridDim=[2,8]
__constant__ float weights[17];
__global__ void convolution_rows(const float* in, float* out, int pitch) {
  __requires(pitch == 256);
  __shared__ float t[4][16 * 10];
  int x = (blockIdx.x * 8 - 1) * 16 + threadIdx.x + 16, y = blockIdx.y * 4 + threadIdx.y;
  in += y * pitch + x;
  out += y * pitch + x;
  for (int i = 0; i < 8; ++i) t[threadIdx.y][threadIdx.x + (i + 1) * 16] = in[i * 16];
  t[threadIdx.y][threadIdx.x] = x >= 16 ? in[-16] : 0;
  t[threadIdx.y][threadIdx.x + 144] = x + 128 < pitch ? in[128] : 0;
  __syncthreads();  //twin:
  for (int i = 0; i < 8; ++i) {
    float sum = 0;
    for (int j = -8; j <= 8; ++j) sum += weights[8 - j] * t[threadIdx.y][threadIdx.x + (i + 1) * 16 + j];  //~ data-race
    out[i * 16] = sum;
  }
}
//== volume
//pass
//--blockDim=[8,4,2] --gridDim=[2,2,2]
__global__ void volume(float* v) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y,
      z = blockIdx.z * 2 + threadIdx.z;
  v[(z * 8 + y) * 16 + x] = x + y + z;  //~ data-race //twin: v[(z * 7 + y) * 16 + x] = x + y + z;
}
//== rows_of_blocks
//pass
//--blockDim=[32,8] --gridDim=4
__global__ void rows_of_blocks(int* a, int pitch) {
  __requires(pitch >= 32);
  __requires(pitch <= 1000000);
  a[(blockIdx.x * 8 + threadIdx.y) * pitch + threadIdx.x] = 1;  //~ data-race //twin: a[(blockIdx.x * 7 + threadIdx.y) * pitch + threadIdx.x] = threadIdx.y;
}
//== diagonal
//pass
//--blockDim=[16,16] --gridDim=1
__global__ void diagonal(float* m) {
  __shared__ float s[16][16];
  s[threadIdx.y][threadIdx.x] = m[threadIdx.y * 16 + threadIdx.x];
  __syncthreads();
  for (int k = 0; k < 16; ++k) {
    float factor = s[threadIdx.y][k], pivot = s[k][threadIdx.x];  //~ data-race
    __syncthreads();  //twin:
    if (threadIdx.y > k) s[threadIdx.y][threadIdx.x] -= factor * pivot;  //~ data-race
    __syncthreads();
  }
  m[threadIdx.y * 16 + threadIdx.x] = s[threadIdx.y][threadIdx.x];
}
//== three_d_stencil
//pass
//--blockDim=[8,8,4] --gridDim=[4,4,4]
__global__ void three_d_stencil(const float* in, float* out, int nx, int ny, int nz) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z * 4 + threadIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
  int i = (z * ny + y) * nx + x;
  out[i] = in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] + in[i + nx * ny];  //~ data-race //twin: out[i] = out[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] + in[i + nx * ny];
}
//== z_loop_with_shared_plane
//pass
//--blockDim=[16,16] --gridDim=[2,2]
__global__ void z_loop_with_shared_plane(const float* in, float* out, int nz) {
  __shared__ float plane[18][18];
  int x = threadIdx.x + 1, y = threadIdx.y + 1, gx = blockIdx.x * 16 + threadIdx.x, gy = blockIdx.y * 16 + threadIdx.y;
  for (int z = 0; z < nz; ++z) {
    __syncthreads();
    plane[y][x] = in[(z * 32 + gy) * 32 + gx];
    if (x == 1) plane[y][0] = plane[y][17] = 0;
    if (y == 1) plane[0][x] = plane[17][x] = 0;
    __syncthreads();  //twin:
    out[(z * 32 + gy) * 32 + gx] = plane[y][x - 1] + plane[y][x + 1] + plane[y - 1][x] + plane[y + 1][x];  //~ data-race
  }
}
//== convolution_of_rows_halo
//pass
//--blockDim=[16,4] --gridDim=[2,8]
__constant__ float taps[17];
__global__ void convolution_of_rows_halo(float* out, const float* in, int pitch) {
  __requires(pitch == 256);
  __shared__ float s[4][(8 + 2) * 16];
  const int baseX = (blockIdx.x * 8 - 1) * 16 + threadIdx.x, baseY = blockIdx.y * 4 + threadIdx.y;
  in += baseY * pitch + baseX;
  out += baseY * pitch + baseX;
#pragma unroll
  for (int i = 1; i < 9; ++i) s[threadIdx.y][threadIdx.x + i * 16] = in[i * 16];
  s[threadIdx.y][threadIdx.x] = baseX >= 0 ? in[0] : 0;
  s[threadIdx.y][threadIdx.x + 144] = 256 - baseX > 144 ? in[144] : 0;
  __syncthreads();  //twin:
#pragma unroll
  for (int i = 1; i < 9; ++i) {
    float sum = 0;
#pragma unroll
    for (int j = -8; j <= 8; ++j) sum += taps[8 - j] * s[threadIdx.y][threadIdx.x + i * 16 + j];  //~ data-race
    out[i * 16] = sum;
  }
}
//== dct_of_quarter
//pass
//--blockDim=[8,8] --gridDim=[4,4]
__global__ void dct_of_quarter(float* out, const float* in) {
  __shared__ float one[64], two[64];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = (blockIdx.x << 3) + tx, y = (blockIdx.y << 3) + ty;
  one[(ty << 3) + tx] = in[y * 32 + x];
  __syncthreads();
  float acc = 0;
  int i1 = 0 * 8 + tx, i2 = ty * 8;
  for (int i = 0; i < 8; ++i) { acc += one[i1] * one[i2]; i1 += 8; i2 += 1; }
  two[(ty << 3) + tx] = acc;
  __syncthreads();  //twin:
  acc = 0;
  i1 = (ty << 3) + 0; i2 = tx;
  for (int i = 0; i < 8; ++i) { acc += two[i1] * two[i2]; i1 += 1; i2 += 8; }  //~ data-race
  out[y * 32 + x] = acc;
}
//== nbody_tiles
//pass
//--blockDim=64 --gridDim=4
__global__ void nbody_tiles(float4* out, const float4* pos, int n) {
  __requires(n == 256);
  __shared__ float4 s[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  float4 me = pos[i], acc = make_float4(0, 0, 0, 0);
  for (int tile = 0, at = 0; at < n; at += 64, ++tile) {
    s[threadIdx.x] = pos[tile * 64 + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 64; ++j) acc.x += s[j].x - me.x;  //~ data-race
    __syncthreads();  //twin:
  }
  out[i] = acc;
}
