#include "vgpu/libraries/cufft/plan.hpp"

#include <fmt/format.h>

#include <utility>

// Functions of the virtual GPU's runtime, under their names for libraries.
extern "C" {
cudaError_t warpcheck_cudaMalloc(void** pointer, std::size_t bytes);
cudaError_t warpcheck_cudaFree(void* pointer);
}

namespace warpcheck::libraries::fourier {
namespace {

// An upper bound that keeps the bytes of any side of any plan far below 2^63.
constexpr std::int64_t kElementsMax = std::int64_t{1} << 40;

void require_size(const char* name, std::int64_t value) {
  if (value >= 1 && value <= kElementsMax) return;
  throw Rejected{CUFFT_INVALID_SIZE, fmt::format("{} is {}", name, value)};
}

void require_size_of_product(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product) || product > kElementsMax) {
      throw Rejected{CUFFT_INVALID_SIZE, "the transforms have more elements than memory can hold"};
    }
  }
}

void require_storage(const Storage& storage, std::int64_t batch) {
  if (storage.stride < 1 || storage.dist < 0 || storage.embed[1] < 1 || storage.embed[2] < 1) {
    throw Rejected{CUFFT_INVALID_VALUE,
                   "a stride, a distance or a storage dimension is negative or 0"};
  }
  require_size_of_product({storage.embed[0], storage.embed[1], storage.embed[2], storage.stride});
  require_size_of_product({storage.dist, batch});
}

bool is_power_of_two(std::int64_t value) { return (value & (value - 1)) == 0; }

void require_half_precision(const Request& request) {
  for (const std::int64_t length : request.lengths) {
    if (is_power_of_two(length)) continue;
    throw Rejected{
        CUFFT_NOT_SUPPORTED,
        fmt::format("in half precision sizes are powers of two, and {} is none", length)};
  }
  const std::optional<Storage>& real =
      request.transform == Transform::real_to_complex ? request.input : request.output;
  if (request.transform != Transform::complex_to_complex && real && real->stride != 1) {
    throw Rejected{CUFFT_INVALID_VALUE, "in half precision the real side has no strides"};
  }
}

void name_regions(std::vector<Region>& regions, const char* name, const Side& side, int rank) {
  for (Region& region : regions) {
    region.name = name;
    const char* separator = ", ";
    for (int axis = 3 - rank; axis < 3; ++axis) {
      region.name += fmt::format("{}{}", std::exchange(separator, " x "),
                                 side.counts[static_cast<std::size_t>(axis)]);
    }
    region.name += side.is_complex ? " complex" : " real";
    if (side.storage.stride != 1) region.name += fmt::format(", stride {}", side.storage.stride);
    if (side.batch != 1) {
      region.name += fmt::format(", {} of them {} apart", side.batch, side.storage.dist);
    }
  }
}

bool is_same(const Side& a, const Side& b) {
  return a.element_bytes == b.element_bytes && a.counts == b.counts &&
         a.storage.embed[1] == b.storage.embed[1] && a.storage.embed[2] == b.storage.embed[2] &&
         a.storage.stride == b.storage.stride && a.storage.dist == b.storage.dist;
}

}  // namespace

Shape shape_of(const Request& request) {
  if (request.rank < 1 || request.rank > 3) {
    throw Rejected{CUFFT_INVALID_VALUE, fmt::format("the rank is {}, not 1 to 3", request.rank)};
  }
  Shape shape;
  shape.rank = request.rank;
  const auto first = static_cast<std::size_t>(3 - request.rank);
  for (std::size_t axis = first; axis < 3; ++axis) {
    shape.lengths[axis] = request.lengths[axis - first];
    require_size("a dimension", shape.lengths[axis]);
  }
  require_size("the batch", request.batch);
  require_size_of_product({shape.lengths[0], shape.lengths[1], shape.lengths[2], request.batch});
  if (bytes_of(request.precision) == 2) require_half_precision(request);
  shape.batch = request.batch;
  shape.transform = request.transform;
  shape.precision = request.precision;
  // cuFFT's guide: if only one layout is given, both are ignored.
  if (request.input && request.output) {
    shape.input = request.input;
    shape.output = request.output;
    for (auto* const storage : {&*shape.input, &*shape.output}) {
      Lengths embed{1, 1, 1};
      for (std::size_t axis = first; axis < 3; ++axis) embed[axis] = storage->embed[axis - first];
      embed[first] = 1;  // not used
      storage->embed = embed;
      require_storage(*storage, shape.batch);
    }
  }
  return shape;
}

