#include <array>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include <weft/layers/models/bert.hpp>
#include <weft/train/data/csv.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/files/safetensors/safetensors_writer.hpp>
#include <weft/train/weights/weights.hpp>
#include "examples/embed/program.hpp"
#include "examples/embed/sentence_model.hpp"
#include "tests/catch.hpp"
#include "tests/examples/process.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

const std::string config =
    R"({"model_type": "bert", "vocab_size": 400, "hidden_size": 8, "num_hidden_layers": 1,
"num_attention_heads": 2, "intermediate_size": 12, "max_position_embeddings": 9,
"type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu"})";

// A model folder with random weights, and the vocabulary of the test of WordPiece.
class ModelFolder {
 public:
  ModelFolder() {
    std::filesystem::copy(WEFT_TEST_DATA "/word_piece_vocab.txt", folder_ / "vocab.txt");
    write("config.json", config);
    Random random(1);
    Bert<float> model({.vocabulary_size = 400,
                       .max_len = 9,
                       .num_hiddens = 8,
                       .num_heads = 2,
                       .num_blocks = 1,
                       .ffn_num_hiddens = 12,
                       .pooler = true},
                      random);
    // Larger than those of the initialization, with which all sentences are alike.
    for (const auto& [name, parameter] : named_parameters(model))
      parameter->set_value(random.normal_tensor<float>(parameter->shape()));
    save_weights(folder_ / "model.h5", model);
  }

  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    write_bytes(path, text);
  }
  std::string operator/(const std::string& name) const { return (folder_ / name).string(); }
  std::string path() const { return folder_.path().string(); }

  Outcome embed(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--model", path()});
    return outcome_of(embed::run_program, "embed", arguments);
  }

 private:
  TemporaryFolder folder_;
};

Tensor<float> vectors_of(const ModelFolder& folder, const std::vector<std::string>& sentences,
                         Index batch_size = 2) {
  const embed::SentenceModel model(folder.path());
  std::vector<TokenIds> tokens;
  for (const std::string& sentence : sentences) tokens.push_back(model.tokens(sentence));
  return model.vectors(tokens, batch_size);
}

// The error of a run that fails; checks that it is one line and that nothing was printed.
std::string error_of(const Outcome& outcome, int status = 1) {
  CHECK(outcome.status == status);
  CHECK(outcome.output.empty());
  CHECK(is_one_line(outcome.errors));
  CHECK(outcome.errors.starts_with("embed: "));
  return outcome.errors;
}

const std::vector<std::string> sentences = {"the weft", "the loom made of woven thread", "ba",
                                            "kuladeba fimeni, po!"};

}  // namespace

TEST_CASE("embed: vectors have length 1 and depend neither on the batch nor on their order",
          "[examples]") {
  const ModelFolder folder;
  const Tensor<float> all = vectors_of(folder, sentences, 4);
  REQUIRE(all.shape() == Shape{4, 8});
  for (const Index batch_size : {1, 3}) {
    const Tensor<float> other = vectors_of(folder, sentences, batch_size);
    for (Index i = 0; i < all.size(); ++i) CHECK(std::abs(all.data()[i] - other.data()[i]) < 1e-5f);
  }
  for (Index row = 0; row < 4; ++row) {
    float squares = 0.0f;
    for (Index column = 0; column < 8; ++column) squares += all(row, column) * all(row, column);
    CHECK(std::abs(squares - 1.0f) < 1e-5f);
  }
}

TEST_CASE("embed: prints the similarities of all pairs, or of many sentences the nearest",
          "[examples]") {
  const ModelFolder folder;
  const Outcome table = folder.embed(sentences);
  CHECK(table.errors.empty());
  REQUIRE(table.status == 0);
  const Tensor<float> all = vectors_of(folder, sentences);
  float product = 0.0f;
  for (Index column = 0; column < 8; ++column) product += all(0, column) * all(1, column);
  std::ostringstream expected;
  expected << "\n   1  1.000" << std::fixed << std::setprecision(3) << std::setw(7) << product;
  CHECK(contains(table.output, expected.str()));
  CHECK(contains(table.output, "1.000  kuladeba fimeni, po!\n"));

  std::vector<std::string> many(20, "");
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = std::string(i + 1, 'a') + " de";
  many[19] = "A DE";
  const Outcome nearest = folder.embed(many);
  REQUIRE(nearest.status == 0);
  CHECK(contains(nearest.output, "\n     1     20  1.000  a de\n"));
  CHECK(contains(nearest.output, "\n    20      1  1.000  A DE\n"));
}

