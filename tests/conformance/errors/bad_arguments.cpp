// Arguments that fit no job are refused by every way to submit; no id is used, nothing is called.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(bad_arguments) {
  CallbackLog log;
  Unit unit = make_unit();
  EXPECT_STATUS(submit(unit).wait(kPatience), kOk);
  const JobId last = unit.last_submitted();
  JobMemory& good = memory(0);
  const TensorArg input = good.args().inputs[0], output = good.args().outputs[0];
  const std::vector<float> constant(good.input());
  const auto with = [](TensorArg arg, auto change) {
    change(arg);
    return arg;
  };
  struct Bad {
    const char* what;
    std::vector<TensorArg> inputs, outputs;
    uint32_t frames = 1;
  };
  const std::vector<Bad> all = {
      {"no input", {}, {output}},
      {"no output", {input}, {}},
      {"too many inputs", {input, input}, {output}},
      {"no frame", {}, {}, 0},
      {"fewer tensors than frames", {input}, {output}, 2},
      {"more frames than the batch", std::vector(kBatchSize + 1, input),
       std::vector(kBatchSize + 1, output), kBatchSize + 1},
      {"null memory", {TensorArg(nullptr, input.bytes)}, {output}},
      {"a small input", {with(input, [](TensorArg& arg) { --arg.bytes; })}, {output}},
      {"a small output", {input}, {with(output, [](TensorArg& arg) { arg.bytes = 0; })}},
      {"an output that is read only", {input}, {TensorArg(std::span<const float>(constant))}},
      {"a small HW view", {with(input, [](TensorArg& arg) { arg.view = View::kHw; })}, {output}},
      {"no view", {with(input, [](TensorArg& arg) { arg.view = View{7}; })}, {output}},
  };
  for (const Bad& bad : all) {
    SCOPED_TRACE(bad.what);
    const JobArgs job = {.inputs = bad.inputs,
                         .outputs = bad.outputs,
                         .frames = bad.frames,
                         .callback = log.callback()};
    std::vector<Job> jobs(1);
    EXPECT_STATUS(unit.submit(model(), job).status(), kInvalidArgument);
    EXPECT_STATUS(unit.try_submit(model(), job).status(), kInvalidArgument);
    EXPECT_STATUS(unit.submit_until(kNoDeadline, model(), job).status(), kInvalidArgument);
    EXPECT_STATUS(unit.try_submit_n(model(), {&job, 1}, jobs).status(), kInvalidArgument);
    EXPECT_STATUS(unit.submit_n(model(), {&job, 1}, jobs), kInvalidArgument);
    EXPECT_STATUS(unit.execute(model(), job), kInvalidArgument);
    EXPECT_FALSE(jobs[0]);
  }
  EXPECT_EQ(unit.last_submitted(), last);
  EXPECT_EQ(unit.in_flight(), 0u);
  unit.close();
  EXPECT_TRUE(log.ids().empty());
}

}  // namespace
}  // namespace millrace::conformance
