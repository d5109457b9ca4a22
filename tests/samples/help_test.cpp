// --help of the sample programs: what it is, and that all but one end with success.
#include "tests/samples/sample_fixture.h"

namespace millrace::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class Help : public SampleTest {};

TEST_F(Help, PrintsTheUsageAndSucceeds) {
  for (const char* program :
       {MILLRACE_INFER_ASYNC, MILLRACE_CALLBACK, MILLRACE_MULTI_TENANCY, MILLRACE_MULTIMODEL_SEQ,
        MILLRACE_X_PLUS_ML, MILLRACE_NRT_LOAD_RUN, MILLRACE_NRT_ASYNC_PIPELINE,
        MILLRACE_NRT_ERROR_TRACKER, MILLRACE_NRT_SEND_RECV}) {
    for (const char* option : {"--help", "-h"}) {
      SCOPED_TRACE(std::string(program) + " " + option);
      const ProgramResult result = run(program, {option});
      EXPECT_EQ(result.exit_code, 0);
      EXPECT_THAT(result.out, HasSubstr("Usage: "));
      EXPECT_EQ(result.err, "");
    }
  }
  EXPECT_THAT(files(), IsEmpty());
}

// As the vendor's program does, which scripts for a board may expect.
TEST_F(Help, OfMlVartEndsAsAWrongCommandLineDoes) {
  const ProgramResult result = run(MILLRACE_ML_VART, {"--help"});
  EXPECT_EQ(result.exit_code, 255);
  EXPECT_THAT(result.err, HasSubstr("Usage: "));
}

}  // namespace
}  // namespace millrace::test
