// Import and export of corpora of fuzzing services (OSS-Fuzz, ClusterFuzz).
//
// A service keeps the corpus of each fuzz target as an archive of inputs with any names:
//   fuzz_PAIR_seed_corpus.zip    the initial corpus of a build
//   fuzz_PAIR.zip, PROJECT_fuzz_PAIR.zip, PROJECT_fuzz_PAIR/latest.zip    the collected corpus
// A target and a campaign decode the same bytes to the same case (fuzz/entry.hpp), so entries are
// exchanged unchanged.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "campaign/store/archive.hpp"
#include "campaign/store/directory.hpp"
#include "harness/pair/any_pair.hpp"

namespace warpcheck::campaign {

// The pair to whose target an archive or folder belongs, by its name or its folder's; null: none.
const AnyPair* pair_of_service_corpus(const std::filesystem::path& path,
                                      const std::vector<const AnyPair*>& pairs);

struct ImportedCorpus {
  std::size_t added = 0;  // entries that are new
  std::size_t known = 0;
  std::vector<std::string> messages{};  // a line for each entry that was left out
};

// Throws CaseFileError if an entry cannot be written.
ImportedCorpus import_service_corpus(const Directory& directory, const AnyPair& pair,
                                     const ArchiveContents& contents);

// Writes fuzz_PAIR_seed_corpus.zip, with digests as names of entries, for each pair that has a
// corpus; returns the numbers of entries and pairs.  Throws ArchiveError, CaseFileError.
struct ExportedCorpora {
  std::size_t entries = 0, pairs = 0;
  std::vector<std::string> messages{};  // a line for each entry that was set aside or left out
};
ExportedCorpora export_service_corpora(const Directory& directory,
                                       const std::vector<const AnyPair*>& pairs,
                                       const std::filesystem::path& folder);

}  // namespace warpcheck::campaign
