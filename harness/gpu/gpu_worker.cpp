// The process that runs trials on a real GPU.
#include <fmt/format.h>

#include <utility>

#include "harness/case/case_file.hpp"
#include "harness/gpu/gpu_run.hpp"
#include "harness/gpu/real_engine.hpp"
#include "harness/pair/registry.hpp"
#include "harness/process/worker_pool.hpp"
#include "harness/search/search_loop.hpp"
#include "harness/trial/trial.hpp"
#include "vgpu/text/file_text.hpp"

namespace warpcheck {
namespace {

// Exit statuses; 0: all jobs are done.
constexpr int kCannotRun = 2;
constexpr int kDeviceLost = 3;

GpuJob job_of(const GpuJobMessage& job) {
  const AnyPair* const pair = Registry::global().find(job.pair);
  if (pair == nullptr) throw GpuError(fmt::format("no pair '{}' in this program", job.pair));
  return {.pair = pair,
          .property = job.property,
          .case_path = job.case_path,
          .first = job.first,
          .count = job.count};
}

std::vector<GpuFinding> reported_findings(const std::vector<vgpu::Finding>& findings) {
  std::vector<GpuFinding> told;
  for (const vgpu::Finding& finding : findings) {
    told.push_back({finding.kind, finding.kernel, finding.lack, finding.message});
  }
  return told;
}

// The work that a task file describes.
struct Work {
  GpuTaskMessage task;
  std::vector<GpuJob> jobs;
};

Work read_work(const std::filesystem::path& path) {
  MessageReader reader;
  reader.add(text_of_file(path));
  Work work;
  try {
    while (const auto message = reader.next()) {
      std::visit(Overloaded{[](const HelloMessage&) {},
                            [&](const GpuTaskMessage& task) { work.task = task; },
                            [&](const GpuJobMessage& job) { work.jobs.push_back(job_of(job)); },
                            [&](const auto&) { throw unexpected(*message); }},
                 *message);
    }
    reader.end();
  } catch (const ProtocolError& error) {
    throw GpuError(fmt::format("{}: the parent {}", path.string(), error.what()));
  }
  return work;
}

class Worker {
 public:
  Worker(Work work, const Emit& emit) : work_(std::move(work)), emit_(emit) {
    options_.seed = work_.task.seed;
    options_.trials = work_.task.trials;
  }

  // Returns the exit status.
  int run() {
    RealGpu gpu(work_.task.runtime);
    const cudart::RealDevice& device = gpu.device();
    const auto version = [](int number) {
      return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
    };
    emit_(GpuDeviceMessage{fmt::format("{} (CUDA driver {}, runtime {}, {})", device.name,
                                       version(device.driver_version),
                                       version(device.runtime_version), device.library)});
    for (std::size_t number = 0; number < work_.jobs.size(); ++number) {
      TrialRunner runner(gpu);
      run_job(work_.jobs[number], number, runner);
      if (gpu.lost()) return kDeviceLost;
    }
    emit_(DoneMessage{});
    return 0;
  }

 private:
  void run_job(const GpuJob& job, std::size_t number, TrialRunner& runner) {
    SearchLoop search({.end = SearchEnd::first_failure, .on_failure = [&](const Failure& failure) {
                         emit_(GpuFailureMessage{job.first + failure.trial - 1,
                                                 failure.verdict.launches,
                                                 reported_findings(failure.verdict.findings)});
                       }});
    const auto take = [&](const Case& a_case) {
      return search.take([&] {
        emit_(GpuTrialMessage{number, job.first + search.trials()});
        return TriedCase{a_case, runner.run(a_case)};
      });
    };
    if (!job.case_path.empty()) {
      const Case a_case = case_of(job, 0, options_);
      while (search.trials() < job.count && take(a_case)) {
      }
    } else {
      std::uint64_t at = 0;
      for_each_case(*job.pair, job.property, options_, [&](Case a_case) {
        if (at++ < job.first) return true;
        a_case.schedule = vgpu::Schedule{};
        return take(a_case) && search.trials() < job.count;
      });
    }
    if (search.refused()) emit_(RefusalMessage{search.refused()->verdict.refusals.front()});
    emit_(TrialsMessage{search.trials()});
  }

  Work work_;
  const Emit& emit_;
  CheckOptions options_;
};

}  // namespace

void write_task(const GpuTask& task, const std::vector<GpuJob>& jobs, const GpuOptions& options) {
  std::string text = line_of(HelloMessage{kProtocolVersion});
  text += line_of(GpuTaskMessage{options.runtime, options.check.seed, options.check.trials});
  for (const GpuJob& job : jobs) {
    text += line_of(GpuJobMessage{.pair = job.pair == nullptr ? "" : job.pair->name(),
                                  .property = job.property,
                                  .case_path = job.case_path,
                                  .first = job.first,
                                  .count = job.count});
  }
  write_file_atomically(task.file, text);
}

Case case_of(const GpuJob& job, std::uint64_t trial, const CheckOptions& options) {
  if (!job.case_path.empty()) return read_case(job.case_path, Registry::global()).a_case;
  std::optional<Case> found;
  std::uint64_t number = 0;
  for_each_case(*job.pair, job.property, options, [&](const Case& a_case) {
    if (number++ == trial) found = a_case;
    return !found;
  });
  if (!found) throw std::logic_error("case_of: there is no such trial");
  found->schedule = vgpu::Schedule{};
  return *found;
}

int run_gpu_worker(const std::filesystem::path& task_file) {
  const Emit emit = connect_to_parent(GpuTask{task_file}.messages());
  try {
    return Worker(read_work(task_file), emit).run();
  } catch (const cudart::RealRuntimeError& error) {
    emit(ErrorMessage{error.what()});
  } catch (const GpuError& error) {
    emit(ErrorMessage{error.what()});
  }
  return kCannotRun;
}

}  // namespace warpcheck
