// Says, while compiling, what a public header declares.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>

template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

// Whether there is, among the overloads of a function, one of exactly this type.
template <class Signature>
constexpr bool has(Signature) {
  return true;
}

// Whether a T is made of these arguments by a constructor that takes them without narrowing: so by
// the one meant, where another would take them, too.
template <class T, class... Arguments>
using Made = decltype(T{std::declval<Arguments>()...});
template <class Void, class T, class... Arguments>
constexpr bool made_somehow = false;
template <class T, class... Arguments>
constexpr bool made_somehow<std::void_t<Made<T, Arguments...>>, T, Arguments...> = true;
template <class T, class... Arguments>
constexpr bool made_of = made_somehow<void, T, Arguments...>;

template <class Enum>
constexpr bool counts_from_zero(std::initializer_list<Enum> in_order) {
  int expected = 0;
  for (const Enum value : in_order)
    if (static_cast<int>(value) != expected++) return false;
  return same<std::underlying_type_t<Enum>, int>;
}

// The offsets of a structure's members, in the order of their declaration.
constexpr bool ascending(std::initializer_list<size_t> offsets) {
  size_t least = 0;
  for (const size_t offset : offsets) {
    if (offset < least) return false;
    least = offset + 1;
  }
  return *offsets.begin() == 0;
}
