#include "fuzz/libfuzzer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

// LLVM 14, compiler-rt/include/fuzzer/FuzzerInterface.h.
extern "C" int LLVMFuzzerRunDriver(int* argc, char*** argv,
                                   int (*callback)(const std::uint8_t* data, std::size_t size));

namespace warpcheck::fuzz {
namespace {

// Inputs are tapes: a few hundred bytes suffice to find a bug, and the tail replaces the rest. The
// mutator may grow them freely (len_control), because a longer input costs no more to run.
constexpr std::size_t kInputBytesMax = 4096;
// Trials are bounded in steps; so a timeout is a bug of the harness, or a shrink of a large case.
constexpr int kTimeoutSeconds = 600;

InputCallback the_callback = nullptr;

}  // namespace

std::vector<std::string> search_arguments(std::uint64_t seed) {
  return {"warpcheck",
          fmt::format("-seed={}", seed % 0x7fff'ffff + 1),  // 0 would mean the clock
          fmt::format("-max_len={}", kInputBytesMax),
          "-len_control=0",
          "-entropic=0",  // newest first makes faster progress: our corpora are small
          fmt::format("-timeout={}", kTimeoutSeconds),
          "-rss_limit_mb=0",
          "-handle_int=0",   // Ctrl-C is the parent's (worker_pool.hpp)
          "-handle_term=0",  // so is SIGTERM
          "-detect_leaks=0"};
}

void silence_libfuzzer() {
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null < 0) return;
  ::dup2(null, STDERR_FILENO);
  ::close(null);
}

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
