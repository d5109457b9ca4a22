// Names that other processes of the same test run don't use, for what all processes of a user see.
#pragma once

#include <unistd.h>

#include <string>

namespace millrace::test {

// `name` followed by the id of this process.
inline std::string unique_name(const std::string& name) {
  return name + std::to_string(::getpid());
}

}  // namespace millrace::test
