// --get-model-info: both views of every tensor of a model, on the terminal and as JSON.
#pragma once

#include <string>

// Prints the description and writes <name>_info.json to the current directory, <name> being the
// last part of the path without ".rai". Throws std::exception.
void show_model_info(const std::string& model_path);
