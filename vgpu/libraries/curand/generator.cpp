#include "vgpu/libraries/curand/generator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/libraries/curand/direction_numbers.hpp"

namespace warpcheck::libraries::random {
namespace {

curandRngType_t without_default(curandRngType_t type) {
  switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT: return CURAND_RNG_PSEUDO_XORWOW;
    case CURAND_RNG_QUASI_DEFAULT: return CURAND_RNG_QUASI_SOBOL32;
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64: return type;
    default:
      throw Rejected{CURAND_STATUS_TYPE_ERROR,
                     fmt::format("there is no type {} of generator", static_cast<int>(type))};
  }
}

void require_pseudo(bool is_quasi) {
  if (is_quasi) throw Rejected{CURAND_STATUS_TYPE_ERROR, "the generator is quasi-random"};
}

}  // namespace

Generator::Generator(curandRngType_t type, bool on_host) : on_host_(on_host) {
  settings_.type = without_default(type);
}

void Generator::set_seed(std::uint64_t seed) {
  require_pseudo(is_quasi());
  change();
  settings_.seed = seed;
}

void Generator::set_offset(std::uint64_t offset) {
  if (!can_skip()) {
    throw Rejected{CURAND_STATUS_TYPE_ERROR, "generators of this type have no offset"};
  }
  change();
  asked_for_ = settings_.offset = offset;
}

bool Generator::knows(curandOrdering_t ordering) const {
  const bool is_mt = settings_.type == CURAND_RNG_PSEUDO_MT19937;
  switch (ordering) {
    case CURAND_ORDERING_PSEUDO_DEFAULT:
    case CURAND_ORDERING_PSEUDO_LEGACY: return !is_quasi();
    case CURAND_ORDERING_PSEUDO_BEST: return !is_quasi() && !is_mt;
    case CURAND_ORDERING_PSEUDO_SEEDED: return settings_.type == CURAND_RNG_PSEUDO_XORWOW;
    case CURAND_ORDERING_PSEUDO_DYNAMIC: return !is_quasi() && !is_mt && !on_host_;
    case CURAND_ORDERING_QUASI_DEFAULT: return is_quasi();
    default: return false;
  }
}

void Generator::set_ordering(curandOrdering_t ordering) {
  if (!knows(ordering)) {
    throw Rejected{
        CURAND_STATUS_OUT_OF_RANGE,
        fmt::format("generators of this type have no ordering {}", static_cast<int>(ordering))};
  }
  change();
  settings_.ordering = ordering;
}

void Generator::set_dimensions(std::uint32_t dimensions) {
  if (!is_quasi()) throw Rejected{CURAND_STATUS_TYPE_ERROR, "the generator is pseudo-random"};
  if (dimensions == 0 || dimensions > kSobolDimensionsMax) {
    throw Rejected{CURAND_STATUS_OUT_OF_RANGE, fmt::format("{} dimensions; there are 1 to {}",
                                                           dimensions, kSobolDimensionsMax)};
  }
  change();
  settings_.dimensions = dimensions;
}

void Generator::require_length(std::size_t count, bool in_pairs) const {
  if (in_pairs && draws_pairs() && count % 2 != 0) {
    throw Rejected{CURAND_STATUS_LENGTH_NOT_MULTIPLE,
                   fmt::format("{} normal numbers; this generator makes two at a time", count)};
  }
  if (is_quasi() && count % settings_.dimensions != 0) {
    throw Rejected{CURAND_STATUS_LENGTH_NOT_MULTIPLE,
                   fmt::format("{} numbers of {} dimensions", count, settings_.dimensions)};
  }
}

void Generator::note_if_unlike(bool of_poisson) const {
  const auto note = [](std::string_view numbers) {
    services().note_gap(fmt::format("results that follow from {} of cuRAND: their sequence differs "
                                    "from that of the vendor's generator",
                                    numbers)
                            .c_str());
  };
  switch (static_cast<int>(settings_.type)) {
    case CURAND_RNG_PSEUDO_MT19937: return note("numbers of MT19937");
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64: return note("scrambled Sobol sequences");
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64: return;
    default: break;
  }
  if (settings_.ordering == CURAND_ORDERING_PSEUDO_SEEDED) return note("seeded XORWOW numbers");
  if (settings_.ordering == CURAND_ORDERING_PSEUDO_DYNAMIC) return note("numbers in dynamic order");
  if (of_poisson) note("Poisson numbers of XORWOW, MRG32k3a and Philox");
}

void Generator::change() {
  engine_.reset();
  settings_.offset = asked_for_;
}

const std::shared_ptr<SharedEngine>& Generator::engine() {
  if (engine_ == nullptr) {
    engine_ = std::make_shared<SharedEngine>();
    engine_->engine = make_engine(settings_);
  }
  return engine_;
}

}  // namespace warpcheck::libraries::random
