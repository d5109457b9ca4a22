// A note for users who give pictures to a model without saying how their pixels are normalised,
// which usually gives wrong results. One thread.
#pragma once

#include <cstddef>

#include "cli/data/picture_flags.h"
#include "cli/inputs/frames.h"
#include "graph/compiled_model.h"

namespace millrace::cli {

// Prints the note, with options that are usual for such a model, unless normalisation is stated, no
// input is a picture, or the input takes bytes as they are.
void note_unstated_preprocessing(const graph::CompiledModel& model, const LoadedInputs& inputs,
                                 const PictureFlags& flags);
// Prints the note for a single input, with its shape, to which pictures are given.
void note_unstated_preprocessing(const graph::CompiledModel& model, const graph::Boundary& input,
                                 const PictureFlags& flags);

}  // namespace millrace::cli
