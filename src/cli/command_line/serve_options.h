// The options of `millrace serve`, which the tool and the program behind the command share. One
// thread.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "cli/data/picture_flags.h"
#include "serve/options.h"

namespace millrace::cli {

// The options, some of which are still texts.
struct ServeFlags {
  serve::Options options;
  PictureFlags picture;
};

// Adds the options to a command or a program. `flags` must live until the last parse.
void add_serve_options(CLI::App& command, ServeFlags& flags);

// Converts the options. kInvalidArgument names the one whose value is invalid.
Result<serve::Options> serve_options(const ServeFlags& flags);

// Reads the command line of the program. Returns nothing if that asks for the help, which has been
// printed. kInvalidArgument if it is wrong.
Result<std::optional<serve::Options>> parse_serve_options(int argc, char** argv);

}  // namespace millrace::cli
