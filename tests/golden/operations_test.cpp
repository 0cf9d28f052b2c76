// Operations against PyTorch's. write_operations.py wrote the expected values.
#include <functional>
#include <limits>
#include <map>
#include <set>

#include <weft/autograd.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include "tests/catch.hpp"
#include "tests/golden/comparison.hpp"

using namespace weft;

namespace {

template <class T>
using Inputs = std::vector<Var<T>>;
template <class T>
using Operation = std::function<Var<T>(const Inputs<T>& x)>;

const TokenId ignore_index = CrossEntropyOptions{}.ignore_index;

// The same integers and masks as in the script.
Tensor<TokenId> tokens() { return Tensor<TokenId>({2, 3}, {2, 0, 2, 4, 1, 2}); }
Tensor<TokenId> targets() { return Tensor<TokenId>({6}, {3, ignore_index, 0, 4, 3, 1}); }
Tensor<TokenId> all_targets() { return Tensor<TokenId>({6}, {3, 2, 0, 4, 3, 1}); }
Tensor<bool> allowed() {
  return Tensor<bool>({1, 3, 4}, {true, false, true, true,   //
                                  true, true, false, false,  //
                                  false, true, true, true});
}
Tensor<float> bias() {
  constexpr float masked = -std::numeric_limits<float>::infinity();
  return Tensor<float>({1, 3, 4}, {0.5f, masked, -2, 0.25f,  //
                                   1, 0, masked, masked,     //
                                   -1, 3, 0.75f, 2});
}

template <class T>
std::map<std::string, Operation<T>> operations() {
  using X = const Inputs<T>&;
  const auto attention = [](Index heads, const Mask& mask) {
    return [heads, mask](X x) {
      return scaled_dot_product_attention(x[0], x[1], x[2], {.num_heads = heads, .mask = mask});
    };
  };
  const auto rotary = [](RotaryPairs pairs) {
    return [pairs](X x) {
      return rotary_embedding(x[0], 2, {.base = 500.0, .pairs = pairs, .first_position = 3});
    };
  };
  return {
      {"add", [](X x) { return add(x[0], x[1]); }},
      {"subtract", [](X x) { return subtract(x[0], x[1]); }},
      {"multiply", [](X x) { return multiply(x[0], x[1]); }},
      {"divide", [](X x) { return divide(x[0], x[1]); }},
      {"scale", [](X x) { return scale(x[0], -2.5); }},
      {"negate", [](X x) { return negate(x[0]); }},
      {"exp", [](X x) { return exp(x[0]); }},
      {"log", [](X x) { return log(x[0]); }},
      {"sqrt", [](X x) { return sqrt(x[0]); }},
      {"power", [](X x) { return power(x[0], 2.3); }},
      {"abs", [](X x) { return abs(x[0]); }},
      {"tanh", [](X x) { return tanh(x[0]); }},
      {"sigmoid", [](X x) { return sigmoid(x[0]); }},
      {"relu", [](X x) { return relu(x[0]); }},
      {"gelu", [](X x) { return gelu(x[0]); }},
      {"gelu_tanh", [](X x) { return gelu_tanh(x[0]); }},
      {"clamp", [](X x) { return clamp(x[0], -0.6, 0.7); }},
      {"matmul", [](X x) { return matmul(x[0], x[1]); }},
      {"matmul_batch",
       [](X x) { return matmul(x[0], x[1], {.transpose_a = true, .transpose_b = true}); }},
      {"matmul_shared", [](X x) { return matmul(x[0], x[1]); }},
      {"linear", [](X x) { return linear(x[0], x[1], x[2]); }},
      {"linear_gelu", [](X x) { return linear(x[0], x[1], x[2], Activation::gelu); }},
      {"reshape",
       [](X x) {
         return reshape(x[0], {6, -1});
       }},
      {"permute",
       [](X x) {
         return permute(x[0], {2, 0, 1});
       }},
      {"transpose", [](X x) { return transpose(x[0], 0, 2); }},
      {"slice", [](X x) { return slice(x[0], 1, 1, 3); }},
      {"concatenate", [](X x) { return concatenate(x, 1); }},
      {"stack", [](X x) { return stack(x, 1); }},
      {"repeat", [](X x) { return repeat(x[0], 1, 3); }},
      {"sum", [](X x) { return sum(x[0]); }},
      {"sum_axes",
       [](X x) {
         return sum(x[0], {0, 2});
       }},
      {"mean_axes", [](X x) { return mean(x[0], {1}, true); }},
      {"max_axes", [](X x) { return max(x[0], {1}); }},
      {"variance_axes",
       [](X x) {
         return variance(x[0], {0, 1});
       }},
      {"variance_biased", [](X x) { return variance(x[0], {-1}, 0); }},
      {"softmax", [](X x) { return softmax(x[0]); }},
      {"log_softmax", [](X x) { return log_softmax(x[0]); }},
      {"masked_softmax", [](X x) { return masked_softmax(x[0], {.allowed = allowed()}); }},
      {"masked_softmax_added", [](X x) { return masked_softmax(x[0], {.bias = bias()}); }},
      {"layer_norm", [](X x) { return layer_norm(x[0], x[1], x[2]); }},
      {"embedding", [](X x) { return embedding(tokens(), x[0]); }},
      {"cross_entropy", [](X x) { return cross_entropy(x[0], all_targets()); }},
      {"cross_entropy_ignoring", [](X x) { return cross_entropy(x[0], targets()); }},
      {"cross_entropy_ignoring_a_class",
       [](X x) { return cross_entropy(x[0], all_targets(), {.ignore_index = 3}); }},
      {"cross_entropy_smoothed",
       [](X x) { return cross_entropy(x[0], all_targets(), {.label_smoothing = 0.2}); }},
      {"cross_entropy_smoothed_ignoring",
       [](X x) { return cross_entropy(x[0], targets(), {.label_smoothing = 0.2}); }},
      {"cross_entropy_smoothed_ignoring_a_class",
       [](X x) {
         return cross_entropy(x[0], all_targets(), {.ignore_index = 3, .label_smoothing = 1.0});
       }},
      {"cross_entropy_divisor",
       [](X x) {
         return cross_entropy(x[0], targets(), {.label_smoothing = 0.1, .divisor = 8.0});
       }},
      {"cross_entropy_sequences",
       [](X x) {
         return cross_entropy(x[0], targets().reshaped({2, 3}));
       }},
      {"mse_loss", [](X x) { return mse_loss(x[0], x[1]); }},
      {"binary_cross_entropy_with_logits",
       [](X x) {
         return binary_cross_entropy_with_logits(x[0], Tensor<T>({4}, {0, 1, T(0.3), 1}));
       }},
      {"attention", attention(2, {})},
      {"attention_causal", attention(3, {.causal = true})},
      {"attention_lengths", attention(2, {.valid_lens = {4, 2}})},
      {"attention_mask", attention(2, {.allowed = allowed()})},
      {"attention_added", attention(2, {.bias = bias()})},
      {"rotary_interleaved", rotary(RotaryPairs::interleaved)},
      {"rotary_halves", rotary(RotaryPairs::halves)},
  };
}

}  // namespace

