// Writes what is installed beside the program: manual pages and the completion of shells.
#pragma once

#include <string>

#include "base/status.h"
#include "cli/help/command_page.h"

namespace millrace::cli {

// Writes man1/*.1, bash/millrace, zsh/_millrace and fish/millrace.fish into the folder, which it
// makes if it is missing.
Status write_pages(const CommandPage& program, const std::string& version,
                   const std::string& folder);

}  // namespace millrace::cli
