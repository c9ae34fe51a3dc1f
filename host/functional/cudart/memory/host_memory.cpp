// Accesses to the application's own memory go through the operating system, which checks addresses.
#include "host/functional/cudart/memory/host_memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace nearwarp::cudart {

namespace {

using Transfer = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                             unsigned long);

/// Copy with a system call that checks addresses; false if an address is invalid. Where the system
/// does not allow the call at all, `plain` copies without a check.
template <class Plain>
bool transfer(Transfer system_call, char* ours, char* theirs, size_t bytes, Plain&& plain) {
  constexpr size_t kStep = size_t{1} << 30;
  while (bytes != 0) {
    const size_t step = std::min(bytes, kStep);
    const iovec local{ours, step}, remote{theirs, step};
    const ssize_t n = system_call(getpid(), &local, 1, &remote, 1, 0);
    if (n < 0 && (errno == ENOSYS || errno == EPERM)) {
      plain(ours, theirs, bytes);
      return true;
    }
    if (n <= 0) return false;
    ours += n;
    theirs += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

bool read_host(void* ours, const void* theirs, size_t bytes) {
  return transfer(process_vm_readv, static_cast<char*>(ours),
                  const_cast<char*>(static_cast<const char*>(theirs)), bytes,
                  [](char* to, const char* from, size_t n) { std::memcpy(to, from, n); });
}

bool write_host(void* theirs, const void* ours, size_t bytes) {
  return transfer(process_vm_writev, const_cast<char*>(static_cast<const char*>(ours)),
                  static_cast<char*>(theirs), bytes,
                  [](const char* from, char* to, size_t n) { std::memcpy(to, from, n); });
}

}  // namespace nearwarp::cudart
