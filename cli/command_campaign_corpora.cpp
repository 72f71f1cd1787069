#include "cli/command_campaign_corpora.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "campaign/service_corpora.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace {

struct CorporaArguments {
  std::string directory;
  std::vector<std::string> sources;
  std::string folder;
  std::string pair;
  std::vector<std::string> pairs;
};

int import_corpora(const CorporaArguments& arguments) {
  const std::vector<const AnyPair*> all = pairs_named({});
  const AnyPair* const given =
      arguments.pair.empty() ? nullptr : pairs_named({arguments.pair}).front();
  // Before anything is written.
  std::vector<const AnyPair*> pairs;
  for (const std::string& source : arguments.sources) {
    pairs.push_back(given != nullptr ? given : campaign::pair_of_service_corpus(source, all));
    if (pairs.back() == nullptr) {
      throw UsageError(
          fmt::format("{}: a file name like fuzz_PAIR_seed_corpus.zip was expected; "
                      "name the pair with --pair",
                      source));
    }
  }
  const campaign::Directory directory(arguments.directory);
  std::size_t added = 0, known = 0;
  int status = kNothingFound;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    try {
      const auto imported = campaign::import_service_corpus(
          directory, *pairs[i], campaign::read_archive(arguments.sources[i]));
      for (const std::string& message : imported.messages) complain(message);
      if (!imported.messages.empty()) status = kCannot;
      added += imported.added;
      known += imported.known;
    } catch (const campaign::ArchiveError& error) {
      complain(error.what());
      status = kCannot;
    }
  }
  print(fmt::format("{} corpus entries added, {} known\n", added, known));
  return status;
}

int export_corpora(const CorporaArguments& arguments) {
  const campaign::Directory directory(arguments.directory);
  const auto exported =
      campaign::export_service_corpora(directory, pairs_named(arguments.pairs), arguments.folder);
  for (const std::string& message : exported.messages) complain(message);
  print(fmt::format("{} of {} written to {}\n", counted(exported.entries, "corpus entry"),
                    counted(exported.pairs, "pair"), arguments.folder));
  return exported.messages.empty() ? kNothingFound : kCannot;
}

}  // namespace

void add_campaign_corpora_to(CLI::App& campaign, Run& run) {
  const auto arguments = std::make_shared<CorporaArguments>();
  const auto add = [&](const char* name, const char* help, int (*work)(const CorporaArguments&)) {
    CLI::App* part = campaign.add_subcommand(name, help);
    part->add_option("DIR", arguments->directory, "A campaign's directory")->required();
    part->callback(
        [&run, arguments, work] { run = [arguments, work] { return work(*arguments); }; });
    return part;
  };
  CLI::App* import = add("import", "Add corpora of OSS-Fuzz or ClusterFuzz", import_corpora);
  import->add_option("SOURCE", arguments->sources, "fuzz_PAIR_seed_corpus.zip, a backup, a folder")
      ->required();
  import->add_option("--pair", arguments->pair,
                     "Pair of the corpus, if the file name does not say it");
  CLI::App* write =
      add("export", "Write corpora as OSS-Fuzz and ClusterFuzz take them", export_corpora);
  write->add_option("FOLDER", arguments->folder, "Folder for the files fuzz_PAIR_seed_corpus.zip")
      ->required();
  write->add_option("--pairs", arguments->pairs, "Only corpora of these pairs")->delimiter(',');
}

}  // namespace warpcheck
