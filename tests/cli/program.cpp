// Runs the program as a user does, and returns its output and exit code.
#include "tests/cli/program.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace nearwarp::testing {
namespace {

constexpr auto kPatience = std::chrono::minutes(2);

/// Closes a file descriptor in its destructor.
class Descriptor {
 public:
  Descriptor() = default;
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void set(int fd) { fd_ = fd; }
  int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

void must(bool good, const char* what) {
  if (!good) throw std::runtime_error(what);
}

void make_pipe(Descriptor& read_end, Descriptor& write_end) {
  int ends[2];
  must(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
  read_end.set(ends[0]);
  write_end.set(ends[1]);
}

void make_terminal(Descriptor& read_end, Descriptor& write_end) {
  int master = -1, slave = -1;
  winsize size = {};
  size.ws_row = 25;
  size.ws_col = 80;
  must(openpty(&master, &slave, nullptr, nullptr, &size) == 0, "openpty");
  fcntl(master, F_SETFD, FD_CLOEXEC);
  fcntl(slave, F_SETFD, FD_CLOEXEC);
  read_end.set(master);
  write_end.set(slave);
}

/// Appends the bytes that have arrived; closes the descriptor at the end of the output.
void drain(Descriptor& from, std::string& to) {
  char buffer[4096];
  const ssize_t n = read(from.get(), buffer, sizeof buffer);
  if (n > 0) {
    to.append(buffer, static_cast<size_t>(n));
  } else {
    from.close();  // at the end of a terminal's output, read() fails with EIO
  }
}

}  // namespace

Outcome run_program(const Words& words, const Setting& setting) {
  Descriptor out_read, out_write, err_read, err_write;
  if (setting.stdout_path.empty()) {
    make_pipe(out_read, out_write);
    if (setting.stdout_closed) out_read.close();
  } else {
    out_write.set(open(setting.stdout_path.c_str(), O_WRONLY | O_CLOEXEC));
    must(out_write.get() >= 0, "open");
  }
  if (setting.stderr_is_terminal) {
    make_terminal(err_read, err_write);
  } else {
    make_pipe(err_read, err_write);
  }

  std::vector<char*> argv = {const_cast<char*>("nearwarp")};
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);

  const pid_t child = fork();
  must(child >= 0, "fork");
  if (child == 0) {
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(out_write.get(), STDOUT_FILENO);
    dup2(err_write.get(), STDERR_FILENO);
    execv(NW_PROGRAM, argv.data());
    _exit(127);
  }
  out_write.close();
  err_write.close();

  Outcome outcome;
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (out_read.get() >= 0 || err_read.get() >= 0) {
    pollfd polled[2] = {{out_read.get(), POLLIN, 0}, {err_read.get(), POLLIN, 0}};
    poll(polled, 2, 5);  // negative descriptors are ignored
    if (polled[0].revents != 0) drain(out_read, outcome.out);
    if (polled[1].revents != 0) drain(err_read, outcome.err);
    if (setting.watch) setting.watch(child, outcome.err);
    if (std::chrono::steady_clock::now() > deadline) kill(child, SIGKILL);
  }
  int status = 0;
  must(waitpid(child, &status, 0) == child, "waitpid");
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  return outcome;
}

size_t longest_line(const std::string& text) {
  size_t longest = 0, length = 0;
  for (const char c : text) {
    if (c == '\n') {
      length = 0;
    } else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) {  // not within a UTF-8 character
      longest = std::max(longest, ++length);
    }
  }
  return longest;
}

size_t count_lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = std::filesystem::temp_directory_path() / "nearwarp-test-XXXXXX";
  must(mkdtemp(name.data()) != nullptr, "mkdtemp");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

size_t TemporaryFolder::size() const {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_),
                                           std::filesystem::directory_iterator()));
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  must(file.good(), "cannot read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  must(file.good(), "cannot write");
}

}  // namespace nearwarp::testing
