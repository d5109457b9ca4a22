// Lets a library write to standard error safely. Number 2 belongs to the program, which may close
// it. The next file, socket or memory file that is opened gets the number, and log lines would be
// written to it. So a line is written to number 2 only while that is known to be standard error:
//
//   at load         Where number 2 is closed or close-on-exec when the core library is loaded, the
// process never has a standard error.
//   as it was       Number 2 refers to what it referred to at load: the line is written.
//   closed          Where a line finds number 2 closed, there is no standard error from then on.
//   something else  The program may have redirected it (dup2, freopen), or something else may have
//                   got its number. It is a redirection where it is a file, FIFO, terminal or
//                   device that is open for writing and is not close-on-exec: children of the
//                   program would inherit it as their standard error. Sockets, memory files
// (memfd) and the like are never one.
//
// Each line is written to a duplicate, which is examined first, so that no other thread can change
// meanwhile what the number refers to. The duplicate is not kept: a kept one would hold a pipe or
// a terminal open that the program has closed, and the program might close it, too, and reuse its
// number. All descriptors of Millrace have numbers above 2 and are close-on-exec
// (own_descriptor.h).
//
// A program that closes number 2 after load, and then opens under that number a file or pipe of its
// own without close-on-exec, has made that its standard error, for Millrace as for the C library.
//
// Thread-safe.
#pragma once

#include <string_view>

namespace millrace {

// Writes the text in one piece, if there is a standard error; otherwise it is lost.
void write_standard_error(std::string_view text) noexcept;

// Programs of the project may call this, since they know that nothing else gets number 2 while they
// run. Later texts are written to number 2 without a duplicate, which a sandbox forbids.
void fix_standard_error() noexcept;

}  // namespace millrace
