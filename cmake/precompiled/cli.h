// The headers that most sources of src/cli include, compiled once (see MillracePrecompiled.cmake).
#pragma once

#include <nlohmann/json.hpp>

#include "runtime/session.h"
#include "standard.h"
