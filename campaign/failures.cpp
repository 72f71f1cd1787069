#include "campaign/failures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "campaign/store/corpus.hpp"
#include "fuzz/entry.hpp"
#include "harness/case/case_file.hpp"
#include "harness/pair/registry.hpp"
#include "harness/process/workers.hpp"
#include "harness/search/replay.hpp"

namespace warpcheck::campaign {
namespace fs = std::filesystem;
namespace {

FoundMessage found_in(const Report& report) {
  return {.pair = report.a_case.pair->name(),
          .case_text = case_text(record_of(report.a_case, report.verdict)),
          .executions = report.search ? static_cast<std::int64_t>(report.search->trials) : 0,
          .findings = shown_findings(report.verdict)};
}

// --- import -------------------------------------------------------------------------------------

// In a worker: the current findings of the case; for a case that passes, its recorded ones.
Message try_case(const NamedBytes& entry) {
  try {
    const CaseRecord record = parse_case(entry.bytes, entry.name, Registry::global());
    TrialRunner runner;
    const ReplayOutcome outcome = replay(record, runner);
    const Verdict& verdict = outcome.report.verdict;
    if (!verdict.refusals.empty()) {
      return RefusalMessage{
          fmt::format("{}: cannot be run: {}", entry.name, verdict.refusals.front())};
    }
    if (verdict.failed()) return found_in(outcome.report);
    if (record.classes.empty()) {
      return ErrorMessage{
          fmt::format("{}: passes, and does not say what it once showed", entry.name)};
    }
    FoundMessage found{
        .pair = record.a_case.pair->name(), .case_text = entry.bytes, .fails = false};
    for (const std::string& hash : record.classes) {
      found.findings.push_back({hash, show_kinds(record.kinds), ""});
    }
    return found;
  } catch (const CaseFileError& error) {
    return ErrorMessage{error.what()};
  }
}

class Import {
 public:
  // Sets an entry aside, and returns its new path.
  using SetAside = std::function<fs::path(const NamedBytes& entry)>;

  Import(const Directory& directory, Store& store, SetAside set_aside)
      : directory_(directory),
        store_(store),
        put_away_(std::move(set_aside)),
        ledger_(directory, store, {}) {}

  ImportOutcome run(const std::vector<NamedBytes>& entries, unsigned jobs,
                    const volatile std::sig_atomic_t* stop) {
    std::vector<const NamedBytes*> cases;
    for (const NamedBytes& entry : entries) {
      if (entry.name.ends_with(".case")) {
        cases.push_back(&entry);
      } else if (!import_corpus_entry(entry)) {
        outcome_.messages.push_back(
            fmt::format("left out: {}: neither a case nor a corpus entry", entry.name));
      }
    }
    const auto results = run_tasks(
        cases.size(), jobs, [&](std::size_t i, const Emit& emit) { emit(try_case(*cases[i])); },
        stop);
    const bool interrupted = stop != nullptr && *stop != 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (interrupted && !results[i].finished) continue;
      take(*cases[i], results[i]);
    }
    ledger_.flush(store_.seconds());
    return std::move(outcome_);
  }

 private:
  void take(const NamedBytes& entry, const TaskResult& result) {
    for (const std::string& error : result.unreadable) leave_out(entry, error);
    if (result.threw) return leave_out(entry, result.failure);
    if (!result.finished) {
      return set_aside(entry, fmt::format("{}: {}", entry.name, result.failure));
    }
    for (const Message& message : result.messages) take(entry, message);
  }

  void take(const NamedBytes& entry, const Message& message) {
    std::visit(
        Overloaded{[&](const RefusalMessage& refusal) { set_aside(entry, refusal.reason); },
                   [&](const ErrorMessage& error) { set_aside(entry, error.text); },
                   [&](const FoundMessage& found) {
                     const auto added = ledger_.found(found, store_.seconds()).size();
                     outcome_.added += added;
                     outcome_.known += added == 0 ? 1 : 0;
                   },
                   [&](const auto&) { leave_out(entry, internal_error(unexpected(message))); }},
        message);
  }

  // For a reason that says nothing about the case.
  void leave_out(const NamedBytes& entry, const std::string& reason) {
    outcome_.messages.push_back(fmt::format("left out: {}: {}", entry.name, reason));
  }

  void set_aside(const NamedBytes& entry, const std::string& reason) {
    outcome_.messages.push_back(
        fmt::format("damaged: {}; set aside as {}", reason, put_away_(entry).string()));
  }

