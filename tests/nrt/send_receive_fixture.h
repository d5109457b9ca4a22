// Sends and receives between two cores of one process, over ports that the system chose.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "base/unique_fd.h"
#include "nrt/nrt_async_sendrecv.h"
#include "tests/nrt/nrt_fixture.h"

namespace millrace::test {

inline constexpr const char* kThisHost = "127.0.0.1";

inline sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A socket at the port. None where it is taken.
inline UniqueFd bound_socket(uint16_t port) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return {};
  return socket;
}

inline UniqueFd connected_socket(uint16_t port) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
            0);
  return socket;
}

// The first of two ports that nothing uses: of cores 0 and 1. The system gives those that it
// chooses itself to outgoing connections of other processes, too, so the number of the process
// chooses, below them.
inline uint16_t free_ports() {
  for (int i = ::getpid();; ++i) {
    const auto port = static_cast<uint16_t>(20'000 + i % 5'000 * 2);
    if (bound_socket(port) && bound_socket(static_cast<uint16_t>(port + 1))) return port;
  }
}

inline ScopedEnvironment::Variables at_port(uint16_t port, ScopedEnvironment::Variables more = {}) {
  more.emplace_back("MILLRACE_NRT_SENDRECV_PORT", std::to_string(port));
  return more;
}

// Asks until the communicator is connected or fails.
inline NRT_STATUS await_connected(nrt_async_sendrecv_comm_t* comm) {
  bool done = false;
  NRT_STATUS status = NRT_SUCCESS;
  while (!done && (status = nrt_async_sendrecv_test_comm(comm, &done)) == NRT_SUCCESS)
    std::this_thread::yield();
  return status;
}

// Asks until the request is complete.
inline NRT_STATUS await_request(nrt_async_sendrecv_request_t* request, size_t* size = nullptr) {
  bool done = false;
  NRT_STATUS status = NRT_SUCCESS;
  while (!done && (status = nrt_async_sendrecv_test_request(request, &done, size)) == NRT_SUCCESS)
    std::this_thread::yield();
  return status;
}

class SendReceiveTest : public NrtTest {
 protected:
  explicit SendReceiveTest(ScopedEnvironment::Variables more = {})
      : SendReceiveTest(free_ports(), std::move(more)) {}

  // Connects core 0 to core 1.
  void connect() {
    ASSERT_EQ(nrt_async_sendrecv_connect(kThisHost, 1, 0, &sender_), NRT_SUCCESS);
    ASSERT_EQ(nrt_async_sendrecv_accept(kThisHost, 0, 1, &receiver_), NRT_SUCCESS);
    ASSERT_EQ(await_connected(sender_), NRT_SUCCESS);
    ASSERT_EQ(await_connected(receiver_), NRT_SUCCESS);
  }
  nrt_async_sendrecv_request_t* send(const ScopedTensor& tensor, size_t offset, size_t bytes) {
    nrt_async_sendrecv_request_t* request = nullptr;
    EXPECT_EQ(nrt_async_sendrecv_send_tensor(tensor.get(), offset, bytes, sender_, &request),
              NRT_SUCCESS);
    return request;
  }
  nrt_async_sendrecv_request_t* receive(const ScopedTensor& tensor, size_t offset, size_t bytes) {
    nrt_async_sendrecv_request_t* request = nullptr;
    EXPECT_EQ(nrt_async_sendrecv_recv_tensor(tensor.get(), offset, bytes, receiver_, &request),
              NRT_SUCCESS);
    return request;
  }
  static void write(const ScopedTensor& tensor, const std::string& text) {
    ASSERT_EQ(nrt_tensor_write(tensor.get(), text.data(), 0, text.size()), NRT_SUCCESS);
  }
  static std::string read(const ScopedTensor& tensor) {
    std::string text(nrt_tensor_get_size(tensor.get()), '?');
    EXPECT_EQ(nrt_tensor_read(tensor.get(), text.data(), 0, text.size()), NRT_SUCCESS);
    return text;
  }

  uint16_t port_of_core(int core) const { return static_cast<uint16_t>(port_ + core); }

  nrt_async_sendrecv_comm_t* sender_ = nullptr;
  nrt_async_sendrecv_comm_t* receiver_ = nullptr;

 private:
  SendReceiveTest(uint16_t port, ScopedEnvironment::Variables more)
      : NrtTest("null", at_port(port, std::move(more))), port_(port) {
    for (const int core : {0, 1}) EXPECT_EQ(nrt_async_sendrecv_init(core), NRT_SUCCESS);
  }

  const uint16_t port_;
};

}  // namespace millrace::test
