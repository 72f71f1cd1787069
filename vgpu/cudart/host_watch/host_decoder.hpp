// The decoder of host instructions.
#pragma once

#include <capstone/capstone.h>

#include <cstdint>

namespace warpcheck::cudart {

// No instruction is longer.
constexpr std::size_t kInstructionBytesMax = 15;

// Created on first use; SIZE_MAX: it cannot be created.
csh host_decoder();

}  // namespace warpcheck::cudart
