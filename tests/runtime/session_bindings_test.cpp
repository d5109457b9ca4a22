// Tests what a session accepts as bindings, and how it converts between the views.
#include <gmock/gmock.h>

#include <cstring>

#include "tests/runtime/session_fixture.h"

namespace millrace::runtime {
namespace {

using ::testing::HasSubstr;

class SessionBindings : public GatedSession {
 protected:
  SessionBindings() { faults().release(); }

  std::string refusal(Session& session, const JobBindings& bindings) {
    const Status executed = session.execute(bindings);
    EXPECT_EQ(executed.code(), StatusCode::kInvalidArgument);
    const Status submitted = session.submit(bindings).status();
    EXPECT_EQ(submitted.to_string(), executed.to_string());
    EXPECT_EQ(faults().arrivals(), 0u) << "nothing may run";
    return executed.message();
  }
};

TEST_F(SessionBindings, RefusesWrongCounts) {
  const std::unique_ptr<Session> session = make_session({}, {.batch_size = 2});
  JobMemory memory(session->model(), 2);
  const std::span<const TensorBinding> inputs = memory.inputs(), outputs = memory.outputs();
  EXPECT_THAT(refusal(*session, {0, inputs.first(0), outputs.first(0)}), HasSubstr("0 frames"));
  EXPECT_THAT(refusal(*session, {3, inputs, outputs}), HasSubstr("batch size of 2"));
  EXPECT_THAT(refusal(*session, {2, inputs.first(1), outputs}), HasSubstr("input"));
  EXPECT_THAT(refusal(*session, {2, inputs, outputs.first(1)}), HasSubstr("output"));
}

TEST_F(SessionBindings, RefusesMemoryThatCannotBeUsed) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory memory(session->model());
  memory.inputs()[0].data = nullptr;
  EXPECT_THAT(refusal(*session, memory.bindings()), HasSubstr("input \"data\""));

  JobMemory odd(session->model());
  odd.outputs()[0].data = odd.output() + 1;
  EXPECT_THAT(refusal(*session, odd.bindings()), HasSubstr("aligned"));
}

TEST_F(SessionBindings, RefusesAViewThatTheBoundaryDoesNotHave) {
  const std::unique_ptr<Session> session = make_session({}, {.hw_views = false});
  JobMemory memory(session->model());
  EXPECT_THAT(refusal(*session, memory.bindings()), HasSubstr("no HW view"));
  JobMemory cpu(session->model(), 1, device::View::kCpu);
  EXPECT_TRUE(session->execute(cpu.bindings()).ok());
}

// The pattern program takes HW views and fills its output with one byte value, so that in the CPU
// view every element of the output is the float made of that byte.
TEST_F(SessionBindings, ConvertsWhereTheProgramTakesTheOtherView) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory memory(session->model(), 1, device::View::kCpu);
  memory.input()[0] = 0x41;  // lowest byte of the first element, first in HCWNC4 too
  ASSERT_TRUE(session->execute(memory.bindings()).ok());
  float expected = 0;
  std::memset(&expected, 0x42, sizeof(expected));
  for (size_t i = 0; i < session->model().outputs[0].cpu.elements(); ++i)
    ASSERT_EQ(memory.output<float>()[i], expected) << i;
}

TEST_F(SessionBindings, MixesViewsWithinAJob) {
  const std::unique_ptr<Session> session = make_session();
  JobMemory cpu(session->model(), 1, device::View::kCpu), hw(session->model());
  hw.input()[0] = 6;
  ASSERT_TRUE(session->execute({1, hw.inputs(), cpu.outputs()}).ok());
  EXPECT_EQ(cpu.output()[0], 7);
  ASSERT_TRUE(session->execute({1, cpu.inputs(), hw.outputs()}).ok());
  EXPECT_EQ(hw.output()[0], 1);
}

}  // namespace
}  // namespace millrace::runtime
