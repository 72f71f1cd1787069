// The log of a process under `warpcheck exec`, in a memory-mapped file.  An entry costs no system
// call, unlike a record (exec_records.hpp), and survives the process however it ends.  Numbers have
// the machine's byte order, since writer and reader are of one build.
//
// What the host sees of the device is logged as hashes, so that runs under different schedules can
// be compared: the bytes of each copy to the host, the bytes of memory that the host reads in
// place, and the output of device code.  On request what the host hands to the device is logged
// too: the bytes of copies, and arguments of launches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace warpcheck::cudart {

// Bytes that reached the host, or that it handed to the device.
struct Arrival {
  enum class Kind : std::uint32_t {
    copy,       // by a copy operation
    in_memory,  // in managed and mapped memory, after all operations had ended
    prints,     // texts of device code; the hash does not depend on their order
    to_device,  // by a copy operation, from the host
    launch,     // arguments and configuration of a kernel
  };
  Kind kind = Kind::copy;
  // copy, to_device, launch: the number of the operation, in the order of the calls; in_memory: the
  // number of operations so far; prints: the number of launches so far.
  std::uint32_t operation = 0;
  std::uint64_t bytes = 0;  // prints: the number of texts
  std::uint64_t hash = 0;
  // The latest launch: number of the kernel's record, from 1; 0: none.  launch: its own.
  std::uint32_t kernel = 0;
  // copy, to_device, launch: the API function, by the number of its record, from 0
  std::uint32_t call = 0;
  friend bool operator==(const Arrival&, const Arrival&) = default;
};

// Returns the log file of one process, named after its records file and its number.
std::filesystem::path exec_log_path(const std::filesystem::path& records, int process);

// Returns the file with the kept bytes of an entry, row after row.
std::filesystem::path kept_bytes_path(const std::filesystem::path& records, int process,
                                      Arrival::Kind kind, std::uint32_t operation);

// Returns the file with the CountsRecord of a process, which is replaced while it runs.
std::filesystem::path counts_path(const std::filesystem::path& records, int process);

// Totals over the ended launches of one kernel.
struct KernelCounts {
  std::uint64_t launches = 0;  // that have ended
  std::uint64_t thread_instructions = 0;
  std::uint64_t nanoseconds = 0;
  friend bool operator==(const KernelCounts&, const KernelCounts&) = default;
};

struct ExecLogCounts {
  std::uint64_t magic = 0;
  std::uint64_t launches = 0;
  std::uint64_t arrivals = 0;    // number of entries
  std::uint64_t incomplete = 0;  // 1: some entries did not fit
  // The running launch: its kernel by the number of the record, from 1 (0: none runs); the number
  // of blocks that have ended, and of all blocks.
  std::uint64_t running_kernel = 0;
  std::uint64_t blocks_ended = 0, blocks = 0;
  // Counts by the number of the kernel's record, from 0; the last element counts all further
  // kernels.
  std::array<KernelCounts, 1024> kernels{};
};

class ExecLog {
 public:
  // Goes on with the log of the program that the process was before execve(2).
  explicit ExecLog(const std::filesystem::path& path);
  ~ExecLog();
  ExecLog(const ExecLog&) = delete;
  ExecLog& operator=(const ExecLog&) = delete;

  // False: the file cannot be created (errno says why), and nothing is logged.
  [[nodiscard]] bool is_open() const { return mapped_ != nullptr; }
  void count_launches(std::uint64_t launches);
  // Sets the running launch: see ExecLogCounts.
  void launch_begins(std::uint64_t kernel, std::uint64_t blocks);
  void block_ended();
  void blocks_ended(std::uint64_t blocks);
  //   kernel: as in launch_begins()
  void launch_ended(std::uint64_t kernel, std::uint64_t thread_instructions,
                    std::uint64_t nanoseconds);
  void add(const Arrival& entry);
  // Returns the number of entries.
  [[nodiscard]] std::uint64_t arrivals() const {
    return mapped_ != nullptr ? counts()->arrivals : 0;
  }

 private:
  bool reserve(std::size_t bytes);
  [[nodiscard]] ExecLogCounts* counts() const { return static_cast<ExecLogCounts*>(mapped_); }

  std::filesystem::path path_;
  void* mapped_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint64_t launches_before_ = 0;
};

struct ExecLogContents {
  ExecLogCounts counts;
  std::vector<Arrival> arrivals;
};

// Returns nothing if there is no such file, or if it is no log.
std::optional<ExecLogContents> read_exec_log(const std::filesystem::path& path);

}  // namespace warpcheck::cudart
