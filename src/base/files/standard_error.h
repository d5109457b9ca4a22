// Lets a library write to standard error safely. Descriptor 2 belongs to the program, which may
// close it. The next file, socket or memfd that is opened gets the number, and log lines would be
// written to it. So a line is written to descriptor 2 only while that is known to be standard
// error:
//
//   at load         If descriptor 2 is closed or close-on-exec when the core library is loaded, the
//                   process never has a standard error.
//   unchanged       Descriptor 2 refers to the same file as at load: the line is written.
//   closed          Once a line finds descriptor 2 closed, there is no standard error from then on.
//   another file    The program may have redirected it (dup2, freopen), or an unrelated file may
//                   have got its number. It counts as a redirection if it is a file, FIFO, terminal
//                   or device that is open for writing and is not close-on-exec, so that children
//                   of the program would inherit it as their standard error. Sockets and memfds
//                   never do.
//
// Each line is written to a duplicate, which is checked first, so that no other thread can change
// what the number refers to between check and write. The duplicate is not kept: it would keep a
// pipe or a terminal open that the program has closed, and the program might close the duplicate,
// too, and reuse its number. All descriptors of Millrace have numbers above 2 and are close-on-exec
// (own_descriptor.h).
//
// A program that closes descriptor 2 after load, and then opens a file or pipe of its own under
// that number without close-on-exec, has made that its standard error, for Millrace as for the C
// library.
//
// Thread-safe.
#pragma once

#include <string_view>

namespace millrace {

// Writes the text with one system call, if there is a standard error; otherwise drops it.
void write_standard_error(std::string_view text) noexcept;

// Makes later calls write to descriptor 2 without a check and a duplicate, which a sandbox forbids.
// Only for the project's own programs, in which nothing else can get descriptor 2.
void fix_standard_error() noexcept;

}  // namespace millrace
