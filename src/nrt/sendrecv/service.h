// Service: point-to-point sends and receives between processes, over TCP. An event loop on one
// thread (epoll) serves all connections of the process; the thread is started with the first
// connection.
//
// Rendezvous: core N of a host is reached at port `port` + N. The receiver listens there while it
// waits for a sender, only at the local address from which the sender's host is reached. The sender
// connects and sends a greeting with the numbers of the two cores (wire.h); the receiver answers
// once a communicator expects that sender. Several connections between the same two cores are
// matched in the order in which they were begun on each side.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/status.h"
#include "nrt/sendrecv/communicator.h"
#include "nrt/sendrecv/dial.h"
#include "nrt/sendrecv/doorway.h"
#include "nrt/sendrecv/poller.h"

namespace millrace::nrt::sendrecv {

struct Options {
  uint32_t cores = 1;  // the number of cores of the host
  uint16_t port = 0;   // the TCP port of core 0
  std::chrono::nanoseconds connect_timeout{0};
  std::chrono::nanoseconds request_timeout{0};  // longest time without progress
};

class Service {
 public:
  // The number of communicators that a core may have until it is closed.
  static constexpr size_t kMostCommunicators = 64;

  explicit Service(const Options& options);
  // Calls stop().
  ~Service();

  // Opens a core for sends and receives. kInvalidArgument for a core that the host does not have,
  // or that is open already.
  Status open(int core);
  // Closes a core: ends its communicators and frees their handles and those of their requests.
  // kInvalidArgument for a core that is not open; kBusy, and nothing has changed, while a
  // communicator is connecting or a request is pending.
  Status close(int core);
  // kInvalidArgument for a core that is not open.
  Status check_open(int core);

  // Begins to connect an open core to a core of the host `peer_ip`, a numeric IP address. Returns
  // at once; the communicator is in the state kConnecting. kInvalidArgument for an invalid address
  // or core; kResourceExhausted when the core has kMostCommunicators, or no thread can be started;
  // kIoError when the listening socket cannot be created. May throw bad_alloc.
  Result<std::shared_ptr<Communicator>> begin(Side side, const char* peer_ip, int peer_core,
                                              int core);

  // Posts a request that was reserved and filled in, and wakes the thread.
  void post(Request& request) noexcept;
  // Fails the request's communicator with kDeadlineExceeded when nothing has moved for longer than
  // the request timeout.
  void give_up_if_overdue(const Request& request);

  // Ends the thread and all connections. No other function may be called afterwards.
  void stop() noexcept;

 private:
  struct Link {
    std::shared_ptr<Communicator> communicator;
    std::optional<Dial> dial;  // only while a sender is connecting
  };
  struct Core {
    std::vector<Link> links;  // in the order in which they were begun
    std::vector<Doorway> doorways;
  };
  class CoreExpectations;

  Status start();
  void run();
  // Requirement of the functions from here to watch(): mutex_ is held.
  void step(std::span<const epoll_event> ready);
  void step_links(Core& core, std::span<const epoll_event> ready, int64_t now_ns);
  void connect(Core& core, Link& link, int64_t now_ns);
  void serve(Communicator& communicator);
  void step_doorways(Core& core, int64_t now_ns);
  Status open_doorway(Core& core, const Route& route);
  void fail(Communicator& communicator, const Status& why);
  Status watch(Communicator& communicator, Interest now) noexcept;

  const Options options_;
  std::mutex mutex_;
  std::map<int, Core> cores_;  // the open cores, by number
  std::optional<Poller> poller_;
  std::thread thread_;
  bool connecting_ = false;  // a communicator is connecting, so the thread wakes periodically
  bool stopping_ = false;
};

}  // namespace millrace::nrt::sendrecv
