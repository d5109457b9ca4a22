#include "ranks/tcp/tcp_window.h"

#include <chrono>

#include "base/cancellation.h"
#include "base/contained.h"
#include "ranks/tcp/transport_impl.h"

namespace millrace::ranks {
namespace {

// The interval at which a wait calls its check.
constexpr std::chrono::milliseconds kLookInterval(50);

}  // namespace

TcpWindow::~TcpWindow() {
  transport_.forget(*this);
}

Status TcpWindow::send(uint32_t to, uint64_t slot, size_t bytes) {
  return contained(
      [&] { return transport_.connection(to).send(*this, slot, memory_.first(bytes)); });
}

Status TcpWindow::receive(uint32_t from, uint64_t slot) {
  return contained([&] { return transport_.connection(from).receive(*this, slot, memory_); });
}

Status TcpWindow::wait(uint64_t& complete, WaitCheck& check) {
  const CancellationOff whole;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (complete != 0) {
      --complete;
      return {};
    }
    if (!failure_.ok()) return failure_;
    if (changed_.wait_for(lock, kLookInterval) == std::cv_status::no_timeout) continue;
    lock.unlock();
    MILLRACE_RETURN_IF_ERROR(check.check());
    lock.lock();
  }
}

void TcpWindow::note(uint64_t& complete) noexcept {
  const std::lock_guard lock(mutex_);
  ++complete;
  // Notifies while the mutex is held: the window may be destroyed as soon as its thread sees the
  // message.
  changed_.notify_one();
}

void TcpWindow::fail(const Status& why) noexcept {
  const std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = why;
  changed_.notify_one();
}

}  // namespace millrace::ranks