TEST_CASE("embed: vectors do not replace what they are computed from", "[examples]") {
  const ModelFolder folder;
  folder.write("text.csv", "ba\n");
  const std::string weights = bytes_of(folder / "model.h5");
  CHECK(contains(error_of(folder.embed({"ba", "--vectors", folder / "model.h5"})),
                 "model.h5': expected a file that is not an input, got an input file"));
  std::filesystem::create_hard_link(folder / "text.csv", folder / "vectors.csv");
  CHECK(contains(
      error_of(folder.embed({"--file", folder / "text.csv", "--vectors", folder / "vectors.csv"})),
      "vectors.csv': expected a file that is not an input, got an input file"));
  CHECK(bytes_of(folder / "model.h5") == weights);
  CHECK(bytes_of(folder / "text.csv") == "ba\n");
}

TEST_CASE("embed: vectors as CSV and as HDF5 are the same", "[examples]") {
  const ModelFolder folder;
  const Tensor<float> expected = vectors_of(folder, sentences);
  for (const std::string name : {"vectors.csv", "new/vectors.h5"}) {
    std::vector<std::string> arguments = sentences;
    arguments.insert(arguments.end(), {"--vectors", folder / name, "--batch", "2"});
    const Outcome outcome = folder.embed(arguments);
    CHECK(outcome.errors.empty());
    REQUIRE(outcome.status == 0);
    CHECK(outcome.output.starts_with("wrote 4 vectors of 8 numbers"));
  }
  const Tensor<float> csv = read_csv(folder / "vectors.csv").numbers();
  const Tensor<float> h5 = Hdf5File(folder / "new/vectors.h5").tensor<float>("vectors");
  REQUIRE(csv.shape() == expected.shape());
  CHECK(std::equal(csv.begin(), csv.end(), expected.begin()));
  REQUIRE(h5.shape() == expected.shape());
  CHECK(std::equal(h5.begin(), h5.end(), expected.begin()));
}

TEST_CASE("embed: reads a file or standard input, an empty line is a sentence", "[examples]") {
  const ModelFolder folder;
  folder.write("sentences", "\xEF\xBB\xBFthe weft\n\nba\r\n");
  const std::string expected = "[CLS] the weft [SEP]\n[CLS] [SEP]\n[CLS] ba [SEP]\n";
  const Outcome file = folder.embed({"--file", folder / "sentences", "--tokens"});
  CHECK(file.errors.empty());
  CHECK(file.output == expected);
  const Outcome input = process_of("embed --model '" + folder.path() + "' --tokens < '" +
                                   (folder / "sentences") + "'");
  CHECK(input.errors.empty());
  CHECK(input.output == expected);
}

TEST_CASE("embed: the files beside the weights decide on letters, length and pooling",
          "[examples]") {
  const ModelFolder folder;
  CHECK(folder.embed({"--tokens", "LOOM Weft de fi go ku la me ni"}).output ==
        "[CLS] loom weft de fi go ku la [SEP]\n");
  CHECK(folder.embed({"--tokens", "--max-len", "4", "ba de fi"}).output == "[CLS] ba de [SEP]\n");
  const Tensor<float> mean = vectors_of(folder, sentences);
  folder.write("tokenizer_config.json", R"({"do_lower_case": false, "strip_accents": null})");
  folder.write("sentence_bert_config.json", R"({"max_seq_length": 5})");
  CHECK(folder.embed({"--tokens", "LOOM Weft de fi go"}).output == "[CLS] LOOM Weft de [SEP]\n");
  folder.write("1_Pooling/config.json", R"({"pooling_mode_cls_token": true})");
  const embed::SentenceModel model(folder.path());
  CHECK(model.pooling.pooling == Pooling::first);
  CHECK(model.max_len == 5);
  const Tensor<float> first = vectors_of(folder, sentences);
  CHECK_FALSE(std::equal(mean.begin(), mean.end(), first.begin()));
}

