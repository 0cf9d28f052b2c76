// Three ways to read a sequence: self-attention, convolution and recurrence (d2l.ai, section
// "Comparing CNNs, RNNs, and Self-Attention"). Measures how the time of a layer grows with the
// length of the sequence, beside what counting multiplications says, and then lets one small model
// of each kind learn to say a sequence backwards: a task in which tokens lie near and far.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>

#include <weft/layers.hpp>
#include <weft/train.hpp>
#include "examples/common/command_line.hpp"
#include "examples/common/plot.hpp"
#include "examples/common/program.hpp"

namespace {

using namespace weft;
namespace fs = std::filesystem;

// Of the convolutions; and how many of them a model has.
constexpr Index kernel_size = 3, num_convolutions = 4;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// --- How the time grows with the length ------------------------------------------------------

// Each reads [batch, time, width] and gives as much.
struct Layers : Module<float> {
  Layers(Index width, Random& random)
      : attention(
            {.query_size = width, .key_size = width, .value_size = width, .num_hiddens = width},
            random),
        convolution({.in_channels = width,
                     .out_channels = width,
                     .kernel_size = kernel_size,
                     .padding = Padding::same},
                    random),
        rnn({.input_size = width, .num_hiddens = width}, random),
        gru({.input_size = width, .num_hiddens = width}, random) {}

  void members(Members<float>& members) override {
    members("attention", attention);
    members("convolution", convolution);
    members("rnn", rnn);
    members("gru", gru);
  }

  MultiHeadAttention<float> attention;
  Conv1d<float> convolution;
  RNN<float> rnn;
  GRU<float> gru;
};

struct TimedLayer {
  std::string name;
  std::string multiplications;  // the most of them, for a sequence of n vectors of length d
  Index fit_from;               // from this length on, whatever else there is is small beside them
  std::function<Var<float>(const Var<float>& x)> call;
};

std::vector<TimedLayer> timed(const Layers& layers, Index width) {
  using X = const Var<float>&;
  return {// Its projections make 4 n d² more: as many as the 2 n² d of all pairs at n = 2 d.
          {"self-attention", "n² · d", 16 * width, [&](X x) { return layers.attention(x, x, x); }},
          {"convolution", "n · k d²", 256, [&](X x) { return layers.convolution(x); }},
          {"RNN", "n · d²", 256, [&](X x) { return layers.rnn(x).states; }},
          {"GRU", "n · d²", 256, [&](X x) { return layers.gru(x).states; }}};
}

// Medians of forward and backward, in milliseconds over the length: a line a layer. All are timed
// in turn, again and again, so that what else the machine does falls on all alike.
std::vector<examples::Line> measure(const std::vector<TimedLayer>& layers,
                                    const NamedParameters<float>& parameters,
                                    const std::vector<Index>& lengths, Index batch, Index width,
                                    double seconds) {
  Random random(2);
  Tape<float> tape;
  std::vector<Parameter<float>> inputs;
  std::vector<Tensor<float>> upstream;
  for (const Index length : lengths) {
    inputs.emplace_back(random.normal_tensor<float>({batch, length, width}));
    upstream.push_back(random.normal_tensor<float>({batch, length, width}));
  }
  std::vector<std::vector<std::vector<double>>> times(
      layers.size(), std::vector<std::vector<double>>(lengths.size()));
  const auto start = Clock::now();
  for (int round = 0; round < 4 || seconds_since(start) < seconds; ++round)
    for (std::size_t j = 0; j < lengths.size(); ++j)
      for (std::size_t i = 0; i < layers.size(); ++i) {
        inputs[j].zero_grad();
        for (const auto& [name, parameter] : parameters) parameter->zero_grad();
        const auto begin = Clock::now();
        tape.backward(layers[i].call(tape.parameter(inputs[j])), upstream[j]);
        if (round > 0) times[i][j].push_back(seconds_since(begin));  // the first asks for memory
      }
  std::vector<examples::Line> lines;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    lines.push_back({layers[i].name, {}, {}});
    for (std::size_t j = 0; j < lengths.size(); ++j) {
      lines[i].x.push_back(static_cast<double>(lengths[j]));
      lines[i].y.push_back(1e3 * median(times[i][j]));
    }
  }
  return lines;
}

// The slope of the straight line through (log x, log y) that least squares give, over the points
// from `first` on.
double exponent_of(const examples::Line& line, std::size_t first) {
  double mean_x = 0.0, mean_y = 0.0, products = 0.0, squares = 0.0;
  const auto count = static_cast<double>(line.x.size() - first);
  for (std::size_t i = first; i < line.x.size(); ++i) {
    mean_x += std::log(line.x[i]) / count;
    mean_y += std::log(line.y[i]) / count;
  }
  for (std::size_t i = first; i < line.x.size(); ++i) {
    products += (std::log(line.x[i]) - mean_x) * (std::log(line.y[i]) - mean_y);
    squares += (std::log(line.x[i]) - mean_x) * (std::log(line.x[i]) - mean_x);
  }
  return products / squares;
}

