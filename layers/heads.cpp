#include "weft/layers/heads.hpp"

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/permute.hpp"
#include "weft/autograd/ops/shaping.hpp"

namespace weft {
namespace {

void check(const char* function, const Shape& shape, Index axis, Index num_heads) {
  if (shape.rank() != 3) fail<ShapeError>(function, "an input with three axes", shape);
  if (num_heads < 1 || shape[axis] % num_heads != 0)
    fail<ValueError>(str_cat(function, ": num_heads"),
                     str_cat("a positive divisor of ", shape[axis]), num_heads);
}

}  // namespace

template <class T>
Var<T> transpose_qkv(const Var<T>& x, Index num_heads) {
  check("transpose_qkv", x.shape(), 2, num_heads);
  const Index batch = x.shape()[0], time = x.shape()[1], size = x.shape()[2] / num_heads;
  const Var<T> heads = reshape(x, {batch, time, num_heads, size});
  return reshape(permute(heads, {0, 2, 1, 3}),
                 {size_product("transpose_qkv", batch, num_heads), time, size});
}

template <class T>
Var<T> transpose_output(const Var<T>& x, Index num_heads) {
  check("transpose_output", x.shape(), 0, num_heads);
  const Index batch = x.shape()[0] / num_heads, time = x.shape()[1], size = x.shape()[2];
  const Var<T> heads = reshape(x, {batch, num_heads, time, size});
  return reshape(permute(heads, {0, 2, 1, 3}),
                 {batch, time, size_product("transpose_output", num_heads, size)});
}

template Var<float> transpose_qkv(const Var<float>&, Index);
template Var<double> transpose_qkv(const Var<double>&, Index);
template Var<float> transpose_output(const Var<float>&, Index);
template Var<double> transpose_output(const Var<double>&, Index);

}  // namespace weft
