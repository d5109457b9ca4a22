// `millrace bench --url`: measures a server instead of a model in this process.
#pragma once

#include "base/status.h"
#include "cli/commands.h"

namespace millrace::cli {

// Checks the options with each other. kInvalidArgument names those that do not fit.
Status check_remote_bench(const BenchArguments& arguments);

// Runs and reports. Returns the exit code.
Result<int> run_remote_bench(const BenchArguments& arguments);

}  // namespace millrace::cli
