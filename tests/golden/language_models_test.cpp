// Language models as transformers saves them, and its logits. write_language_models.py wrote them.
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include <weft/autograd/error.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/files/safetensors/safetensors_file.hpp>
#include <weft/train/pretrained/lora_weights.hpp>
#include <weft/train/pretrained/pretrained.hpp>
#include <weft/train/text/generation/encoder_decoder_search.hpp>
#include <weft/train/text/generation/generate.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/golden/comparison.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
namespace fs = std::filesystem;

namespace {

const fs::path folders = WEFT_TEST_DATA "/language_models";
const std::vector<std::string> gpts{"llama",        "llama_tied",      "llama_biased", "llama_3",
                                    "llama_linear", "qwen2",           "qwen3",        "mistral",
                                    "gpt_neox",     "gpt_neox_serial", "bloom",        "gpt2"};

template <class T>
Tensor<T> logits_of(const Gpt<T>& model, const Tokens& tokens) {
  Tape<T> tape = Tape<T>::inference();
  return model(tape, tokens).value();
}

// The same step by step.
template <class T>
Tensor<T> cached_logits(const Gpt<T>& model, const Tokens& tokens) {
  Tape<T> tape = Tape<T>::inference();
  KeyValueCache<T> cache = model.make_cache(tokens.shape()[0]);
  const Index time = tokens.shape()[1];
  Tensor<T> logits({tokens.shape()[0], time, 48});
  // Two tokens, then one, then all others at once.
  for (Index begin = 0, count = 2; begin < time;
       begin += count, count = begin < 4 ? 1 : time - begin) {
    Tokens part({tokens.shape()[0], count});
    for (Index b = 0; b < part.shape()[0]; ++b)
      for (Index t = 0; t < count; ++t) part(b, t) = tokens(b, begin + t);
    const Tensor<T> own = model.logits(model.extend(tape, part, cache)).value();
    for (Index b = 0; b < part.shape()[0]; ++b)
      for (Index t = 0; t < count; ++t)
        for (Index c = 0; c < 48; ++c) logits(b, begin + t, c) = own(b, t, c);
  }
  return logits;
}

void check_same_parameters(const Module<float>& model, const Module<float>& other) {
  const auto parameters = named_parameters(model), others = named_parameters(other);
  REQUIRE(parameters.size() == others.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    CAPTURE(parameters[i].name);
    CHECK(parameters[i].name == others[i].name);
    CHECK(same(parameters[i].parameter->value(), others[i].parameter->value()));
  }
}

// The share of each head that is rotated, where transformers looks for it.
double rotated_share(const fs::path& folder) {
  const auto config = nlohmann::json::parse(std::ifstream(folder / "config.json"));
  return config.value("rope_parameters", nlohmann::json::object())
      .value("partial_rotary_factor", 1.0);
}

}  // namespace

TEMPLATE_TEST_CASE("language models of transformers give its logits", "[golden]", float, double) {
  using T = TestType;
  const auto name = GENERATE(from_range(gpts));
  CAPTURE(name);
  const Hdf5File expected(folders / name / "expected.h5");
  const auto model = load_gpt<T>(folders / name).model;
  const Tokens tokens = expected.tensor<TokenId>("tokens");
  // Also in double, transformers computes rotary positions in single precision.
  const bool is_double = std::is_same_v<T, double>;
  const auto logits = expected.tensor<double>(is_double ? "logits_double" : "logits");
  const double bound = is_double ? 1e-6 : 1e-5;
  CHECK(golden::relative_error(logits_of(model, tokens), logits) < bound);
  CHECK(golden::relative_error(cached_logits(model, tokens), logits) < bound);
  const auto greedy = expected.tensor<TokenId>("greedy");
  const TokenIds all(greedy.begin(), greedy.end());
  CHECK(generate(model, std::span(all).first(4),
                 {.max_tokens = 40, .sampling = {.temperature = 0}}) ==
        TokenIds(all.begin() + 4, all.end()));
}

