#include "timeline/dump_on_signals.h"

#include <poll.h>
#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <thread>

#include "base/never_destroyed.h"
#include "base/process/thread.h"

namespace millrace::timeline {
namespace {

constexpr int kAsks = SIGUSR2;
constexpr int kSignals[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT, SIGABRT,
                            SIGSEGV, SIGBUS,  SIGFPE, SIGILL,  kAsks};

// How long the end of the process waits for its trace. The thread cannot write it if the signal has
// interrupted an allocation.
constexpr int kPatienceMs = 5000;

struct Dumps {
  sem_t wanted{};
  std::atomic<uint64_t> requested{0}, written{0};
  std::atomic<bool> has_incident{false};  // among what was requested and is not written
  std::atomic<bool> ending{false};
  pid_t process = 0;
  void (*dump)(DumpCause) noexcept = nullptr;
  std::thread thread;

  void run() noexcept {
    for (;;) {
      while (::sem_wait(&wanted) != 0) {
      }
      if (ending.load()) return;
      const uint64_t now_wanted = requested.load();
      if (now_wanted != written.load())
        dump(has_incident.exchange(false) ? DumpCause::kIncident : DumpCause::kStop);
      written.store(now_wanted);
    }
  }
};

Dumps& dumps() {
  static NeverDestroyed<Dumps> made;
  return made.get();
}

// Async-signal-safe, since dumps() has been called before. A forked child has no thread that would
// write.
void wait_for_dump(uint64_t number) noexcept {
  for (int ms = 0; ms < kPatienceMs && dumps().written.load() < number; ++ms) ::poll(nullptr, 0, 1);
}

bool is_stop(int signal) noexcept {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

uint64_t request(DumpCause cause) noexcept {
  if (cause == DumpCause::kIncident) dumps().has_incident.store(true);
  const uint64_t number = dumps().requested.fetch_add(1) + 1;
  ::sem_post(&dumps().wanted);
  return number;
}

void on_signal(int signal) {
  const int error = errno;
  if (::getpid() == dumps().process && !dumps().ending.load()) {
    const uint64_t number = request(is_stop(signal) ? DumpCause::kStop : DumpCause::kIncident);
    if (signal != kAsks) wait_for_dump(number);
  }
  errno = error;
  if (signal == kAsks) return;
  ::signal(signal, SIG_DFL);
  ::raise(signal);  // ends the process when this function returns
}

bool has_default_action(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
         action.sa_handler == SIG_DFL;
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

bool is_handled_here(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == on_signal;
}

}  // namespace

Status dump_on_signals(void (*dump)(DumpCause) noexcept) {
  Dumps& all = dumps();
  all.dump = dump;
  all.process = ::getpid();
  ::sem_init(&all.wanted, 0, 0);
  MILLRACE_ASSIGN_OR_RETURN(all.thread, start_thread("millrace-trace", [&all] { all.run(); }));
  for (const int signal : kSignals)
    if (has_default_action(signal)) handle(signal, on_signal);
  return {};
}

void end_dumps() noexcept {
  Dumps& all = dumps();
  if (::getpid() != all.process || !all.thread.joinable()) return;
  for (const int signal : kSignals)
    if (is_handled_here(signal)) handle(signal, signal == kAsks ? SIG_IGN : SIG_DFL);
  all.ending.store(true);
  ::sem_post(&all.wanted);
  all.thread.join();
}

void request_dump() noexcept {
  if (::getpid() == dumps().process && !dumps().ending.load()) request(DumpCause::kIncident);
}

}  // namespace millrace::timeline
