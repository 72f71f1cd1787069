#include "harness/prove/prove.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <set>

#include "harness/case/atomic_file.hpp"
#include "harness/search/search.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck {
namespace {

struct Planned {
  std::uint32_t size = 0, block = 0;
};

// Whether kernels tend to break there: by a warp, a power of two or a block.
bool is_edge(std::uint32_t size, std::uint32_t block) {
  const auto is_near = [&](std::uint32_t of) {
    return of != 0 && (size % of <= 1 || size % of == of - 1);
  };
  return size <= 8 || is_near(32) || is_near(block) || std::has_single_bit(size);
}

// So many of them at most, evenly.
void thin(std::vector<Planned>& planned, std::uint64_t count) {
  if (planned.size() <= count) return;
  for (std::uint64_t i = 0; i < count; ++i) planned[i] = planned[i * planned.size() / count];
  planned.resize(count);
}

std::vector<Planned> plan(const Points& points, const ProveOptions& options) {
  std::vector<Planned> planned, others;
  for (std::uint32_t size = 0; size <= options.points.size_max; ++size) {
    for (const std::uint32_t block : points.blocks()) {
      (is_edge(size, block) ? planned : others).push_back({size, block});
    }
  }
  thin(planned, options.points_max);
  thin(others, options.points_max - planned.size());
  planned.insert(planned.end(), others.begin(), others.end());
  return planned;
}

class PairProver {
 public:
  PairProver(const AnyPair& pair, const ProveOptions& options, ProofLog& log, Engine& engine)
      : options_(options),
        log_(log),
        engine_(engine),
        certifier_(engine),
        points_(pair, options.points) {
    proof_.pair = &pair;
  }

  PairProof run() {
    const std::vector<Planned> planned = plan(points_, options_);
    if (log_.is_kept()) find_versions();
    std::uint64_t done = 0;
    for (const Planned& one : planned) {
      if (options_.stop != nullptr && *options_.stop != 0) {
        proof_.interrupted = true;
        break;
      }
      for (const Points::Input& input : points_.inputs(one.size, one.block)) prove(input);
      if (!proof_.errors.empty()) break;
      if (options_.on_point) options_.on_point(++done, planned.size());
    }
    std::ranges::sort(proof_.points, {}, &ProvedPoint::point);
    return std::move(proof_);
  }

 private:
  [[nodiscard]] Case case_of(const AnyInput& input, cudart::Build build) const {
    return {.pair = proof_.pair,
            .property = {},
            .input = input,
            .schedule = vgpu::Schedule{},
            .settings = {.build = build},
            .tape = {}};
  }

  // The texts of the kernels, by build: what was proved of others counts no more.  Those of the
  // largest input, as small ones may launch fewer.
  void find_versions() {
    for (std::uint32_t size = options_.points.size_max + 1; size-- != 0 && versions_.empty();) {
      for (const std::uint32_t block : points_.blocks()) find_versions(size, block);
    }
  }
  void find_versions(std::uint32_t size, std::uint32_t block) {
    if (!versions_.empty()) return;
    for (const Points::Input& input : points_.inputs(size, block)) {
      for (const cudart::Build build : options_.builds) {
        TrialRunner runner(engine_);
        versions_[build] = fmt::format("{:016x}", runner.run(case_of(input.input, build)).ptx_hash);
      }
    }
  }

  void prove(const Points::Input& input) {
    ProvedPoint whole{.point = input.point, .proof = Proof::all_data, .same_bytes = true};
    for (const cudart::Build build : options_.builds) {
      const ProvedPoint one = prove(case_of(input.input, build), input.point);
      if (one.proof < whole.proof) {
        whole.proof = one.proof;
        whole.reason = one.reason;
        if (build != options_.builds.front())
          whole.reason += fmt::format(" [{} build]", name_of(build));
      }
      whole.same_bytes = whole.same_bytes && one.same_bytes;
      whole.executions += one.executions;
      if (whole.varies.empty()) whole.varies = one.varies;
    }
    proof_.points.push_back(std::move(whole));
  }

  ProvedPoint prove(Case a_case, const Point& point) {
    const cudart::Build build = a_case.settings.build;
    const std::string key =
        fmt::format("{} {} {} n={} block={} grid={}", a_case.pair->name(), name_of(build),
                    versions_[build], point.size, point.block, point.grid);
    if (const ProvedPoint* known = log_.find(key)) return *known;
    Certificate certificate = certifier_.certify(a_case);
    if (!certificate.verdict.refusals.empty()) proof_.errors.push_back(certificate.reason);
    std::uint64_t executions = 0;
    if (certificate.proof == Proof::tried) executions = try_executions(a_case, point, certificate);
    if (certificate.proof == Proof::tried) try_lockstep(a_case, certificate);
    ProvedPoint proved{point,
                       certificate.proof,
                       certificate.reason,
                       certificate.same_bytes,
                       certificate.varies,
                       executions};
    if (proved.proof == Proof::failed) {
      if (failures_.insert(proved.reason).second) proof_.failures.push_back(a_case);
    } else {
      log_.add(key, proved);
    }
    return proved;
  }

