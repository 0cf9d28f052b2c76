// Attention and transformer layers under the names that PyTorch's own modules have. Files of all of
// them are loaded in PyTorch by tests/state_dicts.sh.
#include "train/weights/internal/torch_names.hpp"

#include <set>

#include <weft/layers.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/weights/convert_weights.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

namespace weft {
namespace {

using Names = std::vector<std::string>;

void randomize(Module<float>& model, unsigned seed) {
  Random random(seed);
  for (const auto& [name, parameter] : named_parameters(model))
    parameter->set_value(random.normal_tensor<float>(parameter->shape()));
}

// The names of the datasets that hold a model's parameters, with the zero biases.
Names datasets_of(const Module<float>& model) {
  const TorchNames names = torch_names(model);
  std::set<std::string> datasets;
  for (const auto& [name, dataset] : names.datasets) datasets.insert(dataset.name);
  for (const ZeroBias& bias : names.zero_biases) datasets.insert(bias.dataset.name);
  return {datasets.begin(), datasets.end()};
}

// Checks that PyTorch's layouts are read back bit for bit.
template <class Model>
void check_round_trip(Model saved) {
  const TemporaryFolder folder;
  randomize(saved, 1);
  for (const auto& [file, layout] : {std::pair("flat.h5", Layout::pytorch),
                                     {"nested.h5", Layout::pytorch_nested},
                                     {"own.safetensors", Layout::weft}}) {
    INFO(file);
    save_weights(folder / file, saved, {.layout = layout});
    Model loaded = saved;
    randomize(loaded, 2);
    const LoadWeightsReport report = load_weights(folder / file, loaded);
    const auto expected = named_parameters(saved), actual = named_parameters(loaded);
    CHECK(report.loaded.size() == expected.size());
    CHECK(report.unexpected.empty());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      INFO(expected[i].name);
      CHECK(same(actual[i].parameter->value(), expected[i].parameter->value()));
    }
  }
}

const TransformerOptions options{
    .num_blocks = 2, .num_hiddens = 6, .ffn_num_hiddens = 8, .num_heads = 2};

TransformerEncoder<float> encoder(const TransformerOptions& own = options) {
  Random random(1);
  return TransformerEncoder<float>(own, random);
}

MultiHeadAttentionOptions attention_options(Index key_size = 6) {
  return {.query_size = 6,
          .key_size = key_size,
          .value_size = 6,
          .num_hiddens = 6,
          .num_heads = 2,
          .bias = true};
}

MultiHeadAttention<float> attention(const MultiHeadAttentionOptions& own = attention_options()) {
  Random random(1);
  return MultiHeadAttention<float>(own, random);
}

const Names of_attention{"in_proj_bias", "in_proj_weight", "out_proj.bias", "out_proj.weight"};

// A model of a user: PyTorch's layers inside of layers that it does not have.
struct Tagger : Module<float> {
  explicit Tagger(Random& random, bool has_list = false)
      : tokens({.num_embeddings = 5, .embedding_dim = 6}, random),
        layers(options, random),
        pairs(attention_options(), random),
        states({.input_size = 6, .num_hiddens = 3}, random) {
    if (has_list) list.emplace_back(options, random);
  }
  void members(Members<float>& members) const override {
    members.type("Tagger");
    members("tokens", tokens);
    members("layers", layers);
    members("list", list);
    members("pairs.attention", pairs);
    members("states", states);
  }
  Embedding<float> tokens;
  TransformerEncoder<float> layers;
  std::vector<TransformerDecoderBlock<float>> list;
  MultiHeadAttention<float> pairs;
  GRU<float> states;
};

}  // namespace

TEST_CASE("torch names: attention with packed projections", "[train]") {
  CHECK(datasets_of(attention()) == of_attention);
  const TorchNames names = torch_names<float>(attention());
  CHECK(names.datasets.at("W_k.weight") == WeightPart{"in_proj_weight", 1, 3});
  CHECK(names.datasets.at("W_v.bias") == WeightPart{"in_proj_bias", 2, 3});
  CHECK(names.datasets.at("W_o.bias") == WeightPart{"out_proj.bias"});
  CHECK(names.zero_biases.empty());
  MultiHeadAttentionOptions unbiased = attention_options();
  unbiased.bias = false;
  CHECK(datasets_of(attention(unbiased)) == Names{"in_proj_weight", "out_proj.weight"});
  check_round_trip(attention());
  check_round_trip(attention(unbiased));
}

