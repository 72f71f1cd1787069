#include "cli/exec/program_experiments.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <sstream>
#include <utility>

#include "cli/exec/run_directory.hpp"
#include "vgpu/cudart/exec/experiments.hpp"

namespace warpcheck {

cudart::ExecSettings settings_of_experiment(cudart::ExecSettings of_run) {
  of_run.trace.clear();
  of_run.launch_worker.clear();
  of_run.kept_bytes.clear();
  of_run.profile = of_run.prove = of_run.host_inputs = of_run.host_bytes = false;
  of_run.jobs = 1;
  return of_run;
}

ProgramExperiments::ProgramExperiments(Supervisor& supervisor, ProgramRunner& runner,
                                       double seconds_max, double seconds_of_all)
    : supervisor_(supervisor),
      runner_(runner),
      seconds_max_(seconds_max),
      seconds_of_all_(seconds_of_all) {}

ProgramExperiments::~ProgramExperiments() {
  if (socket_ >= 0) ::close(socket_);
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<ProgramRun> ProgramExperiments::give_up(std::string why) {
  why_ = std::move(why);
  return std::nullopt;
}

bool ProgramExperiments::start(const cudart::ExecSettings& settings) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return false;
  ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  socket_ = ends[0];
  cudart::ExecSettings of_server = settings;
  of_server.experiments = ends[1];
  process_ = runner_.start_silently(of_server);
  ::close(ends[1]);
  return true;
}

std::optional<std::string> ProgramExperiments::answer() {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds_max_);
  std::string text;
  while (!supervisor_.is_stopped()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return std::nullopt;
    std::array<pollfd, 2> wanted{{{socket_, POLLIN, 0}, {supervisor_.signals(), POLLIN, 0}}};
    ::poll(wanted.data(), wanted.size(), static_cast<int>(left.count()));
    if (wanted[1].revents != 0) supervisor_.handle_signals(process_);
    if (wanted[0].revents == 0) continue;
    std::array<char, 4096> bytes{};
    const ssize_t count = ::read(socket_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    text.append(bytes.data(), static_cast<std::size_t>(count));
    if (text.ends_with('\n')) return text.substr(0, text.size() - 1);
  }
  return std::nullopt;
}

std::optional<ProgramRun> ProgramExperiments::run(cudart::ExecSettings settings) {
  if (!why_.empty()) return std::nullopt;
  if (took_too_long()) return give_up(kTakesTooLong);
  ProgramRun run;
  run.records_file = runner_.directory() / fmt::format("experiment-{}", ++runs_);
  settings.records = run.records_file;
  reserve_room(run.records_file);
  if (process_ == 0) {
    if (!start(settings)) return give_up("the program could not be started again");
    const std::optional<std::string> ready = answer();
    if (!ready) return give_up("the program, started again, does not come to its beginning");
    if (*ready == cudart::kNoExperiments) return give_up(cudart::kNoExperiments);
  }
  const std::string line = to_text(settings) + '\n';
  if (::send(socket_, line.data(), line.size(), MSG_NOSIGNAL) != std::ssize(line))
    return give_up("the program, started again, has ended");
  const std::optional<std::string> ended = answer();
  if (!ended) return give_up("a run of the program with a change did not end in time");
  std::istringstream fields(*ended);
  int status = SIGKILL;
  double busy = 0;
  fields >> status >> busy;
  seconds_ += busy / 1e6;
  run.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  run.status = run.signal != 0 ? 128 + run.signal : WEXITSTATUS(status);
  read_records_and_counts(run, run.signal == 0);
  return run;
}

}  // namespace warpcheck
