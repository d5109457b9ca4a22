// How pictures probably become an input of a model: what to write for `millrace run`, and as the
// configuration of VART-X's PreProcess.
//
// A model says how large its pictures are, in which layout and of which type. It says nothing about
// colours, mean, scale and cropping, so these are assumptions, and are named as such.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "graph/compiled_model.h"

namespace millrace::cli {

struct PictureHint {
  std::string run_options;         // "--resize crop --short-side 256 --mean 123.675,116.28 ..."
  nlohmann::ordered_json cpu, hw;  // configurations for the two views; null where none fits
  std::vector<std::string> assumptions;  // what the model does not say
};

// Nothing for an input that is no picture of one or three channels.
std::optional<PictureHint> picture_hint(const graph::CompiledModel& model,
                                        const graph::Boundary& input);

}  // namespace millrace::cli
