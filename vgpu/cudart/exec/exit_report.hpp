// What a plain program that ran outside any trial is told when it exits: its findings, on stderr.
#pragma once

#include <string>

#include "vgpu/cudart/device/virtual_device.hpp"

namespace warpcheck::cudart {

// Prints the findings of the device's ambient state, and those kept, when the process exits.
void print_report_at_exit();

// Keeps findings made outside a trial, as a trial is about to start afresh.
void keep_for_exit_report(const TrialResult& result);

// One finding in a few lines, ending with a newline.
std::string compact_text(const vgpu::Finding& finding);

}  // namespace warpcheck::cudart
