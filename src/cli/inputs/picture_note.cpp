#include "cli/inputs/picture_note.h"

#include <fmt/format.h>

#include <string>

#include "cli/inputs/picture_hint.h"
#include "cli/notes.h"

namespace millrace::cli {
namespace {

// Whether the input takes the pixels of a picture without any normalisation.
bool takes_pixels(const graph::Boundary& input) {
  return input.cpu.type == tensor::DataType::kUint8 && input.quant.scale == 1 &&
         input.quant.zero_point == 0;
}

}  // namespace

void note_unstated_preprocessing(const graph::CompiledModel& model, const graph::Boundary& input,
                                 const PictureFlags& flags) {
  if (states_normalisation(flags) || takes_pixels(input)) return;
  const nlohmann::ordered_json hint = picture_hint(model, input);
  const std::string usual = hint.is_null() ? std::string()
                                           : fmt::format("usual for such a model: {}; ",
                                                         hint["run_options"].get<std::string>());
  print_note(
      fmt::format("how pictures are preprocessed was not stated, so pixels of 0 to 255 go into "
                  "input '{}' as they are; {}if that is right: --normalize none",
                  input.cpu.name, usual));
}

void note_unstated_preprocessing(const graph::CompiledModel& model, const LoadedInputs& inputs,
                                 const PictureFlags& flags) {
  if (!inputs.pictures.empty())
    note_unstated_preprocessing(model, inputs.boundaries[inputs.pictures.front()], flags);
}

}  // namespace millrace::cli
