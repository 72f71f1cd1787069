// What bounds the run of a launch.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace warpcheck::vgpu {

inline constexpr std::uint64_t kNoLimit = UINT64_MAX;

// When the machine compiles programs to machine code of the host.  The results are the same in all
// modes.
enum class Compile : std::uint8_t { never, when_it_pays, at_once };
inline constexpr std::array<std::pair<Compile, std::string_view>, 3> kCompileNames{{
    {Compile::never, "never"},
    {Compile::when_it_pays, "auto"},
    {Compile::at_once, "always"},
}};

struct Limits {
  std::uint64_t steps_max = 50'000'000;  // warp instructions of one launch; kNoLimit: no limit
  std::uint32_t quantum = 4'096;         // warp instructions before another warp gets its turn
  std::uint32_t resident_blocks = 32;
  // The number of warp instructions before the first test whether the launch can end.
  std::uint32_t look_after = 65'536;
  Compile compile = Compile::when_it_pays;
  // Optional, and owned by the caller.  When it becomes true, no more results are needed: the
  // launch ends, and a launch that begins later executes nothing.
  const bool* enough = nullptr;
};

}  // namespace warpcheck::vgpu
