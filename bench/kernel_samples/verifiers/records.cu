//== fields_of_points
//pass
//--blockDim=64 --gridDim=4
struct Point { float x, y, z; };
__global__ void fields_of_points(Point* p, float dt) {
  int i = blockIdx.x * 64 + threadIdx.x;
  p[i].x += p[i].z * dt;
  p[i].y = p[i].x;  //~ data-race //twin: p[i].y = p[i ^ 1].x;
}
//== threads_of_fields
//pass
//--blockDim=96 --gridDim=1
struct Point { float x, y, z; };
__global__ void threads_of_fields(Point* p) {
  int which = threadIdx.x / 32;
  Point& one = p[threadIdx.x % 32];
  if (which == 0) one.x = 1;
  else if (which == 1) one.y = 2;
  else one.z = 3;  //~ data-race //twin: else one.y = 3;
}
//== record_by_value
//pass
//--blockDim=64 --gridDim=2
struct View { int* data; int first, count; };
__global__ void record_by_value(View v) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= v.first && i < v.count) v.data[i] = i;  //~ data-race //twin: if (i >= v.first && i < v.count) v.data[i / 2] = i;
}
//== arrays_in_records
//pass
//--blockDim=64 --gridDim=1
struct Bins { int count[8]; int sum; };
__global__ void arrays_in_records(Bins* bins) {
  Bins& own = bins[threadIdx.x];
  own.sum = 0;
  for (int k = 0; k < 8; ++k) own.sum += own.count[k];  //~ data-race //twin: for (int k = 0; k < 18; ++k) own.sum += own.count[k];
}
//== copied_records
//pass
//--blockDim=64 --gridDim=2
struct Pair { int key; double value; };
__global__ void copied_records(const Pair* in, Pair* out) {
  __shared__ Pair s[64];
  s[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();  //twin:
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];  //~ data-race
}
//== vectors_of_four
//pass
//--blockDim=64 --gridDim=2
__global__ void vectors_of_four(float4* v, float* sums) {
  int i = blockIdx.x * 64 + threadIdx.x;
  float4 one = v[i];
  sums[i] = one.x + one.y + one.z + one.w;
  v[i] = make_float4(0, 0, 0, 0);  //~ data-race //twin: v[i & ~3] = make_float4(i, 0, 0, 0);
}
//== vector_of_scalars
//pass
//--blockDim=64 --gridDim=1
__global__ void vector_of_scalars(float* a) {
  float4* v = reinterpret_cast<float4*>(a);
  v[threadIdx.x] = make_float4(1, 2, 3, 4);
  a[4 * threadIdx.x + 2] = 5;  //~ data-race //twin: a[3 * threadIdx.x + 2] = threadIdx.x;
}
//== method_of_a_view
//pass
//--blockDim=[16,16] --gridDim=[2,2]
struct Matrix {
  float* data;
  int pitch;
  __device__ float& at(int row, int column) const { return data[row * pitch + column]; }
};
__global__ void method_of_a_view(Matrix m) {
  __requires(m.pitch == 32);
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  m.at(y, x) *= 2;  //~ data-race //twin: m.at(y, x / 2) = x;
}
//== template_tile --instantiate 'template_tile<float,32>'
//pass
//--blockDim=32 --gridDim=4
template <class T, int width>
__global__ void template_tile(T* a) {
  __shared__ T s[width];
  s[threadIdx.x] = a[blockIdx.x * width + threadIdx.x];
  __syncthreads();  //twin:
  a[blockIdx.x * width + threadIdx.x] = s[width - 1 - threadIdx.x];  //~ data-race
}
//== functor_by_value --instantiate 'functor_by_value<Twice>'
//pass
//--blockDim=64 --gridDim=4
struct Twice { int factor; __device__ int operator()(int v) const { return v * factor; } };
template <class F>
__global__ void functor_by_value(int* a, F f) {
  int i = blockIdx.x * 64 + threadIdx.x;
  a[i] = f(a[i]);  //~ data-race //twin: a[i] = f(a[i ^ 1]);
}
//== enumerated
//pass
//--blockDim=64 --gridDim=1
enum Side { left, right };
__global__ void enumerated(int* a, Side side) {
  a[side == left ? threadIdx.x : 63 - threadIdx.x] = 1;  //~ data-race //twin: a[side == left ? threadIdx.x : 63 - threadIdx.x / 2] = threadIdx.x;
}
//== local_array
//pass
//--blockDim=64 --gridDim=1
__global__ void local_array(int* a, int k) {
  __requires(k >= 0);
  __requires(k < 8);
  int own[8];
  for (int i = 0; i < 8; ++i) own[i] = threadIdx.x * i;
  own[k] += 1;
  a[threadIdx.x] = own[7 - k];  //~ data-race //twin: a[threadIdx.x / 8] = own[7 - k];
}
//== pointers_in_shared
//pass
//--blockDim=64 --gridDim=1
__global__ void pointers_in_shared(float* a, float* b) {
  __shared__ float s[128];
  float* mine = s + 2 * threadIdx.x;
  *mine++ = a[threadIdx.x];
  *mine = b[threadIdx.x];  //~ data-race //twin: *++mine = b[threadIdx.x];
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 64];
}
//== walking_pointer
//pass
//--blockDim=64 --gridDim=2
__global__ void walking_pointer(int* a) {
  int* p = a + (blockIdx.x * 64 + threadIdx.x) * 16;
  for (int k = 0; k < 16; ++k) *p++ = k;  //~ data-race //twin: for (int k = 0; k <= 16; ++k) *p++ = k;
}
//== pointers_to_the_end
//pass
//--blockDim=32 --gridDim=1
__global__ void pointers_to_the_end(int* a, int n) {
  int* const end = a + n;
  for (int* p = a + threadIdx.x; p < end; p += 32) *p = 1;  //~ data-race //twin: for (int* p = a + threadIdx.x; p < end; p += 31) *p = threadIdx.x;
}
//== two_pointers_step
//pass
//--blockDim=64 --gridDim=4
__global__ void two_pointers_step(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, step = blockDim.x * gridDim.x;
  in += i;
  out += i;
  while (i < n) {
    *out = *in * 2;  //~ data-race
    i += step;
    in += step;
    out += step;  //twin: out += step - 1;
  }
}
//== struct_with_arrays
//pass
//--blockDim=64 --gridDim=4
struct Cell { float value[4]; int count; };
__global__ void struct_with_arrays(Cell* cells, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    for (int k = 0; k < 4; ++k) cells[i].value[k] = k;
    cells[i].count = 4;  //~ data-race //twin: cells[i / 2].count = i;
  }
}
//== member_template
//pass
//--blockDim=64 --gridDim=4
template <typename T, int N> struct Tile {
  T data[N];
  __device__ T& at(int i) { return data[i % N]; }
};
__global__ void member_template(int* out, const int* in) {
  __shared__ Tile<int, 64> tile;
  tile.at(threadIdx.x) = in[threadIdx.x];
  __syncthreads();  //twin:
  out[blockIdx.x * 64 + threadIdx.x] = tile.at(threadIdx.x + 1);  //~ data-race
}
//== union_of_views
//pass
//--blockDim=64 --gridDim=1
union View { unsigned word; unsigned char byte[4]; };
__global__ void union_of_views(View* views, unsigned char* out) {
  __shared__ View s[64];
  s[threadIdx.x].word = views[threadIdx.x].word;
  __syncthreads();  //twin:
  for (int k = 0; k < 4; ++k) out[threadIdx.x * 4 + k] = s[(threadIdx.x + k) & 63].byte[k];  //~ data-race
}
//== bit_fields
//pass
//--blockDim=64 --gridDim=1
struct Packed { unsigned low : 12, high : 20; };
__global__ void bit_fields(Packed* p) {
  p[threadIdx.x].low = threadIdx.x;  //~ data-race //twin: p[threadIdx.x / 2].low = threadIdx.x;
  p[threadIdx.x].high = 7;
}