TEST_CASE("language models in shards and in 16 bits", "[golden]") {
  const Tokens tokens = Hdf5File(folders / "llama" / "expected.h5").tensor<TokenId>("tokens");
  const Tensor<float> whole = logits_of(load_gpt(folders / "llama").model, tokens);
  CHECK(logits_of(load_gpt(folders / "llama_sharded").model, tokens).values().front() ==
        whole.values().front());
  for (const char* const name : {"llama_bfloat16", "llama_float16"}) {
    const Hdf5File expected(folders / name / "expected.h5");
    CHECK(golden::relative_error(logits_of(load_gpt(folders / name).model, tokens),
                                 expected.tensor<double>("logits")) < 1e-5);
  }
}

TEST_CASE("language models: saved folders have the same model", "[golden]") {
  const auto name = GENERATE(from_range(gpts));
  CAPTURE(name);
  const TemporaryFolder folder;
  const auto gpt = load_gpt(folders / name);
  save_pretrained(folder.path(), gpt.model, {.eos_token_ids = gpt.eos_token_ids});
  const auto again = load_gpt(folder.path());
  check_same_parameters(gpt.model, again.model);
  CHECK(again.eos_token_ids == gpt.eos_token_ids);
  // Sizes that are not given are those that the file has.
  const GptOptions &options = gpt.model.options, &saved = again.model.options;
  CHECK(saved.transformer().ffn_num_hiddens == options.transformer().ffn_num_hiddens);
  CHECK(saved.rotary == options.rotary);
  CHECK(saved.window == options.window);
  CHECK(saved.max_len == options.max_len);
  CHECK(rotated_share(folder.path()) == rotated_share(folders / name));
  const Tokens tokens = Hdf5File(folders / name / "expected.h5").tensor<TokenId>("tokens");
  CHECK(std::ranges::equal(logits_of(gpt.model, tokens), logits_of(again.model, tokens)));
}

TEST_CASE("language models: saved folders have the same T5", "[golden][EncoderDecoder]") {
  const auto name = GENERATE(as<std::string>(), "t5", "t5_gated", "t5_flan");
  CAPTURE(name);
  const TemporaryFolder folder;
  const auto t5 = load_encoder_decoder(folders / name);
  save_pretrained(
      folder.path(), t5.model,
      {.eos_token_ids = t5.eos_token_ids, .decoder_start_token_id = t5.decoder_start_token_id});
  auto again = load_encoder_decoder(folder.path());
  check_same_parameters(t5.model, again.model);
  CHECK(again.decoder_start_token_id == t5.decoder_start_token_id);
  CHECK(again.eos_token_ids == t5.eos_token_ids);
  CHECK(again.model.options.scales_output == t5.model.options.scales_output);
  CHECK(again.model.options.transformer == t5.model.options.transformer);
  // Under all names of tied weights.
  save_weights(folder / "all.h5", t5.model, {.layout = Layout::t5});
  for (const auto& [parameter_name, parameter] : named_parameters(again.model))
    parameter->set_value(Tensor<float>(parameter->shape()));
  (void)load_weights(folder / "all.h5", again.model);
  check_same_parameters(t5.model, again.model);
}

TEST_CASE("language models: saved folders have the same Bert", "[golden][Bert]") {
  const auto name = GENERATE(as<std::string>(), "bert", "roberta");
  CAPTURE(name);
  const TemporaryFolder folder;
  const auto model = load_bert(folders / name).model;
  save_pretrained(folder.path(), model);
  const auto again = load_bert(folder.path()).model;
  CHECK(again.options == model.options);
  check_same_parameters(model, again);
}

