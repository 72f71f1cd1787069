// A file with results of a real GPU: the forms that were run, and the bits of every result.
//
// The file is one zstd frame: a line about the GPU, a line `count base text` for each form, an
// empty line, then the results.  The results of one form are stored result by result, byte position
// by byte position.  With a base, the number of an earlier form, they are xored with the results of
// that form, so forms that hardly differ take little space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "vgpu/ptx/forms.hpp"

namespace warpcheck::conformance {

struct Recorded {
  std::string text;         // InstructionForm::text
  std::uint32_t count = 0;  // vectors
  // values[r * count + i]: result r of vector i.
  std::vector<std::uint64_t> values;
};

struct Recording {
  std::string device;  // "NVIDIA H200, sm_90, driver 13.0"
  std::vector<Recorded> forms;
};

// The file is damaged, or is no recording.
class RecordingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Every form must be in `known`, which determines the width of results.
std::string pack(const Recording& recording, const std::vector<ptx::InstructionForm>& known);
Recording unpack(const std::string& bytes, const std::vector<ptx::InstructionForm>& known);

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& bytes);

}  // namespace warpcheck::conformance