TEST_CASE("torch names: keys of another size have projections of their own", "[train]") {
  CHECK(datasets_of(attention(attention_options(4))) == Names{"in_proj_bias", "k_proj_weight",
                                                              "out_proj.bias", "out_proj.weight",
                                                              "q_proj_weight", "v_proj_weight"});
  check_round_trip(attention(attention_options(4)));
}

TEST_CASE("torch names: a layer has all biases or none", "[train]") {
  MultiHeadAttentionOptions partial = attention_options();
  partial.output_bias = false;
  CHECK(datasets_of(attention(partial)) == of_attention);
  MultiHeadAttention<float> without_keys = attention();
  without_keys.W_k.bias.reset();
  CHECK(torch_names(without_keys).zero_biases.size() == 1);
  check_round_trip(attention(partial));
  check_round_trip(without_keys);

  TransformerOptions unbiased = options;
  unbiased.ffn_bias = unbiased.norm_bias = false;
  for (const std::string& name : datasets_of(encoder(unbiased)))
    CHECK(name.find("bias") == name.npos);
  CHECK(datasets_of(encoder(unbiased)).size() == 12);
  CHECK(datasets_of(encoder()).size() == 24);
  unbiased.attention_bias = true;
  CHECK(datasets_of(encoder(unbiased)) == datasets_of(encoder()));
  check_round_trip(encoder());
  check_round_trip(encoder(unbiased));
}

TEST_CASE("torch names: a bias that is not zero is never lost", "[train]") {
  const TemporaryFolder folder;
  MultiHeadAttention<float> saved = attention();
  randomize(saved, 1);
  saved.W_k.bias->set_value(Tensor<float>({6}));
  save_weights(folder / "a.h5", saved, {.layout = Layout::pytorch});
  MultiHeadAttention<float> without_keys = attention(), without_values = attention();
  without_keys.W_k.bias.reset();
  without_values.W_v.bias.reset();
  CHECK(load_weights(folder / "a.h5", without_keys).unused == Names{"in_proj_bias"});
  CHECK_THAT(message_of<FileError>([&] { (void)load_weights(folder / "a.h5", without_values); }),
             Catch::Contains("unexpected (1): in_proj_bias"));
}

TEST_CASE("torch names: stacks and blocks of encoders and decoders", "[train]") {
  const Names of_encoder = datasets_of(encoder());
  CHECK(of_encoder.front() == "layers.0.linear1.bias");
  CHECK(of_encoder.back() == "layers.1.self_attn.out_proj.weight");
  Random random(1);
  const Names of_block = datasets_of(TransformerDecoderBlock<float>(options, random));
  CHECK(of_block.size() == 18);
  CHECK(of_block[4] == "multihead_attn.in_proj_bias");
  check_round_trip(TransformerDecoder<float>(options, random));
  check_round_trip(TransformerDecoderBlock<float>(options, random));

  const Names of_model = datasets_of(Tagger(random, true));
  for (const char* name :
       {"tokens.weight", "layers.1.self_attn.in_proj_bias", "list.0.multihead_attn.out_proj.bias",
        "list.0.linear2.weight", "pairs.attention.in_proj_weight", "states.bias_hh_l0"})
    CHECK(std::ranges::binary_search(of_model, name));
  check_round_trip(Tagger(random, true));
}

