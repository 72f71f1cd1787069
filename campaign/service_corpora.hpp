// Corpora of fuzzing services (OSS-Fuzz, ClusterFuzz), into a campaign's directory and out of it.
//
// A service keeps the corpus of each fuzz target as an archive of inputs, whatever their names:
//   fuzz_PAIR_seed_corpus.zip    what a build gives it to begin with
//   fuzz_PAIR.zip, PROJECT_fuzz_PAIR.zip, PROJECT_fuzz_PAIR/latest.zip    what it has collected
// A target and a campaign decode the same bytes to the same case (fuzz/entry.hpp), so entries are
// exchanged as they are.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "campaign/store/archive.hpp"
#include "campaign/store/directory.hpp"
#include "harness/pair/any_pair.hpp"

namespace warpcheck::campaign {

// The pair whose target an archive or folder is of, by its name or its folder's; null: of none.
const AnyPair* pair_of_service_corpus(const std::filesystem::path& path,
                                      const std::vector<const AnyPair*>& pairs);

struct ImportedCorpus {
  std::size_t added = 0;  // entries that were not there
  std::size_t known = 0;
  std::vector<std::string> messages{};  // a line for each entry that was left out
};

// Throws CaseFileError where an entry cannot be written.
ImportedCorpus import_service_corpus(const Directory& directory, const AnyPair& pair,
                                     const ArchiveContents& contents);

// Writes fuzz_PAIR_seed_corpus.zip, whose entries have their digests for names, for each pair that
// has a corpus; returns how many entries of how many pairs.  Throws ArchiveError, CaseFileError.
struct ExportedCorpora {
  std::size_t entries = 0, pairs = 0;
  std::vector<std::string> messages{};  // a line for each entry that was set aside or left out
};
ExportedCorpora export_service_corpora(const Directory& directory,
                                       const std::vector<const AnyPair*>& pairs,
                                       const std::filesystem::path& folder);

}  // namespace warpcheck::campaign