  // coverage/PAIR/NAME, below any folder of an archive.  False: it is no corpus entry.
  bool import_corpus_entry(const NamedBytes& entry) {
    const fs::path path = entry.name;
    const std::string tier = path.parent_path().parent_path().filename().string();
    const std::string pair = path.parent_path().filename().string();
    if (tier != "coverage" && tier != "corpus") return false;
    if (Registry::global().find(pair) == nullptr) return false;
    const std::vector<std::uint8_t> bytes(entry.bytes.begin(), entry.bytes.end());
    if (bytes.size() > kCorpusBytesMax) return false;
    if (is_damaged_entry(path.filename().string(), bytes)) {
      set_aside(entry, entry.name + ": its bytes are not those of its name");
      return true;
    }
    make_directory(directory_.corpus(pair));
    save_corpus_entry(directory_.corpus(pair), bytes);
    ++outcome_.coverage;
    return true;
  }

  const Directory& directory_;
  Store& store_;
  SetAside put_away_;
  Ledger ledger_;
  ImportOutcome outcome_;
};

// Files whose finding has another hash because its source has changed, and is stored under that
// hash: they are imported once, and not at every start.
void set_renamed_aside(const Directory& directory, Store& store,
                       const std::vector<NamedBytes>& entries, ImportOutcome& outcome) {
  for (const NamedBytes& entry : entries) {
    const fs::path path = directory.cases() / entry.name;
    const FindingKey named{path.parent_path().filename().string(), path.stem().string()};
    if (store.find(named) || !fs::exists(path)) continue;
    outcome.messages.push_back(fmt::format("{}: shows what has another name now; set aside as {}",
                                           path.string(), directory.set_aside(path).string()));
  }
}

}  // namespace

ImportOutcome import_case_files(const Directory& directory, Store& store, unsigned jobs,
                                const volatile std::sig_atomic_t* stop) {
  if (!fs::exists(directory.cases())) return {};
  ArchiveContents contents = read_archive(directory.cases());
  std::erase_if(contents.entries, [&](const NamedBytes& entry) {
    const fs::path path = entry.name;
    return path.extension() != ".case" ||
           store.find({path.parent_path().filename().string(), path.stem().string()}).has_value();
  });
  if (contents.entries.empty()) return {.messages = std::move(contents.errors)};
  ImportOutcome outcome = Import(directory, store, [&](const NamedBytes& entry) {
                            return directory.set_aside(directory.cases() / entry.name);
                          }).run(contents.entries, jobs, stop);
  outcome.messages.insert(outcome.messages.begin(), contents.errors.begin(), contents.errors.end());
  if (stop == nullptr || *stop == 0) {
    set_renamed_aside(directory, store, contents.entries, outcome);
  }
  return outcome;
}

FailureDatabase::FailureDatabase(const fs::path& path)
    : directory_(path), store_(open_store(directory_, messages_)) {}

ImportOutcome FailureDatabase::import(const ArchiveContents& contents, unsigned jobs,
                                      const volatile std::sig_atomic_t* stop) {
  ImportOutcome outcome = Import(directory_, *store_, [&](const NamedBytes& entry) {
                            return directory_.set_text_aside("import/" + entry.name, entry.bytes);
                          }).run(contents.entries, jobs, stop);
  outcome.messages.insert(outcome.messages.begin(), contents.errors.begin(), contents.errors.end());
  return outcome;
}

std::vector<NamedBytes> FailureDatabase::contents(const std::set<std::string>& tiers,
                                                  const std::vector<const AnyPair*>& pairs) {
  std::vector<NamedBytes> entries;
  for (const StoredFinding& finding : store_->findings()) {
    const bool wanted = std::ranges::count(pairs, finding.key.pair, &AnyPair::name) != 0;
    const std::string tier(name_of(finding.tier));
    if (!wanted || !tiers.contains(tier)) continue;
    entries.push_back({fmt::format("{}/{}/{}.case", tier, finding.key.pair, finding.key.hash),
                       finding.case_text});
  }
  if (!tiers.contains("coverage")) return entries;
  for (const AnyPair* pair : pairs) {
    for (const CorpusEntry& entry : read_corpus(directory_, pair->name()).entries) {
      entries.push_back(
          {fmt::format("coverage/{}/{}", pair->name(), entry.path.filename().string()),
           {entry.bytes.begin(), entry.bytes.end()}});
    }
  }
  return entries;
}

void FailureDatabase::add(const Report& report) {
  Ledger ledger(directory_, *store_, {});
  ledger.found(found_in(report), store_->seconds());
  ledger.flush(store_->seconds());
}

// --- replay -------------------------------------------------------------------------------------

