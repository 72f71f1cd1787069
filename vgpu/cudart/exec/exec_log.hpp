// What a process under `warpcheck exec` has done so far, in a file that it maps: an entry costs no
// call of the system, as a record (exec_records.hpp) does, and outlives the process however that
// ends.  Numbers of the machine, in its byte order: both ends are of one build.
//
// What the host gets to see of the device is here as hashes, so that runs under different schedules
// can be compared: the bytes of each copy to the host, the bytes of memory that the host reads in
// place, and what device code has printed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace warpcheck::cudart {

// Bytes that came to the host.
struct Arrival {
  enum class Kind : std::uint32_t {
    copy,       // by an operation
    in_memory,  // in managed and mapped memory, when all operations had ended
  };
  Kind kind = Kind::copy;
  // copy: the number of the operation, in the order of the calls; in_memory: how many there were.
  std::uint32_t operation = 0;
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;
  std::uint32_t kernel = 0;  // launched last: the number of its record, from 1; 0: none was
  std::uint32_t call = 0;    // copy: which API function, the number of its record, from 0
  friend bool operator==(const Arrival&, const Arrival&) = default;
};

// The file of one process, named after its records and its number.
std::filesystem::path exec_log_path(const std::filesystem::path& records, int process);

// The bytes of an entry that were to be kept, row after row.
std::filesystem::path kept_bytes_path(const std::filesystem::path& records, int process,
                                      Arrival::Kind kind, std::uint32_t operation);

// What launches of one kernel have come to.
struct KernelCounts {
  std::uint64_t launches = 0;  // that have ended
  std::uint64_t thread_instructions = 0;
  std::uint64_t nanoseconds = 0;
  friend bool operator==(const KernelCounts&, const KernelCounts&) = default;
};

struct ExecLogCounts {
  std::uint64_t magic = 0;
  std::uint64_t launches = 0;
  std::uint64_t prints = 0;      // texts of printf()
  std::uint64_t print_hash = 0;  // of these, whatever their order
  std::uint64_t arrivals = 0;    // entries
  std::uint64_t incomplete = 0;  // 1: there was no room for all entries
  // The launch that runs: its kernel, by the number of the record, from 1 (0: none runs); blocks
  // that have ended, of so many.
  std::uint64_t running_kernel = 0;
  std::uint64_t blocks_ended = 0, blocks = 0;
  // By the number of their records, from 0; the last one is of all others.
  std::array<KernelCounts, 1024> kernels{};
};

class ExecLog {
 public:
  // Without room for the file nothing is kept.
  explicit ExecLog(const std::filesystem::path& path);
  ~ExecLog();
  ExecLog(const ExecLog&) = delete;
  ExecLog& operator=(const ExecLog&) = delete;

  void count_launches(std::uint64_t launches);
  // What runs: see ExecLogCounts.
  void launch_begins(std::uint64_t kernel, std::uint64_t blocks);
  void block_ended();
  void blocks_ended(std::uint64_t blocks);
  //   kernel: as above
  void launch_ended(std::uint64_t kernel, std::uint64_t thread_instructions,
                    std::uint64_t nanoseconds);
  void count_prints(std::uint64_t prints, std::uint64_t hash);
  void add(const Arrival& entry);

 private:
  bool reserve(std::size_t bytes);
  [[nodiscard]] ExecLogCounts* counts() const { return static_cast<ExecLogCounts*>(mapped_); }

  std::filesystem::path path_;
  void* mapped_ = nullptr;
  std::size_t bytes_ = 0;
};

struct ExecLogContents {
  ExecLogCounts counts;
  std::vector<Arrival> arrivals;
};

// Nothing where there is no such file, or it is none of these.
std::optional<ExecLogContents> read_exec_log(const std::filesystem::path& path);

}  // namespace warpcheck::cudart
