// Reports failures that occur while the libraries of the program are initialised, before main().
#pragma once

namespace millrace::cli {

// Ends the start-up. Until this call, an exception in the initialiser of a library ends the program
// with a line on standard error and exit code 1 instead of SIGABRT. To be called once, by main().
void end_of_startup() noexcept;

}  // namespace millrace::cli