void compare_times(Index batch, Index width, Index longest, double seconds, const fs::path& out) {
  std::vector<Index> lengths;
  for (Index length = 64; length <= longest; length *= 2) lengths.push_back(length);
  Random random(1);
  Layers all(width, random);
  const std::vector<TimedLayer> layers = timed(all, width);
  std::cout << "Forward and backward of one layer, " << width << " wide, on " << batch
            << " sequences: medians in milliseconds\n\n"
            << std::flush;
  std::vector<examples::Line> lines =
      measure(layers, named_parameters(all), lengths, batch, width, seconds);

  std::cout << "length n";
  for (const examples::Line& line : lines) std::cout << std::setw(16) << line.name;
  std::cout << '\n' << std::fixed << std::setprecision(3);
  for (std::size_t j = 0; j < lengths.size(); ++j) {
    std::cout << std::setw(8) << lengths[j];
    for (const examples::Line& line : lines) std::cout << std::setw(16) << line.y[j];
    std::cout << '\n';
  }

  std::cout << "\nThe time as a power of n, by least squares of its logarithm\n\n"
               "layer           measured   over lengths   in theory\n"
            << std::setprecision(2);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    // Two points at least.
    std::size_t first = 0;
    while (first + 2 < lengths.size() && lengths[first] < layers[i].fit_from) ++first;
    const double exponent = exponent_of(lines[i], first);
    std::cout << std::left << std::setw(16) << layers[i].name << "  n^" << exponent << std::right
              << std::setw(8) << lengths[first] << " – " << std::left << std::setw(7)
              << lengths.back() << layers[i].multiplications << std::right << '\n';
    std::ostringstream name;
    name << std::fixed << std::setprecision(2) << layers[i].name << ": n^" << exponent;
    lines[i].name = name.str();
  }
  std::cout << "\nTwice the length is twice the work for a convolution or a recurrence, and four "
               "times for\nattention once sequences are long. A recurrence, though, cannot begin a "
               "step before the\none before it is done.\n"
            << draw(
                   examples::LineChart{
                       concatenate_text("One layer, ", width, " wide: its time by length"),
                       "length n of the sequences", "forward and backward, ms", lines, true},
                   out / "sequence_layers_times.svg")
            << '\n';
}

// --- Learning to say a sequence backwards ----------------------------------------------------

// Letters, then as many blanks; at the blanks the letters are wanted, last letter first. So each
// letter is wanted at its own distance: 1, 3, 5, …
struct Task {
  static constexpr TokenId letters = 8, blank = letters;
  Index length;

  struct Examples {
    Tokens tokens;  // [batch, 2 · length]
    Tokens labels;  // the same, ignored where the tokens are letters
  };

  Examples draw(Index batch, Random& random) const {
    Examples examples{Tokens({batch, 2 * length}), Tokens({batch, 2 * length})};
    examples.tokens.fill(blank);
    examples.labels.fill(CrossEntropyOptions{}.ignore_index);
    for (Index b = 0; b < batch; ++b)
      for (Index i = 0; i < length; ++i)
        examples.tokens(b, i) = examples.labels(b, 2 * length - 1 - i) =
            static_cast<TokenId>(random.below(letters));
    return examples;
  }
};

// Letters in, logits of letters out; `read` is what the models differ in. None sees what comes
// after a position.
struct SequenceModel : Module<float> {
  SequenceModel(Index width, Random& random)
      : embedding({.num_embeddings = Task::letters + 1, .embedding_dim = width}, random),
        output({.in_features = width, .out_features = Task::letters}, random) {}

  virtual Var<float> read(const Var<float>& x) const = 0;

  Var<float> operator()(Tape<float>& tape, const Tokens& tokens) const {
    return output(read(embedding(tape, tokens)));
  }

  void members(Members<float>& members) override {
    members("embedding", embedding);
    members("output", output);
  }

  Embedding<float> embedding;
  Linear<float> output;
};

struct AttentionModel : SequenceModel {
  AttentionModel(Index width, Index time, Random& random)
      : SequenceModel(width, random),
        positions({.num_hiddens = width, .max_len = time, .standard_deviation = 1.0}, random),
        encoder({.num_blocks = 2,
                 .block = {.num_hiddens = width, .ffn_num_hiddens = 2 * width, .norm_first = true}},
                random) {}

