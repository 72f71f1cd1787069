#include "vgpu/cudart/streams/stream_values.hpp"

#include <cuda.h>

#include <cstring>

#include "vgpu/check/streams.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/observers.hpp"
#include "vgpu/cudart/memory/allocations.hpp"

namespace warpcheck::cudart {
namespace {

std::uint64_t value_at(const std::byte* data, unsigned bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, data, bytes);
  return value;
}

// CUstreamWaitValue_flags; Number: an unsigned type with the size of the value.
template <typename Number, typename Signed>
bool is_met(unsigned condition, std::uint64_t found, std::uint64_t wanted) {
  const auto here = static_cast<Number>(found), value = static_cast<Number>(wanted);
  switch (condition) {
    case CU_STREAM_WAIT_VALUE_EQ: return here == value;
    case CU_STREAM_WAIT_VALUE_AND: return (here & value) != 0;
    case CU_STREAM_WAIT_VALUE_NOR: return static_cast<Number>(~(here | value)) != 0;
    default: return static_cast<Signed>(static_cast<Number>(here - value)) >= 0;
  }
}

}  // namespace

std::optional<CopySide> StreamValues::place_of(const ValueWork& work) {
  const bool is_of_device = allocations_.owns(work.pointer) && !sides_.is_page_locked(work.pointer);
  const Where where = is_of_device ? Where::device : Where::host;
  const auto address = reinterpret_cast<std::uint64_t>(work.pointer);
  const bool is_known = is_of_device || sides_.is_page_locked(work.pointer);
  if (!is_known || address % work.bytes != 0 || sides_.is_managed(work.pointer)) return {};
  return sides_.at(work.call, {work.pointer}, where, {work.bytes}, !work.is_wait);
}

bool StreamValues::holds(const ValueWork& work, const Operation& operation) {
  if (given_up_.contains(operation.number)) return true;
  const std::optional<CopySide> place = place_of(work);
  if (!place) return true;
  const std::uint64_t found = value_at(place->data, work.bytes);
  return work.bytes == 4 ? is_met<std::uint32_t, std::int32_t>(work.condition, found, work.value)
                         : is_met<std::uint64_t, std::int64_t>(work.condition, found, work.value);
}

const OperationSet& StreamValues::comes_after(const ValueWork& work, const OperationSet& done) {
  const std::optional<CopySide> place = place_of(work);
  const auto found = place ? written_.find(place->data) : written_.end();
  if (found == written_.end()) return done;
  const bool is_its_value = value_at(place->data, work.bytes) == found->second.value;
  return is_its_value ? found->second.clock : done;
}

void StreamValues::run(const ValueWork& work, const Operation& operation) {
  if (work.is_wait) {
    observers_.notify([&](vgpu::Observer& observer) { observer.on_opaque_operation(work.call); });
    return;
  }
  const std::optional<CopySide> place = place_of(work);
  if (!place) return;
  if (place->range.allocation != nullptr) {
    allocations_.written_by_host(*place->range.allocation, place->range.offset, work.bytes);
  }
  std::memcpy(place->data, &work.value, work.bytes);
  written_[place->data] = {value_at(place->data, work.bytes),
                           work.releases ? operation.clock : OperationSet{}};
}

void StreamValues::give_up(const ValueWork& work, const Operation& operation) {
  given_up_.insert(operation.number);
  const std::optional<CopySide> place = place_of(work);
  if (!place) return;
  findings_.add(
      vgpu::value_never_comes(work.call, place->range.allocation, place->range.offset, work.bytes));
}

void StreamValues::clear() {
  written_.clear();
  given_up_.clear();
}

}  // namespace warpcheck::cudart
