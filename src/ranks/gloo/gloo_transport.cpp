#include "ranks/gloo/gloo_transport.h"

#include <fmt/format.h>
#include <gloo/transport/context.h>
#include <gloo/transport/tcp/device.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "base/process/all_signals_blocked.h"
#include "ranks/gloo/waker.h"
#include "ranks/rendezvous/socket.h"

namespace millrace::ranks {
namespace {

using GlooContext = gloo::transport::Context;
using GlooBuffer = gloo::transport::UnboundBuffer;

// Gloo's own limit on a wait, after which it gives up all connections. Ours are shorter.
constexpr std::chrono::milliseconds kNeverReached = std::chrono::hours(24 * 365);

// Blocks SIGPIPE on this thread, and takes one that came meanwhile: Gloo writes to connections that
// the other side may have closed. Its own thread inherits the mask.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() noexcept {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutPipeSignal() {
    if (sigismember(&before_, SIGPIPE) == 1) return;
    const timespec at_once{};
    while (sigtimedwait(&pipe_, nullptr, &at_once) == SIGPIPE) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;

 private:
  sigset_t pipe_, before_;
};

// Runs `call`, and turns what Gloo throws into a status.
template <class Call>
auto guarded(Call&& call) -> decltype(call()) {
  const WithoutPipeSignal quiet;
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, "no memory for a message");
  } catch (const std::exception& error) {
    // Behind the position in its source, which says nothing to a user.
    const std::string_view text = error.what();
    const size_t end = text.starts_with('[') ? text.find("] ") : text.npos;
    const std::string_view said = end == text.npos ? text : text.substr(end + 2);
    return Status(StatusCode::kIoError, fmt::format("the connection has ended ({})", said));
  }
}

class GlooWindow final : public Window {
 public:
  GlooWindow(std::unique_ptr<GlooBuffer> buffer, Waker& waker) noexcept
      : buffer_(std::move(buffer)), waker_(waker) {}

  Status send(uint32_t to, uint64_t slot, size_t bytes) override {
    return guarded([&]() -> Status {
      buffer_->send(static_cast<int>(to), slot, 0, bytes);
      return {};
    });
  }
  Status receive(uint32_t from, uint64_t slot) override {
    return guarded([&]() -> Status {
      buffer_->recv(static_cast<int>(from), slot, 0, buffer_->size);
      return {};
    });
  }
  Status wait_sent(WaitCheck& check) override {
    return wait(check, [&] { return buffer_->waitSend(nullptr, kNeverReached); });
  }
  Status wait_received(WaitCheck& check) override {
    return wait(check, [&] { return buffer_->waitRecv(nullptr, kNeverReached); });
  }

 private:
  // `wait_once` returns false when the waker has ended it, to look at the check.
  template <class WaitOnce>
  Status wait(WaitCheck& check, WaitOnce&& wait_once) {
    const Waker::Waiting waiting(waker_, *buffer_);
    return guarded([&]() -> Status {
      while (!wait_once()) MILLRACE_RETURN_IF_ERROR(check.check());
      return {};
    });
  }

  const std::unique_ptr<GlooBuffer> buffer_;
  Waker& waker_;
};

class GlooTransport final : public Transport {
 public:
  GlooTransport(std::shared_ptr<GlooContext> context, std::unique_ptr<Waker> waker) noexcept
      : context_(std::move(context)), waker_(std::move(waker)) {}

  uint32_t rank() const noexcept override { return static_cast<uint32_t>(context_->rank); }
  uint32_t size() const noexcept override { return static_cast<uint32_t>(context_->size); }
  Result<std::unique_ptr<Window>> open_window(std::span<std::byte> memory) override {
    return guarded([&]() -> Result<std::unique_ptr<Window>> {
      return std::unique_ptr<Window>(std::make_unique<GlooWindow>(
          context_->createUnboundBuffer(memory.data(), memory.size()), *waker_));
    });
  }
  void close() noexcept override {
    for (int peer = 0; peer < context_->size; ++peer) {
      if (peer == context_->rank) continue;
      const Status closed = guarded([&]() -> Status {
        context_->getPair(peer)->close();
        return {};
      });
      if (!closed.ok()) continue;  // it was closed before
    }
  }

 private:
  const std::shared_ptr<GlooContext> context_;
  const std::unique_ptr<Waker> waker_;
};

Card card_of(const std::vector<char>& address) {
  Card card{};
  std::memcpy(card.data(), address.data(), std::min(card.size(), address.size()));
  return card;
}

