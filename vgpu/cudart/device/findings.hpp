// The findings of a trial so far: those of its checkers, and those that only host calls show.
#pragma once

#include <utility>

#include "vgpu/check/checkers.hpp"
#include "vgpu/cudart/api/calls/mishaps.hpp"

namespace warpcheck::cudart {

class Findings {
 public:
  Findings() : checkers_(vgpu::CheckerSet{}, vgpu::WarpModel::independent) {
    checkers_.set_causes(&mishaps_);
  }

  vgpu::Checkers& checkers() { return checkers_; }
  [[nodiscard]] const vgpu::Checkers& checkers() const { return checkers_; }
  // Failed calls, which findings name as their causes.
  Mishaps& mishaps() { return mishaps_; }

  // Reports misuse of the API by the current call.
  void add(vgpu::Finding finding) {
    // Race findings already have the places of their sides.
    if (finding.kind != vgpu::FindingKind::data_race) {
      for (std::size_t i = 0; i < finding.accesses.size(); ++i) {
        const vgpu::AccessSide& side = finding.accesses[i];
        const bool is_free =
            finding.kind == vgpu::FindingKind::invalid_free && i == 0 && side.role == "host free";
        const bool is_copy = side.role == "host copy" || side.role == "host write";
        const bool is_call = side.role == "host call";
        if ((is_free || is_copy || is_call) && side.file.empty()) {
          name_place(finding, i, mishaps_.place_of_call());
        }
      }
    }
    if (checkers_.add(std::move(finding))) call_is_told_ = true;
  }

  // Returns whether a finding, or a refusal, already says what is wrong with the current call.
  [[nodiscard]] bool call_is_told() const { return call_is_told_; }
  void call_is_told_elsewhere() { call_is_told_ = true; }
  void begin_call() { call_is_told_ = false; }

 private:
  Mishaps mishaps_;
  vgpu::Checkers checkers_;
  bool call_is_told_ = false;
};

}  // namespace warpcheck::cudart
