// `millrace bench --url`: measures a server instead of a model in this process.
#pragma once

#include <memory>

#include "base/status.h"
#include "cli/bench/remote/protocol.h"
#include "cli/commands.h"

namespace millrace::cli {

// Checks the options with each other. kInvalidArgument names those that do not fit.
Status check_remote_bench(const BenchArguments& arguments);

// Runs and reports. Returns the exit code. For other protocols than plain HTTP, the process becomes
// another program.
Result<int> run_remote_bench(const BenchArguments& arguments);
// The same over a protocol of this program; null: plain HTTP.
Result<int> run_remote_bench_over(std::shared_ptr<const RemoteProtocol> protocol,
                                  const BenchArguments& arguments);

}  // namespace millrace::cli
