#include "vgpu/cudart/exec/arrivals.hpp"

#include <xxhash.h>

#include <utility>

#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/exec/exec_session.hpp"
#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::cudart {

void Arrivals::copied(const CopyWork& work, std::uint32_t operation, const std::byte* first,
                      std::size_t pitch, std::size_t slice) {
  ExecSession* const session = trial_.exec_session();
  if (session == nullptr || !session->logs_host_bytes()) return;
  Arrival entry;
  entry.operation = operation;
  entry.bytes = work.box.bytes();
  entry.kernel = last_kernel_;
  const bool keeps = session->keeps(operation);
  for (std::size_t z = 0; z < work.box.depth; ++z) {
    for (std::size_t y = 0; y < work.box.height; ++y) {
      const std::byte* const row = first + z * slice + y * pitch;
      entry.hash = XXH3_64bits_withSeed(row, work.box.width, entry.hash);
      if (keeps) session->keep(entry.kind, operation, {row, work.box.width});
    }
  }
  session->came_to_host(entry, work.call);
}

void Arrivals::all_done(std::uint32_t operations) {
  ExecSession* const session = trial_.exec_session();
  if (session == nullptr || !session->logs_host_bytes()) return;
  if (operations == std::exchange(told_operations_, operations)) return;
  Arrival entry;
  entry.kind = Arrival::Kind::in_memory;
  entry.operation = operations;
  entry.kernel = last_kernel_;
  const bool keeps = session->keeps(operations);
  for (const vgpu::Allocation* const allocation : memory_.live()) {
    if (!allocation->managed && !allocation->page_locked) continue;
    entry.bytes += allocation->bytes;
    entry.hash = XXH3_64bits_withSeed(allocation->data, allocation->bytes, entry.hash);
    if (keeps) session->keep(entry.kind, operations, {allocation->data, allocation->bytes});
  }
  if (entry.bytes != 0) session->came_to_host(entry, {});
}

}  // namespace warpcheck::cudart
