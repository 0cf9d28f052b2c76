#include "examples/embed/program.hpp"

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include <weft/autograd/ops/matmul.hpp>
#include <weft/autograd/ops/no_grad.hpp>
#include <weft/train/files/utf8.hpp>
#include "examples/common/command_line.hpp"
#include "examples/common/output_files.hpp"
#include "examples/common/program.hpp"
#include "examples/common/text_input.hpp"
#include "examples/embed/sentence_model.hpp"
#include "examples/embed/vectors_file.hpp"

namespace weft::embed {
namespace {

struct Options {
  std::string model = "build/minilm";
  std::string file, vectors, pooling = "model";
  std::int64_t max_len = 0, batch = 32;
  bool tokens = false;
  std::vector<std::string> sentences;
};

bool parse(int argc, char** argv, Options& options) {
  examples::CommandLine line(
      "embed",
      "Computes sentence embeddings: vectors of length 1. Prints their cosine similarities, or "
      "writes them to a file.");
  line.option("model",
              "Hugging Face model folder, with model.h5 or model.safetensors, config.json and "
              "tokenizer.json or vocab.txt",
              options.model);
  line.option("file",
              "file with one sentence per line; without --file and SENTENCE, reads standard input",
              options.file);
  line.option("vectors", "write the vectors to this .csv or .h5 file", options.vectors);
  line.choice("pooling",
              "how to combine the vectors of the tokens (model: as the model's files specify)",
              options.pooling, {"model", "mean", "first", "max"});
  line.option("max-len", "maximum number of tokens per sentence; 0: the model's maximum",
              options.max_len, 0, 1 << 20);
  line.option("batch", "number of sentences per batch", options.batch, 1, 4096);
  line.flag("tokens", "print the tokens of each sentence instead of computing vectors",
            options.tokens);
  line.arguments("SENTENCE...", options.sentences);
  if (!line.parse(argc, argv)) return false;
  if (!options.file.empty() && !options.sentences.empty())
    fail<examples::UsageError>("command line", "either sentences or --file", "both");
  if (options.tokens && !options.vectors.empty())
    fail<examples::UsageError>("command line", "either --tokens or --vectors", "both");
  if (options.tokens) line.without_effect({"pooling", "batch"}, "with --tokens");
  return true;
}

// Reads all lines. Throws FileError, starting with `what`, if there are no lines or a line is not
// UTF-8.
std::vector<std::string> lines_of(std::istream& in, const std::string& what) {
  std::vector<std::string> lines;
  for (std::string line; examples::read_line(in, line, what);) {
    if (lines.empty()) examples::remove_byte_order_mark(line);
    lines.push_back(line);
    check_utf8(line, str_cat(what, ", line ", lines.size()));
  }
  if (lines.empty()) fail<FileError>(what, "at least one sentence", "none");
  return lines;
}

std::vector<std::string> sentences_of(const Options& options) {
  if (options.file.empty() && options.sentences.empty())
    return lines_of(std::cin, "standard input");
  if (!options.file.empty()) {
    const std::string what = "file '" + options.file + "'";
    std::ifstream file = examples::open_text(options.file, what);
    return lines_of(file, what);
  }
  for (std::size_t i = 0; i < options.sentences.size(); ++i)
    check_utf8(options.sentences[i], str_cat("sentence ", i + 1));
  return options.sentences;
}

SentenceModel model_of(const Options& options) {
  SentenceModel model(options.model);
  if (options.pooling != "model")
    model.pooling =
        SequencePooling<float>(enum_from_name("pooling", options.pooling, pooling_names));
  const Index positions = model.encoder.positions.weight.shape()[0];
  if (options.max_len == 1 || options.max_len > positions)
    fail<ValueError>(
        "option --max-len",
        str_cat("a number from 2 to ", positions, ", the number of positions of the model"),
        options.max_len);
  if (options.max_len > 0) model.max_len = options.max_len;
  return model;
}

void print_tokens(const SentenceModel& model, const std::vector<TokenIds>& sequences) {
  for (const TokenIds& ids : sequences) {
    for (std::size_t i = 0; i < ids.size(); ++i)
      std::cout << (i == 0 ? "" : " ") << model.tokenizer.token(ids[i]);
    std::cout << '\n';
  }
}

// Returns the cosine similarities of the vectors [first, last) to all vectors, [last - first,
// sentences].
Tensor<float> similarities(const Tensor<float>& vectors, Index first, Index last) {
  const Index columns = vectors.shape()[1];
  Tensor<float> some({last - first, columns});
  std::copy_n(vectors.data() + first * columns, some.size(), some.data());
  return no_grad([](const auto& a, const auto& b) { return matmul(a, b, {.transpose_b = true}); },
                 some, vectors);
}

// Prints the similarities of all pairs as a table.
void print_table(const Tensor<float>& vectors, const std::vector<std::string>& sentences) {
  const Index count = vectors.shape()[0];
  const Tensor<float> table = similarities(vectors, 0, count);
  std::cout << "    ";
  for (Index column = 1; column <= count; ++column) std::cout << std::setw(7) << column;
  std::cout << '\n' << std::fixed << std::setprecision(3);
  for (Index row = 0; row < count; ++row) {
    std::cout << std::setw(4) << row + 1;
    for (Index column = 0; column < count; ++column)
      std::cout << std::setw(7) << table(row, column);
    std::cout << "  " << printable(sentences[static_cast<std::size_t>(row)]) << '\n';
  }
}

// Prints the most similar other sentence for each sentence.
void print_nearest(const Tensor<float>& vectors, const std::vector<std::string>& sentences) {
  constexpr Index rows_at_a_time = 256;
  const Index count = vectors.shape()[0];
  std::cout << "sentence, most similar other sentence, cosine similarity\n"
            << std::fixed << std::setprecision(3);
  for (Index first = 0; first < count; first += rows_at_a_time) {
    const Index last = std::min(first + rows_at_a_time, count);
    Tensor<float> table = similarities(vectors, first, last);
    for (Index row = first; row < last; ++row) {
      float* begin = table.data() + (row - first) * count;
      begin[row] = -2.0f;  // below every similarity
      const Index nearest = std::max_element(begin, begin + count) - begin;
      std::cout << std::setw(6) << row + 1 << std::setw(7) << nearest + 1 << std::setw(7)
                << begin[nearest] << "  " << printable(sentences[static_cast<std::size_t>(row)])
                << '\n';
    }
  }
}

void embed(const Options& options) {
  constexpr std::size_t largest_table = 12;
  std::vector<std::filesystem::path> inputs = examples::model_files(options.model);
  inputs.insert(inputs.end(), {options.model + "/1_Pooling/config.json", options.file});
  if (!options.vectors.empty()) check_vectors_file(options.vectors, inputs);
  const SentenceModel model = model_of(options);
  const std::vector<std::string> sentences = sentences_of(options);
  std::vector<TokenIds> sequences;
  for (const std::string& sentence : sentences) sequences.push_back(model.tokens(sentence));
  if (options.tokens) return print_tokens(model, sequences);

  const auto start = std::chrono::steady_clock::now();
  const Tensor<float> vectors = model.vectors(sequences, options.batch);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (!options.vectors.empty()) {
    write_vectors(options.vectors, vectors);
    std::cout << "wrote " << vectors.shape()[0] << " vectors of " << vectors.shape()[1]
              << " numbers, computed in " << std::setprecision(3) << seconds.count() << " s, to "
              << options.vectors << '\n';
  } else if (sentences.size() <= largest_table) {
    print_table(vectors, sentences);
  } else {
    print_nearest(vectors, sentences);
  }
}

}  // namespace

int run_program(int argc, char** argv) {
  return examples::run_program("embed", [&] {
    Options options;
    if (parse(argc, argv, options)) embed(options);
    return 0;
  });
}

}  // namespace weft::embed
