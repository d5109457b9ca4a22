// Sends and receives: what arrives, in which order, and what is refused.
#include "tests/nrt/send_receive_fixture.h"
#include "tests/support/log_capture.h"

namespace millrace::test {
namespace {

class SendReceive : public SendReceiveTest {};

TEST_F(SendReceive, MovesAPartOfATensor) {
  connect();
  constexpr size_t kBytes = size_t{9} << 20;
  const ScopedTensor from(kBytes), to(kBytes, 1);
  std::string sent(kBytes, ' ');
  for (size_t i = 0; i < kBytes; ++i) sent[i] = static_cast<char>(i * 31 >> 3);
  write(from, sent);
  auto* const receiving = receive(to, 5, kBytes - 5);
  auto* const sending = send(from, 3, kBytes - 10);
  size_t size = 0;
  EXPECT_EQ(await_request(sending, &size), NRT_SUCCESS);
  EXPECT_EQ(size, kBytes - 10);
  size = 0;
  EXPECT_EQ(await_request(receiving, &size), NRT_SUCCESS);
  EXPECT_EQ(size, kBytes - 10) << "what was sent, not what there was room for";
  EXPECT_EQ(nrt_async_sendrecv_flush(1), NRT_SUCCESS);
  EXPECT_TRUE(read(to).substr(5, kBytes - 10) == sent.substr(3, kBytes - 10));
}

TEST_F(SendReceive, KeepsTheOrderOfSendsAndReceives) {
  connect();
  const ScopedTensor one(4), two(4), nothing(4), first(4, 1), second(4, 1), third(4, 1);
  write(one, "abcd");
  write(two, "efgh");
  write(third, "????");
  // All are on their way before the first receive.
  auto* const a = send(one, 0, 4);
  auto* const b = send(nothing, 0, 0);
  auto* const c = send(two, 1, 2);
  EXPECT_EQ(await_request(c), NRT_SUCCESS);
  EXPECT_EQ(await_request(b), NRT_SUCCESS);
  EXPECT_EQ(await_request(a), NRT_SUCCESS);
  size_t size = 77;
  EXPECT_EQ(await_request(receive(first, 0, 4)), NRT_SUCCESS);
  EXPECT_EQ(await_request(receive(second, 0, 4), &size), NRT_SUCCESS);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(await_request(receive(third, 0, 4), &size), NRT_SUCCESS);
  EXPECT_EQ(size, 2u);
  EXPECT_EQ(read(first), "abcd");
  EXPECT_EQ(read(third), "fg??");
}

TEST_F(SendReceive, ConnectsInTheOrderOfTheCalls) {
  nrt_async_sendrecv_comm_t *senders[3] = {}, *receivers[3] = {};
  for (auto*& sender : senders)
    ASSERT_EQ(nrt_async_sendrecv_connect(kThisHost, 1, 0, &sender), NRT_SUCCESS);
  bool done = true;
  EXPECT_EQ(nrt_async_sendrecv_test_comm(senders[0], &done), NRT_SUCCESS);
  EXPECT_FALSE(done);
  for (auto*& receiver : receivers)
    ASSERT_EQ(nrt_async_sendrecv_accept(kThisHost, 0, 1, &receiver), NRT_SUCCESS);
  const ScopedTensor from(1), to(1, 1);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(await_connected(sender_ = senders[i]), NRT_SUCCESS);
    ASSERT_EQ(await_connected(receiver_ = receivers[i]), NRT_SUCCESS);
    write(from, std::to_string(i));
    EXPECT_EQ(await_request(send(from, 0, 1)), NRT_SUCCESS);
    EXPECT_EQ(await_request(receive(to, 0, 1)), NRT_SUCCESS);
    EXPECT_EQ(read(to), std::to_string(i));
  }
}

TEST_F(SendReceive, KeepsTheMemoryOfAFreedTensor) {
  connect();
  ScopedTensor from(4), to(4, 1);
  write(from, "kept");
  nrt_tensor_t* view = nullptr;
  ASSERT_EQ(nrt_tensor_allocate_slice(to.get(), 0, 4, "view", &view), NRT_SUCCESS);
  nrt_async_sendrecv_request_t* request = nullptr;
  ASSERT_EQ(nrt_async_sendrecv_recv_tensor(view, 0, 4, receiver_, &request), NRT_SUCCESS);
  nrt_tensor_free(&view);
  EXPECT_EQ(await_request(send(from, 0, 4)), NRT_SUCCESS);
  EXPECT_EQ(await_request(request), NRT_SUCCESS);
  EXPECT_EQ(read(to), "kept");
}

TEST_F(SendReceive, ConsumesARequestThatTestedComplete) {
  connect();
  const ScopedTensor from(4), to(4, 1);
  auto* const request = send(from, 0, 4);
  EXPECT_EQ(await_request(request), NRT_SUCCESS);
  bool done = false;
  EXPECT_EQ(nrt_async_sendrecv_test_request(request, &done, nullptr), NRT_INVALID_HANDLE);
  EXPECT_FALSE(done);
}

TEST_F(SendReceive, HasLimits) {
  connect();
  int most_requests = 0, most_communicators = 0;
  ASSERT_EQ(nrt_async_sendrecv_get_max_num_pending_request(&most_requests), NRT_SUCCESS);
  ASSERT_EQ(nrt_async_sendrecv_get_max_num_communicators_per_lnc(&most_communicators), NRT_SUCCESS);
  const ScopedTensor from(4), to(4, 1);
  std::vector<nrt_async_sendrecv_request_t*> requests;
  for (int i = 0; i < most_requests; ++i) requests.push_back(receive(to, 0, 4));
  nrt_async_sendrecv_request_t* more = nullptr;
  EXPECT_EQ(nrt_async_sendrecv_recv_tensor(to.get(), 0, 4, receiver_, &more), NRT_RESOURCE);
  EXPECT_EQ(more, nullptr);
  EXPECT_EQ(await_request(send(from, 0, 4)), NRT_SUCCESS);
  EXPECT_EQ(await_request(requests[0]), NRT_SUCCESS);
  EXPECT_EQ(nrt_async_sendrecv_recv_tensor(to.get(), 0, 4, receiver_, &more), NRT_SUCCESS);

  nrt_async_sendrecv_comm_t* comm = nullptr;
  for (int i = 1; i < most_communicators; ++i)
    ASSERT_EQ(nrt_async_sendrecv_accept(kThisHost, 0, 1, &comm), NRT_SUCCESS);
  EXPECT_EQ(nrt_async_sendrecv_accept(kThisHost, 0, 1, &comm), NRT_RESOURCE);
}

TEST_F(SendReceive, RefusesWhatCannotBeMoved) {
  nrt_async_sendrecv_comm_t* alone = nullptr;
  ASSERT_EQ(nrt_async_sendrecv_accept(kThisHost, 1, 0, &alone), NRT_SUCCESS);
  connect();
  const ScopedTensor tensor(16);
  nrt_async_sendrecv_request_t* request = nullptr;
  const auto send_with = [&](nrt_tensor_t* from, size_t offset, size_t bytes,
                             nrt_async_sendrecv_comm_t* comm) {
    return nrt_async_sendrecv_send_tensor(from, offset, bytes, comm, &request);
  };
  EXPECT_EQ(send_with(tensor.get(), 0, 16, nullptr), NRT_INVALID_HANDLE);
  EXPECT_EQ(send_with(nullptr, 0, 16, sender_), NRT_INVALID_HANDLE);
  EXPECT_EQ(send_with(tensor.get(), 8, 9, sender_), NRT_INVALID);
  EXPECT_EQ(send_with(tensor.get(), SIZE_MAX, 2, sender_), NRT_INVALID);
  EXPECT_EQ(send_with(tensor.get(), 0, 16, receiver_), NRT_INVALID) << "it is for receives";
  EXPECT_EQ(nrt_async_sendrecv_recv_tensor(tensor.get(), 0, 16, alone, &request), NRT_INVALID)
      << "it is not connected";
  EXPECT_EQ(nrt_async_sendrecv_send_tensor(tensor.get(), 0, 16, sender_, nullptr), NRT_INVALID);
  EXPECT_EQ(request, nullptr);
  EXPECT_EQ(nrt_async_sendrecv_test_comm(sender_, nullptr), NRT_INVALID);
}

TEST_F(SendReceive, RefusesConnectionsThatCannotBe) {
  nrt_async_sendrecv_comm_t* comm = nullptr;
  ASSERT_EQ(nrt_async_sendrecv_close(1), NRT_SUCCESS);
  for (auto* const begin : {nrt_async_sendrecv_connect, nrt_async_sendrecv_accept}) {
    EXPECT_EQ(begin(kThisHost, 0, 1, &comm), NRT_INVALID) << "the core is not open";
    EXPECT_EQ(begin(kThisHost, -1, 0, &comm), NRT_INVALID);
    EXPECT_EQ(begin(kThisHost, 1 << 20, 0, &comm), NRT_INVALID);
    EXPECT_EQ(begin("nowhere", 1, 0, &comm), NRT_INVALID);
    EXPECT_EQ(begin("", 1, 0, &comm), NRT_INVALID);
    EXPECT_EQ(begin(nullptr, 1, 0, &comm), NRT_INVALID);
    EXPECT_EQ(begin(kThisHost, 1, 0, nullptr), NRT_INVALID);
  }
  EXPECT_EQ(comm, nullptr);
}

TEST_F(SendReceive, NamesTheVariableWhereThePortIsTaken) {
  const UniqueFd other = bound_socket(port_of_core(1));
  ASSERT_TRUE(other);
  ASSERT_EQ(::listen(other.get(), 1), 0);
  const LogCapture log;
  EXPECT_EQ(nrt_async_sendrecv_accept(kThisHost, 0, 1, &receiver_), NRT_FAILURE);
  EXPECT_EQ(log.count("MILLRACE_NRT_SENDRECV_PORT"), 1u);
}

TEST_F(SendReceive, OpensAndClosesCores) {
  for (const int core : {0, 1}) ASSERT_EQ(nrt_async_sendrecv_close(core), NRT_SUCCESS);
  int limit = 0;
  EXPECT_EQ(nrt_async_sendrecv_get_max_num_communicators_per_lnc(&limit), NRT_SUCCESS);
  EXPECT_GT(limit, 0);
  limit = 0;
  EXPECT_EQ(nrt_async_sendrecv_get_max_num_pending_request(&limit), NRT_SUCCESS);
  EXPECT_GT(limit, 0);
  EXPECT_EQ(nrt_async_sendrecv_get_max_num_pending_request(nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_async_sendrecv_close(0), NRT_INVALID);
  EXPECT_EQ(nrt_async_sendrecv_flush(0), NRT_INVALID);
  EXPECT_EQ(nrt_async_sendrecv_init(2), NRT_INVALID);
  EXPECT_EQ(nrt_async_sendrecv_init(-1), NRT_INVALID);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(nrt_async_sendrecv_init(0), NRT_SUCCESS);
    EXPECT_EQ(nrt_async_sendrecv_init(0), NRT_INVALID);
    EXPECT_EQ(nrt_async_sendrecv_flush(0), NRT_SUCCESS);
    EXPECT_EQ(nrt_async_sendrecv_close(0), NRT_SUCCESS);
  }
}

TEST_F(SendReceive, ClosesACoreThatHasNothingLeftToDo) {
  connect();
  const ScopedTensor from(4), to(4, 1);
  auto* const receiving = receive(to, 0, 4);
  EXPECT_EQ(nrt_async_sendrecv_close(1), NRT_FAILURE) << "a request is pending";
  EXPECT_EQ(nrt_async_sendrecv_init(1), NRT_INVALID) << "it is open still";
  EXPECT_EQ(await_request(send(from, 0, 4)), NRT_SUCCESS);
  EXPECT_EQ(await_request(receiving), NRT_SUCCESS);
  EXPECT_EQ(nrt_async_sendrecv_close(1), NRT_SUCCESS);
  EXPECT_EQ(nrt_async_sendrecv_close(1), NRT_INVALID);
  bool done = false;
  EXPECT_EQ(nrt_async_sendrecv_test_comm(receiver_, &done), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_async_sendrecv_close(0), NRT_SUCCESS);
  for (const int core : {0, 1}) ASSERT_EQ(nrt_async_sendrecv_init(core), NRT_SUCCESS);
  connect();
}

TEST_F(SendReceive, DoesNotCloseACoreThatConnects) {
  ASSERT_EQ(nrt_async_sendrecv_connect(kThisHost, 1, 0, &sender_), NRT_SUCCESS);
  EXPECT_EQ(nrt_async_sendrecv_close(0), NRT_FAILURE);
  nrt_close();  // does
  bool done = false;
  EXPECT_EQ(nrt_async_sendrecv_test_comm(sender_, &done), NRT_CLOSED);
  ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  EXPECT_EQ(nrt_async_sendrecv_test_comm(sender_, &done), NRT_INVALID_HANDLE);
}

}  // namespace
}  // namespace millrace::test
