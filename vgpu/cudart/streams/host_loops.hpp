// Reports a loop of the host in which nothing changes (repeated_rounds.hpp): a `deadlock` without a
// thread that waits.  It is a note, because the host may count; `exec` makes it an error if the
// program had to be ended by --timeout.
#pragma once

#include <cstdint>
#include <map>

#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/cudart/streams/repeated_rounds.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

class Findings;

class HostLoops {
 public:
  // Nothing is owned.
  HostLoops(const vgpu::DeviceMemory& memory, Findings& findings)
      : memory_(memory), findings_(findings) {}

  // The current call asks for a launch.
  void asked_for(const KernelWork& work);
  // An operation is about to run.
  void runs(const Work& work);
  void runs(const CopyWork& work);

 private:
  void add(std::uint64_t hash, RepeatedRounds::Kind kind);
  [[nodiscard]] std::uint64_t hash_of_memory();
  void report() const;

  const vgpu::DeviceMemory& memory_;
  Findings& findings_;
  RepeatedRounds rounds_;
  bool is_too_large_ = false;                         // the memory, to be compared
  const Kernel* kernel_ = nullptr;                    // of the latest launch
  std::map<const Kernel*, const void*> launched_at_;  // return addresses of the latest calls
};

}  // namespace warpcheck::cudart
