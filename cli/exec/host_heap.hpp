// Detects that memory of the host's heap which the program has never written decides: a buffer of
// malloc() or new that is copied to the device, or an argument of a launch.  Fresh memory of the
// heap is mostly zero, so that nothing shows.
//
// Some of several runs fill the heap with a byte (ExecSettings::heap).  Of these, a run that does
// not do what the runs before it did is repeated with the same schedule and the heap as it is: what
// differs then comes from the heap, and not from the schedule.  Both are repeated once more, with
// the bytes that differ, and what is not the same again is left out.
//
// Bytes that come back as they went (padding of structs, the unused end of a buffer) decide
// nothing: a copy to the host counts only if it has other bytes than the filling, or if the
// standard output differs as well.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/exec/run_output.hpp"

namespace warpcheck {

class HostHeap {
 public:
  struct Wanted {
    int run = 1;                        // with the schedule of this run, from 1
    unsigned heap = 0;                  // ExecSettings::heap
    std::vector<std::uint32_t> kept{};  // operations whose bytes are kept
    std::filesystem::path standard_output{};
  };
  // Runs the program again, without output to the user; logs what the host hands to the device.
  using Repeat = std::function<ProgramRun(const Wanted&)>;

  struct Examined {
    RunOutput unfilled;  // the run, with the heap as it is
    // The use of memory that nothing has written.
    std::optional<vgpu::Finding> finding{};
    // Classes (vgpu::class_of) of errors and notes that only the filled run has.
    std::vector<std::string> consequences{};
    bool is_unsteady = false;  // two runs of one schedule and one filling differ
    bool timed_out = false;    // a repeated run did not end: nothing is known
  };

  // directory: for files.
  HostHeap(std::filesystem::path directory, Repeat repeat)
      : directory_(std::move(directory)), repeat_(std::move(repeat)) {}

  // run: the number of a run that filled the heap with `heap`, and its output
  Examined examine(int run, unsigned heap, const RunOutput& output) const;

 private:
  std::filesystem::path directory_;
  Repeat repeat_;
};

// Classes of the findings of a run.
std::vector<std::string> classes_of(const RunOutput& output);

// Returns whether the environment leaves the heap's filling to `exec`: the user has set neither
// MALLOC_PERTURB_ nor its tunable.
bool may_fill_heap();

// Sets the variables that let the C library fill memory of malloc() with `heap` (1 to 254;
// glibc.malloc.perturb), and memory from its caches too (glibc.malloc.tcache_count).
void fill_heap(std::vector<std::string>& environment, unsigned heap);

}  // namespace warpcheck
