// The reason with which a call of VART-X throws.
#pragma once

#include <exception>
#include <string>

namespace vart::test {

// What `call` throws says, or "taken" when it throws nothing.
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
