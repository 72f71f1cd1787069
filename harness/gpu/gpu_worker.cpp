// The process that runs trials on a real GPU.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "harness/case/case_file.hpp"
#include "harness/gpu/gpu_run.hpp"
#include "harness/gpu/real_engine.hpp"
#include "harness/pair/registry.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck {
namespace {

constexpr int kDeviceLost = 3;

Json job_json(const GpuJob& job) {
  return {{"pair", job.pair == nullptr ? "" : job.pair->name()},
          {"property", job.property},
          {"case", job.case_path},
          {"first", job.first},
          {"count", job.count}};
}

GpuJob job_of(const Json& json) {
  const auto name = json.at("pair").get<std::string>();
  const AnyPair* const pair = Registry::global().find(name);
  if (pair == nullptr) throw GpuError(fmt::format("no pair '{}' in this program", name));
  return {.pair = pair,
          .property = json.at("property"),
          .case_path = json.at("case"),
          .first = json.at("first"),
          .count = json.at("count")};
}

// A file that another process reads while it is written.
class Output {
 public:
  explicit Output(const std::filesystem::path& path)
      : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) {
    if (file_ < 0) {
      throw GpuError(fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
    }
  }
  ~Output() { ::close(file_); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void overwrite(const GpuProgress& progress) {
    require(::pwrite(file_, &progress, sizeof progress, 0));
  }
  void append(const Json& line) {
    const std::string text = line.dump() + "\n";
    ::lseek(file_, 0, SEEK_END);
    require(::write(file_, text.data(), text.size()));
  }

 private:
  static void require(ssize_t written) {
    if (written < 0) throw GpuError(fmt::format("cannot report: {}", std::strerror(errno)));
  }
  int file_;
};

Json findings_json(const std::vector<vgpu::Finding>& findings) {
  Json list = Json::array();
  for (const vgpu::Finding& finding : findings) {
    list.push_back({{"kind", vgpu::name_of(finding.kind)},
                    {"kernel", finding.kernel},
                    {"lack", vgpu::name_of(finding.lack)},
                    {"message", finding.message}});
  }
  return list;
}

class Worker {
 public:
  Worker(const GpuTask& task, Json description)
      : task_(std::move(description)), progress_(task.progress()), results_(task.results()) {
    options_.seed = task_.at("seed");
    options_.trials = task_.at("trials");
  }

  int run() {
    try {
      RealGpu gpu(task_.at("runtime").get<std::string>());
      const cudart::RealDevice& device = gpu.device();
      const auto version = [](int number) {
        return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
      };
      results_.append({{"device", fmt::format("{} (CUDA driver {}, runtime {}, {})", device.name,
                                              version(device.driver_version),
                                              version(device.runtime_version), device.library)}});
      return run_jobs(gpu);
    } catch (const cudart::RealRuntimeError& error) {
      results_.append({{"error", error.what()}});
    }
    return 2;
  }

 private:
  int run_jobs(RealGpu& gpu) {
    std::size_t number = 0;
    for (const Json& json : task_.at("jobs")) {
      const GpuJob job = job_of(json);
      TrialRunner runner(gpu);
      trials_ = 0;
      run_job(job, number, runner);
      results_.append({{"job", number}, {"trials", trials_}});
      if (gpu.lost()) return kDeviceLost;
      ++number;
    }
    return 0;
  }

  void run_job(const GpuJob& job, std::size_t number, TrialRunner& runner) {
    if (!job.case_path.empty()) {
      const Case a_case = case_of(job, 0, options_);
      while (trials_ < job.count && run_trial(a_case, number, trials_, runner)) {
      }
      return;
    }
    std::uint64_t trial = 0;
    for_each_case(*job.pair, job.property, options_, [&](Case a_case) {
      const std::uint64_t at = trial++;
      if (at < job.first) return true;
      a_case.schedule = vgpu::Schedule{};
      return at < job.first + job.count && run_trial(a_case, number, at, runner) &&
             at + 1 < job.first + job.count;
    });
  }

  // Returns whether the job goes on.
  bool run_trial(const Case& a_case, std::size_t number, std::uint64_t trial, TrialRunner& runner) {
    progress_.overwrite({number, trial, ++begun_});
    ++trials_;
    const Verdict verdict = runner.run(a_case);
    if (!verdict.refusals.empty()) {
      results_.append({{"job", number}, {"refusal", verdict.refusals.front()}});
      return false;
    }
    if (!verdict.failed()) return true;
    results_.append({{"job", number},
                     {"trial", trial},
                     {"launches", verdict.launches},
                     {"findings", findings_json(verdict.findings)}});
    return false;
  }

  Json task_;
  Output progress_, results_;
  CheckOptions options_;
  std::uint64_t trials_ = 0, begun_ = 0;
};

}  // namespace

void write_task(const GpuTask& task, const std::vector<GpuJob>& jobs, const GpuOptions& options) {
  Json list = Json::array();
  for (const GpuJob& job : jobs) list.push_back(job_json(job));
  write_file_atomically(task.file, Json{{"jobs", list},
                                        {"seed", options.check.seed},
                                        {"trials", options.check.trials},
                                        {"runtime", options.runtime}}
                                       .dump());
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
  std::ifstream stream(task_file);
  return Worker({task_file}, Json::parse(stream)).run();
}

}  // namespace warpcheck
