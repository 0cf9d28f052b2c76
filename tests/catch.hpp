// Includes Catch2, version 2 or 3.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
namespace Catch {
inline auto Contains(const std::string& text) { return Matchers::ContainsSubstring(text); }
}  // namespace Catch
#else
#include <catch2/catch.hpp>
#endif
