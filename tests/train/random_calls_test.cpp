// Random layers with random options, called, trained and saved in random order.
#include "tests/random_calls.hpp"

#include <functional>
#include <memory>
#include <optional>

#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/layers.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/optim/clip.hpp>
#include <weft/train/optim/muon.hpp>
#include <weft/train/optim/rmsprop.hpp>
#include <weft/train/optim/sgd.hpp>
#include <weft/train/parallel/parallel_pass.hpp>

namespace weft {
namespace {

using X = Var<double>;
using Call = std::function<X(const X& x)>;

// A layer, its call, and what trains it.
class Session {
 public:
  explicit Session(Arguments& arguments) : arguments_(arguments) {
    make_layer();
    if (!layer_) return;
    attempt([&] {
      const double lr = arguments_.number();
      if (arguments_.flag())
        optimizer_ = std::make_unique<AdamW<double>>(
            *layer_, AdamWOptions{.lr = lr, .eps = arguments_.chance(0.2) ? 0.0 : 1e-8});
      else if (arguments_.flag())
        optimizer_ = std::make_unique<SGD<double>>(*layer_, SGDOptions{.lr = lr, .momentum = 0.5});
      else if (arguments_.flag())
        optimizer_ =
            std::make_unique<Muon<double>>(named_parameters(*layer_), MuonOptions{.lr = lr});
      else
        optimizer_ = std::make_unique<RMSprop<double>>(*layer_, RMSpropOptions{.lr = lr});
    });
  }

  void act() {
    if (!layer_) return;
    switch (arguments_.below(8)) {
      case 0:
        return attempt([&] { static_cast<void>(clip_grad_norm(*layer_, arguments_.number())); });
      case 1:
        return attempt([&] {
          if (optimizer_) optimizer_->step(arguments_.chance(0.5) ? 1.0 : arguments_.number());
        });
      case 2:
        return attempt([&] { replace_a_parameter(); });
      case 3:
        return attempt([&] { in_parts(); });
      default:
        return attempt([&] {
          Tape<double> tape({.training = arguments_.flag(), .recording = arguments_.flag()});
          const X y = call_(input(tape));
          if (arguments_.flag()) tape.backward(sum(y));
        });
    }
  }

 private:
  Index size() { return arguments_.chance(0.05) ? arguments_.integer() : width_; }
  double probability() { return arguments_.chance(0.8) ? 0.0 : arguments_.number(); }

  X input(Tape<double>& tape) {
    const Shape shape{1 + arguments_.below(3), 1 + arguments_.below(6), width_};
    return tape.constant(arguments_.random().normal_tensor<double>(
        arguments_.chance(0.8) ? shape : arguments_.like(shape)));
  }
  Mask mask() {
    return {.valid_lens = arguments_.flag() ? ValidLens() : ValidLens(arguments_.ids({2}, 4)),
            .causal = arguments_.flag()};
  }

  template <class Layer, class... Options>
  void use(const std::function<X(const Layer&, const X&)>& call, Options&&... options) {
    attempt([&] {
      auto layer = std::make_shared<Layer>(std::forward<Options>(options)...);
      layer_ = layer;
      call_ = [layer, call](const X& x) { return call(*layer, x); };
    });
  }

