// What a shared library exports.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/support/subprocess.h"

namespace millrace::test {

// The names of C++ that `library` defines for others, as the program `nm` of binutils prints them.
// A build without optimisation also exports the type information of the API's types.
inline std::vector<std::string> exported_names(const std::string& nm, const std::string& library) {
  const ProgramResult listed = run_program({nm, "-DC", "--defined-only", library}, "/");
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  std::istringstream lines(listed.out);
  std::vector<std::string> names;
  for (std::string address, kind, name; lines >> address >> kind && std::getline(lines, name);)
    names.push_back(name.substr(1));
  return names;
}

}  // namespace millrace::test
