// Each form of a call reaches its own function of the library, with its arguments in their order.
#include <gmock/gmock.h>

#include "tests/nrt_headers/call_log.h"
#include "tests/nrt_headers/doubles.h"

namespace millrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

std::vector<std::string> calls_of(void (*program)()) {
  call_log().clear();
  program();
  return call_log();
}

// In the order of calls.h.
const std::vector<std::string> kAllForms = {
    "tensor_read core 3 queue 1, ret",
    "tensor_write core 3 queue 1, ret",
    "tensor_copy core 3 queue 1, ret",
    "execute_schedule queue 0, ret",
    "cc_schedule queue 0, ret",

    "doc_tensor_read queue 1, ret",
    "doc_tensor_write queue 1, ret",
    "doc_tensor_copy queue 1, ret",

    "tracker_tensor_read queue 1, tracker",
    "tracker_tensor_write queue 1, tracker",
    "tracker_tensor_copy queue 1, tracker",
    "tracker_execute_schedule queue 0, tracker",
    "tracker_cc_schedule queue 0, tracker",

    "tensor_read core 3 queue 1, nothing",
    "doc_tensor_read queue 1, nothing",
    "doc_tensor_write queue 1, nothing",
    "doc_tensor_copy queue 1, nothing",
    "execute_schedule queue 0, nothing",
    "execute_schedule queue 0, nothing",
    "cc_schedule queue 0, nothing",

    "get_sequence core 2 unit 1 queue 0",
    "get_sequence core 2 unit 0 queue 1",
    "get_sequence core 2 unit 1 queue 0",
    "get_sequence core 2 unit 0 queue 0",

    "tensor_read_batch 1",
    "tensor_read_batch 1",
    "tensor_write_batch 1",
    "tensor_write_batch 1",

    "get_sequence core 2 unit 2 queue 1",
    "execute_schedule queue 0, ret",
};

TEST(NrtForms, AllOfThemInOneCProgram) {
  EXPECT_THAT(calls_of(calls_of_c), ElementsAreArray(kAllForms));
}

TEST(NrtForms, AllOfThemInOneCxxProgram) {
  EXPECT_THAT(calls_of(calls_of_cxx), ElementsAreArray(kAllForms));
}

// In the order of calls_with_commas.h.
const std::vector<std::string> kWithCommas = {
    "tensor_read core 3 queue 1, ret",
    "tensor_write core 3 queue 1, ret",
    "tensor_copy core 3 queue 1, ret",
    "execute_schedule queue 0, ret",
    "cc_schedule queue 0, ret",
    "get_sequence core 2 unit 1 queue 0",

    "tensor_read_batch 3",
    "tensor_write_batch 3",
    "tensor_read_batch 3",
    "tensor_write_batch 3",

    "tensor_write core 3 queue 1, ret",
    "tensor_read_batch 1",

    "doc_tensor_write queue 1, ret",
    "tracker_tensor_write queue 1, tracker",
    "tracker_execute_schedule queue 0, tracker",
    "get_sequence core 2 unit 1 queue 0",
};

TEST(NrtForms, CommasInTheArgumentsOfACProgram) {
  EXPECT_THAT(calls_of(calls_of_c_with_commas), ElementsAreArray(kWithCommas));
}

TEST(NrtForms, CommasInTheArgumentsOfACxxProgram) {
  EXPECT_THAT(calls_of(calls_of_cxx_with_commas), ElementsAreArray(kWithCommas));
}

TEST(NrtForms, VersionTwoHasFunctionsOfItsOwn) {
  EXPECT_THAT(calls_of(calls_of_v2),
              ElementsAre("v2_tensor_read queue 1, tracker", "v2_tensor_write queue 1, tracker",
                          "v2_tensor_copy queue 1, tracker", "v2_execute_schedule queue 0, tracker",
                          "v2_execute_schedule queue 0, nothing", "v2_cc_schedule queue 0, tracker",
                          "v2_get_sequence core 2 unit 3 queue 0",
                          "v2_get_sequence core 2 unit 1 queue 0"));
}

}  // namespace
}  // namespace millrace::test
