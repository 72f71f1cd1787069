#include "campaign/store/corpus.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "harness/case/case_file.hpp"

namespace warpcheck::campaign {
namespace fs = std::filesystem;
namespace {

bool is_digest(const std::string& name) {
  return name.size() == 32 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void read_entry(const Directory& directory, const fs::path& path, Corpus& corpus) {
  const std::string name = path.filename().string();
  if (name.ends_with(".tmp")) return;  // being written, or left by a kill
  if (!fs::is_regular_file(path)) {
    corpus.messages.push_back(fmt::format("left out: {}: not a file", path.string()));
    return;
  }
  CorpusEntry entry{path, read_corpus_bytes(path)};
  if (entry.bytes.size() > kCorpusBytesMax) {
    corpus.messages.push_back(
        fmt::format("left out: {}: longer than {} bytes", path.string(), kCorpusBytesMax));
    return;
  }
  const std::string digest = corpus_name(entry.bytes);
  if (is_damaged_entry(name, entry.bytes)) {
    const fs::path place = directory.set_aside(path);
    corpus.messages.push_back(
        fmt::format("damaged: corpus entry {}; set aside as {}", path.string(), place.string()));
    return;
  }
  if (name != digest) {
    entry.path = path.parent_path() / digest;
    fs::rename(path, entry.path);
  }
  corpus.entries.push_back(std::move(entry));
}

}  // namespace

std::vector<std::uint8_t> read_corpus_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw CaseFileError(std::strerror(errno));
  std::vector<std::uint8_t> bytes(kCorpusBytesMax + 1);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (file.bad()) throw CaseFileError(std::strerror(errno));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

std::string corpus_name(std::span<const std::uint8_t> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

bool is_damaged_entry(const std::string& name, std::span<const std::uint8_t> bytes) {
  return is_digest(name) && name != corpus_name(bytes);
}

void remove_unfinished(const Directory& directory) {
  std::error_code none;
  for (const fs::path& pair : files_in(directory.corpus(""))) {
    for (const fs::path& path : files_in(pair)) {
      if (path.extension() == ".tmp") fs::remove(path, none);
    }
  }
}

Corpus read_corpus(const Directory& directory, std::string_view pair) {
  Corpus corpus;
  for (const fs::path& path : files_in(directory.corpus(pair))) {
    try {
      read_entry(directory, path, corpus);
    } catch (const std::exception& error) {
      // Another worker may have dropped it in the meantime.
      std::error_code none;
      if (!fs::exists(path, none)) continue;
      corpus.messages.push_back(fmt::format("left out: {}: {}", path.string(), error.what()));
    }
  }
  const auto rank = [](const CorpusEntry& entry) {
    return std::pair(entry.bytes.size(), entry.path.filename().string());
  };
  std::ranges::sort(corpus.entries, {}, rank);
  const auto same_file = [](const CorpusEntry& a, const CorpusEntry& b) {
    return a.path == b.path;
  };
  corpus.entries.erase(std::unique(corpus.entries.begin(), corpus.entries.end(), same_file),
                       corpus.entries.end());
  return corpus;
}

void save_corpus_entry(const fs::path& corpus, std::span<const std::uint8_t> bytes) {
  const fs::path path = corpus / corpus_name(bytes);
  const fs::path temporary = fmt::format("{}.{}.tmp", path.string(), ::getpid());
  std::ofstream file(temporary, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::error_code error;
  if (file) fs::rename(temporary, path, error);
  if (file && !error) return;
  const std::string reason = error ? error.message() : std::strerror(errno);
  fs::remove(temporary, error);
  throw CaseFileError(fmt::format("cannot write {}: {}", path.string(), reason));
}

}  // namespace warpcheck::campaign
