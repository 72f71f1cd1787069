#include <fmt/format.h>

#include <algorithm>

#include "cli/all_sizes/all_sizes.hpp"
#include "cli/cli.hpp"
#include "harness/input/json.hpp"
#include "harness/pair/project.hpp"
#include "harness/report/report.hpp"
#include "harness/trial/trial.hpp"
#include "vgpu/ptx/demangle.hpp"
#include "vgpu/text/shell_word.hpp"

namespace warpcheck {
namespace {

using vgpu::symbolic::Answer;
using vgpu::symbolic::KernelContract;
using vgpu::symbolic::KernelProof;
using vgpu::symbolic::ParameterContract;
using vgpu::symbolic::Range;
using vgpu::symbolic::Term;

std::string range_text(const std::string& name, const Range& range) {
  if (range.low == range.high) return fmt::format("{} = {}", name, range.low);
  return fmt::format("{} = {} .. {}", name, range.low, range.high);
}

std::string name_of(const KernelOfAllSizes& one) {
  const std::string name = ptx::demangle(one.fitted.kernel).value_or(one.fitted.kernel);
  return name.starts_with("void ") ? name.substr(5) : name;
}

std::vector<std::string> domain_of(const KernelOfAllSizes& one) {
  const KernelContract& contract = one.fitted.contract;
  std::vector<std::string> lines;
  for_each_parameter(contract, [&](const ParameterContract& parameter) {
    if (parameter.kind != ParameterContract::Kind::scalar) return;
    lines.push_back(range_text(parameter.name, parameter.range));
  });
  constexpr const char* kAxes[] = {"x", "y", "z"};
  for (std::size_t i = 0; i < 3; ++i) {
    const Range& block = contract.launch.block[i];
    const Range& grid = contract.launch.grid[i];
    if (i == 0 || block.high > 1)
      lines.push_back(range_text(fmt::format("blockDim.{}", kAxes[i]), block));
    if (i == 0 || grid.high > 1)
      lines.push_back(range_text(fmt::format("gridDim.{}", kAxes[i]), grid));
  }
  for (const auto& relation : one.relations) lines.push_back(text_of(relation));
  return lines;
}

// "n elements" where it is known what an element is, else "4 * n bytes".
std::string extent_text(const ParameterContract& pointer) {
  const Term& bytes = pointer.bytes;
  const std::int64_t element = pointer.element_bytes;
  if (element == 1) return text_of(bytes) + " elements";
  if (element != 0 && bytes.kind == Term::Kind::constant && bytes.value % element == 0) {
    return fmt::format("{} elements", bytes.value / element);
  }
  const bool is_of_elements = element != 0 && bytes.kind == Term::Kind::multiply &&
                              bytes.parts[0] == Term::constant(element);
  if (is_of_elements) return text_of(bytes.parts[1]) + " elements";
  return text_of(bytes) + " bytes";
}

std::vector<std::string> arrays_of(const KernelOfAllSizes& one) {
  std::vector<std::string> lines;
  for_each_parameter(one.fitted.contract, [&](const ParameterContract& parameter) {
    if (parameter.kind != ParameterContract::Kind::pointer) return;
    std::string line = fmt::format("{} has {}", parameter.name, extent_text(parameter));
    if (parameter.values) {
      line +=
          fmt::format(", with values of {} .. {}", parameter.values->low, parameter.values->high);
    }
    if (parameter.are_distinct) {
      line +=
          parameter.values ? ", no two of them equal" : ", which are different numbers below that";
    }
    lines.push_back(std::move(line));
  });
  const std::string shared = text_of(one.fitted.contract.launch.dynamic_shared_bytes);
  if (shared != "0") lines.push_back(fmt::format("dynamic shared memory has {} bytes", shared));
  return lines;
}

constexpr const char* kFreeOfRaces =
    "; proved are: no data race and no missed barrier, if accesses stay inside their arrays";

}  // namespace

std::string not_decided(const KernelProof& proof, const std::string& where) {
  const std::string reason =
      proof.answer == Answer::suspected
          ? fmt::format("{} cannot be excluded, and no run shows it", proof.kind)
          : proof.reason;
  return fmt::format("not decided,{} ({}){}", where.empty() ? "" : " because of " + where, reason,
                     proof.is_free_of_races ? kFreeOfRaces : "");
}

namespace {

std::string answer_of(const PairOfAllSizes& proof, const KernelOfAllSizes& one) {
  if (one.proof.answer == Answer::proved) {
    return fmt::format("proved for every size, launch and datum of the domain{}",
                       one.is_only_size        ? ", which is one size: by the certificate of a run"
                       : one.is_less_optimized ? ", in the code of nvcc --Ofast-compile=mid"
                                               : "");
  }
  const std::string where = one.where.empty() ? "" : fmt::format(" because of {}", one.where);
  if (proof.failure) return fmt::format("refuted by a run{}: the case below", where);
  return not_decided(one.proof, one.where);
}

std::string limit_text(const ScalarLimit& limit) {
  std::string text = fmt::format("    limit: {} ", limit.scalar);
  if (limit.is_whole)
    return text + fmt::format("is right up to its largest value, {}", *limit.proved);
  text +=
      limit.proved ? fmt::format("is right up to {}", *limit.proved) : "is right up to no value";
  if (!limit.above) {
    const std::string where = limit.where.empty() ? "" : " because of " + limit.where;
    return text + fmt::format("; more is not decided{} ({})", where, limit.reason);
  }
  const bool is_sharp = limit.proved && *limit.proved + 1 == limit.fails_at;
  if (!is_sharp) text += "; what is between is not decided";
  text += fmt::format("; at {} {} at {}", limit.fails_at, limit.kind, limit.where);
  if (!limit.wrap.empty()) text += fmt::format(": an integer wraps at {}", limit.wrap);
  return text;
}

Json limits_json(const KernelOfAllSizes& one) {
  Json all = Json::array();
  for (const ScalarLimit& limit : one.limits) {
    Json json{{"scalar", limit.scalar}, {"whole", limit.is_whole}, {"line", limit.where}};
    json["right_up_to"] = limit.proved ? Json(*limit.proved) : Json();
    json["fails_at"] = limit.above ? Json(limit.fails_at) : Json();
    json["kind"] = limit.kind;
    json["wrap"] = limit.wrap;
    json["reason"] = limit.above || limit.is_whole ? "" : limit.reason;
    all.push_back(std::move(json));
  }
  return all;
}

}  // namespace

bool keep_limits(const PairOfAllSizes& proof, const std::string& directory) {
  bool all = true;
  for (const KernelOfAllSizes& kernel : proof.kernels) {
    for (const ScalarLimit& limit : kernel.limits) {
      if (!limit.above) continue;
      Report report{.a_case = *limit.above,
                    .verdict = TrialRunner().run(*limit.above),
                    .search = {},
                    .replay_path = {}};
      all = save_case(report, directory) && all;
      if (report.replay_path.empty()) continue;
      print(fmt::format("replay: {} replay {}   ({} = {})\n", project().program,
                        shell_word(report.replay_path), limit.scalar, limit.fails_at));
    }
  }
  return all;
}

std::string text_of_conditions(std::string_view before,
                               const std::vector<std::string>& conditions) {
  if (conditions.empty()) return {};
  return fmt::format("{}if {}", before, fmt::join(conditions, ", and "));
}

std::string all_sizes_text(const PairOfAllSizes& proof) {
  std::string text = fmt::format("{}: ", proof.pair->name());
  text += proof.is_proved()
              ? fmt::format("proved for every size, launch and datum of the domain{}\n",
                            text_of_conditions(", ", proof.conditions))
          : proof.failure          ? "refuted\n"
          : proof.obstacle.empty() ? "not decided\n"
                                   : fmt::format("not decided: {}\n", proof.obstacle);
  for (const KernelOfAllSizes& one : proof.kernels) {
    text += fmt::format("  {}: {}\n", name_of(one), answer_of(proof, one));
    text += fmt::format("    domain: {}\n", fmt::join(domain_of(one), "; "));
    const std::vector<std::string> arrays = arrays_of(one);
    if (!arrays.empty()) text += fmt::format("    memory: {}\n", fmt::join(arrays, "; "));
    if (!one.left_barriers.empty()) {
      text += fmt::format(
          "    note: threads may leave the kernel while others wait at {}; PTX counts those alone "
          "that "
          "have not left\n",
          fmt::join(one.left_barriers, ", "));
    }
    if (!one.beyond.empty()) text += fmt::format("    larger numbers: {}\n", one.beyond);
    if (!one.wrap.empty()) text += fmt::format("    an integer wraps at {}\n", one.wrap);
    for (const ScalarLimit& limit : one.limits) text += limit_text(limit) + "\n";
    if (one.fitted.launches != 0) {
      text += fmt::format("    as observed in {} launches\n", one.fitted.launches);
    }
  }
  const AnyPair& pair = *proof.pair;
  if (pair.has_exact_reference() || pair.reference_kernel() != nullptr) {
    text += fmt::format(
        "  results: not part of this proof; `warpcheck prove {}` certifies size by size that they "
        "are the reference's\n",
        pair.name());
  }
  return text;
}

Json all_sizes_json(const std::vector<PairOfAllSizes>& proofs) {
  Json all = Json::array();
  for (const PairOfAllSizes& proof : proofs) {
    Json kernels = Json::array();
    for (const KernelOfAllSizes& one : proof.kernels) {
      const char* const answer = one.proof.answer == Answer::proved ? "proved"
                                 : proof.failure                    ? "refuted"
                                                                    : "undecided";
      kernels.push_back({{"kernel", name_of(one)},
                         {"answer", answer},
                         {"line", one.where},
                         {"reason", one.proof.reason},
                         {"free_of_races", one.proof.is_free_of_races},
                         {"left_barriers", one.left_barriers},
                         {"domain", domain_of(one)},
                         {"memory", arrays_of(one)},
                         {"launches", one.fitted.launches},
                         {"beyond", one.beyond},
                         {"limits", limits_json(one)},
                         {"questions", one.proof.questions},
                         {"units", one.proof.units}});
    }
    all.push_back({{"pair", proof.pair->name()},
                   {"proved", proof.is_proved()},
                   {"refuted", proof.failure.has_value()},
                   {"if", proof.conditions},
                   {"kernels", kernels}});
  }
  return {{"pairs", all}};
}

}  // namespace warpcheck