TEST_CASE("embed: prompts, added tokens and the encoder's own lower case", "[examples]") {
  const ModelFolder folder;
  folder.write("config_sentence_transformers.json",
               R"({"prompts": {"query": "the "}, "default_prompt_name": null})");
  CHECK(folder.embed({"--tokens", "weft"}).output == "[CLS] weft [SEP]\n");
  folder.write("config_sentence_transformers.json",
               R"({"prompts": {"query": "the "}, "default_prompt_name": "query"})");
  CHECK(folder.embed({"--tokens", "weft"}).output == "[CLS] the weft [SEP]\n");
  folder.write("1_Pooling/config.json", R"({"include_prompt": false})");
  CHECK(contains(error_of(folder.embed({"weft"})), "expected true as include_prompt"));

  const ModelFolder added;
  const auto size = static_cast<TokenId>(embed::SentenceModel(added.path()).tokenizer.size());
  added.write("added_tokens.json", str_cat(R"({"zzz": )", size, R"(, "Yyy": )", size + 1, "}"));
  added.write("tokenizer_config.json", R"({"do_lower_case": false})");
  CHECK(added.embed({"--tokens", "ba zzzba LOOM"}).output == "[CLS] ba zzz ba LOOM [SEP]\n");
  CHECK(embed::SentenceModel(added.path()).tokens("zzz")[1] == size);
  // Lower case applies to the text and to the contents of added tokens.
  added.write("sentence_bert_config.json", R"({"do_lower_case": true})");
  CHECK(added.embed({"--tokens", "ba yyy ZZZ LOOM"}).output == "[CLS] ba Yyy zzz loom [SEP]\n");
}

TEST_CASE("embed: the vocabulary of tokenizer.json counts, where there is one", "[examples]") {
  const ModelFolder folder;
  std::string vocabulary;
  const WordPiece tokens(folder / "vocab.txt");
  for (TokenId id = 0; id < tokens.size(); ++id)
    vocabulary += str_cat(id == 0 ? "" : ", ", nlohmann::json(tokens.token(id)).dump(), ": ",
                          tokens.size() - 1 - id);
  folder.write("tokenizer.json",
               R"({"model": {"type": "WordPiece", "vocab": {)" + vocabulary + "}}}");
  const TokenIds ids = embed::SentenceModel(folder.path()).tokens("the weft");
  const TokenIds before = tokens.encode("the weft");
  REQUIRE(ids.size() == before.size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    CHECK(ids[i] == static_cast<TokenId>(tokens.size()) - 1 - before[i]);
  std::filesystem::remove(folder / "vocab.txt");
  CHECK(folder.embed({"--tokens", "the weft"}).output == "[CLS] the weft [SEP]\n");
}

TEST_CASE("embed: a Dense module maps the pooled vectors", "[examples]") {
  const ModelFolder folder;
  folder.write("modules.json", R"([
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
  const Tensor<float> pooled = vectors_of(folder, sentences);
  folder.write("modules.json", R"([
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"},
    {"idx": 3, "name": "3", "path": "3_Normalize", "type": "sentence_transformers.models.Normalize"}])");
  const std::string dense = R"({"in_features": 8, "out_features": 3, "bias": false,
    "activation_function": "torch.nn.modules.linear.Identity"})";
  folder.write("2_Dense/config.json", dense);
  Random random(5);
  const Tensor<float> weight = random.normal_tensor<float>({3, 8});
  SafetensorsWriter writer(folder / "2_Dense/model.safetensors");
  writer.tensor<float>("linear.weight", weight.shape(), [&] { return weight; });
  writer.save();
  const Tensor<float> mapped = vectors_of(folder, sentences);
  REQUIRE(mapped.shape() == Shape{4, 3});
  for (Index row = 0; row < 4; ++row) {
    std::array<float, 3> expected{};
    float squares = 0.0f;
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 8; ++j)
        expected[static_cast<std::size_t>(i)] += weight(i, j) * pooled(row, j);
      squares += expected[static_cast<std::size_t>(i)] * expected[static_cast<std::size_t>(i)];
    }
    for (Index i = 0; i < 3; ++i)
      CHECK(std::abs(mapped(row, i) - expected[static_cast<std::size_t>(i)] / std::sqrt(squares)) <
            1e-5f);
  }
  const auto error_with = [&](const std::string& from, const std::string& to) {
    folder.write("2_Dense/config.json",
                 std::string(dense).replace(dense.find(from), from.size(), to));
    return error_of(folder.embed({"ba"}));
  };
  CHECK(contains(error_with("linear.Identity", "activation.Mish"), "as activation_function, got"));
  CHECK(
      contains(error_with("false", "false, \"use_residual\": true"), "as use_residual, got true"));
  CHECK(contains(error_with("8", "7"), "linear.weight"));
  folder.write("2_Dense/config.json", dense);
  folder.write("1_Pooling/config.json", R"({"pooling_mode": "mean_sqrt_len_tokens"})");
  CHECK(
      contains(error_of(folder.embed({"ba"})), "before a Dense module, got mean_sqrt_len_tokens"));
}