TEMPLATE_TEST_CASE("operations and their gradients", "[golden]", float, double) {
  const Hdf5File file(WEFT_TEST_DATA "/operations.h5");
  std::set<std::string> cases;
  for (const std::string& dataset : file.datasets("/"))
    cases.insert(dataset.substr(dataset[0] == '/', dataset.find('/', 1) - (dataset[0] == '/')));
  CHECK(cases.size() == operations<TestType>().size());

  for (const auto& [name, operation] : operations<TestType>()) {
    INFO(name);
    std::vector<Parameter<TestType>> inputs;
    const std::string group = "/" + name + "/";
    const std::size_t count = file.datasets(group + "inputs").size();
    REQUIRE(count > 0);
    for (std::size_t i = 0; i < count; ++i)
      inputs.emplace_back(file.tensor<TestType>(group + "inputs/" + std::to_string(i)));
    Tape<TestType> tape;
    Inputs<TestType> x;
    for (Parameter<TestType>& input : inputs) x.push_back(tape.parameter(input));
    const Var<TestType> y = operation(x);
    golden::check(name + " output", y.value(), file.tensor<double>(group + "output"));
    tape.backward(y, file.tensor<TestType>(group + "upstream"));
    for (std::size_t i = 0; i < count; ++i) {
      const std::string path = "gradients/" + std::to_string(i);
      golden::check(name + " " + path, inputs[i].grad(), file.tensor<double>(group + path));
    }
  }
}
