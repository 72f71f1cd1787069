#include "cli/exec/program_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <string_view>
#include <utility>

#include "cli/exec/host_heap.hpp"
#include "cli/exec/program_file.hpp"
#include "cli/exec/run_directory.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has it in no header

namespace warpcheck {
namespace {

namespace fs = std::filesystem;

// The interval of progress calls; they must not take more than a tenth of the time.
constexpr std::int64_t kReportEveryMs = 1000;
constexpr std::int64_t kReportShare = 10;
// The interval of drawing the line on a terminal, and how long the program must have written
// nothing.
constexpr int kShowEveryMs = 200;
constexpr std::int64_t kSilentMs = 2000;

std::int64_t now_ms() {
  using std::chrono::steady_clock;
  const auto now = steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// Settings for frameworks that compile kernels at run time: Triton starts ptxas; CuPy caches
// modules by their device, for all engines; PyTorch hands out parts of large allocations.  The
// user's settings are kept.
void add_settings_of_frameworks(std::vector<std::string>& environment,
                                const std::string& libraries) {
  const auto add = [&](std::string_view name, const std::string& value) {
    const bool is_set = std::ranges::any_of(environment, [&](std::string_view entry) {
      return entry.starts_with(name) && entry.substr(name.size()).starts_with('=');
    });
    if (!is_set) environment.push_back(fmt::format("{}={}", name, value));
  };
  add("TRITON_PTXAS_PATH", libraries + "/ptxas");
  add("TRITON_PTXAS_BLACKWELL_PATH", libraries + "/ptxas");
  add("NVTX_INJECTION64_PATH", libraries + "/libwarpcheck_nvtx.so");
  // Then an overrun of a tensor leaves its allocation, and freed tensors are freed memory.
  add("PYTORCH_NO_CUDA_MEMORY_CACHING", "1");
  if (const char* const home = std::getenv("HOME")) {
    add("CUPY_CACHE_DIR", std::string(home) + "/.cupy/kernel_cache_of_warpcheck");
  }
}

// The bytes that the process has written so far, to any file (proc(5), io); 0: not readable.
std::uint64_t bytes_written_by(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/io", process));
  std::string name;
  std::uint64_t bytes = 0;
  while (file >> name >> bytes) {
    if (name == "wchar:") return bytes;
  }
  return 0;
}

// Call in the new process.
bool redirect(int to, const char* path, int flags) {
  const int file = ::open(path, flags, 0600);
  if (file < 0) return false;
  return file == to || (::dup2(file, to) == to && ::close(file) == 0);
}

// Call in the new process: other files than the first three are closed when a program begins.
void keep_open_only(int kept) {
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  ::fcntl(kept, F_SETFD, 0);
}

void add_record(ProgramRun& run, const std::string& line) {
  try {
    run.records.push_back(cudart::parse_exec_record(line));
  } catch (const cudart::ExecRecordError& error) {
    run.unreadable.emplace_back(error.what());
  }
}

}  // namespace

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> program_environment(const cudart::ExecSettings& settings,
                                             const std::string& libraries) {
  // Prepended to the user's lists: for shared runtimes, and for static ones.
  std::array<std::pair<std::string_view, std::string>, 2> lists{
      {{"LD_LIBRARY_PATH=", libraries},
       {"LD_AUDIT=", fmt::format("{}/{}", libraries, kRedirectLibrary)}}};
  const std::string variable = std::string(cudart::kExecVariable) + "=";
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto list =
        std::ranges::find_if(lists, [&](const auto& each) { return text.starts_with(each.first); });
    if (list != lists.end()) {
      const std::string_view known = text.substr(list->first.size());
      if (!known.empty()) list->second += fmt::format(":{}", known);
    } else if (!text.starts_with(variable)) {
      environment.emplace_back(text);
    }
  }
  for (const auto& [name, value] : lists) environment.push_back(std::string(name) + value);
  add_settings_of_frameworks(environment, libraries);
  if (settings.heap != 0) fill_heap(environment, settings.heap);
  environment.push_back(variable + to_text(settings));
  return environment;
}

ProgramRunner::ProgramRunner(Supervisor& supervisor, std::string path,
                             std::vector<std::string> arguments, std::string libraries,
                             fs::path directory)
    : supervisor_(supervisor),
      path_(std::move(path)),
      words_(std::move(arguments)),
      libraries_(std::move(libraries)),
      directory_(std::move(directory)) {
  words_.insert(words_.begin(), path_);
}

ProgramRunner::~ProgramRunner() {
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

void ProgramRunner::share_input() { input_ = std::make_unique<ProgramInput>(directory_ / "input"); }

ProgramRun ProgramRunner::run(cudart::ExecSettings settings, const fs::path& silent_output) {
  ProgramRun run;
  run.records_file = directory_ / fmt::format("records-{}", ++runs_);
  settings.records = run.records_file;
  reserve_room(run.records_file);
  is_silent_ = !silent_output.empty();
  reported_bytes_ = 0;
  report_next_ms_ = now_ms() + kReportEveryMs;
  silent_since_ms_ = now_ms();
  ends_at_ms_ = timeout_ms_ == 0 ? 0 : now_ms() + timeout_ms_;
  run.ended = false;
  const pid_t process = start(settings, silent_output);
  const int status = wait_for(process, run);
  progress_.clear();
  if (input_ != nullptr) input_->end_run();
  run.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  run.status = run.signal != 0 ? 128 + run.signal : WEXITSTATUS(status);
  // A signal to end the program is for all of its processes.
  if (supervisor_.is_stopped()) Supervisor::end_all();
  read_records(run, false);
  wait_for_orphans(run);
  run.ended = !supervisor_.is_abandoned();
  return run;
}

pid_t ProgramRunner::start_silently(const cudart::ExecSettings& settings) {
  std::unique_ptr<ProgramInput> input = std::exchange(input_, nullptr);
  only_kept_ = settings.experiments;
  const pid_t process = start(settings, "/dev/null");
  only_kept_ = -1;
  input_ = std::move(input);
  return process;
}

// By fork(), because posix_spawn() supports neither foreign process groups nor PR_SET_PDEATHSIG.
pid_t ProgramRunner::start(const cudart::ExecSettings& settings, const fs::path& silent_output) {
  std::vector<std::string> words = words_, environment = program_environment(settings, libraries_);
  const std::vector<char*> arguments = pointers_to(words), variables = pointers_to(environment);
  const bool is_silent = !silent_output.empty();
  const bool has_input = input_ != nullptr && (!is_silent || input_->is_repeatable());
  const int input = has_input ? input_->begin_run() : STDIN_FILENO;
  std::array<int, 2> failure{};
  if (::pipe2(failure.data(), O_CLOEXEC) != 0) {
    throw ProgramError(fmt::format("pipe: {}", std::strerror(errno)));
  }
  const pid_t process = ::fork();
  if (process == 0) {
    supervisor_.give_back();
    bool is_ready = input == STDIN_FILENO || ::dup2(input, STDIN_FILENO) == STDIN_FILENO;
    if (is_silent) {
      if (!has_input) is_ready = is_ready && redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
      is_ready = is_ready &&
                 redirect(STDOUT_FILENO, silent_output.c_str(), O_WRONLY | O_CREAT | O_TRUNC) &&
                 redirect(STDERR_FILENO, "/dev/null", O_WRONLY);
    }
    if (only_kept_ >= 0) keep_open_only(only_kept_);
    if (is_ready) ::execve(path_.c_str(), arguments.data(), variables.data());
    const int error = errno;
    static_cast<void>(!::write(failure[1], &error, sizeof error));
    ::_exit(127);
  }
  int error = errno;
  ::close(failure[1]);
  if (input_ != nullptr) input_->started();
  const bool failed = process < 0 || ::read(failure[0], &error, sizeof error) == sizeof error;
  ::close(failure[0]);
  if (!failed) return process;
  if (process > 0) ::waitpid(process, nullptr, 0);
  throw ProgramError(fmt::format("{}: {}", path_, std::strerror(error)));
}

int ProgramRunner::poll_timeout_ms() const {
  std::int64_t wait = on_progress_ ? kReportEveryMs : -1;
  if (draws_ && !is_silent_) wait = kShowEveryMs;
  if (ends_at_ms_ == 0) return static_cast<int>(wait);
  const std::int64_t left = std::clamp<std::int64_t>(ends_at_ms_ - now_ms(), 0, INT32_MAX);
  return static_cast<int>(wait < 0 ? left : std::min(wait, left));
}

void ProgramRunner::poll_once(pid_t process, ProgramRun& run) {
  std::vector<pollfd> wanted{{supervisor_.signals(), POLLIN, 0}};
  if (input_ != nullptr) input_->add_to(wanted);
  ::poll(wanted.data(), wanted.size(), poll_timeout_ms());
  supervisor_.handle_signals(process);
  if (input_ != nullptr) input_->serve();
  end_late(run);
  report_progress(run);
  show_progress(process, run);
}

void ProgramRunner::end_late(ProgramRun& run) {
  if (ends_at_ms_ == 0 || now_ms() < ends_at_ms_ || run.timed_out) return;
  run.timed_out = true;
  Supervisor::end_all();
}

// Not while the program writes, possibly to the same terminal.
void ProgramRunner::show_progress(pid_t process, const ProgramRun& run) {
  if (!draws_ || is_silent_ || process <= 0) return;
  const std::int64_t now = now_ms();
  const std::uint64_t written = bytes_written_by(process);
  if (written != std::exchange(written_bytes_, written)) silent_since_ms_ = now;
  if (now - silent_since_ms_ < kSilentMs) return progress_.clear();
  ProgramRun so_far;
  so_far.records_file = run.records_file;
  read_records(so_far, false);
  const std::vector<std::string> running = running_kernels(so_far);
  if (running.empty()) return progress_.clear();
  progress_.show([&] { return fmt::format("{}", fmt::join(running, "; ")); });
}

// Also reaps orphans of the program, whose parent the supervisor becomes.
int ProgramRunner::wait_for(pid_t process, ProgramRun& run) {
  while (true) {
    int status = 0;
    for (pid_t ended = 1; ended > 0;) {
      ended = ::waitpid(-1, &status, WNOHANG);
      if (ended == process) return status;
      // All have been ended, including the program.
      if (ended < 0 && errno == ECHILD) return SIGKILL;
    }
    poll_once(process, run);
  }
}

// A process that has loaded the runtime library may report findings as long as it runs.
void ProgramRunner::wait_for_orphans(ProgramRun& run) {
  const auto is_of_the_program = [&](pid_t process) {
    return std::ranges::any_of(
        run.records, [&](const cudart::ExecRecord& record) { return record.process == process; });
  };
  while (!supervisor_.is_stopped()) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    const std::vector<pid_t> left = Supervisor::children();
    if (std::ranges::none_of(left, is_of_the_program)) break;
    poll_once(0, run);
  }
  if (supervisor_.is_stopped()) Supervisor::end_all();
  read_records_and_counts(run, run.signal == 0 && !supervisor_.is_stopped());
}

void ProgramRunner::report_progress(ProgramRun& run) {
  const std::int64_t begin = now_ms();
  if (!on_progress_ || is_silent_ || begin < report_next_ms_) return;
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(run.records_file, error);
  if (!error && bytes != std::exchange(reported_bytes_, bytes)) {
    read_records(run, false);
    on_progress_(run);
  }
  const std::int64_t end = now_ms();
  report_next_ms_ = end + std::max(kReportEveryMs, kReportShare * (end - begin));
}

std::vector<std::string> running_kernels(const ProgramRun& run) {
  std::vector<std::string> running;
  for (const auto& [process, log] : run.logs) {
    std::uint64_t left = log.counts.running_kernel;
    if (left == 0) continue;
    for (const cudart::ExecRecord& record : run.records) {
      const auto* const kernel = std::get_if<cudart::KernelRecord>(&record.what);
      if (record.process != process || kernel == nullptr || --left != 0) continue;
      running.push_back(fmt::format("kernel {}, {} of {} blocks done",
                                    vgpu::kernel_name(kernel->name), log.counts.blocks_ended,
                                    log.counts.blocks));
      break;
    }
  }
  return running;
}

void read_records(ProgramRun& run, bool is_whole) {
  run.records.clear();
  run.unreadable.clear();
  std::ifstream file(run.records_file);
  for (std::string line; std::getline(file, line);) {
    if (file.eof() && !is_whole) break;
    add_record(run, line);
  }
  std::set<int> processes;
  for (const cudart::ExecRecord& record : run.records) processes.insert(record.process);
  for (const int process : processes) {
    const auto path = cudart::exec_log_path(run.records_file, process);
    if (auto log = cudart::read_exec_log(path)) run.logs.insert_or_assign(process, std::move(*log));
  }
}

void read_records_and_counts(ProgramRun& run, bool is_whole) {
  read_records(run, is_whole);
  for (const auto& [process, log] : run.logs) {
    std::ifstream counts(cudart::counts_path(run.records_file, process));
    if (std::string line; std::getline(counts, line)) add_record(run, line);
  }
}

}  // namespace warpcheck
