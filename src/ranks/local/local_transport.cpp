// All ranks share one hub, a table of posted sends and receives under one mutex. When the second
// side of a message is posted, that thread copies the message.
#include "ranks/local/local_transport.h"

#include <algorithm>
#include <chrono>
#include <compare>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

namespace millrace::ranks {
namespace {

constexpr std::chrono::milliseconds kCheckInterval(50);

struct Route {
  uint32_t from, to;
  uint64_t slot;
  auto operator<=>(const Route&) const = default;
};

class LocalWindow;

struct Message {
  LocalWindow* window;
  size_t bytes;
};

// The state that all ranks share.
struct Hub {
  explicit Hub(uint32_t ranks) : closed(ranks, false) {}

  std::mutex mutex;
  std::condition_variable changed;
  std::map<Route, std::deque<Message>> sends, receives;  // posted without a match so far
  std::vector<bool> closed;
};

class LocalWindow final : public Window {
 public:
  LocalWindow(std::shared_ptr<Hub> hub, uint32_t rank, std::span<std::byte> memory) noexcept
      : hub_(std::move(hub)), rank_(rank), memory_(memory) {}
  ~LocalWindow() override {
    const std::lock_guard lock(hub_->mutex);
    for (auto* const side : {&hub_->sends, &hub_->receives})
      for (auto& [route, messages] : *side)
        std::erase_if(messages, [&](const Message& message) { return message.window == this; });
  }

  Status send(uint32_t to, uint64_t slot, size_t bytes) override {
    const std::lock_guard lock(hub_->mutex);
    const Route route{rank_, to, slot};
    sending_.push_back(to);
    if (std::deque<Message>& waiting = hub_->receives[route]; !waiting.empty())
      pass({this, bytes}, std::exchange(waiting.front(), {}), waiting);
    else
      hub_->sends[route].push_back({this, bytes});
    return {};
  }

  Status receive(uint32_t from, uint64_t slot) override {
    const std::lock_guard lock(hub_->mutex);
    const Route route{from, rank_, slot};
    receiving_.push_back(from);
    if (std::deque<Message>& waiting = hub_->sends[route]; !waiting.empty())
      pass(std::exchange(waiting.front(), {}), {this, memory_.size()}, waiting);
    else
      hub_->receives[route].push_back({this, memory_.size()});
    return {};
  }

  Status wait_sent(WaitCheck& check) override { return wait(sent_, sending_, check); }
  Status wait_received(WaitCheck& check) override { return wait(received_, receiving_, check); }

 private:
  // Copies a message and removes the first element of `waiting`, which is its send or its receive.
  // Requirement: the hub is locked.
  void pass(Message send, Message receive, std::deque<Message>& waiting) {
    waiting.pop_front();
    std::memcpy(receive.window->memory_.data(), send.window->memory_.data(), send.bytes);
    ++send.window->sent_;
    ++receive.window->received_;
    hub_->changed.notify_all();
  }

  Status wait(uint32_t& done, std::deque<uint32_t>& peers, WaitCheck& check) {
    std::unique_lock lock(hub_->mutex);
    while (done == 0) {
      if (hub_->closed[rank_] || hub_->closed[peers.front()])
        return {StatusCode::kIoError, "the connection has ended"};
      hub_->changed.wait_for(lock, kCheckInterval);
      MILLRACE_RETURN_IF_ERROR(done == 0 ? check.check() : Status());
    }
    --done;
    peers.pop_front();
    return {};
  }

  const std::shared_ptr<Hub> hub_;
  const uint32_t rank_;
  const std::span<std::byte> memory_;
  uint32_t sent_ = 0, received_ = 0;          // complete messages that were not waited for yet
  std::deque<uint32_t> sending_, receiving_;  // peers of the posted messages not waited for yet
};

class LocalTransport final : public Transport {
 public:
  LocalTransport(std::shared_ptr<Hub> hub, uint32_t rank) noexcept
      : hub_(std::move(hub)), rank_(rank) {}
  ~LocalTransport() override { close(); }

  uint32_t rank() const noexcept override { return rank_; }
  uint32_t size() const noexcept override { return static_cast<uint32_t>(hub_->closed.size()); }
  Result<std::unique_ptr<Window>> open_window(std::span<std::byte> memory) override {
    return std::unique_ptr<Window>(std::make_unique<LocalWindow>(hub_, rank_, memory));
  }
  void close() noexcept override {
    const std::lock_guard lock(hub_->mutex);
    hub_->closed[rank_] = true;
    hub_->changed.notify_all();
  }

 private:
  const std::shared_ptr<Hub> hub_;
  const uint32_t rank_;
};

}  // namespace

std::vector<std::unique_ptr<Transport>> make_local_transports(uint32_t ranks) {
  const auto hub = std::make_shared<Hub>(ranks);
  std::vector<std::unique_ptr<Transport>> transports;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    transports.push_back(std::make_unique<LocalTransport>(hub, rank));
  return transports;
}

}  // namespace millrace::ranks