std::size_t work_bytes(const Shape& shape) {
  const std::int64_t elements =
      shape.transform == Transform::complex_to_complex ? shape.elements() : shape.half_elements();
  return static_cast<std::size_t>(elements * shape.batch) * 2 * bytes_of(shape.precision);
}

Plan::~Plan() { free_work_area(); }

void Plan::free_work_area() {
  if (owns_work_area_) warpcheck_cudaFree(work_area_);
  owns_work_area_ = false;
}

void Plan::make(const Shape& shape) {
  if (is_made()) {
    throw Rejected{CUFFT_INVALID_PLAN, "the plan has been made already"};
  }
  auto transforms = std::make_shared<const Transforms>(shape);
  if (allocates_ && work_area_ == nullptr) {
    if (warpcheck_cudaMalloc(&work_area_, fourier::work_bytes(shape)) != cudaSuccess) {
      throw Rejected{CUFFT_ALLOC_FAILED,
                     fmt::format("there is no device memory for a work area of {} bytes",
                                 fourier::work_bytes(shape))};
    }
    owns_work_area_ = true;
  }
  transforms_ = std::move(transforms);
}

void Plan::set_work_area(void* area) {
  free_work_area();
  work_area_ = area;
}

std::size_t Plan::work_bytes() const {
  if (!is_made()) throw Rejected{CUFFT_INVALID_PLAN, "the plan has not been made"};
  return fourier::work_bytes(transforms_->shape());
}

void Plan::require(const Use& use, const void* input, const void* output, int direction) const {
  if (!is_made()) throw Rejected{CUFFT_INVALID_PLAN, "the plan has not been made"};
  const Shape& shape = transforms_->shape();
  if (use.transform.value_or(shape.transform) != shape.transform ||
      use.precision.value_or(shape.precision) != shape.precision) {
    throw Rejected{CUFFT_INVALID_TYPE, "the plan is for transforms of another type"};
  }
  if (input == nullptr || output == nullptr) {
    throw Rejected{CUFFT_INVALID_VALUE, input == nullptr ? "idata is null" : "odata is null"};
  }
  if (shape.transform == Transform::complex_to_complex && direction != CUFFT_FORWARD &&
      direction != CUFFT_INVERSE) {
    throw Rejected{
        CUFFT_INVALID_VALUE,
        fmt::format("the direction is {}, not CUFFT_FORWARD or CUFFT_INVERSE", direction)};
  }
  if (work_area_ == nullptr) {
    throw Rejected{CUFFT_NO_WORKSPACE, "the plan has no work area: cufftSetWorkArea()"};
  }
}

void Plan::execute(const Call& made, const Use& use, void* input, void* output,
                   int direction) const {
  require(use, input, output, direction);
  const Shape& shape = transforms_->shape();
  const bool in_place = input == output;
  const Side from = input_side(shape, in_place);
  const Side to = output_side(shape, in_place);
  std::vector<Region> sources = regions_of(from, input);
  std::vector<Region> targets = regions_of(to, output);
  const bool is_one = in_place && is_same(from, to);
  // cuFFT's guide: out of place, these transforms overwrite their input.
  const bool consumes = !in_place && shape.transform == Transform::complex_to_real;
  name_regions(sources,
               is_one     ? "data"
               : consumes ? "input, which it overwrites"
                          : "input",
               from, shape.rank);
  name_regions(targets, "output", to, shape.rank);

  Call call = made;
  call.stream = stream_;
  Operation operation(call);
  for (const Region& region : sources) {
    if (is_one) {
      operation.update(region);
    } else if (consumes) {
      operation.consume(region);
    } else {
      operation.read(region);
    }
  }
  if (!is_one) {
    for (const Region& region : targets) operation.write(region);
  }
  const std::size_t target = is_one ? 0 : sources.size();
  Region area = array("work area", work_area_, 1, static_cast<std::int64_t>(work_bytes()));
  area.name = fmt::format("work area, {} bytes", work_bytes());
  operation.write(std::move(area));
  operation.computes([transforms = transforms_, sources = std::move(sources),
                      targets = std::move(targets), target,
                      direction = Direction{direction}](const Views& views) {
    transforms->compute({sources, &views[0]}, {targets, &views[target]}, direction);
  });
  if (operation.enqueue() != cudaSuccess) {
    throw Rejected{CUFFT_EXEC_FAILED, "its stream does not take it"};
  }
}

}  // namespace warpcheck::libraries::fourier
