// Standard headers that programs take from the headers of VART.
//
// Published programs use std::any, std::cerr, std::ifstream, containers and close() with nothing
// but headers of VART included, because the vendor's headers include these; such programs would not
// compile otherwise. A header of this library still includes what it uses itself.
#ifndef VART_VART_STANDARD_HEADERS_HPP
#define VART_VART_STANDARD_HEADERS_HPP

#include <unistd.h>

#include <any>
#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#endif  // VART_VART_STANDARD_HEADERS_HPP
