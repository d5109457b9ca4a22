// Ends a program by a signal at a chosen call by which it changes files.
#pragma once

#include <string>
#include <vector>

namespace millrace::test {

struct Interruption {
  bool reached = false;  // false: the program ended by itself before it came to the call
  int exit_code = -1;    // 128 + signal when a signal ended it
};

struct InterruptionPlan {
  // Counts the calls that create, link, rename and remove files; writes in a row count as one.
  int call = 0;
  int signal = 0;
  bool unlisted_files = true;  // whether files can be made that no folder lists (O_TMPFILE)
  bool exchanges = true;       // whether two names can be exchanged (RENAME_EXCHANGE)
};

// Runs `command` in `directory`. Its first thread is stopped when it is about to make the call, is
// sent the signal, and goes on.
Interruption interrupt_program(const std::vector<std::string>& command,
                               const std::string& directory, const InterruptionPlan& plan);

}  // namespace millrace::test
