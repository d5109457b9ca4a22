// Loads a model and explains how its program runs, for `millrace explain`. A program of several
// ranks is loaded with a communicator that has no other ranks (lone_rank.h), so it can be explained
// but not profiled. One thread.
#pragma once

#include <nlohmann/json.hpp>

#include "base/status.h"
#include "cli/commands.h"

namespace millrace::cli {

// Returns the report of explain() (explanation.h) on the model, with times of
// `arguments.runs` jobs on random inputs if `arguments.profile` is set. With `arguments.against` it
// also has that of the other model, as "against", and the times of both, as "by_node"
// (node_times.h). Requirement: check_explain() accepts the arguments. Errors are those of
// open_static_model() and of the device; kUnsupported: a profile of a model of several ranks.
Result<nlohmann::ordered_json> explain_model(const ExplainArguments& arguments);

}  // namespace millrace::cli
