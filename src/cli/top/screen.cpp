#include "cli/top/screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "base/files/own_descriptor.h"
#include "cli/top/characters.h"

namespace millrace::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l", kLeave = "\x1b[?25h\x1b[?1049l";
constexpr int kHandled[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP};

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kHandled) sigaddset(&set, signal);
  return set;
}

// Returns false if the terminal is gone.
bool write_out(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

struct Size {
  size_t rows = 24, columns = 80;
};

Size size_of_terminal() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
    return {};
  return {size.ws_row, size.ws_col};
}

// Ends the program as the signal does by default.
void end_by(int signal, const sigset_t& mask) {
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

}  // namespace

bool Screen::is_possible() {
  const char* const kind = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && kind != nullptr && *kind != '\0' &&
         std::string_view(kind) != "dumb";
}

Result<std::unique_ptr<Screen>> Screen::take() {
  std::unique_ptr<Screen> screen(new Screen);
  const sigset_t handled = handled_signals();
  screen->signals_ = own_descriptor(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!screen->signals_) {
    return Status(StatusCode::kResourceExhausted, "no descriptor for the signals of the terminal");
  }
  ::pthread_sigmask(SIG_BLOCK, &handled, &screen->before_);
  screen->has_settings_ = ::tcgetattr(STDIN_FILENO, &screen->settings_) == 0;
  screen->enter();
  return screen;
}

Screen::~Screen() {
  if (!signals_) return;
  leave();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

// Keys come at once and are not shown; Ctrl-C and Ctrl-Z still send signals.
void Screen::enter() {
  if (has_settings_) {
    termios settings = settings_;
    settings.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &settings);
  }
  write_out(kEnter);
}

void Screen::leave() {
  write_out(kLeave);
  if (has_settings_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &settings_);
}

void Screen::draw(const Lines& lines_of) const {
  const Size size = size_of_terminal();
  const std::vector<std::string> lines = lines_of(size.columns);
  std::string text = "\x1b[H";
  const size_t shown = std::min(lines.size(), size.rows);
  for (size_t i = 0; i < shown; ++i) {
    text += first_characters(lines[i], size.columns);
    text += i + 1 < size.rows ? "\x1b[K\r\n" : "\x1b[K";
  }
  write_out(text + "\x1b[J");
}

// Returns false if the user wants to end it.
bool Screen::handle_key() {
  char key = 0;
  const ssize_t got = ::read(STDIN_FILENO, &key, 1);
  if (got <= 0) has_settings_ = false;  // no more keys
  return got <= 0 || (key != 'q' && key != 'Q');
}

// Returns false if the signal ends it.
bool Screen::handle_signal(const Lines& lines) {
  signalfd_siginfo info{};
  if (::read(signals_.get(), &info, sizeof(info)) != sizeof(info)) return true;
  const int signal = static_cast<int>(info.ssi_signo);
  if (signal == SIGWINCH) {
    draw(lines);
    return true;
  }
  if (signal == SIGINT) return false;
  leave();
  if (signal != SIGTSTP) {
    end_by(signal, before_);
    return false;
  }
  ::raise(SIGSTOP);
  enter();
  draw(lines);
  return true;
}

bool Screen::show(const Lines& lines, milliseconds time) {
  draw(lines);
  const auto until = steady_clock::now() + time;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
    if (left.count() <= 0) return true;
    pollfd waited[] = {{signals_.get(), POLLIN, 0},
                       {has_settings_ ? STDIN_FILENO : -1, POLLIN, 0},
                       {STDOUT_FILENO, 0, 0}};
    if (::poll(waited, 3, static_cast<int>(left.count())) < 0 && errno != EINTR) return false;
    if (waited[0].revents != 0 && !handle_signal(lines)) return false;
    if (waited[1].revents != 0 && !handle_key()) return false;
    if ((waited[2].revents & (POLLERR | POLLHUP)) != 0) return false;
  }
}

}  // namespace millrace::cli
