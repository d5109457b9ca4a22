// Runs face_program with its own variables, as another user or with closed standard streams.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/temporary_directory.h"

namespace millrace::test {

struct FaceProcess {
  std::string program = MILLRACE_FACE_PROGRAM;
  std::map<std::string, std::string> variables = {};
  bool as_another_user = false;
  std::vector<int> closed = {};  // numbers of streams that are closed when it starts
};

struct FaceResult {
  int exit_code = -1;  // 128 + signal when a signal ended it
  std::string report, out, err;
};

// All files that the program writes are in `directory`.
FaceResult run_face_program(const FaceProcess& process, const TemporaryDirectory& directory);

std::string content_of(const std::string& path);

}  // namespace millrace::test
