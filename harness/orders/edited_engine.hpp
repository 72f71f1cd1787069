// An engine whose trials run changed device code.
#pragma once

#include <memory>
#include <utility>

#include "harness/trial/engine.hpp"
#include "vgpu/ptx/edit/program_edit.hpp"

namespace warpcheck {

class EditedEngine final : public Engine {
 public:
  EditedEngine(Engine& engine, ptx::Edits edits)
      : engine_(engine), edits_(std::make_shared<const ptx::Edits>(std::move(edits))) {}

  TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) override {
    TrialSettings edited = settings;
    edited.edits = edits_;
    return engine_.run(edited, body);
  }

 private:
  Engine& engine_;
  std::shared_ptr<const ptx::Edits> edits_;
};

}  // namespace warpcheck
