// Executes copies and fills when it is their turn: checks their ranges again, reports them to the
// observers, and moves the bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "vgpu/cudart/copies/copy_sides.hpp"
#include "vgpu/cudart/copies/late_host_sides.hpp"
#include "vgpu/cudart/parallel/parallel_machines.hpp"
#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::cudart {

class Arrivals;
class CallLog;
class CallRecording;
class Findings;
class VirtualClock;
class Transfers;

class CopyRunner {
 public:
  // Nothing is owned.
  CopyRunner(CopySides& sides, Transfers& transfers, Arrivals& arrivals, VirtualClock& clock,
             const CallRecording& recording, Findings& findings)
      : sides_(sides),
        transfers_(transfers),
        arrivals_(arrivals),
        clock_(clock),
        recording_(recording),
        findings_(findings),
        late_(sides) {}

  // Copies that use memory of the program later than at their call.
  LateHostSides& late() { return late_; }
  [[nodiscard]] bool has_registered_copies() const { return sides_.has_registered_copies(); }

  void run(const CopyWork& work, const Operation& operation);
  void run(const FillWork& work, const Operation& operation);
  void run(const EarlyReadWork& work, const Operation& operation);

  // Returns what a copy or a fill moves if it runs ahead of its turn; what is for the host is moved
  // to `kept`, which is resized, and what a fill writes is taken from there.  Nothing: it cannot
  // run ahead.
  std::optional<std::vector<ParallelMove>> moves_of(const CopyWork& work,
                                                    std::vector<std::byte>& kept) const;
  std::optional<std::vector<ParallelMove>> moves_of(const FillWork& work,
                                                    std::vector<std::byte>& kept) const;
  // Returns what a copy would take from memory of the host now, in rows without gaps; nothing: it
  // would not run, or takes nothing from there.
  [[nodiscard]] std::optional<std::vector<std::byte>> brought_by(const CopyWork& work) const;
  // Returns the side of a copy in memory that the host and the device share, or in the host's own.
  [[nodiscard]] std::optional<CopySide> host_side(const Place& place, const Box& box,
                                                  bool write) const {
    return sides_.find(place, Where::host, box, write);
  }

 private:
  void run(const CopyWork& work, const Operation& operation, const CopySide& to,
           const CopySide& from);
  // Reports a side in memory of the program that has gone since the call; returns whether one has.
  bool has_lost_side(const CopyWork& work) const;
  void report_changed_source(const CopyWork& work, const Operation& operation) const;
  void report_not_copied(const CopyWork& work, const Operation& operation);
  static void move(const CopyWork& work, const Operation& operation, const CopySide& to,
                   const CopySide& from);

  CopySides& sides_;
  Transfers& transfers_;
  Arrivals& arrivals_;
  VirtualClock& clock_;
  const CallRecording& recording_;
  Findings& findings_;
  LateHostSides late_;
};

// Records the copy row by row; `arrived`: the bytes of a download are available.
void record_copy(CallLog& log, const CopyWork& work, bool arrived);
void record_fill(CallLog& log, const FillWork& work);

}  // namespace warpcheck::cudart
