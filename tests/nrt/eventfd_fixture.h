// Transfers whose completion is signalled by event fds.
#pragma once

#include "tests/nrt/event_fd.h"
#include "tests/nrt/nrt_fixture.h"

namespace millrace::test {

class EventFdTest : public NrtModelTest {
 protected:
  using NrtModelTest::NrtModelTest;

  // A transfer that is held at the gate.
  nrta_seq_t held_write() {
    nrta_seq_t sequence = 0;
    EXPECT_EQ(schedule_write(nullptr, &sequence), NRT_SUCCESS);
    return sequence;
  }
  nrta_seq_t completed_write() {
    const nrta_seq_t sequence = held_write();
    await(sequence);
    return sequence;
  }
  void release_and_await(nrta_seq_t sequence) {
    transfers().release();
    await(sequence);
  }
  static NRT_STATUS notify(nrta_seq_t sequence, int fd) {
    return nrta_event_register_seq_id_completion(sequence, fd);
  }
};

}  // namespace millrace::test
