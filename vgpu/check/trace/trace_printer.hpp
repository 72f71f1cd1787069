// The events of a trace as data, and what writes them in a format.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/check/trace/trace_file.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

// A launch that begins.
struct TraceLaunch {
  std::uint32_t number = 0;  // from 0
  std::string kernel;
  std::string grid, block;  // "(1,1,1)"
};

// A step of a warp: it has executed an instruction.
struct TraceStep {
  std::uint64_t number = 0;  // in its launch, from 1
  std::uint64_t time = 0;    // in the trace: steps of all launches, from 1
  WarpId warp;
  std::uint32_t lanes = 0;  // that executed it; 0: it is guarded, and none did
  std::string file;         // without directories; empty: not known
  std::uint32_t line = 0;
  std::string instruction;
  std::vector<std::pair<unsigned, std::string>> values;  // by shown lane
  std::string access;  // of the first lane that accesses memory: "reads share[0]"; empty: none does
  std::string note;    // "waits", or empty
};

// Something that happens to a warp or a block between steps.
struct TraceEvent {
  enum class Kind : std::uint8_t { barrier, decision, diverge, meet, print };
  Kind kind = Kind::barrier;
  std::uint64_t time = 0;  // of the latest step
  WarpId warp;
  bool of_block = false;    // all warps of the block take part
  std::uint32_t phase = 0;  // barrier: that begins
  std::string text;
};

struct TraceFinding {
  std::string what;     // "data-race on shared memory share[1], 4 bytes"
  std::string message;  // its sentence
  struct Side {
    std::string who;           // "write by block (0,0,0) thread (1,0,0)"
    std::uint64_t number = 0;  // of its step; 0: it is not among the latest steps
    std::uint64_t time = 0;
    WarpId warp;
  };
  std::vector<Side> sides;
  std::uint64_t time = 0;  // of the step that showed it
  WarpId warp;
};

// What a kernel had, of all its launches: so that a filter which shows nothing can be corrected.
struct TracedKernel {
  std::uint32_t blocks = 0, warps = 0;  // of a block
  std::string lines;                    // "scan.cu:9-16"; empty: not known
};

struct TraceTotals {
  std::uint64_t launches = 0;
  std::uint64_t steps = 0;                        // executed
  std::uint64_t shown = 0;                        // that the filters show
  std::uint64_t written = 0;                      // of those
  std::map<std::string, TracedKernel> kernels{};  // the first ones that were launched, by name
};

class TracePrinter {
 public:
  virtual ~TracePrinter() = default;
  // Return what to append to the file.
  [[nodiscard]] virtual std::string launch(const TraceLaunch& launch) = 0;
  [[nodiscard]] virtual std::string launch_end() = 0;
  [[nodiscard]] virtual std::string step(const TraceStep& step) = 0;
  [[nodiscard]] virtual std::string event(const TraceEvent& event) = 0;
  [[nodiscard]] virtual std::string finding(const TraceFinding& finding) = 0;
  // The mark of the end.
  [[nodiscard]] virtual std::string end(const TraceTotals& totals, std::uint64_t bytes_max) = 0;
};

[[nodiscard]] std::unique_ptr<TracePrinter> text_printer();
// The Trace Event Format of Chromium: an array of events, one a line.  A process is a block of a
// launch, a thread is a warp, a microsecond is a step of the trace.
//   accesses: a slice for each
//   first: the number after which processes and threads are numbered
[[nodiscard]] std::unique_ptr<TracePrinter> chrome_printer(bool accesses, std::uint64_t first);

// Returns "34 of 57 steps are left out: the limit of 4096 bytes is reached (--trace-limit)".
[[nodiscard]] std::string text_of_end(const TraceTotals& totals, std::uint64_t bytes_max);

}  // namespace warpcheck::vgpu
