#include "vgpu/cudart/api/calls/call_log.hpp"

#include <cstring>

#include "vgpu/cudart/api/calls/known_addresses.hpp"

namespace warpcheck::cudart {

DevicePlace CallLog::place_of(std::uint64_t address, std::uint64_t overrun_max) const {
  const DevicePlace nowhere{DevicePlace::kNone, static_cast<std::int64_t>(address)};
  const auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nowhere;
  const auto& [start, known] = *std::prev(after);
  if (address - start > known.bytes + overrun_max) return nowhere;
  return {known.number, static_cast<std::int64_t>(address - start)};
}

DevicePlace CallLog::place_of(const void* pointer) const {
  return place_of(reinterpret_cast<std::uint64_t>(pointer), kOverrunBytesMax);
}

void CallLog::allocate(std::uint64_t address, std::uint64_t bytes, std::string_view variable) {
  const std::size_t number = allocations_.size();
  allocations_[address] = {number, bytes};
  calls_.emplace_back(AllocateCall{number, bytes, std::string(variable)});
}

void CallLog::free(const void* pointer) { calls_.emplace_back(FreeCall{place_of(pointer)}); }

void CallLog::upload(const void* target, std::span<const std::byte> bytes) {
  calls_.emplace_back(UploadCall{place_of(target), host_bytes(bytes)});
}

DownloadCall& CallLog::download(const void* source, std::uint64_t size) {
  calls_.emplace_back(DownloadCall{place_of(source), size, {}});
  return std::get<DownloadCall>(calls_.back());
}

void CallLog::move(const void* target, const void* source, std::uint64_t size) {
  calls_.emplace_back(MoveCall{place_of(target), place_of(source), size});
}

void CallLog::fill(const void* target, int value, std::uint64_t size) {
  calls_.emplace_back(FillCall{place_of(target), value, size});
}

// An aligned word that equals an address in an allocation counts as a pointer: the arena's
// addresses are 48-bit numbers that other data hardly ever contains by chance.
HostBytes CallLog::host_bytes(std::span<const std::byte> bytes) const {
  HostBytes result{{bytes.begin(), bytes.end()}, {}};
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= bytes.size();
       at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    const DevicePlace place = place_of(word, 0);
    if (place.allocation != DevicePlace::kNone) result.pointers.push_back({at, place});
  }
  return result;
}

}  // namespace warpcheck::cudart
