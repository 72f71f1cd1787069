// The report of a plain program that ran outside any trial: its findings, on stderr at exit.
#pragma once

#include <string>

#include "vgpu/cudart/device/virtual_device.hpp"

namespace warpcheck::cudart {

// Prints the findings of the ambient state, and the kept ones, when the process exits.
void print_report_at_exit();

// Keeps findings made outside a trial, because a trial is about to reset the device.
void keep_for_exit_report(const TrialResult& result);

// Returns a finding as a few lines, ending with a newline.
std::string compact_text(const vgpu::Finding& finding);

}  // namespace warpcheck::cudart
