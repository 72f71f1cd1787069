// A campaign's directory, which is also a failure database:
//
//   warpcheck.db               the store (store.hpp), with its -wal and -shm
//   cases/PAIR/HASH.case       every finding's smallest case, for `replay`; written from the store
//   corpus/PAIR/DIGEST         inputs that reach new coverage (corpus.hpp)
//   damaged/                   files that could not be read, unchanged
//   lock                       held by the running campaign
//
// The case files are a second copy of the most important data: a damaged store is set aside, and a
// new one is made from them.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "campaign/store/store.hpp"

namespace warpcheck::campaign {

class Directory {
 public:
  // Creates it.  Throws StoreError.
  explicit Directory(std::filesystem::path root);

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] std::filesystem::path store_path() const { return root_ / "warpcheck.db"; }
  [[nodiscard]] std::filesystem::path cases() const { return root_ / "cases"; }
  [[nodiscard]] std::filesystem::path case_path(const FindingKey& key) const;
  [[nodiscard]] std::filesystem::path corpus(std::string_view pair) const;

  // Moves a file to damaged/ and returns its new path; a number distinguishes files of the same
  // name.  Its path relative to the directory is kept below damaged/.
  std::filesystem::path set_aside(const std::filesystem::path& path) const;
  // The same for a text that is no file: the text is written there.
  std::filesystem::path set_text_aside(const std::string& name, std::string_view text) const;

 private:
  [[nodiscard]] std::filesystem::path free_place(const std::filesystem::path& name) const;

  std::filesystem::path root_;
};

// Held until it is destroyed, or its process dies.
class DirectoryLock {
 public:
  // Throws StoreError if another process still holds it after `patience`.
  explicit DirectoryLock(const Directory& directory,
                         std::chrono::milliseconds patience = std::chrono::milliseconds(0));
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int file_ = -1;
};

// Opens the directory's store.  A damaged store is set aside and a new one begun; damaged rows are
// set aside and removed.  `messages`: a line for each.
std::unique_ptr<Store> open_store(const Directory& directory, std::vector<std::string>& messages,
                                  StoreUsers users = StoreUsers::of_this_machine);

// Writes the case file of a finding from its row, unless it is already correct.
void write_case_file(const Directory& directory, const StoredFinding& finding);

}  // namespace warpcheck::campaign