TEST_CASE("torch names: what PyTorch's layers do not have keeps its names", "[train]") {
  const auto keeps = [](const Module<float>& model) {
    const TorchNames names = torch_names(model);
    return std::ranges::all_of(
               names.datasets,
               [](const auto& entry) { return entry.second == WeightPart{entry.first}; }) &&
           names.zero_biases.empty();
  };
  const auto attention_with = [](const auto& change) {
    MultiHeadAttentionOptions own = attention_options();
    change(own);
    return attention(own);
  };
  CHECK_FALSE(keeps(attention()));
  CHECK(keeps(attention_with([](auto& own) {
    own.rotary.emplace();
    own.num_heads = 3;
  })));
  CHECK(keeps(attention_with([](auto& own) { own.num_kv_heads = 1; })));
  CHECK(keeps(attention_with([](auto& own) { own.head_size = 5; })));
  CHECK(keeps(attention_with([](auto& own) { own.qk_norm_eps = 1e-5; })));
  CHECK(keeps(attention_with([](auto& own) { own.query_size = 4; })));
  CHECK(keeps(attention_with([](auto& own) { own.scoring = Scoring::additive; })));
  CHECK(keeps(attention_with([](auto& own) { own.scoring = Scoring::cosine; })));
  // Of a block with another norm or network, the attention alone is PyTorch's.
  for (const auto change : {+[](TransformerOptions& own) { own.norm = Norm::rms_norm; },
                            +[](TransformerOptions& own) { own.swiglu = true; }}) {
    TransformerOptions own = options;
    change(own);
    const Names names = datasets_of(encoder(own));
    CHECK(std::ranges::binary_search(names, "0.attention.in_proj_weight"));
    CHECK(std::ranges::binary_search(names, "0.norm1.weight"));
    check_round_trip(encoder(own));
  }
  TransformerOptions biased = options;
  biased.position_bias.emplace();
  CHECK(std::ranges::binary_search(datasets_of(encoder(biased)), "0.self_attn.in_proj_weight"));
  check_round_trip(encoder(biased));

  TransformerEncoder<float> adapted = encoder();
  Random random(1);
  add_lora(
      adapted, {.rank = 1}, [](const std::string& name) { return name == "0.attention.W_q"; },
      random);
  const Names names = datasets_of(adapted);
  CHECK(std::ranges::binary_search(names, "0.attention.W_q.lora_A.weight"));
  CHECK(std::ranges::binary_search(names, "1.self_attn.in_proj_weight"));
}

TEST_CASE("torch names: tied weights are in each of their packed datasets", "[train]") {
  struct Shared : Module<float> {
    MultiHeadAttention<float> first = attention();
    void members(Members<float>& members) const override {
      members.type("Shared");
      members("first", first);
      members("again", first);
    }
  };
  check_round_trip(Shared());
  const TemporaryFolder folder;
  save_weights(folder / "a.h5", Shared(), {.layout = Layout::pytorch});
  CHECK(Hdf5File(folder / "a.h5").datasets().size() == 8);
}

TEST_CASE("torch names: two attentions whose names have one common form", "[train]") {
  struct Two : Module<float> {
    MultiHeadAttention<float> self_attention = weft::attention(), attention = weft::attention();
    void members(Members<float>& members) const override {
      members.type("Two");
      members("self_attention", self_attention);
      members("attention", attention);
    }
  };
  check_round_trip(Two());
}

TEST_CASE("torch names: a Gpt is read back, and converted for other programs", "[train]") {
  Random random(1);
  Gpt<float> gpt(
      {.vocabulary_size = 5, .max_len = 4, .num_hiddens = 6, .num_heads = 2, .num_blocks = 2},
      random);
  check_round_trip(gpt);
  const TemporaryFolder folder;
  save_weights(folder / "a.safetensors", gpt);
  save_weights(folder / "expected.h5", gpt, {.layout = Layout::gpt2});
  const ConvertWeightsReport report =
      convert_weights(folder / "a.safetensors", folder / "a.h5", {.layout = Layout::gpt2});
  CHECK(report.layout == "PyTorch modules");
  CHECK(report.unused.empty());
  const Hdf5File converted(folder / "a.h5"), expected(folder / "expected.h5");
  CHECK(converted.datasets() == expected.datasets());
  for (const std::string& path : expected.datasets())
    CHECK(same(converted.tensor<float>(path), expected.tensor<float>(path)));
}

}  // namespace weft
