#include "vgpu/cudart/host_watch/system_calls.hpp"

#include <fcntl.h>
#include <limits.h>  // NOLINT(modernize-deprecated-headers): IOV_MAX
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "vgpu/cudart/streams/idle_progress.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {
namespace {

// Addresses of shared memory by their upper halves: 1 TiB.
constexpr std::uint32_t kFirstHalf = vgpu::kMappedBase >> 32;
constexpr std::uint32_t kHalves = 256;

// Calls by which programs pass memory to the kernel, and which of their arguments (bit i: the i-th,
// from 0) are addresses.  Other arguments have arbitrary register values.
struct CallWithMemory {
  std::uint32_t number = 0;
  unsigned arguments = 0;
};
constexpr CallWithMemory kCalls[] = {
    {SYS_read, 0b10},
    {SYS_write, 0b10},
    {SYS_pread64, 0b10},
    {SYS_pwrite64, 0b10},
    {SYS_recvfrom, 0b10010},
    {SYS_sendto, 0b10010},
    {SYS_open, 0b1},
    {SYS_openat, 0b10},
    {SYS_creat, 0b1},
    {SYS_access, 0b1},
    {SYS_faccessat, 0b10},
    {SYS_stat, 0b11},
    {SYS_lstat, 0b11},
    {SYS_fstat, 0b10},
    {SYS_newfstatat, 0b110},
    {SYS_statx, 0b10010},
    {SYS_statfs, 0b11},
    {SYS_fstatfs, 0b10},
    {SYS_getdents64, 0b10},
    {SYS_getrandom, 0b1},
    {SYS_getcwd, 0b1},
    {SYS_chdir, 0b1},
    {SYS_mkdir, 0b1},
    {SYS_rmdir, 0b1},
    {SYS_unlink, 0b1},
    {SYS_unlinkat, 0b10},
    {SYS_rename, 0b11},
    {SYS_truncate, 0b1},
    {SYS_readlink, 0b11},
    {SYS_readlinkat, 0b110},
    {SYS_clock_gettime, 0b10},
    {SYS_gettimeofday, 0b1},
    {SYS_time, 0b1},
    {SYS_nanosleep, 0b11},
    {SYS_clock_nanosleep, 0b1100},
    {SYS_poll, 0b1},
    {SYS_ppoll, 0b101},
    {SYS_select, 0b11110},
    {SYS_epoll_ctl, 0b1000},
    {SYS_epoll_wait, 0b10},
    {SYS_epoll_pwait, 0b10},
    {SYS_futex, 0b1},
    {SYS_ioctl, 0b100},
    {SYS_fcntl, 0b100},
    {SYS_msync, 0b1},
    {SYS_pipe, 0b1},
    {SYS_pipe2, 0b1},
    {SYS_socketpair, 0b1000},
    {SYS_bind, 0b10},
    {SYS_connect, 0b10},
    {SYS_accept, 0b110},
    {SYS_accept4, 0b110},
    {SYS_getsockname, 0b110},
    {SYS_getpeername, 0b110},
    {SYS_getsockopt, 0b11000},
    {SYS_setsockopt, 0b1000},
    {SYS_sendfile, 0b100},
    {SYS_copy_file_range, 0b1010},
    {SYS_splice, 0b1010},
    {SYS_uname, 0b1},
    {SYS_sysinfo, 0b1},
    {SYS_times, 0b1},
    {SYS_getrusage, 0b10},
    {SYS_prlimit64, 0b1100},
    {SYS_sched_getaffinity, 0b100},
    {SYS_sched_setaffinity, 0b100},
    {SYS_wait4, 0b1010},
    {SYS_waitid, 0b10100},
};

// Calls that name memory by lists in their second argument: pieces (iovec), with their number in
// the third; one message, or several, with such pieces and more.
struct CallWithList {
  enum class List : std::uint8_t { pieces, message, messages };
  std::uint32_t number = 0;
  List list = List::pieces;
};
constexpr CallWithList kListCalls[] = {
    {SYS_readv},
    {SYS_writev},
    {SYS_preadv},
    {SYS_pwritev},
    {SYS_preadv2},
    {SYS_pwritev2},
    {SYS_vmsplice},
    {SYS_process_vm_readv},
    {SYS_process_vm_writev},
    {SYS_sendmsg, CallWithList::List::message},
    {SYS_recvmsg, CallWithList::List::message},
    {SYS_sendmmsg, CallWithList::List::messages},
    {SYS_recvmmsg, CallWithList::List::messages},
};

// Interfaces whose addresses are in memory that the kernel reads at any time.
struct Elsewhere {
  std::uint32_t number = 0;
  const char* name = "";
};
constexpr Elsewhere kElsewhere[] = {{SYS_io_uring_setup, "io_uring"},
                                    {SYS_io_setup, "io_submit()"}};

bool is_shared(std::uint64_t address) {
  const std::uint64_t half = address >> 32;
  return half >= kFirstHalf && half < kFirstHalf + kHalves;
}

// Notifies if one of the arguments is an address of shared memory; otherwise allows the call.
std::vector<sock_filter> if_shared(unsigned arguments) {
  std::vector<sock_filter> code;
  for (unsigned i = 0; arguments >> i != 0; ++i) {
    if ((arguments >> i & 1) == 0) continue;
    const auto upper = static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * i + 4);
    code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, upper));
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kFirstHalf, 0, 2));
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kFirstHalf + kHalves, 1, 0));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return code;
}

// The code range of this process's C library, if all of it has the same upper half.
struct CodeRange {
  std::uint32_t half = 0, begin = 0, end = 0;
};

