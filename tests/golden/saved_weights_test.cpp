// Writes models for tests/state_dicts.sh, which loads them in PyTorch, with their outputs.
#include <cstdlib>

#include <weft/layers.hpp>
#include <weft/layers/models/bert.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/train/files/hdf5/hdf5_writer.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"

namespace weft {
namespace {

// Biases and scales, which start as zeros and ones, become distinguishable.
void randomize(Module<float>& model, Random& random) {
  for (const auto& [name, parameter] : named_parameters(model))
    parameter->set_value(random.normal_tensor<float>(parameter->shape(), 0.0, 0.3));
}

// torch.nn.Transformer.
struct Transformer : Module<float> {
  Transformer(TransformerOptions options, Random& random)
      : encoder(with_norm(options), random), decoder(with_norm(options), random) {}
  static TransformerOptions with_norm(TransformerOptions options) {
    options.final_norm = true;
    return options;
  }
  Var<float> operator()(const Var<float>& x, const Var<float>& memory) const {
    return decoder(memory, encoder(x));
  }
  void members(Members<float>& members) const override {
    members.type("Transformer");
    members("encoder", encoder);
    members("decoder", decoder);
  }
  TransformerEncoder<float> encoder;
  TransformerDecoder<float> decoder;
};

// A model of a user, with modules of torch.nn.
struct Tagger : Module<float> {
  explicit Tagger(Random& random)
      : tokens({.num_embeddings = 29, .embedding_dim = 12}, random),
        encoder({.num_blocks = 1, .num_hiddens = 12, .ffn_num_hiddens = 8, .num_heads = 3}, random),
        states({.input_size = 12, .num_hiddens = 12}, random) {
    head.emplace_back(LinearOptions{12, 8}, random);
    head.emplace_back(LinearOptions{8, 4}, random);
  }
  Var<float> operator()(Tape<float>& tape, const Tokens& x) const {
    return head[1](head[0](states(encoder(tokens(tape, x))).states));
  }
  void members(Members<float>& members) const override {
    members.type("Tagger");
    members("tokens", tokens);
    members("encoder", encoder);
    members("states", states);
    members("head", head);
  }
  Embedding<float> tokens;
  TransformerEncoder<float> encoder;
  LSTM<float> states;
  std::vector<Linear<float>> head;
};

// Saves modules that torch.nn has, too, each flat, nested and as safetensors, with outputs.
void save_modules(const std::filesystem::path& folder, Hdf5Writer& outputs, Random& random) {
  Tape<float> tape = Tape<float>::inference();
  const Tensor<float> given = random.normal_tensor<float>({2, 5, 12}),
                      other = random.normal_tensor<float>({2, 4, 12});
  outputs.tensor("x", given);
  outputs.tensor("memory", other);
  const Var x = tape.constant(given), memory = tape.constant(other);
  const auto save = [&](const std::string& name, auto module, const auto& call) {
    randomize(module, random);
    const std::string file = "torch_" + name;
    save_weights(folder / (file + ".h5"), module, {.layout = Layout::pytorch});
    save_weights(folder / (file + "_nested.h5"), module, {.layout = Layout::pytorch_nested});
    save_weights(folder / (file + ".safetensors"), module);
    outputs.tensor(file, call(module).value());
  };
  const auto of_x = [&](const auto& module) { return module(x); };
  const auto of_both = [&](const auto& module) { return module(x, memory); };
  const auto states_of_x = [&](const auto& module) { return module(x).states; };

  const TransformerOptions plain{
      .num_blocks = 2, .num_hiddens = 12, .ffn_num_hiddens = 8, .num_heads = 3};
  TransformerOptions before = plain, biased = plain, unbiased = plain;
  before.norm_first = biased.attention_bias = true;
  before.activation = Activation::gelu;
  unbiased.ffn_bias = unbiased.norm_bias = false;
  save("encoder", TransformerEncoder<float>(plain, random), of_x);
  save("encoder_before", TransformerEncoder<float>(before, random), of_x);
  save("encoder_biased", TransformerEncoder<float>(biased, random), of_x);
  save("encoder_unbiased", TransformerEncoder<float>(unbiased, random), of_x);
  save("encoder_layer", TransformerEncoderBlock<float>(plain, random), of_x);
  save("decoder", TransformerDecoder<float>(plain, random), of_both);
  save("decoder_before", TransformerDecoder<float>(before, random), of_both);
  save("decoder_layer", TransformerDecoderBlock<float>(unbiased, random), of_both);
  save("transformer", Transformer(biased, random), of_both);

  MultiHeadAttentionOptions attention{
      .query_size = 12, .key_size = 12, .value_size = 12, .num_hiddens = 12, .num_heads = 3};
  const auto attend = [&](const auto& module) { return module(x, memory, memory); };
  save("attention_unbiased", MultiHeadAttention<float>(attention, random), attend);
  attention.bias = true;
  save("attention", MultiHeadAttention<float>(attention, random), attend);
  attention.output_bias = false;
  save("attention_partly_biased", MultiHeadAttention<float>(attention, random), attend);
  attention.key_size = attention.value_size = 7;
  save("attention_of_sizes", MultiHeadAttention<float>(attention, random), [&](const auto& module) {
    const Var part = slice(memory, 2, 0, 7);
    return module(x, part, part);
  });
  save("self_attention",
       SelfAttention<float>({.num_hiddens = 12, .num_heads = 3, .bias = true}, random), of_x);

  const RecurrentOptions recurrent{
      .input_size = 12, .num_hiddens = 6, .num_layers = 2, .bidirectional = true};
  save("gru", GRU<float>(recurrent, random), states_of_x);
  save("lstm", LSTM<float>(recurrent, random), states_of_x);
  save("rnn", RNN<float>(recurrent, random), states_of_x);
  save("conv1d", Conv1d<float>({.in_channels = 12, .out_channels = 7, .kernel_size = 3}, random),
       of_x);
  save("linear", Linear<float>({12, 4}, random), of_x);
  save("layer_norm", LayerNorm<float>({.num_hiddens = 12}), of_x);
  save("layer_norm_unbiased", LayerNorm<float>({.num_hiddens = 12, .bias = false}), of_x);
  BatchNorm<float> batch_norm({.num_features = 12});
  batch_norm.running_mean = random.normal_tensor<float>({12});
  batch_norm.running_var = random.uniform_tensor<float>({12}, 0.5, 2.0);
  save("batch_norm", batch_norm, of_x);
  save("rms_norm", RMSNorm<float>({.num_hiddens = 12}), of_x);
  save("embedding", Embedding<float>({.num_embeddings = 29, .embedding_dim = 4}, random),
       [&](const auto& module) {
         return module(tape, Tokens({1, 3}, {3, 0, 28}));
       });
  save("tagger", Tagger(random), [&](const Tagger& module) {
    return module(tape, Tokens({2, 3}, {3, 0, 28, 7, 7, 1}));
  });
}

}  // namespace

TEST_CASE("saved weights: files for tests/state_dicts.sh", "[.state_dicts]") {
  const char* variable = std::getenv("WEFT_STATE_DICTS");
  REQUIRE(variable);
  const std::filesystem::path folder = variable;
  Random random(3);
  const Tokens tokens({2, 5}, {3, 1, 28, 0, 7, 7, 9, 2, 11, 20});
  const Tokens segments({2, 5}, {0, 0, 1, 1, 1, 1, 0, 0, 1, 0});
  Hdf5Writer outputs(folder / "outputs.h5");
  outputs.tensor("tokens", tokens);
  outputs.tensor("segments", segments);
  Tape<float> tape = Tape<float>::inference();
  for (const auto& [layout, activation] :
       {std::pair(Layout::nanogpt, Activation::gelu), {Layout::gpt2, Activation::gelu_tanh}})
    for (const std::string variant : {"", "_untied", "_unbiased"}) {
      if (layout == Layout::nanogpt && variant == "_unbiased") continue;
      Gpt<float> gpt({.vocabulary_size = 29,
                      .max_len = 16,
                      .num_hiddens = 12,
                      .num_heads = 3,
                      .num_blocks = 2,
                      .bias = variant != "_unbiased",
                      .tied = variant != "_untied",
                      .activation = activation},
                     random);
      randomize(gpt, random);
      const std::string name = to_string(layout) + variant;
      save_weights(folder / (name + ".h5"), gpt, {.layout = layout});
      save_weights(folder / (name + "_float16.h5"), gpt,
                   {.layout = layout, .storage = StorageType::float16});
      outputs.tensor(name, gpt(tape, tokens).value());
    }
  Bert<float> bert({.vocabulary_size = 29,
                    .max_len = 16,
                    .num_hiddens = 12,
                    .num_heads = 3,
                    .num_blocks = 2,
                    .ffn_num_hiddens = 20,
                    .pooler = true},
                   random);
  randomize(bert, random);
  save_weights(folder / "bert.h5", bert, {.layout = Layout::bert});
  const Var states = bert(tape, tokens, segments);
  outputs.tensor("bert", states.value());
  outputs.tensor("bert_pooled", bert.pooled(states).value());

  EncoderDecoder<float> t5({.source_vocabulary_size = 29,
                            .target_vocabulary_size = 29,
                            .transformer = {.num_blocks = 2,
                                            .num_hiddens = 12,
                                            .ffn_num_hiddens = 20,
                                            .num_heads = 3,
                                            .norm_first = true,
                                            .scoring = Scoring::dot_product,
                                            .ffn_bias = false,
                                            .norm = Norm::rms_norm,
                                            .norm_eps = 1e-6,
                                            .position_bias = RelativePositionBiasOptions{}},
                            .shared_embedding = true,
                            .tied = true,
                            .scales_output = true},
                           random);
  randomize(t5, random);
  save_weights(folder / "t5.h5", t5, {.layout = Layout::t5});
  outputs.tensor("t5", t5(tape, tokens, {}, segments).value());
  const GptOptions sizes{.vocabulary_size = 29,
                         .max_len = 16,
                         .num_hiddens = 12,
                         .num_heads = 3,
                         .num_blocks = 2,
                         .activation = Activation::gelu};
  const auto save_gpt = [&](const std::string& name, Layout layout, const GptOptions& options) {
    Gpt<float> gpt(options, random);
    randomize(gpt, random);
    save_weights(folder / (name + ".h5"), gpt, {.layout = layout});
    outputs.tensor(name, gpt(tape, tokens).value());
  };
  for (const bool tied : {false, true}) {
    GptOptions llama = sizes;
    llama.bias = false;
    llama.tied = tied;
    llama.ffn_num_hiddens = 20;
    llama.rotary.emplace();
    llama.norm = Norm::rms_norm;
    llama.swiglu = true;
    llama.num_kv_heads = 1;
    save_gpt(tied ? "llama_tied" : "llama", Layout::llama, llama);
  }
  GptOptions gpt_neox = sizes, bloom = sizes;
  gpt_neox.tied = false;
  gpt_neox.rotary.emplace();
  gpt_neox.parallel_residual = true;
  save_gpt("gpt_neox", Layout::gpt_neox, gpt_neox);
  bloom.alibi = bloom.embedding_norm = true;
  bloom.activation = Activation::gelu_tanh;
  save_gpt("bloom", Layout::bloom, bloom);

  save_modules(folder, outputs, random);
  outputs.save();
}

}  // namespace weft
