#include "cli/all_sizes/scalar_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "cli/all_sizes/kernel_contract.hpp"
#include "vgpu/ptx/demangle.hpp"

namespace warpcheck {
namespace {

using vgpu::symbolic::Answer;
using vgpu::symbolic::Condition;
using vgpu::symbolic::KernelContract;
using vgpu::symbolic::KernelProof;
using vgpu::symbolic::ParameterContract;
using vgpu::symbolic::ProofLimits;
using vgpu::symbolic::Range;
using vgpu::symbolic::Suspect;
using vgpu::symbolic::Term;

// The solver's units: of one statement, and of all about one integer.
constexpr std::uint64_t kUnitsOfStatement = 6'000'000;
constexpr std::uint64_t kUnitsOfInteger = 24'000'000;
// ... about integers of 64 bits
constexpr std::uint64_t kUnitsOfBeyond = 12'000'000;
constexpr std::uint64_t kUnitsOfRound = 200'000;  // at least
constexpr int kTries = 6;  // of suspicions that no run shows, before the solver alone goes on
constexpr std::int64_t kAlmost32 = 2'147'480'000;  // what is 2^31 with a block more
constexpr std::int64_t kMost64 = std::int64_t{1} << 40;

Range* range_named(KernelContract& contract, const std::string& name) {
  Range* found = nullptr;
  vgpu::symbolic::for_each_scalar(contract, [&](ParameterContract& one) {
    if (one.name == name) found = &one.range;
  });
  return found;
}

std::optional<Expression> expression_of(const std::string& text) {
  try {
    return Expression(text);
  } catch (const ExpressionError&) {
    return std::nullopt;
  }
}

}  // namespace

struct LimitSearch::Search {
  std::string scalar;
  std::size_t index = 0;  // of it in the kernel's scalars
  std::int64_t low = 0;   // proved up to here
  std::int64_t high = 0;  // not proved above
  bool bisects = false;
  std::set<std::int64_t> asked{};
  std::uint64_t left = kUnitsOfInteger;
  std::optional<Case> failure{};
  std::int64_t fails_at = 0;
  std::string reason{}, where{};  // of the last statement that was not decided
};

LimitSearch::LimitSearch(const ptx::Module& module, const KernelPair& pair,
                         const std::vector<Settings>& settings, const OnQuestion& on_question,
                         const std::array<bool, 3>& has_block_for_each)
    : module_(module), pair_(pair), runs_(pair, settings, has_block_for_each) {
  limits_.on_question = on_question;
}

KernelProof LimitSearch::ask(const KernelContract& contract, const Search& search,
                             std::int64_t high) {
  KernelContract narrowed = contract;
  // What is proved is not asked about again: a suspicion is of larger values.
  Range& range = *range_named(narrowed, search.scalar);
  range = {std::max(range.low, search.low + 1), high};
  limits_.units_of_kernel = std::min(kUnitsOfStatement, search.left);
  return prove_kernel(module_, pair_.kernel().mangled, narrowed, limits_);
}

void LimitSearch::try_to_fail(const Suspect& suspect, Search& search) {
  std::vector<Suspect> tried{suspect};
  // What fails with the others as large as they may be fails for the smallest value, mostly.
  for (const ScalarParameter& other : pair_.kernel().scalars) {
    const auto known = tried.back().scalars.find(other.name);
    if (other.name == search.scalar || known == tried.back().scalars.end()) continue;
    if (tried.size() == 1) tried.push_back(suspect);
    tried.back().scalars[other.name] = std::min(other.range.high, kModestNumber);
  }
  for (const Suspect& one : tried) {
    const auto failure = runs_.failing(one, {search.scalar});
    if (!failure) continue;
    Case smallest = runs_.smallest(*failure, search.index, search.low);
    const std::int64_t value = kernel_input_of(smallest).integers[search.index];
    if (search.failure && value >= search.fails_at) continue;
    search.failure = std::move(smallest);
    search.fails_at = value;
  }
}

// The next value up to which the solver is asked: all of the range, or, if that is not decided and
// no run fails, one of those at which kernels tend to be right, or the middle.
std::int64_t LimitSearch::next_asked(const Search& search) {
  if (!search.bisects) return search.high;
  for (const std::int64_t telling : {kAlmost32, kModestNumber}) {
    if (search.low < telling && telling < search.high && !search.asked.contains(telling))
      return telling;
  }
  return search.low + (search.high - search.low + 1) / 2;
}

ScalarLimit LimitSearch::of(const std::string& scalar, const KernelContract& contract,
                            std::optional<std::int64_t> known) {
  KernelContract whole = contract;
  const Range range = *range_named(whole, scalar);
  Search search{.scalar = scalar};
  while (pair_.kernel().scalars[search.index].name != scalar) ++search.index;
  search.low = known.value_or(range.low - 1);
  search.high = range.high;
  int tries = kTries;
  while (search.low < search.high && search.left > 0) {
    const std::int64_t asked = next_asked(search);
    search.asked.insert(asked);
    const KernelProof proof = ask(whole, search, asked);
    search.left -= std::min(search.left, std::max<std::uint64_t>(proof.units, kUnitsOfRound));
    if (proof.answer == Answer::proved) {
      search.low = asked;
      continue;
    }
    search.reason = proof.answer == Answer::suspected
                        ? fmt::format("{} cannot be excluded, and no run shows it", proof.kind)
                        : proof.reason;
    search.where = place_of(module_, proof.location);
    if (proof.answer == Answer::suspected && tries > 0) try_to_fail(proof.suspect, search);
    const bool fails = search.failure && search.fails_at - 1 < search.high;
    if (!fails) --tries;
    search.bisects = !fails;
    search.high = fails ? search.fails_at - 1 : std::min(search.high, asked - 1);
  }
  ScalarLimit limit;
  limit.scalar = scalar;
  if (search.low >= range.low) limit.proved = search.low;
  limit.is_whole = search.low == range.high;
  limit.reason = search.reason;
  limit.where = search.where;
  if (!search.failure || limit.is_whole) return limit;
  limit.above = search.failure;
  limit.fails_at = search.fails_at;
  const Verdict verdict = TrialRunner().run(*search.failure);
  limit.kind = show_kinds(failure_kinds(verdict));
  for (const vgpu::Finding& finding : verdict.findings) {
    if (finding.severity != vgpu::Severity::error || finding.accesses.empty()) continue;
    const vgpu::AccessSide& side = finding.accesses.front();
    limit.where = fmt::format("{}:{}", side.file.substr(side.file.rfind('/') + 1), side.line);
    break;
  }
  limit.wrap = runs_.wrap_of(*search.failure);
  return limit;
}

const KernelPair& kept_pair(KernelDescription description) {
  static std::vector<std::unique_ptr<KernelPair>> pairs;
  return *pairs.emplace_back(std::make_unique<KernelPair>(std::move(description)));
}

namespace {

// The description of a kernel whose parameters have no names and no types.
class Describing {
 public:
  Describing(const FittedKernel& fitted, const ptx::Function& function)
      : fitted_(fitted), function_(function) {}

