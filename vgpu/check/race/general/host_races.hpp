// Races of launches with what the host does: its own accesses, copies, fills, and library
// functions.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/check/operand.hpp"
#include "vgpu/check/race/general/deferred_atomics.hpp"
#include "vgpu/check/race/general/race_reports.hpp"
#include "vgpu/check/reporter.hpp"

namespace warpcheck::vgpu {

class HostRaces {
 public:
  HostRaces(Reporter& reporter, const ThreadOrder& order, CellMemories& memories, CellLists& lists,
            DeferredAtomics& deferred, const RaceReports& reports,
            const std::vector<CheckedLaunch>& launches)
      : reporter_(reporter),
        order_(order),
        memories_(memories),
        lists_(lists),
        deferred_(deferred),
        reports_(reports),
        launches_(launches) {}

  // Reports every access by an unordered launch that conflicts with an access by the host.
  //   operand: of a library function; null: a copy or fill, or an access by host code
  void check(const HostAccess& access, const LibraryOperand* operand = nullptr);

 private:
  void check_cell(const HostAccess& access, std::uint32_t offset, const Cell& cell,
                  const LibraryOperand* operand);
  void report(const HostAccess& access, std::uint32_t offset, const EarlierAccess& earlier,
              const LibraryOperand* operand);
  [[nodiscard]] Finding finding_of(const HostAccess& access, std::uint32_t offset,
                                   const EarlierAccess& earlier,
                                   const LibraryOperand* operand) const;

  Reporter& reporter_;
  const ThreadOrder& order_;
  CellMemories& memories_;
  CellLists& lists_;
  DeferredAtomics& deferred_;
  const RaceReports& reports_;
  const std::vector<CheckedLaunch>& launches_;  // of the trial
};

}  // namespace warpcheck::vgpu
