#include "fuzz/libfuzzer.hpp"

#include <cstddef>
#include <cstdlib>

#include "fuzz/feedback.hpp"

// LLVM 14, compiler-rt/include/fuzzer/FuzzerInterface.h.
extern "C" int LLVMFuzzerRunDriver(int* argc, char*** argv,
                                   int (*callback)(const std::uint8_t* data, std::size_t size));

namespace warpcheck::fuzz {
namespace {

InputCallback the_callback = nullptr;

}  // namespace

void run_libfuzzer(std::vector<std::string> arguments, InputCallback callback) {
  the_callback = callback;
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  int count = static_cast<int>(arguments.size());
  char** values = pointers.data();
  const int code =
      LLVMFuzzerRunDriver(&count, &values, [](const std::uint8_t* data, std::size_t size) {
        the_callback({data, size});
        return 0;
      });
  std::exit(code);
}

}  // namespace warpcheck::fuzz
