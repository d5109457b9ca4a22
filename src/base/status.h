// Status and Result, which are part of the native API, and the macros by which layers propagate
// failures.
#pragma once

#include "millrace/status.hpp"

#define MILLRACE_CONCAT_(a, b) a##b
#define MILLRACE_CONCAT(a, b) MILLRACE_CONCAT_(a, b)

// Returns from the enclosing function when `expression`, a Status, is a failure.
#define MILLRACE_RETURN_IF_ERROR(expression)                                        \
  do {                                                                              \
    if (::millrace::Status millrace_status_ = (expression); !millrace_status_.ok()) \
      return millrace_status_;                                                      \
  } while (false)

// MILLRACE_ASSIGN_OR_RETURN(auto file, open(path)) initialises `file` with the value of a Result,
// or returns the Result's Status from the enclosing function.
#define MILLRACE_ASSIGN_OR_RETURN(target, expression) \
  MILLRACE_ASSIGN_OR_RETURN_(MILLRACE_CONCAT(millrace_result_, __LINE__), target, expression)
#define MILLRACE_ASSIGN_OR_RETURN_(result, target, expression) \
  auto result = (expression);                                  \
  if (!result.ok()) return result.status();                    \
  target = *std::move(result)
