// Describes a command as its help, manual page and completion present it. One thread.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/help/command_page.h"

namespace millrace::cli {

CommandPage page_of(const CLI::App& command);

}  // namespace millrace::cli