TEST_CASE("embed: bad models are errors of one line", "[examples]") {
  CHECK(contains(error_of(outcome_of(embed::run_program, "embed", {"--model", "/none", "ba"})),
                 "\"/none/vocab.txt\": expected a file, got no such file"));
  const auto error_with = [](const std::string& name, const std::string& text) {
    const ModelFolder folder;
    folder.write(name, text);
    return error_of(folder.embed({"ba"}));
  };
  CHECK(contains(error_with("vocab.txt", "ba\nde\n"),
                 "expected a vocabulary with [UNK], [CLS] and [SEP], got 2 tokens"));
  CHECK(contains(error_with("vocab.txt", "[UNK]\n[CLS]\n[SEP]\nba\nba\n"),
                 "expected each token once, got 'ba' in lines 4 and 5"));
  CHECK(contains(error_with("tokenizer.json", R"({"model": {"vocab": {"[UNK]": 1}}})"),
                 "expected each id from 0 to 0 once, got 1 for '[UNK]'"));
  CHECK(contains(error_with("adapter_config.json", "{}"),
                 "expected a model without adapters, got adapter_config.json"));
  CHECK(contains(error_with("config.json", "{\"vocab_size\": 400,"),
                 "expected JSON, got an error in line 1"));
  CHECK(contains(error_with("config.json", "{}"),
                 "config.json\": vocab_size: expected an entry, got none"));
  const auto config_with = [&](const std::string& from, const std::string& to) {
    std::string changed = config;
    REQUIRE(contains(changed, from));
    return error_with("config.json", changed.replace(changed.find(from), from.size(), to));
  };
  CHECK(contains(config_with("\"bert\"", "\"gpt2\""),
                 "model_type: expected bert or roberta, got 'gpt2'"));
  CHECK(contains(config_with("\"gelu\"", "\"mish\""), "hidden_act: expected"));
  CHECK(contains(config_with("400", "380"), "tokens.weight"));
  std::string many = "[UNK]\n[CLS]\n[SEP]\n";
  for (int i = 0; i < 398; ++i) many += str_cat('t', i, '\n');
  CHECK(contains(error_with("vocab.txt", many),
                 "expected at most the 400 tokens of config.json, got 401"));
  // Before memory is allocated for such a model.
  for (const auto& [from, to] : {std::pair("size\": 8", "size\": 2000000000"),
                                 {"400", "70000000"},
                                 {"layers\": 1", "layers\": 2000000000"},
                                 {"layers\": 1", "layers\": 999"}})
    CHECK(contains(config_with(from, to), "config.json\": expected a model with at most the "));
  CHECK(contains(config_with("heads\": 2", "heads\": 3"), "divisible by num_heads"));
  CHECK(contains(error_with("model.h5", "no weights"), "model.h5"));
  const ModelFolder other;
  other.write("config.json", std::string(config).replace(config.find("12,"), 2, "16"));
  const Outcome outcome = other.embed({"ba"});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.errors, "ffn.dense1.weight"));
  CHECK(contains(error_with("tokenizer_config.json", R"({"tokenize_chinese_chars": false})"),
                 "expected true as tokenize_chinese_chars, got false"));
  for (const char* const modes :
       {R"({"pooling_mode_weightedmean_tokens": true})",
        R"({"pooling_mode_cls_token": true, "pooling_mode_max_tokens": true})",
        R"({"pooling_mode": "median"})", R"({"pooling_mode": ["mean", "max"]})"})
    CHECK(contains(error_with("1_Pooling/config.json", modes),
                   "expected cls, max, mean, mean_sqrt_len_tokens or lasttoken as pooling"));
  for (const auto& [file, text, expected] : std::vector<std::array<std::string, 3>>{
           {"1_Pooling/config.json", R"({"pooling_mode_median": true})", "as pooling_mode_median"},
           {"sentence_bert_config.json", R"({"none_such": 1})", "as none_such, got 1"},
           {"config_sentence_transformers.json", R"({"truncate_dim": 4})",
            "as truncate_dim, got 4"},
           {"config_sentence_transformers.json", R"({"default_prompt_name": "query"})",
            "expected the name of one of the prompts as default_prompt_name"},
           {"modules.json", "{}", "expected a JSON list, got object"},
           {"modules.json", R"([{"type": "a.Transformer"}])",
            "expected at least the modules Transformer and Pooling, got 1"},
           {"modules.json", R"([{"type": "a.Transformer"}, {"type": "a.Pooling", "path": "../b"}])",
            "expected a folder below that of modules.json as path"},
           {"modules.json",
            R"([{"type": "a.Transformer"}, {"type": "a.Pooling"}, {"type": "a.LSTM"}])",
            "expected Transformer, Pooling, any number of Dense, and Normalize"},
           {"added_tokens.json", R"({"zzz": 399})", "for an added token, got 399 for 'zzz'"},
           {"tokenizer_config.json", R"({"cls_token": "<s>"})", "expected [CLS] as cls_token"},
           {"special_tokens_map.json", R"({"sep_token": {"content": "</s>"}})",
            "expected [SEP] as sep_token"},
           {"tokenizer_config.json", R"({"added_tokens_decoder": {"399": {"content": "zzz"}}})",
            "expected tokens of added_tokens.json as added_tokens_decoder, got \"zzz\""},
           {"tokenizer.json", R"({"added_tokens": [{"content": "zzz"}]})",
            "expected tokens of added_tokens.json as added_tokens, got \"zzz\""}}) {
    CAPTURE(file, text);
    CHECK(contains(error_with(file, text), expected));
  }
  CHECK(contains(error_with("sentence_bert_config.json", R"({"max_seq_length": "long"})"),
                 "as max_seq_length, got \"long\""));
}

