#include "campaign/store/directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "harness/case/case_file.hpp"
#include "vgpu/text/file_text.hpp"

namespace warpcheck::campaign {
namespace fs = std::filesystem;

Directory::Directory(fs::path root) : root_(std::move(root)) {
  std::error_code error;
  fs::create_directories(root_, error);
  if (error) {
    throw StoreError(
        fmt::format("cannot make the directory {}: {}", root_.string(), error.message()));
  }
}

fs::path Directory::case_path(const FindingKey& key) const {
  return cases() / key.pair / (key.hash + ".case");
}

fs::path Directory::corpus(std::string_view pair) const { return root_ / "corpus" / pair; }

fs::path Directory::free_place(const fs::path& name) const {
  // No name may lead out of damaged/.
  fs::path inside;
  for (const fs::path& part : name.relative_path()) {
    if (part != "." && part != "..") inside /= part;
  }
  const fs::path wanted = root_ / "damaged" / inside;
  std::error_code error;
  fs::create_directories(wanted.parent_path(), error);
  fs::path place = wanted;
  for (int i = 2; fs::exists(place, error); ++i) place = fmt::format("{}.{}", wanted.string(), i);
  return place;
}

fs::path Directory::set_aside(const fs::path& path) const {
  fs::path place = free_place(path.lexically_relative(root_));
  std::error_code error;
  fs::rename(path, place, error);
  if (error) {
    throw StoreError(fmt::format("cannot set {} aside as {}: {}", path.string(), place.string(),
                                 error.message()));
  }
  return place;
}

fs::path Directory::set_text_aside(const std::string& name, std::string_view text) const {
  fs::path place = free_place(name);
  write_file_atomically(place, text);
  return place;
}

DirectoryLock::DirectoryLock(const Directory& directory, std::chrono::milliseconds patience) {
  const fs::path path = directory.root() / "lock";
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) {
    throw StoreError(fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
  }
  // The lock belongs to this process alone: workers do not inherit it, so it ends with the
  // campaign.
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  constexpr auto kPause = std::chrono::milliseconds(100);
  for (auto left = patience;; left -= kPause) {
    if (::fcntl(file_, F_SETLK, &lock) == 0) return;
    if (left <= std::chrono::milliseconds(0)) break;
    std::this_thread::sleep_for(kPause);
  }
  ::fcntl(file_, F_GETLK, &lock);
  ::close(file_);
  throw StoreError(fmt::format("{}: another campaign runs here (process {})",
                               directory.root().string(), lock.l_pid));
}

DirectoryLock::~DirectoryLock() { ::close(file_); }

std::unique_ptr<Store> open_store(const Directory& directory, std::vector<std::string>& messages,
                                  StoreUsers users) {
  std::unique_ptr<Store> store;
  try {
    store = std::make_unique<Store>(directory.store_path(), users);
  } catch (const StoreDamaged& error) {
    const fs::path place = directory.set_aside(directory.store_path());
    for (const char* suffix : {"-wal", "-shm"}) {
      fs::path sidecar = directory.store_path();
      sidecar += suffix;
      if (fs::exists(sidecar)) directory.set_aside(sidecar);
    }
    messages.push_back(fmt::format("damaged: {}; set aside as {}, and a new one begun",
                                   error.what(), place.string()));
    store = std::make_unique<Store>(directory.store_path(), users);
  }
  const std::vector<StoredFinding> damaged = store->damaged();
  if (damaged.empty()) return store;
  Store::Change change(*store);
  for (const StoredFinding& finding : damaged) {
    const std::string name = fmt::format("rows/{}/{}.case", finding.key.pair, finding.key.hash);
    const fs::path place = directory.set_text_aside(name, finding.case_text);
    directory.set_text_aside(name + ".found", finding.found_text);
    messages.push_back(fmt::format("damaged: finding {} of {}; set aside as {}", finding.key.hash,
                                   finding.key.pair, place.string()));
    change.remove(finding.key);
  }
  change.commit();
  return store;
}

void write_case_file(const Directory& directory, const StoredFinding& finding) {
  const fs::path path = directory.case_path(finding.key);
  if (text_of_file(path) != finding.case_text) write_file_atomically(path, finding.case_text);
}

}  // namespace warpcheck::campaign
