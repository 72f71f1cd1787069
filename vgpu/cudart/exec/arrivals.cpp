#include "vgpu/cudart/exec/arrivals.hpp"

#include <xxhash.h>

#include <array>
#include <utility>

#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/exec/exec_session.hpp"
#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::cudart {

namespace {

Arrival arrival_of(const Box& box, Arrival::Kind kind, std::uint32_t operation,
                   const ExecSession& session, const std::byte* first, std::size_t pitch,
                   std::size_t slice) {
  Arrival entry{.kind = kind, .operation = operation, .bytes = box.bytes()};
  const bool keeps = session.keeps(operation);
  for (std::size_t z = 0; z < box.depth; ++z) {
    for (std::size_t y = 0; y < box.height; ++y) {
      const std::byte* const row = first + z * slice + y * pitch;
      entry.hash = XXH3_64bits_withSeed(row, box.width, entry.hash);
      if (keeps) session.keep(kind, operation, {row, box.width});
    }
  }
  return entry;
}

}  // namespace

void Arrivals::copied(const CopyWork& work, std::uint32_t operation, const std::byte* first,
                      std::size_t pitch, std::size_t slice) {
  ExecSession* const session = trial_.exec_session();
  if (session == nullptr || !session->logs_host_bytes()) return;
  Arrival entry =
      arrival_of(work.box, Arrival::Kind::copy, operation, *session, first, pitch, slice);
  entry.kernel = last_kernel_;
  session->came_to_host(entry, work.call);
}

void Arrivals::copies_to_device(const CopyWork& work, std::uint32_t operation, const void* asked_at,
                                const std::byte* first, std::size_t pitch, std::size_t slice) {
  ExecSession* const session = trial_.exec_session();
  if (session == nullptr || !session->logs_host_inputs()) return;
  Arrival entry =
      arrival_of(work.box, Arrival::Kind::to_device, operation, *session, first, pitch, slice);
  entry.kernel = last_kernel_;
  session->went_to_device(entry, work.call, asked_at);
}

void Arrivals::launches(const KernelWork& work, std::uint32_t operation, const void* asked_at) {
  ExecSession* const session = trial_.exec_session();
  if (session == nullptr || !session->logs_host_inputs()) return;
  Arrival entry{.kind = Arrival::Kind::launch,
                .operation = operation,
                .bytes = work.parameters.size(),
                .kernel = last_kernel_};
  const std::array<std::uint32_t, 7> shape{work.grid.x,
                                           work.grid.y,
                                           work.grid.z,
                                           work.block.x,
                                           work.block.y,
                                           work.block.z,
                                           work.dynamic_shared_bytes};
  entry.hash = XXH3_64bits(shape.data(), sizeof shape);
  entry.hash = XXH3_64bits_withSeed(work.parameters.data(), work.parameters.size(), entry.hash);
  session->went_to_device(entry, "", asked_at);
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