  std::optional<KernelDescription> all(std::string& why) {
    made_.mangled = fitted_.kernel;
    made_.name = ptx::demangle(fitted_.kernel).value_or(fitted_.kernel);
    made_.name = made_.name.substr(0, made_.name.find('('));
    if (made_.name.starts_with("void ")) made_.name = made_.name.substr(5);
    made_.file = "observed";
    made_.optimized = *fitted_.ptx;
    for (std::uint32_t i = 0; i < function_.parameters.size(); ++i) {
      made_.parameter_bytes.push_back(static_cast<std::uint32_t>(function_.parameters[i].bytes));
      const ParameterContract& one = fitted_.contract.parameters[i];
      add(one, {i, 0}, made_.parameter_bytes.back());
      for (const auto& member : one.members) {
        for (const ParameterContract& part : member.contract) {
          add(part, {i, member.offset}, member.bytes);
        }
      }
    }
    add_launch();
    why = why_;
    if (!why_.empty()) return std::nullopt;
    return std::move(made_);
  }

 private:
  void add(const ParameterContract& one, ParameterPlace place, std::uint32_t bytes) {
    if (one.kind == ParameterContract::Kind::scalar) {
      ScalarParameter scalar{.name = one.name,
                             .element = bytes == 8   ? ElementType::i64
                                        : bytes == 4 ? ElementType::i32
                                        : bytes == 2 ? ElementType::i16
                                                     : ElementType::i8,
                             .place = place,
                             .range = {one.range.low, 0}};
      scalar.range.high = std::min(range_of(scalar.element).high, kMost64);
      if (one.range.low < range_of(scalar.element).low) why_ = "a scalar is out of its type";
      made_.scalars.push_back(std::move(scalar));
    } else if (one.kind == ParameterContract::Kind::pointer) {
      if (one.array >= 0) why_ = "pointers share an array";
      const auto length = expression_of(text_of(one.bytes));
      if (!length) why_ = "an array's length has no form here";
      made_.arrays.push_back({.name = one.name,
                              .type = "unsigned char",
                              .place = place,
                              .element_bytes = 1,
                              .columns = {{"", ElementType::u8, 0}},
                              .length = length.value_or(Expression::number(0))});
    }
  }