// What a rank says first on each of its connections: a stranger could have come before it.
struct Hello {
  uint64_t session;
  uint64_t rank;
  friend bool operator==(const Hello&, const Hello&) = default;
};

class WithinLimit final : public WaitCheck {
 public:
  explicit WithinLimit(const Limit& limit) noexcept : limit_(limit) {}
  Status check() noexcept override { return check_limit(limit_, "it has not answered in time"); }

 private:
  const Limit& limit_;
};

Status greet(Transport& transport, uint32_t peer, uint64_t session, const Limit& limit) {
  Hello own{session, transport.rank()}, theirs{};
  const auto bytes_of = [](Hello& hello) { return std::as_writable_bytes(std::span(&hello, 1)); };
  MILLRACE_ASSIGN_OR_RETURN(const std::unique_ptr<Window> out,
                            transport.open_window(bytes_of(own)));
  MILLRACE_ASSIGN_OR_RETURN(const std::unique_ptr<Window> in,
                            transport.open_window(bytes_of(theirs)));
  WithinLimit within(limit);
  MILLRACE_RETURN_IF_ERROR(in->receive(peer, 0));
  MILLRACE_RETURN_IF_ERROR(out->send(peer, 0, sizeof(Hello)));
  MILLRACE_RETURN_IF_ERROR(in->wait_received(within));
  MILLRACE_RETURN_IF_ERROR(out->wait_sent(within));
  if (theirs == Hello{session, peer}) return {};
  return {StatusCode::kCorruptData, "another process has taken its place"};
}

// Gloo waits for a connection for five times the limit that it is given.
std::chrono::milliseconds limit_until(Deadline deadline) {
  const auto now = std::chrono::steady_clock::now();
  const auto left = std::min<std::chrono::nanoseconds>(
      deadline - std::max(now, deadline - std::chrono::hours(24)), std::chrono::hours(24));
  return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(left / 5),
                  std::chrono::milliseconds(1));
}

// A context whose pairs listen on `address`.
Result<std::shared_ptr<GlooContext>> make_context(const MeetingOptions& options,
                                                  const std::string& address) {
  return guarded([&]() -> Result<std::shared_ptr<GlooContext>> {
    const AllSignalsBlocked blocked;  // the device starts a thread
    const std::shared_ptr<gloo::transport::Device> device =
        gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr(address.c_str()));
    const auto context =
        device->createContext(static_cast<int>(options.rank), static_cast<int>(options.ranks));
    context->setTimeout(limit_until(options.limit.deadline));
    for (int peer = 0; peer < context->size; ++peer)
      if (peer != context->rank) context->createPair(peer);
    return context;
  });
}

Status connect_pair(GlooContext& context, int peer, const Card& card) {
  return guarded([&]() -> Status {
    const auto* const address = reinterpret_cast<const char*>(card.data());
    const size_t bytes = context.getPair(peer)->address().bytes().size();
    context.getPair(peer)->connect(std::vector<char>(address, address + bytes));
    return {};
  });
}

}  // namespace

Result<std::unique_ptr<Transport>> connect_gloo_transport(const MeetingOptions& options) {
  MILLRACE_ASSIGN_OR_RETURN(const std::unique_ptr<Meeting> meeting, Meeting::open(options));
  MILLRACE_ASSIGN_OR_RETURN(const std::string address, meeting->own_address());
  MILLRACE_ASSIGN_OR_RETURN(const std::shared_ptr<GlooContext> context,
                            make_context(options, address));
  MILLRACE_ASSIGN_OR_RETURN(std::unique_ptr<Waker> waker, Waker::start());
  auto transport = std::make_unique<GlooTransport>(context, std::move(waker));
  std::vector<Card> cards(options.ranks);
  for (int peer = 0; peer < context->size; ++peer)
    if (peer != context->rank)
      cards[static_cast<size_t>(peer)] = card_of(context->getPair(peer)->address().bytes());
  MILLRACE_ASSIGN_OR_RETURN(const Roster roster, meeting->exchange(cards));
  for (uint32_t peer = 0; peer < options.ranks; ++peer) {
    if (peer == options.rank) continue;
    Status connected = connect_pair(*context, static_cast<int>(peer), roster.cards[peer]);
    if (connected.ok()) connected = greet(*transport, peer, roster.session, options.limit);
    if (!connected.ok()) return connected.with_context(fmt::format("connecting to rank {}", peer));
  }
  return std::unique_ptr<Transport>(std::move(transport));
}

}  // namespace millrace::ranks
