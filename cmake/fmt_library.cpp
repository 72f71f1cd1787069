// The functions of {fmt} that are not in its headers, for a build with another C++ library than the
// installed {fmt} was made with.  With FMT_HEADER_ONLY they are inline functions, which a compiler
// emits where they are used; here all are, under the names that other files look for.  Only this
// file pays for it: defining it for all would triple what most of them cost to compile.
#define FMT_HEADER_ONLY 1
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace {

template <class Function>
const void* address_of(Function* function) {
  return reinterpret_cast<const void*>(function);
}

[[gnu::used]] const void* const kept[] = {
    address_of<std::string(fmt::string_view, fmt::format_args)>(fmt::vformat),
    address_of<void(std::FILE*, fmt::string_view, fmt::format_args)>(fmt::vprint),
    address_of(fmt::detail::throw_format_error),
    address_of<bool(std::uint32_t)>(fmt::detail::is_printable),
    address_of(fmt::detail::thousands_sep_impl<char>),
    address_of(fmt::detail::decimal_point_impl<char>),
    address_of(fmt::detail::dragonbox::to_decimal<float>),
    address_of(fmt::detail::dragonbox::to_decimal<double>),
};

}  // namespace
