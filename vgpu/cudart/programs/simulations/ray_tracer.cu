// A ray tracer: spheres whose virtual materials are made on the device, recursion for
// reflections, an image in bytes.
// MUTANT: the list of spheres is taken for one longer.
// expect: out-of-bounds, trap
#include <cmath>

#include "check.hpp"

struct Vector {
  float x, y, z;
};
__device__ Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ Vector operator*(float a, Vector b) { return {a * b.x, a * b.y, a * b.z}; }
__device__ float dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ Vector normalized(Vector a) { return rsqrtf(dot(a, a)) * a; }

class Material {
 public:
  __device__ virtual ~Material() {}
  __device__ virtual float diffuse() const = 0;
  __device__ virtual float mirror() const { return 0; }
};
class Matte : public Material {
 public:
  __device__ explicit Matte(float shade) : shade_(shade) {}
  __device__ float diffuse() const override { return shade_; }

 private:
  float shade_;
};
class Mirror : public Material {
 public:
  __device__ float diffuse() const override { return 0.1f; }
  __device__ float mirror() const override { return 0.8f; }
};

struct Sphere {
  Vector centre;
  float radius;
  const Material* material;
};

__global__ void make_scene(Sphere* spheres) {
  for (int i = 0; i < 4; ++i) {
    const Material* material = new Mirror;
    if (i % 2 == 0) {
      delete material;
      material = new Matte(0.2f * i + 0.3f);
    }
    spheres[i] = {{2.0f * i - 3, 0, 6}, 1, material};
  }
}
__global__ void delete_scene(Sphere* spheres) {
  for (int i = 0; i < 4; ++i) delete spheres[i].material;
}

__device__ float trace(const Sphere* spheres, int n, Vector from, Vector to, int depth) {
  const Sphere* hit = nullptr;
  float nearest = 1e30f;
  for (int i = 0; i < n; ++i) {
    const Vector between = from - spheres[i].centre;  //~
    const float radius = spheres[i].radius;           //~
    const float b = dot(between, to), root = b * b - dot(between, between) + radius * radius;
    if (root <= 0) continue;
    const float distance = -b - sqrtf(root);
    if (distance > 1e-3f && distance < nearest) nearest = distance, hit = spheres + i;
  }
  if (hit == nullptr) return 0.5f + 0.5f * to.y;
  const Vector at = from + nearest * to, normal = normalized(at - hit->centre);
  float light = hit->material->diffuse() * fmaxf(0, dot(normal, normalized({1, 2, -1})));
  if (hit->material->mirror() > 0 && depth < 4) {
    const Vector reflected = to - 2 * dot(to, normal) * normal;
    light += hit->material->mirror() * trace(spheres, n, at, reflected, depth + 1);
  }
  return light;
}

__global__ void render(const Sphere* spheres, int n, unsigned char* image, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const Vector to = normalized({(x - width / 2) / 12.0f, (height / 2 - y) / 12.0f, 1});
  const float light = trace(spheres, n, {0, 0, 0}, to, 0);
  image[y * width + x] = static_cast<unsigned char>(200 * fminf(1, light));
}

int main() {
  const int width = 30, height = 16;
  Sphere* spheres;
  require(cudaMalloc(&spheres, 4 * sizeof *spheres));
  Buffer<unsigned char> image(width * height);
  require(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  make_scene<<<1, 1>>>(spheres);
#ifdef MUTANT
  const int n = 5;
#else
  const int n = 4;
#endif
  render<<<dim3(4, 2), dim3(8, 8)>>>(spheres, n, image, width, height);
  delete_scene<<<1, 1>>>(spheres);
  finish();
  require(cudaFree(spheres));
  // Sky above, darker below; the spheres in between differ from both.
  int seen = 0;
  for (int x = 0; x < width; ++x) seen += std::abs(image[height / 2 * width + x] - 100) > 3;
  return verdict(image[15] > 120 && image[(height - 1) * width + 15] < 80 && seen > 10);
}
