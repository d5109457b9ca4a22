// Peers of sends and receives that die, stay away, send too much, or are no peers at all.
#include <signal.h>
#include <sys/wait.h>

#include <random>

#include "tests/nrt/fresh_process.h"
#include "tests/nrt/send_receive_fixture.h"
#include "tests/support/log_capture.h"

namespace millrace::test {
namespace {

class SendReceiveFailure : public SendReceiveTest {};

TEST_F(SendReceiveFailure, OfAPeerThatIsGoneEndsEveryRequest) {
  connect();
  const ScopedTensor to(4, 1);
  auto* const first = receive(to, 0, 4);
  auto* const second = receive(to, 0, 4);
  const LogCapture log;
  ASSERT_EQ(nrt_async_sendrecv_close(0), NRT_SUCCESS);
  for (auto* const request : {first, second}) {
    bool done = false;
    NRT_STATUS status = NRT_SUCCESS;
    while (!done) status = nrt_async_sendrecv_test_request(request, &done, nullptr);
    EXPECT_EQ(status, NRT_FAILURE) << "and done, so that no program waits for ever";
    EXPECT_EQ(nrt_async_sendrecv_test_request(request, &done, nullptr), NRT_INVALID_HANDLE);
  }
  EXPECT_EQ(log.count("WARNING core 0 of 127.0.0.1 to core 1: the peer has closed"), 1u);
  nrt_async_sendrecv_request_t* third = nullptr;
  EXPECT_EQ(nrt_async_sendrecv_recv_tensor(to.get(), 0, 4, receiver_, &third), NRT_FAILURE);
  bool done = false;
  EXPECT_EQ(nrt_async_sendrecv_test_comm(receiver_, &done), NRT_FAILURE);
  EXPECT_EQ(nrt_async_sendrecv_close(1), NRT_SUCCESS);
}

TEST_F(SendReceiveFailure, OfAPeerThatIsGoneComesAfterWhatItHasSent) {
  connect();
  const ScopedTensor from(4), to(4, 1);
  write(from, "last");
  EXPECT_EQ(await_request(send(from, 0, 4)), NRT_SUCCESS);
  ASSERT_EQ(nrt_async_sendrecv_close(0), NRT_SUCCESS);
  EXPECT_EQ(await_request(receive(to, 0, 4)), NRT_SUCCESS);
  EXPECT_EQ(read(to), "last");
  EXPECT_EQ(await_request(receive(to, 0, 4)), NRT_FAILURE);
}

TEST_F(SendReceiveFailure, OfAMessageThatHasNoRoomNamesBothSizes) {
  connect();
  const ScopedTensor from(8), to(8, 1);
  const LogCapture log;
  auto* const receiving = receive(to, 0, 7);
  EXPECT_EQ(await_request(send(from, 0, 8)), NRT_SUCCESS);
  EXPECT_EQ(await_request(receiving), NRT_FAILURE);
  EXPECT_GE(log.count("sends 8 bytes, but the receive has room for 7"), 1u);
}

class SendReceiveTimeout : public SendReceiveTest {
 protected:
  SendReceiveTimeout() : SendReceiveTest({{"MILLRACE_NRT_SENDRECV_TIMEOUT", "300ms"}}) {}
};

TEST_F(SendReceiveTimeout, EndsAConnectionThatNobodyTakes) {
  const LogCapture log;
  ASSERT_EQ(nrt_async_sendrecv_connect(kThisHost, 1, 0, &sender_), NRT_SUCCESS);
  ASSERT_EQ(nrt_async_sendrecv_accept(kThisHost, 0, 0, &receiver_), NRT_SUCCESS);
  EXPECT_EQ(await_connected(sender_), NRT_TIMEOUT);
  EXPECT_EQ(await_connected(receiver_), NRT_TIMEOUT);
  EXPECT_GE(log.count("core 0 to core 1 of 127.0.0.1: not connected within 0.3 s"), 1u);
  EXPECT_EQ(nrt_async_sendrecv_close(0), NRT_SUCCESS);
}

class SendReceiveRequestTimeout : public SendReceiveTest {
 protected:
  SendReceiveRequestTimeout() : SendReceiveTest({{"NEURON_RT_EXEC_TIMEOUT", "1"}}) {}
};

TEST_F(SendReceiveRequestTimeout, EndsARequestWithoutProgress) {
  ASSERT_EQ(nrt_async_sendrecv_connect(kThisHost, 1, 0, &sender_), NRT_SUCCESS);
  ASSERT_EQ(nrt_async_sendrecv_accept(kThisHost, 0, 1, &receiver_), NRT_SUCCESS);
  ASSERT_EQ(await_connected(receiver_), NRT_SUCCESS);
  const ScopedTensor to(4, 1);
  EXPECT_EQ(await_request(receive(to, 0, 4)), NRT_TIMEOUT);
}

// The first message of a sender from core 0 to core 1.
std::string greeting() {
  return {"MRRS\1\0\0\0\0\0\0\0\1\0\0\0", 16};
}

class SendReceiveStrangers : public SendReceiveTest {
 protected:
  void accept() { ASSERT_EQ(nrt_async_sendrecv_accept(kThisHost, 0, 1, &receiver_), NRT_SUCCESS); }
  UniqueFd stranger(const std::string& says) const {
    UniqueFd socket = connected_socket(port_of_core(1));
    EXPECT_GE(::send(socket.get(), says.data(), says.size(), MSG_NOSIGNAL), 0);
    return socket;
  }
};

TEST_F(SendReceiveStrangers, AreTurnedAway) {
  accept();
  std::mt19937 random(7);
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 300; ++i) {
    std::string says(random() % 64, '\0');
    for (char& c : says) c = static_cast<char>(random());
    // Some of them nearly know what to say.
    if (i % 3 == 0) says = greeting().replace(random() % 16, 1, 1, static_cast<char>(random() | 8));
    UniqueFd socket = stranger(says);
    if (i % 5 == 0) silent.push_back(std::move(socket));
  }
  bool done = true;
  ASSERT_EQ(nrt_async_sendrecv_test_comm(receiver_, &done), NRT_SUCCESS);
  EXPECT_FALSE(done);
  ASSERT_EQ(nrt_async_sendrecv_connect(kThisHost, 1, 0, &sender_), NRT_SUCCESS);
  EXPECT_EQ(await_connected(sender_), NRT_SUCCESS);
  EXPECT_EQ(await_connected(receiver_), NRT_SUCCESS);
}

TEST_F(SendReceiveStrangers, MayClaimAnySize) {
  for (const std::string& size : {std::string(8, '\xff'), std::string("\0\0\0\0\0\0\0\x10", 8)}) {
    accept();
    const UniqueFd socket = stranger(greeting());
    ASSERT_EQ(await_connected(receiver_), NRT_SUCCESS);
    const ScopedTensor to(64, 1);
    auto* const request = receive(to, 0, 64);
    const std::string head = std::string("\1MRRSNRT", 8) + size;
    ASSERT_EQ(::send(socket.get(), head.data(), head.size(), MSG_NOSIGNAL), 16);
    EXPECT_EQ(await_request(request), NRT_FAILURE);
  }
}

TEST_F(SendReceiveStrangers, MaySendAnythingToAReceive) {
  accept();
  const UniqueFd socket = stranger(greeting());
  ASSERT_EQ(await_connected(receiver_), NRT_SUCCESS);
  const ScopedTensor to(64, 1);
  auto* const request = receive(to, 0, 64);
  const std::string noise(400, 'n');
  ASSERT_EQ(::send(socket.get(), noise.data(), noise.size(), MSG_NOSIGNAL), 400);
  EXPECT_EQ(await_request(request), NRT_FAILURE);
  EXPECT_EQ(read(to), std::string(64, '\0'));
}

// ---- Two processes ----

// Waits for the core of the peer, and returns the communicator.
nrt_async_sendrecv_comm_t* connected(bool sends, int peer_core, int core) {
  nrt_async_sendrecv_comm_t* comm = nullptr;
  const auto begin = sends ? nrt_async_sendrecv_connect : nrt_async_sendrecv_accept;
  if (begin(kThisHost, peer_core, core, &comm) != NRT_SUCCESS) return nullptr;
  return await_connected(comm) == NRT_SUCCESS ? comm : nullptr;
}

struct Process {
  explicit Process(int core) {
    setenv("MILLRACE_DEVICE", "null", 1);
    setenv("NEURON_RT_LOG_LEVEL", "QUIET", 1);
    setenv("NEURON_RT_VISIBLE_CORES", std::to_string(core).c_str(), 1);
    ok = nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_SUCCESS &&
         nrt_async_sendrecv_init(core) == NRT_SUCCESS &&
         nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, kBytes, "t", &tensor) == NRT_SUCCESS;
  }
  NRT_STATUS move(bool sends, nrt_async_sendrecv_comm_t* comm, size_t* size = nullptr) {
    nrt_async_sendrecv_request_t* request = nullptr;
    const auto begin = sends ? nrt_async_sendrecv_send_tensor : nrt_async_sendrecv_recv_tensor;
    const NRT_STATUS begun = begin(tensor, 0, kBytes, comm, &request);
    return begun == NRT_SUCCESS ? await_request(request, size) : begun;
  }
  static constexpr size_t kBytes = 3'000'000;
  bool ok = false;
  nrt_tensor_t* tensor = nullptr;
};

