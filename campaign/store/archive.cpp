#include "campaign/store/archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

#include "harness/case/case_file.hpp"

namespace warpcheck::campaign {
namespace fs = std::filesystem;
namespace {

using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;
using Writer = std::unique_ptr<archive, decltype(&archive_write_free)>;
using Entry = std::unique_ptr<archive_entry, decltype(&archive_entry_free)>;

// libarchive's text may be missing, or have several lines.
std::string message_of(archive* handle) {
  const char* text = archive_error_string(handle);
  std::string message = text == nullptr ? "unknown error" : text;
  std::ranges::replace(message, '\n', ' ');
  return message;
}

std::string file_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) throw ArchiveError(std::strerror(errno));
  return text;
}

ArchiveContents read_folder(const fs::path& root) {
  ArchiveContents contents;
  std::error_code error;
  for (const auto& found : fs::recursive_directory_iterator(root, error)) {
    if (!found.is_regular_file()) continue;
    const std::string name = found.path().lexically_relative(root).generic_string();
    try {
      if (found.file_size() > kEntryBytesMax) throw ArchiveError("too large");
      contents.entries.push_back({name, file_text(found.path())});
    } catch (const std::exception& reason) {
      contents.errors.push_back(fmt::format("{}/{}: {}", root.string(), name, reason.what()));
    }
  }
  if (error) throw ArchiveError(fmt::format("cannot read {}: {}", root.string(), error.message()));
  return contents;
}

std::string entry_bytes(archive* handle) {
  std::string bytes;
  char part[65536];
  for (la_ssize_t count; (count = archive_read_data(handle, part, sizeof part)) != 0;) {
    if (count < 0) throw ArchiveError(message_of(handle));
    bytes.append(part, static_cast<std::size_t>(count));
    if (bytes.size() > kEntryBytesMax) throw ArchiveError("too large");
  }
  return bytes;
}

ArchiveContents read_packed(const fs::path& path) {
  const Reader reader(archive_read_new(), &archive_read_free);
  archive_read_support_filter_all(reader.get());
  archive_read_support_format_all(reader.get());
  if (archive_read_open_filename(reader.get(), path.c_str(), 65536) != ARCHIVE_OK) {
    throw ArchiveError(fmt::format("cannot read {}: {}", path.string(), message_of(reader.get())));
  }
  ArchiveContents contents;
  while (true) {
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(reader.get(), &entry);
    if (code == ARCHIVE_EOF) return contents;
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) {
      contents.errors.push_back(
          fmt::format("{}: damaged: {}", path.string(), message_of(reader.get())));
      return contents;
    }
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    const char* name = archive_entry_pathname(entry);
    const std::string known = name == nullptr ? "(no name)" : name;
    try {
      contents.entries.push_back({known, entry_bytes(reader.get())});
    } catch (const ArchiveError& error) {
      contents.errors.push_back(fmt::format("{}: {}: {}", path.string(), known, error.what()));
    }
  }
}

bool is_archive_name(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".tar.gz") || name.ends_with(".tgz") || name.ends_with(".zip");
}

void write_packed(const fs::path& path, const std::vector<NamedBytes>& entries) {
  const Writer writer(archive_write_new(), &archive_write_free);
  const auto check = [&](int code) {
    if (code == ARCHIVE_OK) return;
    throw ArchiveError(fmt::format("cannot write {}: {}", path.string(), message_of(writer.get())));
  };
  if (path.extension() == ".zip") {
    check(archive_write_set_format_zip(writer.get()));
  } else {
    check(archive_write_set_format_pax_restricted(writer.get()));
    check(archive_write_add_filter_gzip(writer.get()));
    check(archive_write_set_options(writer.get(), "gzip:!timestamp"));
  }
  check(archive_write_open_filename(writer.get(), path.c_str()));
  for (const NamedBytes& one : entries) {
    const Entry entry(archive_entry_new(), &archive_entry_free);
    archive_entry_set_pathname(entry.get(), one.name.c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(one.bytes.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_mtime(entry.get(), 0, 0);
    check(archive_write_header(writer.get(), entry.get()));
    if (archive_write_data(writer.get(), one.bytes.data(), one.bytes.size()) !=
        static_cast<la_ssize_t>(one.bytes.size())) {
      check(ARCHIVE_FATAL);
    }
  }
  check(archive_write_close(writer.get()));
}

}  // namespace

ArchiveContents read_archive(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    throw ArchiveError(fmt::format("cannot read {}: No such file or directory", path.string()));
  }
  ArchiveContents contents;
  if (fs::is_directory(status)) {
    contents = read_folder(path);
  } else if (path.extension() == ".case") {
    contents.entries.push_back({path.filename().string(), file_text(path)});
  } else {
    contents = read_packed(path);
  }
  std::ranges::sort(contents.entries, {}, &NamedBytes::name);
  return contents;
}

void write_archive(const fs::path& path, std::vector<NamedBytes> entries) {
  std::ranges::sort(entries, {}, &NamedBytes::name);
  if (is_archive_name(path)) {
    // Under another name until it is complete.
    fs::path temporary = path;
    temporary.replace_filename("." + path.filename().string());
    std::error_code error;
    try {
      write_packed(temporary, entries);
    } catch (const ArchiveError&) {
      fs::remove(temporary, error);
      throw;
    }
    fs::rename(temporary, path, error);
    if (error) {
      throw ArchiveError(fmt::format("cannot write {}: {}", path.string(), error.message()));
    }
    return;
  }
  for (const NamedBytes& entry : entries) write_file_atomically(path / entry.name, entry.bytes);
}

}  // namespace warpcheck::campaign
