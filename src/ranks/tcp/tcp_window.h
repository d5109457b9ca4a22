// TcpWindow: counts the complete messages of one window, and lets a thread wait for them.
// Connections call note_sent(), note_received() and fail() on any thread; all other functions are
// for the thread that uses the window.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "base/status.h"
#include "ranks/transport.h"

namespace millrace::ranks {

class TcpTransport;

class TcpWindow final : public Window {
 public:
  TcpWindow(TcpTransport& transport, std::span<std::byte> memory) noexcept
      : transport_(transport), memory_(memory) {}
  ~TcpWindow() override;

  Status send(uint32_t to, uint64_t slot, size_t bytes) override;
  Status receive(uint32_t from, uint64_t slot) override;
  Status wait_sent(WaitCheck& check) override { return wait(sent_, check); }
  Status wait_received(WaitCheck& check) override { return wait(received_, check); }

  // Connections call these.
  void note_sent() noexcept { note(sent_); }
  void note_received() noexcept { note(received_); }
  // Reports that the messages that are not complete never will be.
  void fail(const Status& why) noexcept;

 private:
  Status wait(uint64_t& complete, WaitCheck& check);
  void note(uint64_t& complete) noexcept;

  TcpTransport& transport_;
  const std::span<std::byte> memory_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  uint64_t sent_ = 0, received_ = 0;  // complete messages for which no wait has returned
  Status failure_;
};

}  // namespace millrace::ranks
