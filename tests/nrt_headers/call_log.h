// The log of the test doubles: one line per call, as forms_test.cpp lists them.
#pragma once

#include <string>
#include <vector>

namespace millrace::test {

std::vector<std::string>& call_log();

}  // namespace millrace::test
