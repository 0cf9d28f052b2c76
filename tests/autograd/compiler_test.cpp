// What a compiler was seen to get wrong, built with the options of the library.
#include <array>
#include <cstring>

#include "tests/catch.hpp"

namespace {

#if defined(__GNUC__) && !defined(__clang__)
[[gnu::noipa, gnu::optimize("O3")]]
#endif
void write_constants(double* doubles, float* floats) {
  const double two_halves[] = {0.5, 0.5, 0, 0};
  std::memcpy(doubles, two_halves, sizeof two_halves);
  const float four_halves[] = {0.5f, 0.5f, 0.5f, 0.5f, 0, 0, 0, 0};
  std::memcpy(floats, four_halves, sizeof four_halves);
}

}  // namespace

TEST_CASE("compiler: constants that end in zeros are copied whole", "[autograd]") {
  std::array<double, 4> doubles;
  std::array<float, 8> floats;
  write_constants(doubles.data(), floats.data());
  CHECK(doubles == std::array{0.5, 0.5, 0.0, 0.0});
  CHECK(floats == std::array{0.5f, 0.5f, 0.5f, 0.5f, 0.0f, 0.0f, 0.0f, 0.0f});
}