  void make_layer() {
    Arguments& a = arguments_;
    Random& random = a.random();
    width_ = a.one_of<Index>({2, 4, 6});
    const auto call = [](const auto& layer, const X& x) { return layer(x); };
    const Index heads = a.chance(0.8) ? 2 : a.integer();
    const std::optional<Index> kv_heads =
        a.chance(0.7) ? std::nullopt : std::optional(a.chance(0.8) ? 1 : a.integer());
    const auto scoring = a.one_of({Scoring::scaled_dot_product, Scoring::additive});
    const TransformerOptions stack{.num_blocks = a.below(4) - 1,
                                   .num_hiddens = size(),
                                   .ffn_num_hiddens = size(),
                                   .num_heads = heads,
                                   .dropout = probability(),
                                   .norm_first = a.flag(),
                                   .num_kv_heads = kv_heads,
                                   .scoring = scoring,
                                   .swiglu = a.flag(),
                                   .ffn_bias = a.flag(),
                                   .norm = a.one_of({Norm::layer_norm, Norm::rms_norm}),
                                   .norm_eps = a.chance(0.8) ? 1e-5 : a.number(),
                                   .norm_bias = a.flag(),
                                   .recompute = a.flag(),
                                   .final_norm = a.flag()};
    switch (a.below(16)) {
      case 0:
        return use<Linear<double>>(
            call, LinearOptions{.in_features = size(), .out_features = size(), .bias = a.flag()},
            random);
      case 1:
        return use<Conv1d<double>>(call,
                                   Conv1dOptions{.in_channels = size(),
                                                 .out_channels = size(),
                                                 .kernel_size = 1 + a.below(3),
                                                 .stride = a.integer(),
                                                 .padding = a.integer(),
                                                 .dilation = a.integer(),
                                                 .bias = a.flag()},
                                   random);
      case 2:
        return use<GRU<double>>(
            [&a](const GRU<double>& layer, const X& x) {
              return layer(x, a.flag() ? ValidLens() : ValidLens(a.ids({2}, 4))).states;
            },
            RecurrentOptions{.input_size = size(),
                             .num_hiddens = size(),
                             .num_layers = 2,
                             .bidirectional = a.flag()},
            random);
      case 3:
        return use<RNN<double>>(
            [](const RNN<double>& layer, const X& x) { return layer(x).final_states; },
            RecurrentOptions{
                .input_size = size(), .num_hiddens = size(), .num_layers = a.below(4) - 1},
            random);
      case 4:
        return use<LayerNorm<double>>(
            call, LayerNormOptions{.num_hiddens = size(), .eps = a.number(), .bias = a.flag()});
      case 5:
        return use<RMSNorm<double>>(call, RMSNormOptions{.num_hiddens = size(), .eps = a.number()});
      case 6:
        return use<MultiHeadAttention<double>>(
            [this](const MultiHeadAttention<double>& layer, const X& x) {
              return layer(x, x, x, mask());
            },
            MultiHeadAttentionOptions{.query_size = size(),
                                      .key_size = size(),
                                      .value_size = size(),
                                      .num_hiddens = size(),
                                      .num_heads = heads,
                                      .num_kv_heads = kv_heads,
                                      .scoring = scoring,
                                      .dropout = probability(),
                                      .bias = a.flag()},
            random);
      case 7:
        return use<PositionWiseFeedForward<double>>(
            call,
            PositionWiseFeedForwardOptions{
                .num_hiddens = size(), .ffn_num_hiddens = size(), .dropout = probability()},
            random);
      case 8:
        return use<PositionalEncoding<double>>(
            call, PositionalEncodingOptions{
                      .num_hiddens = size(), .dropout = probability(), .max_len = 5});
      case 9:
        return use<LearnedPositionalEncoding<double>>(
            call,
            LearnedPositionalEncodingOptions{
                .num_hiddens = size(), .dropout = probability(), .max_len = 5},
            random);
      case 10:
        return use<TransformerEncoder<double>>([this](const TransformerEncoder<double>& layer,
                                                      const X& x) { return layer(x, mask()); },
                                               stack, random);
      case 11:
        return use<TransformerDecoder<double>>(
            [this](const TransformerDecoder<double>& layer, const X& x) {
              return layer(x, x, mask(), mask());
            },
            stack, random);
      case 12:
        return use<LSTM<double>>(
            [&a](const LSTM<double>& layer, const X& x) {
              const auto first = layer(x, a.flag() ? ValidLens() : ValidLens(a.ids({2}, 4)));
              const auto second = layer(x, {}, first.final_states, first.final_cells);
              return a.flag() ? second.states : second.final_cells;
            },
            RecurrentOptions{.input_size = size(),
                             .num_hiddens = size(),
                             .num_layers = a.below(4) - 1,
                             .bidirectional = a.flag()},
            random);
      case 13:
        return use<SwiGLU<double>>(call,
                                   SwiGLUOptions{.num_hiddens = size(),
                                                 .ffn_num_hiddens = size(),
                                                 .bias = a.flag(),
                                                 .dropout = probability()},
                                   random);
      case 14:
        return use<SequencePooling<double>>(
            [&a](const SequencePooling<double>& layer, const X& x) {
              return layer(x, a.flag() ? ValidLens() : ValidLens(a.ids({2}, 4)));
            },
            a.one_of({Pooling::mean, Pooling::max, Pooling::first, Pooling::last}));
      default:
        return attempt([&] {
          const Linear<double> linear({.in_features = size(), .out_features = size()}, random);
          use<Sequential<double>>(call, linear, Activate<double>(Activation::gelu),
                                  Dropout<double>(probability()));
        });
    }
  }

  void replace_a_parameter() {
    const NamedParameters<double> parameters = named_parameters(*layer_);
    if (parameters.empty()) return;
    Parameter<double>& p = *arguments_.any(parameters).parameter;
    const auto noise = [&] {
      return arguments_.random().normal_tensor<double>(
          arguments_.chance(0.7) ? p.shape() : arguments_.like(p.shape()));
    };
    switch (arguments_.below(4)) {
      case 0:
        return static_cast<void>(p = Parameter<double>(noise()));
      case 1:
        return attempt([&] { p.set_value(noise()); });
      case 2:
        return attempt([&] { p.set_grad(noise()); });
      default:
        if (!p.values().empty()) p.values()[0] = arguments_.number();
    }
  }

  // A parallel pass over inputs that are drawn before, as parts run concurrently.
  void in_parts() {
    ParallelPass<double> pass(named_parameters(*layer_), 3, {.training = arguments_.flag()});
    const Shape shape{2, 3, width_};
    const auto x = arguments_.random().normal_tensor<double>(shape);
    const TransformerEncoder<double>* const encoder =
        dynamic_cast<const TransformerEncoder<double>*>(layer_.get());
    const Linear<double>* const linear = dynamic_cast<const Linear<double>*>(layer_.get());
    pass.add_gradients(0, 1 + arguments_.below(4), [&](Tape<double>& tape, Index) {
      const X input = tape.constant(x);
      return sum(encoder ? (*encoder)(input) : linear ? (*linear)(input) : input);
    });
  }

  Arguments& arguments_;
  Index width_ = 4;
  std::shared_ptr<Module<double>> layer_;
  Call call_;
  std::unique_ptr<Optimizer<double>> optimizer_;
};

}  // namespace

TEST_CASE("random calls: layers and optimizers work or throw an Error", "[train][random]") {
  for_random_sequences([](Arguments& arguments) {
    Session session(arguments);
    for (Index i = 5 + arguments.below(15); i > 0; --i) session.act();
  });
}

}  // namespace weft