// The peer of the test, core 1: receives a tensor and sends it back with each byte one higher.
int echo() {
  Process process(1);
  nrt_async_sendrecv_comm_t* const in = connected(false, 0, 1);
  nrt_async_sendrecv_comm_t* const out = connected(true, 0, 1);
  if (!process.ok || in == nullptr || out == nullptr) return 1;
  if (process.move(false, in) != NRT_SUCCESS) return 2;
  auto* const bytes = static_cast<unsigned char*>(nrt_tensor_get_va(process.tensor));
  for (size_t i = 0; i < Process::kBytes; ++i) ++bytes[i];
  if (process.move(true, out) != NRT_SUCCESS) return 3;
  if (nrt_async_sendrecv_close(1) != NRT_SUCCESS) return 4;
  nrt_close();
  return 0;
}

void exchange_with_another_process() {
  setenv("MILLRACE_NRT_SENDRECV_PORT", std::to_string(free_ports()).c_str(), 1);
  const pid_t peer = ::fork();
  if (peer == 0) ::_exit(echo());
  Process process(0);
  ASSERT_TRUE(process.ok);
  nrt_async_sendrecv_comm_t* const out = connected(true, 1, 0);
  nrt_async_sendrecv_comm_t* const in = connected(false, 1, 0);
  ASSERT_EQ(nrt_tensor_memset(process.tensor, 0, 'a', Process::kBytes), NRT_SUCCESS);
  ASSERT_EQ(process.move(true, out), NRT_SUCCESS);
  size_t size = 0;
  ASSERT_EQ(process.move(false, in, &size), NRT_SUCCESS);
  EXPECT_EQ(size, Process::kBytes);
  std::string back(Process::kBytes, ' ');
  ASSERT_EQ(nrt_tensor_read(process.tensor, back.data(), 0, back.size()), NRT_SUCCESS);
  EXPECT_TRUE(back == std::string(Process::kBytes, 'b'));
  int state = -1;
  EXPECT_EQ(::waitpid(peer, &state, 0), peer);
  EXPECT_EQ(state, 0);
  nrt_close();
}