ReplayedFailures FailureDatabase::replay(const std::vector<const AnyPair*>& pairs,
                                         const std::string& cases, TrialRunner& runner,
                                         const volatile std::sig_atomic_t* stop) {
  ReplayedFailures outcome;
  Ledger ledger(directory_, *store_, {});
  const auto stopped = [stop] { return stop != nullptr && *stop != 0; };
  for (const Tier tier : {Tier::crashing, Tier::regression}) {
    for (const AnyPair* pair : pairs) {
      if (!stopped()) replay_tier(tier, *pair, runner, ledger, outcome);
    }
  }
  for (const AnyPair* pair : pairs) {
    if (!stopped()) replay_coverage(*pair, cases, ledger, outcome);
  }
  ledger.flush(store_->seconds());
  return outcome;
}

void FailureDatabase::replay_tier(Tier tier, const AnyPair& pair, TrialRunner& runner,
                                  Ledger& ledger, ReplayedFailures& outcome) {
  std::set<std::string> replayed;  // several findings may have one case
  // A snapshot: a finding that this replay moves to another tier is not replayed again there.
  for (const StoredFinding& finding : store_->findings()) {
    if (finding.tier != tier || finding.key.pair != pair.name()) continue;
    if (!replayed.insert(finding.case_text).second) continue;
    const std::string path = directory_.case_path(finding.key).string();
    try {
      const CaseRecord record = parse_case(finding.case_text, path, Registry::global());
      ReplayOutcome again = warpcheck::replay(record, runner);
      ++outcome.replayed;
      const Verdict& verdict = again.report.verdict;
      if (!verdict.refusals.empty()) {
        outcome.problems.push_back(
            fmt::format("{} cannot be run: {}", path, verdict.refusals.front()));
      } else if (verdict.failed()) {
        again.report.replay_path = path;
        outcome.failed_claims.insert(record.a_case.title());
        const FoundMessage found = found_in(again.report);
        outcome.failures.push_back(std::move(again.report));
        ledger.found(found, store_->seconds());
      } else if (tier == Tier::crashing) {
        outcome.notes.push_back(
            fmt::format("{} no longer fails: it is a regression test now", path));
        for (const StoredFinding& same : store_->findings()) {
          if (same.key.pair == pair.name() && same.case_text == finding.case_text) {
            ledger.passes(same.key);
          }
        }
      }
    } catch (const CaseFileError& error) {
      outcome.problems.emplace_back(error.what());
    }
  }
}

void FailureDatabase::replay_coverage(const AnyPair& pair, const std::string& cases, Ledger& ledger,
                                      ReplayedFailures& outcome) {
  Corpus corpus;
  try {
    corpus = read_corpus(directory_, pair.name());
  } catch (const CaseFileError& error) {
    outcome.problems.emplace_back(error.what());
    return;
  }
  outcome.problems.insert(outcome.problems.end(), corpus.messages.begin(), corpus.messages.end());
  if (corpus.entries.empty()) return;
  std::vector<std::uint8_t> counters(fuzz::kCounters);
  fuzz::InputRunner inputs(pair, counters, {.build = {}, .warp_model = {}, .feedback = false});
  KnownFailures known(ledger.known_places(pair.name()));
  const auto take = [&](const Failure& failure) {
    if (!known.add(failure.verdict)) return;
    auto [report, not_saved] = fuzz::shrink_and_save(failure, fuzz::case_directory(cases, pair),
                                                     inputs.executions(), inputs.plain_runner());
    if (!not_saved.empty()) outcome.problems.push_back(std::move(not_saved));
    outcome.failed_claims.insert(report.a_case.title());
    const FoundMessage found = found_in(report);
    outcome.failures.push_back(std::move(report));
    ledger.found(found, store_->seconds());
  };
  SearchLoop search({.on_failure = take});
  for (const CorpusEntry& entry : corpus.entries) {
    try {
      search.take([&] {
        std::optional<TriedCase> tried = inputs.try_input(entry.bytes);
        if (!tried || tried->verdict.refusals.empty()) ++outcome.replayed;
        return tried;
      });
      fuzz::require_runnable(search);
    } catch (const fuzz::UnsupportedError& error) {
      outcome.problems.push_back(fmt::format("{}: {}", entry.path.string(), error.what()));
      return;
    } catch (const CaseFileError& error) {
      outcome.problems.emplace_back(error.what());
      return;
    } catch (const std::exception& error) {
      outcome.problems.push_back(
          fmt::format("{}: {}", entry.path.string(), internal_error(error.what())));
    }
  }
}

}  // namespace warpcheck::campaign
