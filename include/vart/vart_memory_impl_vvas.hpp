// Included by older VART-X programs, which take nothing from it. There is one implementation of
// vart::Memory; vart_memory.hpp declares all of it.
#ifndef VART_VART_MEMORY_IMPL_VVAS_HPP
#define VART_VART_MEMORY_IMPL_VVAS_HPP

#include "vart/vart_memory.hpp"

#endif  // VART_VART_MEMORY_IMPL_VVAS_HPP
