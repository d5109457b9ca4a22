// Finds the word that a misspelt one was probably meant to be. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace::cli {

// Returns the candidate that is nearest to `word`: by the number of letters that are missing, too
// many, wrong or exchanged with their neighbour, or because one begins with the other. Empty if
// none is near.
std::string nearest_to(std::string_view word, const std::vector<std::string>& candidates);

// Returns "; did you mean X?" for the nearest candidate; empty if there is none.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace millrace::cli
