// libmillrace.so exports the project's own namespace and nothing else, the native API among it.
#include <gmock/gmock.h>

#include <set>
#include <sstream>
#include <string>

#include "tests/support/subprocess.h"

namespace millrace::test {
namespace {

TEST(Exports, AreThoseOfTheProject) {
  const ProgramResult nm =
      run_program({MILLRACE_NM, "-DC", "--defined-only", MILLRACE_LIBRARY}, "/");
  ASSERT_EQ(nm.exit_code, 0) << nm.err;
  std::istringstream lines(nm.out);
  std::set<std::string> names;
  for (std::string address, kind, name; lines >> address >> kind && std::getline(lines, name);) {
    // clang 14's nm leaves operator co_await as it is mangled.
    EXPECT_THAT(name, ::testing::AnyOf(::testing::HasSubstr("millrace::"),
                                       ::testing::HasSubstr("_ZN8millrace")));
    names.insert(name.substr(1));
  }
  const auto has = [&](const std::string& prefix) {
    const auto found = names.lower_bound(prefix);
    return found != names.end() && found->starts_with(prefix);
  };
  for (const char* needed :
       {"millrace::Unit::close()", "millrace::Job::wait()", "millrace::Job::detach()",
        "millrace::Model::batch_size() const", "millrace::Buffer::allocate(unsigned long)",
        "millrace::Device::~Device()", "millrace::Status::with_context"})
    EXPECT_TRUE(has(needed)) << needed;
}

}  // namespace
}  // namespace millrace::test
