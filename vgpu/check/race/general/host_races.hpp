// Races of launches with what the host does: its own accesses, copies, fills, and library
// functions.
#pragma once

#include <cstdint>

#include "vgpu/check/operand.hpp"
#include "vgpu/check/race/general/deferred/deferred_atomics.hpp"
#include "vgpu/check/race/general/race_reports.hpp"
#include "vgpu/check/reporter.hpp"

namespace warpcheck::vgpu {

class HostRaces {
 public:
  HostRaces(Reporter& reporter, GeneralState& state, DeferredAtomics& deferred,
            const RaceReports& reports)
      : reporter_(reporter), state_(state), deferred_(deferred), reports_(reports) {}

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
  GeneralState& state_;
  DeferredAtomics& deferred_;
  const RaceReports& reports_;
};

}  // namespace warpcheck::vgpu
