// libFuzzer entry for the case reader: any bytes are either a case, or give a CaseFileError.
//
// A case is written and read again: the two texts must be the same.  Anything else (a crash, a
// hang, undefined behaviour, another exception, a text that changes) is a bug.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "harness/case/case_file.hpp"
#include "harness/pair/pair.hpp"

namespace warpcheck {

// A field of every type that a case can contain.
struct EveryField {
  std::vector<int> ints;
  std::vector<std::uint8_t> bytes;
  std::vector<std::vector<std::int64_t>> nested;
  std::vector<float> floats;
  std::array<double, 2> doubles{};
  std::string text;
  bool flag = false;
  LaunchConfig launch;
};
FIELDS(EveryField, ints, bytes, nested, floats, doubles, text, flag, launch);

// Only read, never run.
KERNEL_PAIR(every_field, EveryField, int) = {
    .family = "fuzz",
    .origin = "ours",
    .domain = [](const EveryField& in) { return in.ints.size() < 1'000; },
};
PROPERTY(every_field, holds)(EveryField) {}

}  // namespace warpcheck

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warpcheck;
  const auto parse = [](std::string_view text) {
    return parse_case(text, "fuzz.case", Registry::global());
  };
  std::string text;
  try {
    text = case_text(parse({reinterpret_cast<const char*>(data), size}));
  } catch (const CaseFileError&) {
    return 0;
  }
  // A written case can always be read.
  if (case_text(parse(text)) != text) std::abort();
  return 0;
}