  Var<float> read(const Var<float>& x) const override {
    return encoder(positions(x), {.causal = true});
  }

  void members(Members<float>& members) override {
    SequenceModel::members(members);
    members("positions", positions);
    members("encoder", encoder);
  }

  LearnedPositionalEncoding<float> positions;
  TransformerEncoder<float> encoder;
};

struct ConvolutionModel : SequenceModel {
  ConvolutionModel(Index width, Random& random) : SequenceModel(width, random) {
    for (Index i = 0; i < num_convolutions; ++i)
      layers.emplace_back(Conv1dOptions{.in_channels = width,
                                        .out_channels = width,
                                        .kernel_size = kernel_size,
                                        .padding = Padding::causal},
                          random);
  }

  Var<float> read(const Var<float>& x) const override {
    Var<float> y = x;
    for (const Conv1d<float>& layer : layers) y = y + relu(layer(y));
    return y;
  }

  void members(Members<float>& members) override {
    SequenceModel::members(members);
    members("layers", layers);
  }

  std::vector<Conv1d<float>> layers;
};

template <class Layers>
struct RecurrentModel : SequenceModel {
  RecurrentModel(Index width, Random& random)
      : SequenceModel(width, random),
        layers({.input_size = width, .num_hiddens = width, .num_layers = 2}, random) {}

  Var<float> read(const Var<float>& x) const override { return layers(x).states; }

  void members(Members<float>& members) override {
    SequenceModel::members(members);
    members("layers", layers);
  }

  Layers layers;
};

// A model and how far its training has come.
class Training {
 public:
  Training(std::string kind, std::unique_ptr<SequenceModel> model, const Task& task)
      : name(std::move(kind)),
        task_(task),
        model_(std::move(model)),
        optimizer_(*model_, {.lr = 2e-3, .weight_decay = 0.0}),
        pass_(named_parameters(*model_), parts, {.training = true}) {}

  // Trains until it did so for `seconds` in all, and notes how many letters are right then, with
  // `tests` to be reversed.
  void run(double seconds, const Task::Examples& tests) {
    while (trained_ < seconds) {
      const auto start = Clock::now();
      step();
      trained_ += seconds_since(start);
    }
    evaluate(tests);
  }

  // Of the letters first … last, the nearest being letter 0, at the last evaluation.
  double accuracy(Index first, Index last) const {
    double sum = 0.0;
    for (Index i = first; i < last; ++i) sum += by_letter_[static_cast<std::size_t>(i)];
    return sum / static_cast<double>(last - first);
  }
  Index num_parameters() const { return count_parameters(*model_); }
  std::int64_t steps() const { return optimizer_.steps(); }
  // Over seconds of training, and over the distance of the letter at the last evaluation.
  const examples::Line& curve() const { return curve_; }
  examples::Line by_distance() const {
    examples::Line line{name, {}, {}};
    for (Index i = 0; i < task_.length; ++i) {
      line.x.push_back(static_cast<double>(2 * i + 1));
      line.y.push_back(by_letter_[static_cast<std::size_t>(i)]);
    }
    return line;
  }

  std::string name;

 private:
  static constexpr Index parts = 4, part_size = 16;

  void step() {
    std::vector<Task::Examples> batch;
    for (Index part = 0; part < parts; ++part) batch.push_back(task_.draw(part_size, random_));
    const CrossEntropyOptions options{.divisor =
                                          static_cast<double>(parts * part_size * task_.length)};
    const auto number = static_cast<std::uint32_t>(optimizer_.steps());
    pass_.add_gradients(number, parts, [&](Tape<float>& tape, Index part) {
      const Task::Examples& examples = batch[static_cast<std::size_t>(part)];
      return cross_entropy((*model_)(tape, examples.tokens), examples.labels, options);
    });
    optimizer_.step(clip_factor(optimizer_.grad_norm(), 1.0));
  }

  void evaluate(const Task::Examples& tests) {
    Tape<float> tape = Tape<float>::inference();
    const Tensor<float> logits = (*model_)(tape, tests.tokens).value();
    const Index batch = tests.tokens.shape()[0];
    by_letter_.assign(static_cast<std::size_t>(task_.length), 0.0);
    for (Index b = 0; b < batch; ++b)
      for (Index i = 0; i < task_.length; ++i) {
        const Index row = b * 2 * task_.length + task_.length + i;
        const float* of_letters = logits.data() + row * Task::letters;
        const auto best = std::max_element(of_letters, of_letters + Task::letters) - of_letters;
        if (best == tests.labels.data()[row])
          by_letter_[static_cast<std::size_t>(i)] += 1.0 / static_cast<double>(batch);
      }
    curve_.name = name;
    curve_.x.push_back(trained_);
    curve_.y.push_back(accuracy(0, task_.length));
  }