  void add_launch() {
    constexpr const char* kAxes[] = {"x", "y", "z"};
    const auto& launch = fitted_.contract.launch;
    LaunchRule& rule = made_.launch;
    rule.grid_dims = rule.block_dims = 3;
    for (std::size_t i = 0; i < 3; ++i) {
      if (launch.block[i].low == launch.block[i].high)
        rule.block[i] = Expression::number(launch.block[i].low);
      if (launch.grid[i].low == launch.grid[i].high)
        rule.grid[i] = Expression::number(launch.grid[i].low);
    }
    for (const Condition& one : fitted_.relations) {
      const auto condition = expression_of(text_of(one));
      if (!condition) {
        why_ = "a relation has no form here";
        continue;
      }
      made_.conditions.push_back(*condition);
      if (one.relation != Condition::Relation::equal || one.left.kind != Term::Kind::name) continue;
      for (std::size_t i = 0; i < 3; ++i) {
        if (one.left.text != fmt::format("gridDim.{}", kAxes[i])) continue;
        if (!rule.grid[i]) rule.grid[i] = expression_of(text_of(one.right));
      }
    }
    const auto shared = expression_of(text_of(launch.dynamic_shared_bytes));
    if (!shared) why_ = "the dynamic shared memory has no form here";
    if (shared) rule.shared_bytes = *shared;
  }

  const FittedKernel& fitted_;
  const ptx::Function& function_;
  KernelDescription made_;
  std::string why_;
};

}  // namespace

std::optional<KernelDescription> description_of(const FittedKernel& fitted,
                                                const ptx::Module& module, std::string& why) {
  return Describing(fitted, *module.find_function(fitted.kernel)).all(why);
}

std::optional<Case> failure_beyond(KernelOfAllSizes& known, const OnQuestion& on_question) {
  const ptx::Module module = ptx::parse(*known.fitted.ptx, "embedded PTX");
  std::vector<std::string> large;
  KernelContract contract = known.fitted.contract;
  contract.conditions = known.fitted.relations;
  const ptx::Function& function = *module.find_function(known.fitted.kernel);
  for (const std::size_t i : known.fitted.unlimited) {
    if (function.parameters[i].bytes != 8) continue;
    large.push_back(contract.parameters[i].name);
    contract.parameters[i].range.high = kMost64;
  }
  const bool is_suspected = known.proof.answer == Answer::suspected;
  std::string why;
  std::optional<KernelDescription> description;
  if (is_suspected || !large.empty()) description = description_of(known.fitted, module, why);
  if (!description) return std::nullopt;
  SuspectRuns runs(kept_pair(*std::move(description)), {Settings{}});
  std::optional<Case> found;
  if (is_suspected) found = runs.smallest_failing(known.proof.suspect);
  if (!found && !large.empty()) {
    const ProofLimits limits{.units_of_kernel = kUnitsOfBeyond, .on_question = on_question};
    KernelOfAllSizes one = known;
    one.proof = prove_kernel(module, known.fitted.kernel, contract, limits);
    one.fitted.contract = contract;
    one.relations = contract.conditions;
    one.where = place_of(module, one.proof.location);
    if (one.proof.answer == Answer::suspected)
      found = runs.smallest_failing(one.proof.suspect, large);
    if (found || one.proof.answer == Answer::proved) known = std::move(one);
  }
  if (found) known.wrap = runs.wrap_of(*found);
  return found;
}

std::vector<ScalarLimit> limits_of(const KernelOfAllSizes& kernel, const OnQuestion& on_question) {
  const ptx::Module module = ptx::parse(*kernel.fitted.ptx, "embedded PTX");
  std::string why;
  auto description = description_of(kernel.fitted, module, why);
  std::vector<ScalarLimit> limits;
  KernelContract contract = kernel.fitted.contract;
  contract.conditions = kernel.fitted.relations;
  for_each_scalar(contract, [&](ParameterContract& one) {
    if (one.range.low == one.range.high) return;
    limits.push_back({.scalar = one.name, .reason = why});
    one.range.high = std::min(one.range.high, kModestNumber);
  });
  if (!description) return limits;
  const KernelPair& pair = kept_pair(*std::move(description));
  Settings settings;
  LimitSearch search(module, pair, {settings}, on_question, {});
  for (ScalarLimit& limit : limits) {
    KernelContract wide = contract;
    const auto scalar =
        std::ranges::find(pair.kernel().scalars, limit.scalar, &ScalarParameter::name);
    Range& range = *range_named(wide, limit.scalar);
    const std::int64_t known = range.high;
    range.high = scalar->range.high;
    // A proof with smaller arrays than those of the contract says nothing here.
    const bool is_proved = kernel.proof.answer == Answer::proved &&
                           kernel.relations.size() <= kernel.fitted.relations.size();
    limit = search.of(limit.scalar, wide, is_proved ? std::optional(known) : std::nullopt);
  }
  return limits;
}

}  // namespace warpcheck
