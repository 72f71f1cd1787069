// Results of a real GPU, as a file: which forms were run, and the bits of every result.
//
// The file is one zstd frame: a line about the GPU, a line `count base text` for each form, an
// empty line, then the results.  Those of one form stand result by result, byte position by byte
// position; with a base, the number of an earlier form, they are xored with that form's.  So forms
// that hardly differ cost next to nothing.
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

// The recording is damaged, or is not one.
class RecordingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Every form must be one of `known`, which says how wide results are.
std::string pack(const Recording& recording, const std::vector<ptx::InstructionForm>& known);
Recording unpack(const std::string& bytes, const std::vector<ptx::InstructionForm>& known);

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& bytes);

}  // namespace warpcheck::conformance