TEST_CASE("language models: models that no type of transformers is cannot be saved as one",
          "[golden]") {
  const TemporaryFolder folder;
  Random random(1);
  const auto refused = [&](const char* name, const auto& change) {
    GptOptions options = load_gpt(folders / name).model.options;
    change(options);
    const std::string message =
        message_of<ValueError>([&] { save_pretrained(folder.path(), Gpt(options, random)); });
    CHECK(!fs::exists(folder / "model.safetensors"));
    return message ==
           "save_pretrained: expected a Gpt with the architecture of gpt2, llama, mistral, qwen2, "
           "qwen3, gpt_neox or bloom, got a different architecture";
  };
  CHECK(refused("llama", [](GptOptions& o) { o.rotary->first_position = 1; }));
  CHECK(refused("llama", [](GptOptions& o) { o.rotary->pairs = RotaryPairs::interleaved; }));
  CHECK(refused("llama", [](GptOptions& o) { o.qkv_bias = o.ffn_bias = true; }));
  CHECK(refused("mistral", [](GptOptions& o) { o.qk_norm = true, o.qkv_bias = true; }));
  CHECK(refused("gpt_neox", [](GptOptions& o) { o.ffn_bias = false; }));
  CHECK(refused("gpt_neox", [](GptOptions& o) { o.num_kv_heads = 2; }));
  CHECK(refused("bloom", [](GptOptions& o) { o.ffn_num_hiddens = 40; }));
  CHECK(refused("bloom", [](GptOptions& o) { o.embedding_norm = false; }));
  EncoderDecoderOptions t5 = load_encoder_decoder(folders / "t5_flan").model.options;
  t5.transformer.gate_activation = Activation::gelu;  // which transformers has not
  CHECK(
      message_of<ValueError>([&] { save_pretrained(folder.path(), EncoderDecoder(t5, random)); }) ==
      "save_pretrained: expected a model with the architecture of t5, got a different "
      "architecture");
}

// Writes all forms again for tests/state_dicts.sh, which loads them in transformers.
TEST_CASE("language models: folders for tests/state_dicts.sh", "[.state_dicts]") {
  const char* variable = std::getenv("WEFT_STATE_DICTS");
  REQUIRE(variable);
  const auto save = [&](const std::string& name, const auto& loaded) {
    save_pretrained(fs::path(variable) / name, loaded.model,
                    {.eos_token_ids = loaded.eos_token_ids,
                     .decoder_start_token_id = loaded.decoder_start_token_id});
  };
  for (const std::string& name : gpts) save(name, load_gpt(folders / name));
  for (const char* const name : {"t5", "t5_gated", "t5_flan"})
    save(name, load_encoder_decoder(folders / name));
  for (const char* const name : {"bert", "roberta"}) save(name, load_bert(folders / name));
}

TEST_CASE("language models: weights of Llama need halves as rotary pairs", "[golden]") {
  GptOptions options = load_gpt(folders / "llama").model.options;
  options.rotary->pairs = RotaryPairs::interleaved;
  Random random(1);
  Gpt model(options, random);
  const fs::path weights = folders / "llama" / "model.safetensors";
  CHECK(message_of<ValueError>([&] { (void)load_weights(weights, model); })
            .ends_with("expected RotaryPairs::halves, as in the layout Llama, got "
                       "RotaryPairs::interleaved"));
  const TemporaryFolder folder;
  CHECK_THROWS_AS(save_weights(folder / "a.safetensors", model, {.layout = Layout::llama}),
                  ValueError);
}

TEST_CASE("language models: adapters of PEFT, and back", "[golden][Lora]") {
  auto model = load_gpt<float>(folders / "llama").model;
  const Hdf5File expected(folders / "llama_lora" / "expected.h5");
  const Tokens tokens = expected.tensor<TokenId>("tokens");
  const auto logits = expected.tensor<double>("logits");
  CHECK(load_lora(folders / "llama_lora", model) == 6);
  CHECK(golden::relative_error(logits_of(model, tokens), logits) < 1e-5);
  const TemporaryFolder folder;
  save_lora(folder.path(), model, Layout::llama, "base");
  auto again = load_gpt<float>(folders / "llama").model;
  CHECK(load_lora(folder.path(), again) == 6);
  CHECK(std::ranges::equal(logits_of(model, tokens), logits_of(again, tokens)));
  // The same names and numbers as PEFT's.
  const SafetensorsFile theirs(folders / "llama_lora" / "adapter_model.safetensors"),
      ours(folder / "adapter_model.safetensors");
  REQUIRE(ours.datasets() == theirs.datasets());
  for (const std::string& name : ours.datasets())
    CHECK(same(ours.tensor<float>(name), theirs.tensor<float>(name)));
  CHECK(merge_lora(model) == 6);
  CHECK(golden::relative_error(logits_of(model, tokens), logits) < 1e-5);
  auto other = load_gpt<float>(folders / "gpt_neox").model;
  CHECK_THROWS_AS(load_lora(folders / "llama_lora", other), FileError);
}

