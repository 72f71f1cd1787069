#include "campaign/service_corpora.hpp"

#include <fmt/format.h>

#include <string_view>

#include "campaign/store/corpus.hpp"
#include "harness/case/atomic_file.hpp"

namespace warpcheck::campaign {
namespace fs = std::filesystem;
namespace {

// "warpcheck_fuzz_scan_seed_corpus.zip" belongs to "fuzz_scan"; "fuzz_block_scan" does not belong
// to "scan".
bool is_of_target(std::string_view name, const std::string& pair) {
  for (const std::string_view suffix : {".zip", ".tgz", ".tar.gz", "_seed_corpus"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  const std::string target = "fuzz_" + pair;
  return name == target || name.ends_with("_" + target);
}

}  // namespace

const AnyPair* pair_of_service_corpus(const fs::path& path,
                                      const std::vector<const AnyPair*>& pairs) {
  const fs::path whole = fs::absolute(path).lexically_normal();
  for (const fs::path& named : {whole, whole.parent_path()}) {
    for (const AnyPair* pair : pairs) {
      if (is_of_target(named.filename().string(), pair->name())) return pair;
    }
  }
  return nullptr;
}

ImportedCorpus import_service_corpus(const Directory& directory, const AnyPair& pair,
                                     const ArchiveContents& contents) {
  ImportedCorpus imported{.messages = contents.errors};
  const fs::path corpus = directory.corpus(pair.name());
  make_directory(corpus);
  for (const NamedBytes& entry : contents.entries) {
    const std::vector<std::uint8_t> bytes(entry.bytes.begin(), entry.bytes.end());
    if (bytes.size() > kCorpusBytesMax) {
      imported.messages.push_back(
          fmt::format("left out: {}: longer than {} bytes", entry.name, kCorpusBytesMax));
    } else if (fs::exists(corpus / corpus_name(bytes))) {
      ++imported.known;
    } else {
      save_corpus_entry(corpus, bytes);
      ++imported.added;
    }
  }
  return imported;
}

ExportedCorpora export_service_corpora(const Directory& directory,
                                       const std::vector<const AnyPair*>& pairs,
                                       const fs::path& folder) {
  ExportedCorpora exported;
  make_directory(folder);
  for (const AnyPair* pair : pairs) {
    Corpus corpus = read_corpus(directory, pair->name());
    for (std::string& message : corpus.messages) exported.messages.push_back(std::move(message));
    if (corpus.entries.empty()) continue;
    std::vector<NamedBytes> entries;
    for (const CorpusEntry& entry : corpus.entries) {
      entries.push_back({entry.path.filename().string(), {entry.bytes.begin(), entry.bytes.end()}});
    }
    exported.entries += entries.size();
    ++exported.pairs;
    write_archive(folder / fmt::format("fuzz_{}_seed_corpus.zip", pair->name()),
                  std::move(entries));
  }
  return exported;
}

}  // namespace warpcheck::campaign
