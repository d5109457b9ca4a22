#include "cli/supervision/interruption.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

#include "base/process/thread.h"
#include "model/files/temporary_name.h"

namespace millrace::cli {
namespace {

// Returns those of the signals whose default action would end the process. Others are left out: a
// blocked signal is delivered to a signalfd even if the process ignores it.
sigset_t signals_to_wait_for() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL)
      sigaddset(&signals, signal);
  }
  return signals;
}

// Ends the process by the signal. Returns only if that does not work.
void end_by(int signal) {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::raise(signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
}

void wait_for_signal(int signals, int stop) {
  pollfd ready[] = {{signals, POLLIN, 0}, {stop, POLLIN, 0}};
  while (::poll(ready, 2, -1) < 0 && errno == EINTR) {
  }
  signalfd_siginfo taken{};
  if (ready[0].revents == 0 || ::read(signals, &taken, sizeof taken) != sizeof taken) return;
  model::remove_temporaries_and([&] { end_by(static_cast<int>(taken.ssi_signo)); });
}

}  // namespace

Status CleanInterruption::start() {
  const sigset_t signals = signals_to_wait_for();
  signals_ = UniqueFd(::signalfd(-1, &signals, SFD_CLOEXEC));
  stop_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  if (!signals_ || !stop_) return io_error("cannot watch for signals", errno);
  ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
  Result<std::thread> thread = start_thread(
      "signals",
      [signals = signals_.get(), stop = stop_.get()] { wait_for_signal(signals, stop); });
  if (!thread.ok()) {
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    return thread.status();
  }
  thread_ = *std::move(thread);
  return {};
}

CleanInterruption::~CleanInterruption() {
  if (!thread_.joinable()) return;
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
  // A signal that came too late for the thread is delivered here, and ends the process.
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace millrace::cli
