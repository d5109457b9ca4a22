// Where a command's output files go.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "base/status.h"

namespace millrace::cli {

// Takes a file that a command makes: its name, without a folder, and its bytes.
using OutputSink = std::function<Status(const std::string&, std::span<const std::byte>)>;

// Writes each into `directory`, which is made where there is none, and prints that it did.
OutputSink files_in(const std::string& directory);

}  // namespace millrace::cli
