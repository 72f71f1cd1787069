#include "harness/generators/generators_vectors.hpp"

namespace warpcheck::vectors_detail {

template Gen<std::vector<int>> of_length(std::int64_t, const Gen<int>&);
template Gen<std::vector<std::uint32_t>> of_length(std::int64_t, const Gen<std::uint32_t>&);
template Gen<std::vector<float>> of_length(std::int64_t, const Gen<float>&);
template Gen<std::vector<double>> of_length(std::int64_t, const Gen<double>&);

}  // namespace warpcheck::vectors_detail