CodeRange code_of_c_library() {
  CodeRange range;
  const auto visit = [](dl_phdr_info* library, std::size_t, void* to) {
    const auto inside = reinterpret_cast<std::uintptr_t>(&::readv);
    for (int i = 0; i < library->dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = library->dlpi_phdr[i];
      const std::uintptr_t begin = library->dlpi_addr + part.p_vaddr, end = begin + part.p_memsz;
      if (part.p_type != PT_LOAD || inside < begin || inside >= end) continue;
      if (begin >> 32 == end >> 32) {
        *static_cast<CodeRange*>(to) = {static_cast<std::uint32_t>(begin >> 32),
                                        static_cast<std::uint32_t>(begin),
                                        static_cast<std::uint32_t>(end)};
      }
      return 1;
    }
    return 0;
  };
  ::dl_iterate_phdr(visit, &range);
  return range;
}

// Notifies if the call comes from code in the range; otherwise allows it.
std::vector<sock_filter> if_called_from(const CodeRange& range) {
  constexpr std::uint32_t kCaller = offsetof(seccomp_data, instruction_pointer);
  return {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kCaller + 4),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, range.half, 0, 4),
          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kCaller),
          BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, range.begin, 0, 2),
          BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, range.end, 1, 0),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
}

std::vector<sock_filter> filter() {
  std::vector<sock_filter> code;
  const auto add = [&](sock_filter one) { code.push_back(one); };
  add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)));
  add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
  add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  const auto add_call = [&](std::uint32_t number, const std::vector<sock_filter>& asks) {
    // A jump reaches at most 255 instructions.
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, static_cast<std::uint8_t>(asks.size())));
    code.insert(code.end(), asks.begin(), asks.end());
  };
  for (const CallWithMemory& call : kCalls) add_call(call.number, if_shared(call.arguments));
  const std::vector<sock_filter> if_own = if_called_from(code_of_c_library());
  for (const CallWithList& call : kListCalls) add_call(call.number, if_own);
  for (const Elsewhere& call : kElsewhere) {
    add_call(call.number, {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)});
  }
  add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return code;
}

// Reads memory of this process, by a call that causes no notification.  False: there is no such
// memory, and the kernel will report that.
bool read_own(std::uint64_t address, void* to, std::size_t bytes) {
  const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  if (memory < 0) return false;
  const ssize_t read = ::pread(memory, to, bytes, static_cast<off_t>(address));
  ::close(memory);
  return read == static_cast<ssize_t>(bytes);
}

bool is_shared(const void* pointer) { return is_shared(reinterpret_cast<std::uint64_t>(pointer)); }

bool pieces_are_shared(const void* pieces, std::uint64_t count) {
  if (is_shared(pieces)) return true;
  std::vector<iovec> list(std::min<std::uint64_t>(count, IOV_MAX));
  if (!read_own(reinterpret_cast<std::uint64_t>(pieces), list.data(), list.size() * sizeof(iovec)))
    return false;
  return std::ranges::any_of(list, [](const iovec& piece) { return is_shared(piece.iov_base); });
}

bool message_is_shared(std::uint64_t address) {
  msghdr message{};
  if (is_shared(address)) return true;
  if (!read_own(address, &message, sizeof message)) return false;
  return is_shared(message.msg_name) || is_shared(message.msg_control) ||
         pieces_are_shared(message.msg_iov, message.msg_iovlen);
}

bool list_is_shared(CallWithList::List list, const __u64 (&arguments)[6]) {
  const std::uint64_t address = arguments[1], count = arguments[2];
  switch (list) {
    case CallWithList::List::pieces:
      return pieces_are_shared(reinterpret_cast<const void*>(address), count);
    case CallWithList::List::message: return message_is_shared(address);
    case CallWithList::List::messages: break;
  }
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, IOV_MAX); ++i) {
    // msg_hdr is the first member
    if (message_is_shared(address + i * sizeof(mmsghdr))) return true;
  }
  return false;
}

void handle(const seccomp_notif& asked, const SystemCallHandlers& handlers) {
  // A child of fork() has the same addresses, but its pages are not protected.
  std::error_code error;
  const std::string task = "/proc/self/task/" + std::to_string(asked.pid);
  if (!std::filesystem::exists(task, error)) return;
  const auto number = static_cast<std::uint32_t>(asked.data.nr);
  const auto elsewhere = std::ranges::find(kElsewhere, number, &Elsewhere::number);
  if (elsewhere != std::end(kElsewhere)) return handlers.leads_elsewhere(elsewhere->name);
  const auto list = std::ranges::find(kListCalls, number, &CallWithList::number);
  const bool names = list != std::end(kListCalls)
                         ? list_is_shared(list->list, asked.data.args)
                         : std::ranges::any_of(asked.data.args, [](std::uint64_t argument) {
                             return is_shared(argument);
                           });
  if (names) handlers.names_memory();
}

// Ends with the process, or when there is no process left to answer.
void answer_calls(int listener, const SystemCallHandlers& handlers) {
  while (true) {
    seccomp_notif asked{};
    if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) {
      if (errno == EINTR || errno == ENOENT) continue;
      return;
    }
    handle(asked, handlers);
    seccomp_notif_resp answer{};
    answer.id = asked.id;
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
}

}  // namespace

bool watch_system_calls(const SystemCallHandlers& handlers) {
  std::vector<sock_filter> code = filter();
  sock_fprog program{};
  program.len = static_cast<unsigned short>(code.size());
  program.filter = code.data();
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  constexpr unsigned kFlags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC |
                              SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
  const auto listener =
      static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, kFlags, &program));
  if (listener < 0) return false;
  // A filter cannot be removed.  Without an answer a call would wait for ever, and with a closed
  // listener it would fail.  The program's own threads handle its signals.
  return start_own_thread([listener, handlers] { answer_calls(listener, handlers); });
}

}  // namespace warpcheck::cudart
