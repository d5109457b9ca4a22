#include "base/process/thread.h"

#include <pthread.h>
#include <sched.h>

#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "base/float_environment.h"
#include "base/format_status.h"
#include "base/process/all_signals_blocked.h"
#include "base/process/forked_child.h"

namespace millrace {
Result<std::thread> start_thread(const char* name, std::function<void()> body) {
  if (is_forked_child()) return forked_status();
  MILLRACE_RETURN_IF_ERROR(watch_for_forks());
  const AllSignalsBlocked blocked;
  try {
    return std::thread([name, body = std::move(body)] {
      pthread_setname_np(pthread_self(), name);
      pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
      const DefaultFloatEnvironment floats;  // a new thread inherits its creator's environment
      body();
    });
  } catch (const std::system_error& error) {
    return format_status(StatusCode::kResourceExhausted, "the system refused thread '{}': {}", name,
                         error.what());
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, "no memory for a thread");
  }
}

Status pin_this_thread(int core) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(core, &only);
  // The id 0 means the calling thread, the only one that a sandbox allows.
  if (::sched_setaffinity(0, sizeof(only), &only) == 0) return {};
  return format_status(StatusCode::kIoError, "the system refused to pin a thread to core {}: {}",
                       core, error_text(errno));
}

}  // namespace millrace