  // How many executions there are, where all of them could be tried.
  std::uint64_t try_executions(Case& a_case, const Point& point, Certificate& certificate) {
    const Verdict& verdict = certificate.verdict;
    if (options_.executions.runs == 0 || !verdict.refusals.empty() || is_beyond_executions(point))
      return 0;
    const Executions found = try_every_execution(a_case, options_.executions, engine_);
    if (found.failed) {
      a_case = *found.failed;
      certificate.proof = Proof::failed;
      certificate.reason = show_kinds(failure_kinds(found.verdict)) + " [an execution]";
      return 0;
    }
    // What a note is about may be undefined behaviour: then what was run is not all.
    if (!found.all || !verdict.findings.empty()) {
      if (!found.all) beyond_executions_.push_back(point);
      certificate.reason += "; " + text_of(found);
      return 0;
    }
    certificate.proof = Proof::every_execution;
    return found.count;
  }

  // Whether a point that is no larger had too many of them.
  [[nodiscard]] bool is_beyond_executions(const Point& point) const {
    return std::ranges::any_of(beyond_executions_, [&](const Point& cut) {
      return cut.size <= point.size && cut.block <= point.block && cut.grid <= point.grid;
    });
  }

  // What is proved of independent threads holds in lockstep; what is only tried says nothing of it.
  void try_lockstep(Case& a_case, Certificate& certificate) {
    a_case.settings.warp_model = vgpu::WarpModel::lockstep;
    const Verdict verdict = TrialRunner(engine_).run(a_case);
    if (!verdict.failed()) return;
    certificate.proof = Proof::failed;
    certificate.reason = show_kinds(failure_kinds(verdict)) + " [lockstep]";
  }

  const ProveOptions& options_;
  ProofLog& log_;
  Engine& engine_;
  Certifier certifier_;
  Points points_;
  PairProof proof_;
  std::map<cudart::Build, std::string> versions_;
  std::set<std::string> failures_;
  std::vector<Point> beyond_executions_;
};

}  // namespace

std::uint64_t PairProof::count(Proof proof) const {
  return static_cast<std::uint64_t>(std::ranges::count(points, proof, &ProvedPoint::proof));
}

std::uint64_t PairProof::executions() const {
  std::uint64_t sum = 0;
  for (const ProvedPoint& point : points) sum += point.executions;
  return sum;
}

Proof PairProof::worst() const {
  Proof worst = points.empty() ? Proof::tried : Proof::all_data;
  for (const ProvedPoint& point : points) worst = std::min(worst, point.proof);
  return worst;
}

ProofLog::ProofLog(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) continue;  // the last one of a search that was killed
    if (!json.is_object() || !json.contains("key") || !json.contains("proof")) {
      throw CaseFileError(fmt::format("{}: this is no file of `warpcheck prove`", path_));
    }
    ProvedPoint point;
    point.point = {json.value("n", 0U), json.value("block", 0U), json.value("grid", 0U)};
    try {
      point.proof = warpcheck::from_json<Proof>(json["proof"], "proof");
    } catch (const FieldError& error) {
      throw CaseFileError(fmt::format("{}: {}", path_, error.what()));
    }
    point.reason = json.value("reason", "");
    point.same_bytes = json.value("same_bytes", false);
    point.varies = json.value("varies", "");
    point.executions = json.value("executions", std::uint64_t{0});
    known_[json["key"].get<std::string>()] = std::move(point);
  }
}

const ProvedPoint* ProofLog::find(const std::string& key) const {
  const auto found = known_.find(key);
  return found == known_.end() ? nullptr : &found->second;
}

void ProofLog::add(const std::string& key, const ProvedPoint& point) {
  if (path_.empty()) return;
  const Json json{{"key", key},
                  {"n", point.point.size},
                  {"block", point.point.block},
                  {"grid", point.point.grid},
                  {"proof", name_of(point.proof)},
                  {"reason", point.reason},
                  {"same_bytes", point.same_bytes},
                  {"varies", point.varies},
                  {"executions", point.executions}};
  std::ofstream file(path_, std::ios::app);
  file << json.dump() << '\n';
  if (!file.flush()) throw_file_error("cannot write", path_);
}

PairProof prove_pair(const AnyPair& pair, const ProveOptions& options, ProofLog& log,
                     Engine& engine) {
  try {
    return PairProver(pair, options, log, engine).run();
  } catch (const DomainError& error) {
    PairProof proof;
    proof.pair = &pair;
    proof.errors.emplace_back(error.what());
    return proof;
  }
}

}  // namespace warpcheck