TEMPLATE_TEST_CASE("language models: T5 gives the states, logits and tokens of transformers",
                   "[golden][EncoderDecoder]", float, double) {
  using T = TestType;
  const auto name = GENERATE(as<std::string>(), "t5", "t5_gated", "t5_flan");
  CAPTURE(name);
  const Hdf5File expected(folders / name / "expected.h5");
  const auto loaded = load_encoder_decoder<T>(folders / name);
  const EncoderDecoder<T>& model = loaded.model;
  CHECK(model.output.has_value() == (name == "t5_flan"));
  const Tokens sources = expected.tensor<TokenId>("sources"),
               targets = expected.tensor<TokenId>("targets");
  const ValidLens lengths{11, 6};
  const bool is_double = std::is_same_v<T, double>;
  const auto of = [&](const std::string& what) {
    return expected.tensor<double>(is_double ? what + "_double" : what);
  };
  Tape<T> tape = Tape<T>::inference();
  const Var<T> memory = model.encode(tape, sources, lengths);
  Tensor<double> states = of("states");
  for (Index t = 6; t < 11; ++t)  // of padding, which is nobody's memory
    for (Index c = 0; c < 24; ++c) states(1, t, c) = memory.value()(1, t, c);
  // In single precision, logits of transformers differ by 1.1e-5 from its own in double.
  const double bound = is_double ? 1e-9 : 2e-5;
  CHECK(golden::relative_error(memory.value(), states) < bound);
  CHECK(golden::relative_error(model(tape, sources, lengths, targets).value(), of("logits")) <
        bound);
  // The same step by step, first 10 tokens at once.
  DecoderCache<T> cache = model.start(memory, lengths);
  Tensor<T> logits({2, 16, 48});
  for (Index begin = 0, count = 10; begin < 16; begin += count, count = 1) {
    Tokens part({2, count});
    for (Index b = 0; b < 2; ++b)
      for (Index t = 0; t < count; ++t) part(b, t) = targets(b, begin + t);
    const Tensor<T> own = model.logits(model.extend(tape, part, cache)).value();
    for (Index b = 0; b < 2; ++b)
      std::copy_n(own.data() + b * count * 48, count * 48, logits.data() + (b * 16 + begin) * 48);
  }
  CHECK(golden::relative_error(logits, of("logits")) < bound);

  CHECK(loaded.decoder_start_token_id == 0);
  CHECK(loaded.eos_token_ids == TokenIds{1});
  std::vector<TokenIds> texts(2);
  for (Index b = 0; b < 2; ++b)
    texts[static_cast<std::size_t>(b)].assign(sources.data() + b * 11,
                                              sources.data() + b * 11 + (b == 0 ? 11 : 6));
  const auto greedy = expected.tensor<TokenId>("greedy");
  const Index steps = greedy.shape()[1] - 1;
  const auto found = greedy_search(model, texts,
                                   {.max_len = steps,
                                    .bos = loaded.decoder_start_token_id,
                                    .eos_token_ids = loaded.eos_token_ids});
  for (Index b = 0; b < 2; ++b) {
    const TokenId* const first = greedy.data() + b * (steps + 1) + 1;
    CHECK(found[static_cast<std::size_t>(b)].tokens ==
          TokenIds(first, std::find(first, first + steps, 1)));
  }
}

TEMPLATE_TEST_CASE("language models: BERT and RoBERTa give the states of transformers",
                   "[golden][Bert]", float, double) {
  using T = TestType;
  const auto name = GENERATE(as<std::string>(), "bert", "roberta");
  CAPTURE(name);
  const Hdf5File expected(folders / name / "expected.h5");
  const auto model = load_bert<T>(folders / name).model;
  const Tokens tokens = expected.tensor<TokenId>("tokens");
  const ValidLens lengths(expected.tensor<std::int32_t>("lengths"));
  const bool is_double = std::is_same_v<T, double>;
  const auto of = [&](const std::string& what) {
    return expected.tensor<double>(is_double ? what + "_double" : what);
  };
  Tape<T> tape = Tape<T>::inference();
  const Var<T> states = model(tape, tokens, lengths);
  Tensor<double> theirs = of("states");
  for (Index t = lengths.lengths()(1); t < 12; ++t)
    for (Index c = 0; c < 24; ++c) theirs(1, t, c) = states.value()(1, t, c);
  const double bound = is_double ? 1e-9 : 1e-5;
  CHECK(golden::relative_error(states.value(), theirs) < bound);
  CHECK(golden::relative_error(model.pooled(states).value(), of("pooled")) < bound);
  const Index longest = name == "roberta" ? 62 : 64;
  CHECK_NOTHROW(model(tape, Tokens({1, longest})));
  CHECK(message_of<ValueError>([&] {
          (void)model(tape, Tokens({1, longest + 1}));
        }) == str_cat("Bert: tokens: expected a sequence length of at most ", longest,
                      " (max_len), got ", longest + 1));
}

