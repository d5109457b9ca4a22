// The options that say how pictures are preprocessed, which several commands and the server have.
// One thread.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/data/picture_flags.h"

namespace millrace::cli {

// How pictures are preprocessed to an input of the model.
void add_picture_flags(CLI::App& command, PictureFlags& flags);

}  // namespace millrace::cli
