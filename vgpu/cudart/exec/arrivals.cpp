#include "vgpu/cudart/exec/arrivals.hpp"

#include <xxhash.h>

#include <array>
#include <utility>

#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/exec/exec_session.hpp"

namespace warpcheck::cudart {

namespace {

Arrival arrival_of(const ArrivedCopy& copy, Arrival::Kind kind, const ExecSession& session) {
  Arrival entry{.kind = kind, .operation = copy.operation, .bytes = copy.box.bytes()};
  const bool keeps = session.keeps(copy.operation);
  for (std::size_t z = 0; z < copy.box.depth; ++z) {
    for (std::size_t y = 0; y < copy.box.height; ++y) {
      const std::byte* const row = copy.first + z * copy.slice + y * copy.pitch;
      entry.hash = XXH3_64bits_withSeed(row, copy.box.width, entry.hash);
      if (keeps) session.keep(kind, copy.operation, {row, copy.box.width});
    }
  }
  return entry;
}

}  // namespace

void Arrivals::copied(const ArrivedCopy& copy) {
  ExecSession* const session = trial_.exec_session();
  if (session == nullptr || !session->logs_host_bytes()) return;
  Arrival entry = arrival_of(copy, Arrival::Kind::copy, *session);
  entry.kernel = last_kernel_;
  session->came_to_host(entry, copy.call);
}

void Arrivals::copies_to_device(const ArrivedCopy& copy, const void* asked_at) {
  ExecSession* const session = trial_.exec_session();
  if (session == nullptr || !session->logs_host_inputs()) return;
  Arrival entry = arrival_of(copy, Arrival::Kind::to_device, *session);
  entry.kernel = last_kernel_;
  session->went_to_device(entry, copy.call, asked_at);
}

void Arrivals::launches(const ArrivedLaunch& launch, const void* asked_at) {
  ExecSession* const session = trial_.exec_session();
  if (session == nullptr || !session->logs_host_inputs()) return;
  Arrival entry{.kind = Arrival::Kind::launch,
                .operation = launch.operation,
                .bytes = launch.parameters.size(),
                .kernel = last_kernel_};
  const std::array<std::uint32_t, 7> shape{launch.grid.x,
                                           launch.grid.y,
                                           launch.grid.z,
                                           launch.block.x,
                                           launch.block.y,
                                           launch.block.z,
                                           launch.dynamic_shared_bytes};
  entry.hash = XXH3_64bits(shape.data(), sizeof shape);
  entry.hash = XXH3_64bits_withSeed(launch.parameters.data(), launch.parameters.size(), entry.hash);
  session->went_to_device(entry, "", asked_at);
}

void Arrivals::all_done(std::uint32_t operations) {
  ExecSession* const session = trial_.exec_session();
  if (session == nullptr || !session->logs_host_bytes()) return;
  if (operations == std::exchange(reported_operations_, operations)) return;
  Arrival entry;
  entry.kind = Arrival::Kind::in_memory;
  entry.operation = operations;
  entry.kernel = last_kernel_;
  const bool keeps = session->keeps(operations);
  for (const vgpu::Allocation* const allocation : memory_.live()) {
    if (!allocation->managed && !allocation->page_locked) continue;
    session->keep_order(operations, *allocation, entry.bytes);
    entry.bytes += allocation->bytes;
    entry.hash = XXH3_64bits_withSeed(allocation->data, allocation->bytes, entry.hash);
    if (keeps) session->keep(entry.kind, operations, {allocation->data, allocation->bytes});
  }
  if (entry.bytes != 0) session->came_to_host(entry, {});
}

}  // namespace warpcheck::cudart
