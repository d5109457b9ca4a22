// The attributes of operators of the default domain that have a handler. Constant data:
// thread-safe.
#pragma once

#include <string_view>

namespace millrace::lowering {

// Whether kMaxOpset (operator_table.h) has the attribute of this operator. A later opset may have
// added another one, which changes the result.
bool is_known_attribute(std::string_view type, std::string_view name);

}  // namespace millrace::lowering
