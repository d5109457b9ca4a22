// The reason with which a call of VART-X throws.
#pragma once

#include <exception>
#include <string>

namespace vart::test {

// Returns the reason with which `call` throws, or "taken" when it throws nothing.
template <class Call>
std::string reason(Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "taken";
}

}  // namespace vart::test