  Task task_;
  std::unique_ptr<SequenceModel> model_;
  AdamW<float> optimizer_;
  ParallelPass<float> pass_;
  Random random_{3};
  double trained_ = 0.0;
  std::vector<double> by_letter_;
  examples::Line curve_;
};

void compare_learning(Index width, const Task& task, double seconds, const fs::path& out) {
  std::cout << "\nSaying " << task.length << " letters backwards, after " << std::setprecision(0)
            << seconds << " s of training each: how many of the letters are right, in all\nand by "
            << "how many positions they lie back (guessing: " << std::setprecision(1)
            << 100.0 / Task::letters << " %)\n\n"
            << std::flush;
  Random random(4);
  const Task::Examples tests = task.draw(500, random);
  std::vector<Training> trainings;
  trainings.emplace_back("self-attention",
                         std::make_unique<AttentionModel>(width, 2 * task.length, random), task);
  trainings.emplace_back("convolution", std::make_unique<ConvolutionModel>(width, random), task);
  trainings.emplace_back("RNN", std::make_unique<RecurrentModel<RNN<float>>>(width, random), task);
  trainings.emplace_back("GRU", std::make_unique<RecurrentModel<GRU<float>>>(width, random), task);
  // By turns, so that what else the machine does falls on all alike.
  constexpr int turns = 40;
  for (int turn = 0; turn <= turns; ++turn)
    for (Training& training : trainings) training.run(seconds * turn / turns, tests);

  std::cout << "layers          parameters   steps    all %";
  const Index groups = std::min<Index>(4, task.length);
  for (Index group = 0; group < groups; ++group)
    std::cout << std::setw(10)
              << concatenate_text(2 * (group * task.length / groups) + 1, "–",
                                  2 * ((group + 1) * task.length / groups) - 1)
              << (group + 1 < groups ? "" : "\n");
  examples::LineChart curves{
      "Learning to say " + std::to_string(task.length) + " letters backwards",
      "seconds of training",
      "letters that are right",
      {}};
  examples::LineChart distances{"Letters that are right, by how far they lie back",
                                "distance, in positions",
                                "letters that are right",
                                {}};
  for (const Training& training : trainings) {
    std::cout << std::left << std::setw(16) << training.name << std::right << std::setw(10)
              << training.num_parameters() << std::setw(8) << training.steps() << std::setw(9)
              << 100.0 * training.accuracy(0, task.length);
    for (Index group = 0; group < groups; ++group)
      std::cout << std::setw(8)
                << 100.0 * training.accuracy(group * task.length / groups,
                                             (group + 1) * task.length / groups);
    std::cout << '\n';
    curves.lines.push_back(training.curve());
    distances.lines.push_back(training.by_distance());
  }
  std::cout
      << "\nAttention reaches every position in one step. " << num_convolutions
      << " convolutions of " << kernel_size << " positions, one on the other,\nsee "
      << num_convolutions * (kernel_size - 1)
      << " positions back and guess what lies further: there would have to be more of them, or\n"
         "wider ones. A recurrence has to carry all letters in its state, step by step.\n"
      << draw(curves, out / "sequence_layers_accuracy.svg") << '\n'
      << draw(distances, out / "sequence_layers_distance.svg") << '\n';
}

int run(int argc, char** argv) {
  std::int64_t width = 64, batch = 4, longest = 8192, letters = 20;
  double timing_seconds = 30.0, training_seconds = 20.0;
  std::string out = "build/tour";
  examples::CommandLine command_line(
      "sequence_layers",
      "Compares self-attention, convolution and recurrence: time by length, and what they learn.");
  command_line.option("width", "length of the vectors", width, 2, 1024);
  command_line.option("batch", "sequences that are timed together", batch, 1, 1024);
  command_line.option("longest", "longest sequence that is timed", longest, 128, 65536);
  command_line.option("timing-seconds", "for all timings together, at least three of each",
                      timing_seconds, 0.0, 1e6);
  command_line.option("letters", "letters to say backwards", letters, 1, 1000);
  command_line.option("training-seconds", "for each of the four models", training_seconds, 0.0,
                      1e6);
  command_line.option("out", "folder for the pictures", out);
  if (!command_line.parse(argc, argv)) return 0;
  examples::make_folder(out);
  compare_times(batch, width, longest, timing_seconds, out);
  compare_learning(width, {letters}, training_seconds, out);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return weft::examples::run_program("sequence_layers", [&] { return run(argc, argv); });
}