TEST(SendReceiveProcesses, ExchangeTensors) {
  EXPECT_FRESH(exchange_with_another_process(), "");
}

void lose_the_other_process() {
  setenv("MILLRACE_NRT_SENDRECV_PORT", std::to_string(free_ports()).c_str(), 1);
  const pid_t peer = ::fork();
  if (peer == 0) {
    ::alarm(60);  // ends it where this test fails before it does
    Process process(1);
    connected(false, 0, 1);
    while (true) ::pause();
  }
  Process process(0);
  ASSERT_TRUE(process.ok);
  nrt_async_sendrecv_comm_t* const out = connected(true, 1, 0);
  ASSERT_NE(out, nullptr);
  // More than the system keeps for a peer that does not receive.
  std::vector<nrt_async_sendrecv_request_t*> requests(20);
  for (auto*& request : requests)
    ASSERT_EQ(nrt_async_sendrecv_send_tensor(process.tensor, 0, Process::kBytes, out, &request),
              NRT_SUCCESS);
  EXPECT_EQ(::kill(peer, SIGKILL), 0);
  EXPECT_EQ(await_request(requests.back()), NRT_FAILURE);
  bool done = false;
  EXPECT_EQ(nrt_async_sendrecv_test_comm(out, &done), NRT_FAILURE);
  EXPECT_EQ(nrt_async_sendrecv_close(0), NRT_SUCCESS);
  EXPECT_EQ(::waitpid(peer, nullptr, 0), peer);
  nrt_close();
}

TEST(SendReceiveProcesses, SurviveTheirPeer) {
  EXPECT_FRESH(lose_the_other_process(), "");
}

}  // namespace
}  // namespace millrace::test
