// Memory that a worker shares with its parent: a heartbeat and the current input, which remain when
// the worker is killed.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "campaign/store/corpus.hpp"
#include "harness/process/shared_memory.hpp"

namespace warpcheck::campaign {

struct WorkerMemory {
  std::atomic<std::uint64_t> executions;          // trials of any kind
  std::atomic<std::uint64_t> for_every_schedule;  // search trials that hold for every schedule
  std::atomic<std::uint64_t> features;            // new ones
  std::atomic<std::uint64_t> entries;             // added to the corpus
  std::atomic<double> used_seconds;               // of CPU time, by a search
  std::atomic<std::uint32_t> input_bytes;
  std::array<std::uint8_t, kCorpusBytesMax> input;

  void begin_input(std::span<const std::uint8_t> bytes) {
    const std::size_t size = std::min(bytes.size(), input.size());
    std::copy_n(bytes.begin(), size, input.begin());
    input_bytes.store(static_cast<std::uint32_t>(size));
  }
};

// Created before the worker is forked.
class SharedWorkerMemory : public SharedMemory<WorkerMemory> {
 public:
  [[nodiscard]] std::string input() const;
};

}  // namespace warpcheck::campaign
