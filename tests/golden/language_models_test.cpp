// Language models as transformers saves them, and its logits. write_language_models.py wrote them.
#include <fstream>

#include <weft/autograd/error.hpp>
#include <weft/train/generation/generate.hpp>
#include <weft/train/hdf5/hdf5_file.hpp>
#include <weft/train/weights/lora_weights.hpp>
#include <weft/train/weights/pretrained.hpp>
#include <weft/train/weights/safetensors_file.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/golden/comparison.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
namespace fs = std::filesystem;

namespace {

const fs::path folders = WEFT_TEST_DATA "/language_models";

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

}  // namespace

TEMPLATE_TEST_CASE("language models of transformers give its logits", "[golden]", float, double) {
  using T = TestType;
  const auto name =
      GENERATE(as<std::string>(), "llama", "llama_tied", "llama_biased", "llama_3", "llama_linear",
               "qwen2", "qwen3", "mistral", "gpt_neox", "gpt_neox_serial");
  CAPTURE(name);
  const Hdf5File expected(folders / name / "expected.h5");
  const auto model = load_pretrained_gpt<T>(folders / name);
  const Tokens tokens = expected.tensor<TokenId>("tokens");
  // Also in double, transformers computes rotary positions in single precision.
  const bool is_double = std::is_same_v<T, double>;
  const auto logits = expected.tensor<double>(is_double ? "logits_double" : "logits");
  const double bound = is_double ? 1e-6 : 1e-5;
  CHECK(golden::relative_error(logits_of(model, tokens), logits) < bound);
  CHECK(golden::relative_error(cached_logits(model, tokens), logits) < bound);
  const auto greedy = expected.tensor<TokenId>("greedy");
  const Sequence all(greedy.begin(), greedy.end());
  CHECK(generate(model, std::span(all).first(4),
                 {.max_tokens = 40, .sampling = {.temperature = 0}}) ==
        Sequence(all.begin() + 4, all.end()));
}

TEST_CASE("language models in shards and in 16 bits", "[golden]") {
  const Tokens tokens = Hdf5File(folders / "llama" / "expected.h5").tensor<TokenId>("tokens");
  const Tensor<float> whole = logits_of(load_pretrained_gpt(folders / "llama"), tokens);
  CHECK(logits_of(load_pretrained_gpt(folders / "llama_sharded"), tokens).values().front() ==
        whole.values().front());
  for (const char* const name : {"llama_bfloat16", "llama_float16"}) {
    const Hdf5File expected(folders / name / "expected.h5");
    CHECK(golden::relative_error(logits_of(load_pretrained_gpt(folders / name), tokens),
                                 expected.tensor<double>("logits")) < 1e-5);
  }
}

TEST_CASE("language models: saved folders have the same model", "[golden]") {
  const auto name = GENERATE(as<std::string>(), "llama", "llama_tied", "llama_biased", "llama_3",
                             "llama_linear", "qwen2", "qwen3", "mistral");
  CAPTURE(name);
  const TemporaryFolder folder;
  const PretrainedGpt description = read_pretrained_gpt(folders / name);
  const auto model = load_pretrained_gpt(folders / name);
  save_pretrained_gpt(folder.path(), model, description);
  const auto loaded = load_pretrained_gpt(folder.path());
  const auto parameters = named_parameters(model), others = named_parameters(loaded);
  REQUIRE(parameters.size() == others.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    CAPTURE(parameters[i].name);
    CHECK(parameters[i].name == others[i].name);
    CHECK(std::ranges::equal(parameters[i].parameter->value(), others[i].parameter->value()));
  }
  const PretrainedGpt again = read_pretrained_gpt(folder.path());
  CHECK(again.ends == description.ends);
  CHECK(again.options.rotary->base == description.options.rotary->base);
  CHECK(again.options.window == description.options.window);
  const Tokens tokens = Hdf5File(folders / name / "expected.h5").tensor<TokenId>("tokens");
  CHECK(std::ranges::equal(logits_of(model, tokens), logits_of(loaded, tokens)));
}

TEST_CASE("language models: weights of Llama need halves as rotary pairs", "[golden]") {
  GptOptions options = read_pretrained_gpt(folders / "llama").options;
  options.rotary->pairs = RotaryPairs::interleaved;
  Random random(1);
  Gpt model(options, random);
  const fs::path weights = folders / "llama" / "model.safetensors";
  CHECK(message_of<ValueError>([&] { (void)load_weights(weights, model); })
            .ends_with("expected RotaryPairs::halves, which the layout Llama has, got "
                       "RotaryPairs::interleaved"));
  const TemporaryFolder folder;
  CHECK_THROWS_AS(save_weights(folder / "a.safetensors", model, {.layout = Layout::llama}),
                  ValueError);
}

TEST_CASE("language models: adapters of PEFT, and back", "[golden][Lora]") {
  auto model = load_pretrained_gpt<float>(folders / "llama");
  const Hdf5File expected(folders / "llama_lora" / "expected.h5");
  const Tokens tokens = expected.tensor<TokenId>("tokens");
  const auto logits = expected.tensor<double>("logits");
  CHECK(load_lora(folders / "llama_lora", model) == 6);
  CHECK(golden::relative_error(logits_of(model, tokens), logits) < 1e-5);
  const TemporaryFolder folder;
  save_lora(folder.path(), model, Layout::llama, "base");
  auto again = load_pretrained_gpt<float>(folders / "llama");
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
  auto other = load_pretrained_gpt<float>(folders / "gpt_neox");
  CHECK_THROWS_AS(load_lora(folders / "llama_lora", other), FileError);
}
