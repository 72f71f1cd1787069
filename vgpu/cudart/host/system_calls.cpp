#include "vgpu/cudart/host/system_calls.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

#include "vgpu/cudart/streams/idle_progress.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {
namespace {

// Addresses of shared memory by their upper halves: 1 TiB.
constexpr std::uint32_t kFirstHalf = vgpu::kMappedBase >> 32;
constexpr std::uint32_t kHalves = 256;

// Calls by which programs give the kernel memory, and which of their arguments (bit i: the i-th,
// from 0) are its addresses; all others hold whatever was in a register.  What lies behind an
// iovec is not seen.
struct CallWithMemory {
  std::uint32_t number = 0;
  unsigned arguments = 0;
};
constexpr std::array kCalls{
    CallWithMemory{SYS_read, 0b10},        CallWithMemory{SYS_write, 0b10},
    CallWithMemory{SYS_pread64, 0b10},     CallWithMemory{SYS_pwrite64, 0b10},
    CallWithMemory{SYS_recvfrom, 0b10},    CallWithMemory{SYS_sendto, 0b10},
    CallWithMemory{SYS_readv, 0b10},       CallWithMemory{SYS_writev, 0b10},
    CallWithMemory{SYS_open, 0b1},         CallWithMemory{SYS_openat, 0b10},
    CallWithMemory{SYS_stat, 0b11},        CallWithMemory{SYS_fstat, 0b10},
    CallWithMemory{SYS_newfstatat, 0b110}, CallWithMemory{SYS_getdents64, 0b10},
    CallWithMemory{SYS_getrandom, 0b1},    CallWithMemory{SYS_getcwd, 0b1},
    CallWithMemory{SYS_readlink, 0b11},    CallWithMemory{SYS_clock_gettime, 0b10},
    CallWithMemory{SYS_gettimeofday, 0b1}, CallWithMemory{SYS_nanosleep, 0b11},
    CallWithMemory{SYS_poll, 0b1},         CallWithMemory{SYS_futex, 0b1},
    CallWithMemory{SYS_ioctl, 0b100},      CallWithMemory{SYS_msync, 0b1},
};

bool is_shared(std::uint64_t address) {
  const std::uint64_t half = address >> 32;
  return half >= kFirstHalf && half < kFirstHalf + kHalves;
}

// Asks if one of the arguments is an address of shared memory, else allows the call.
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

std::vector<sock_filter> filter() {
  std::vector<sock_filter> code;
  const auto add = [&](sock_filter one) { code.push_back(one); };
  add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)));
  add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
  add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  for (const CallWithMemory& call : kCalls) {
    const std::vector<sock_filter> asks = if_shared(call.arguments);
    // A jump reaches 255 instructions.
    const auto past = static_cast<std::uint8_t>(asks.size());
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call.number, 0, past));
    code.insert(code.end(), asks.begin(), asks.end());
  }
  add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return code;
}

// Ends with the process, or when nobody is left who asks.
void answer_calls(int listener, BeforeSystemCall before) {
  while (true) {
    seccomp_notif asked{};
    if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) {
      if (errno == EINTR || errno == ENOENT) continue;
      return;
    }
    for (const std::uint64_t argument : asked.data.args) {
      if (is_shared(argument)) before(argument);
    }
    seccomp_notif_resp answer{};
    answer.id = asked.id;
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
}

}  // namespace

bool watch_system_calls(BeforeSystemCall before) {
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
  // A filter cannot be taken back, and without an answer a call would wait for ever; closed, it
  // would fail.  The program's own threads handle its signals.
  return start_own_thread([listener, before] { answer_calls(listener, before); });
}

}  // namespace warpcheck::cudart