TEST_CASE("embed: bad texts, outputs and options are errors of one line", "[examples]") {
  const ModelFolder folder;
  const auto error_for = [&](const std::vector<std::string>& arguments, int status = 1) {
    return error_of(folder.embed(arguments), status);
  };
  CHECK(contains(error_for({"ba", "d\xFF"}), "sentence 2: expected UTF-8 text, got byte 255"));
  folder.write("latin1", "ba\nd\xE9\n");
  CHECK(contains(error_for({"--file", folder / "latin1"}), "latin1', line 2: expected UTF-8 text"));
  folder.write("empty", "");
  CHECK(contains(error_for({"--file", folder / "empty"}),
                 "empty': expected at least one sentence, got none"));
  CHECK(contains(error_for({"--file", folder / "none"}), "none': No such file or directory"));
  CHECK(contains(error_for({"--file", folder.path()}), "expected a regular file, got a directory"));
  CHECK(contains(error_for({"--vectors", folder / "v.txt", "ba"}),
                 "expected a name that ends in .csv or .h5, got .txt"));
  CHECK(contains(error_for({"--vectors", "/proc/self/fdinfo/v.csv", "ba"}),
                 "cannot write to directory '/proc/self/fdinfo': "));
  CHECK(contains(error_for({"--max-len", "10", "ba"}),
                 "option --max-len: expected a number from 2 to 9"));
  CHECK(contains(error_for({"--max-len", "1", "ba"}),
                 "option --max-len: expected a number from 2 to 9"));
  CHECK(contains(error_for({"--batch", "0", "ba"}, 2),
                 "option --batch: expected a number from 1 to "));
  CHECK(contains(error_for({"--pooling", "sum", "ba"}, 2), "option --pooling: expected one of"));
  CHECK(contains(error_for({"--file", "x", "ba"}, 2),
                 "expected either sentences or --file, got both"));
  CHECK(contains(error_for({"--tokens", "--vectors", "v.h5", "ba"}, 2), "got both"));
}
