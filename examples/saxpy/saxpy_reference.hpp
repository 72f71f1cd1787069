#include <vector>
inline auto saxpy_reference(float a, const std::vector<float>& x, std::vector<float> y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = a * x[i] + y[i];
  return y;
}
