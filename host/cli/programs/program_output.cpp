// Runs another program and collects its output.
#include "host/cli/programs/program_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <vector>

#include "host/cli/interrupt.h"
#include "host/core/error.h"

namespace nearwarp::cli {
namespace {

struct Pipe {
  int read_end = -1, write_end = -1;

  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw Error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  static void close_end(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
  }
  /// Appends the bytes that have arrived; closes the read end when there will be no more.
  void take(std::string& text) {
    char bytes[4096];
    const ssize_t n = read(read_end, bytes, sizeof bytes);
    if (n > 0) text.append(bytes, static_cast<size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) close_end(read_end);
  }
};

pid_t start(Words words, const Pipe& out, const Pipe& err) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out.write_end, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err.write_end, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A terminal sends interrupts to the whole foreground group, so the child gets a group of its
  // own.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = -1;
  const int failure = posix_spawnp(&child, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failure != 0)
    throw Error(fmt::format("cannot run '{}': {}", words[0], std::strerror(failure)));
  return child;
}

}  // namespace

ProgramOutput output_of(const Words& words, bool may_be_interrupted) {
  Pipe out, err;
  const pid_t child = start(words, out, err);
  Pipe::close_end(out.write_end);
  Pipe::close_end(err.write_end);
  ProgramOutput result;
  while (out.read_end >= 0 || err.read_end >= 0) {
    pollfd ends[2] = {{out.read_end, POLLIN, 0}, {err.read_end, POLLIN, 0}};
    poll(ends, 2, 100);  // negative descriptors are ignored
    if (ends[0].revents != 0) out.take(result.out);
    if (ends[1].revents != 0) err.take(result.err);
    if (may_be_interrupted && interrupted()) {
      kill(child, SIGKILL);
      break;
    }
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw Error(fmt::format("lost '{}': {}", words[0], std::strerror(errno)));
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

bool is_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace nearwarp::cli
