#include "tests/ranks/group.h"

#include <thread>

#include "ranks/local/local_transport.h"
#include "ranks/message_communicator.h"

namespace millrace::ranks {

Group make_group(uint32_t ranks, std::chrono::nanoseconds timeout) {
  Group group;
  for (std::unique_ptr<Transport>& transport : make_local_transports(ranks))
    group.push_back(MessageCommunicator::make(std::move(transport), timeout).value());
  return group;
}

void on_each_rank(const Group& group, const std::function<void(Communicator&)>& body) {
  std::vector<std::thread> threads;
  for (const std::shared_ptr<Communicator>& communicator : group)
    threads.emplace_back([&body, &communicator] { body(*communicator); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace millrace::ranks
