// The tolerance of the tests for gradients: 1e-7 + 1e-6 · |numeric|.
#pragma once

#include <weft/autograd/gradcheck.hpp>

namespace weft {

inline constexpr GradCheckOptions tight_bound{.atol = 1e-7, .rtol = 1e-6};

}  // namespace weft