TEST_CASE("language models: a config that a model cannot follow is an error that names the entry",
          "[golden]") {
  const auto error = [](const char* name, const std::string& from, const std::string& to,
                        const auto& read) {
    const TemporaryFolder folder;
    fs::copy(folders / name / "model.safetensors", folder.path());
    std::ifstream in(folders / name / "config.json");
    std::string text{std::istreambuf_iterator<char>(in), {}};
    REQUIRE(text.find(from) != text.npos);
    std::ofstream(folder / "config.json") << text.replace(text.find(from), from.size(), to);
    const std::string message = message_of<FileError>([&] { (void)read(folder.path()); });
    return message.substr(message.find("\": ") + 3);
  };
  const auto t5 = [&](const std::string& from, const std::string& to) {
    return error("t5", from, to,
                 [](const fs::path& folder) { return load_encoder_decoder(folder); });
  };
  CHECK(t5("\"t5\"", "\"umt5\"") == "model_type: expected t5, got 'umt5'");
  CHECK(contains(t5("\"relu\"", "\"mish\""), "dense_act_fn: expected"));
  CHECK(t5("\"is_gated_act\": false", "\"is_gated_act\": true") ==
        "is_gated_act: expected false, got true");
  CHECK(contains(t5("\"d_kv\"", "\"d_kvs\""), "d_kv: expected an entry, got none"));
  CHECK(t5("\"decoder_start_token_id\": 0", "\"decoder_start_token_id\": 48") ==
        "decoder_start_token_id: expected a token from 0 to 47, got 48");
  // Before memory is taken for such a model.
  for (const auto& [from, to] : {std::pair("num_layers\": 2", "num_layers\": 2000000000"),
                                 {"num_decoder_layers\": 3", "num_decoder_layers\": 2000000000"},
                                 {"d_kv\": 10", "d_kv\": 2000000000"}})
    CHECK(contains(t5(from, to), "expected a model with at most the"));
  CHECK(t5("num_buckets\": 12", "num_buckets\": 2000000000") ==
        "RelativePositionBias: max_distance: expected a number > 500000000, got 20");
  CHECK(
      contains(t5("\"use_cache\"", "\"use_relu\""), "use_relu: expected a known entry, got true"));
  CHECK(t5("\"relative_attention_max_distance\": 20", "\"relative_attention_max_distance\": 3") ==
        "RelativePositionBias: max_distance: expected a number > 3, got 3");
  const auto bert = [&](const std::string& from, const std::string& to) {
    return error("roberta", from, to, [](const fs::path& folder) { return load_bert(folder); });
  };
  CHECK(bert("\"roberta\"", "\"xlnet\"") == "model_type: expected bert or roberta, got 'xlnet'");
  CHECK(bert("\"max_position_embeddings\": 64", "\"max_position_embeddings\": 2") ==
        "max_position_embeddings: expected more than pad_token_id + 1 = 2, got 2");
  CHECK(bert("\"is_decoder\": false", "\"is_decoder\": true") ==
        "is_decoder: expected false, got true");
  const auto bloom = [&](const std::string& from, const std::string& to) {
    return error("bloom", from, to, [](const fs::path& folder) { return load_gpt(folder); });
  };
  CHECK(bloom("\"apply_residual_connection_post_layernorm\": false",
              "\"apply_residual_connection_post_layernorm\": true") ==
        "apply_residual_connection_post_layernorm: expected false, got true");
  CHECK(bloom("\"bloom\"", "\"falcon\"") ==
        "model_type: expected gpt2, llama, mistral, qwen2, qwen3, gpt_neox or bloom, got 'falcon'");
}
