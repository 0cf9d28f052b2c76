// positional_encoding: compares three encodings of positions for attention. Sines and cosines, or
// learned vectors, are added to the inputs; rotary encoding rotates queries and keys.
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <iostream>

#include <weft/layers.hpp>
#include <weft/train.hpp>
#include "examples/common/plot.hpp"
#include "examples/common/program.hpp"

namespace {

using namespace weft;
namespace fs = std::filesystem;

constexpr Index d = 32, positions = 60;

// --- Sinusoidal ---------------------------------------------------------------------------------

// Returns a column of the encoding, as a line over the positions.
examples::Line column_line(const Tensor<float>& table, Index column) {
  examples::Line line{.name = str_cat("column ", column), .x = {}, .y = {}};
  for (Index i = 0; i < positions; ++i) {
    line.x.push_back(static_cast<double>(i));
    line.y.push_back(table(i, column));
  }
  return line;
}

// Returns names for `count` rows or columns: the index for every `step`-th, otherwise empty.
std::vector<std::string> index_names(Index count, Index step) {
  std::vector<std::string> names(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; i += step) names[static_cast<std::size_t>(i)] = str_cat(i);
  return names;
}

void show_sinusoidal(const fs::path& out) {
  const PositionalEncoding encoding({.num_hiddens = d, .max_len = positions});
  const Tensor<float>& table = encoding.table();
  std::cout << "Sinusoidal: P[i, 2j] = sin(i / 10000^(2j/d)), P[i, 2j+1] = cos(i / 10000^(2j/d)), "
               "d = "
            << d
            << ".\nThe two columns of a pair have the same wavelength, which grows with j:\n\n"
               "  columns  wavelength, positions\n";
  for (const Index column : {0, 6, 8, 16, 30})
    std::cout << std::setw(5) << column << ", " << std::left << std::setw(2) << column + 1
              << std::right << std::fixed << std::setprecision(1) << std::setw(23)
              << 2.0 * std::acos(-1.0) *
                     std::pow(10000.0, static_cast<double>(column) / static_cast<double>(d))
              << '\n';
  examples::LineChart chart{.title = "Four columns of the sinusoidal positional encoding",
                            .x_label = "position",
                            .y_label = "value",
                            .lines = {}};
  for (const Index column : {6, 7, 8, 9}) chart.lines.push_back(column_line(table, column));
  examples::HeatMaps maps;
  maps.title = "The sinusoidal positional encoding";
  maps.x_label = "column";
  maps.y_label = "position";
  maps.columns = index_names(d, 4);
  maps.rows = index_names(positions, 10);
  maps.maps = {{"", table}};
  maps.lowest = -1.0;
  maps.cell = 11.0;
  std::cout << '\n'
            << examples::draw(chart, out / "positional_encoding_columns.svg") << '\n'
            << examples::draw(maps, out / "positional_encoding.svg") << '\n';
}

// --- Binary numbers -----------------------------------------------------------------------------

void show_binary_numbers(const fs::path& out) {
  constexpr Index bits = 6;
  const PositionalEncoding encoding({.num_hiddens = d, .max_len = positions});
  std::cout
      << "\nBinary numbers encode positions in a similar way: the period doubles from bit to bit. "
         "The\nwavelengths of the sinusoidal encoding also grow by a constant factor, but the "
         "columns are\nsmooth:\n\n"
         "  number     binary    column 12  column 6  column 0\n";
  for (Index i = 0; i < 8; ++i) {
    std::cout << std::setw(8) << i << std::setw(9);
    std::string binary;
    for (Index bit = 2; bit >= 0; --bit) binary += (i >> bit) % 2 == 1 ? '1' : '0';
    std::cout << binary << std::setprecision(2) << std::setw(15) << encoding.table()(i, 12)
              << std::setw(10) << encoding.table()(i, 6) << std::setw(10) << encoding.table()(i, 0)
              << '\n';
  }
  Tensor<float> values({bits, 64});
  examples::HeatMaps maps;
  for (Index bit = 0; bit < bits; ++bit) {
    maps.rows.push_back(str_cat("bit ", bit));
    for (Index i = 0; i < 64; ++i) values(bit, i) = static_cast<float>((i >> bit) % 2);
  }
  maps.title = "Bits of the numbers 0 to 63";
  maps.x_label = "number";
  maps.columns = index_names(64, 8);
  maps.maps = {{"", values}};
  maps.cell = 12.0;
  std::cout << '\n' << examples::draw(maps, out / "binary_numbers.svg") << '\n';
}

// --- Rotary -------------------------------------------------------------------------------------

// Returns `vector` repeated at `time` positions, [1, time, d].
Tensor<double> repeated(const Tensor<double>& vector, Index time) {
  Tensor<double> sequence({1, time, d});
  for (Index i = 0; i < time; ++i)
    std::copy(vector.begin(), vector.end(), sequence.begin() + i * d);
  return sequence;
}

// Returns the scores q · k / √d of a key at position p and queries at p + distance, for distances
// 0, 1, … `encode` encodes the positions p, p + 1, … of its input [1, distances, d].
template <class Encode>
std::vector<double> scores(const Tensor<double>& query, const Tensor<double>& key, Index distances,
                           const Encode& encode) {
  Tape<double> tape = Tape<double>::inference();
  const Tensor<double> queries = encode(tape.constant(repeated(query, distances))).value();
  const Tensor<double> keys = encode(tape.constant(repeated(key, distances))).value();
  std::vector<double> result;
  for (Index distance = 0; distance < distances; ++distance) {
    double product = 0.0;
    for (Index c = 0; c < d; ++c) product += queries(0, distance, c) * keys(0, 0, c);
    result.push_back(product / std::sqrt(static_cast<double>(d)));
  }
  return result;
}

void show_rotary(const fs::path& out) {
  constexpr Index distances = 100, far_position = 500;
  Random random(3);
  const Tensor<double> query = random.normal_tensor<double>({d});
  const Tensor<double> key = random.normal_tensor<double>({d});
  const PositionalEncoding<double> encoding({.num_hiddens = d});
  const auto rotated = [](Index first) {
    return
        [first](const Var<double>& x) { return rotary_embedding(x, 1, {.first_position = first}); };
  };
  const auto added = [&](Index first) {
    return [&encoding, first](const Var<double>& x) {
      const Var<double> table = x.tape().constant(encoding.table());
      return x + slice(table, 0, first, first + x.shape()[1]);
    };
  };
  const std::vector<std::vector<double>> columns{
      scores(query, key, distances, rotated(0)),
      scores(query, key, distances, rotated(far_position)), scores(query, key, distances, added(0)),
      scores(query, key, distances, added(far_position))};

  std::cout
      << "\nRotary: queries and keys are rotated by angles proportional to their positions. The "
         "score\ndepends only on the distance between query and key. With an added sinusoidal "
         "encoding,\nit also depends on the position of the key:\n\n"
         "               rotary, key at        sinusoidal, key at\n"
         "  distance          0       500           0       500\n";
  for (const std::size_t distance : {0u, 1u, 2u, 5u, 10u, 20u, 50u}) {
    std::cout << std::setw(10) << distance << std::setprecision(4);
    for (std::size_t i = 0; i < columns.size(); ++i)
      std::cout << std::setw(i == 2 ? 12 : i == 0 ? 11 : 10) << columns[i][distance];
    std::cout << '\n';
  }

  // With the same vector as query and key, the score is largest at distance 0.
  examples::LineChart chart{.title = "Score of a vector with itself over the distance",
                            .x_label = "distance, in positions",
                            .y_label = "score",
                            .lines = {}};
  const auto add_line = [&](const std::string& name, bool points, const auto& encode) {
    examples::Line line{.name = name, .x = {}, .y = scores(query, query, distances, encode)};
    for (Index i = 0; i < distances; ++i) line.x.push_back(static_cast<double>(i));
    line.points = points;
    chart.lines.push_back(line);
  };
  add_line("rotary, key at position 0", false, rotated(0));
  add_line("rotary, key at position 500", true, rotated(far_position));
  add_line("sinusoidal, key at position 0", false, added(0));
  add_line("sinusoidal, key at position 500", true, added(far_position));
  std::cout << '\n' << examples::draw(chart, out / "rotary_scores.svg") << '\n';
}

// --- Learned ------------------------------------------------------------------------------------

// An attention layer with a learned positional encoding of queries and keys.
struct LearnedPositionModel : Module<float> {
  explicit LearnedPositionModel(Random& random)
      : encoding({.num_hiddens = d, .max_len = positions}, random),
        attention({.query_size = d, .key_size = d, .value_size = d, .num_hiddens = d}, random) {}

  Var<float> operator()(const Var<float>& x) const {
    const Var<float> encoded = encoding(x);
    return attention(encoded, encoded, x);
  }

  void members(Members<float>& members) const override {
    members.type("LearnedPositionModel");
    members("encoding", encoding);
    members("attention", attention);
  }

  LearnedPositionalEncoding<float> encoding;
  MultiHeadAttention<float> attention;
};

// Returns the moving average of x [batch, positions, d] over a window of 5 positions, which is
// shorter at both ends.
Tensor<float> moving_average(const Tensor<float>& x) {
  Tensor<float> means(x.shape());
  for (Index sequence = 0; sequence < x.shape()[0]; ++sequence)
    for (Index i = 0; i < positions; ++i) {
      const Index first = std::max<Index>(i - 2, 0), last = std::min(i + 2, positions - 1);
      for (Index c = 0; c < d; ++c) {
        float sum = 0.0F;
        for (Index k = first; k <= last; ++k) sum += x(sequence, k, c);
        means(sequence, i, c) = sum / static_cast<float>(last - first + 1);
      }
    }
  return means;
}

// Returns the cosine similarity of each pair of rows, [positions, positions].
Tensor<float> cosine_similarities(const Tensor<float>& rows) {
  Tensor<float> result({positions, positions});
  const auto product = [&](Index a, Index b) {
    double sum = 0.0;
    for (Index c = 0; c < d; ++c) sum += static_cast<double>(rows(a, c)) * rows(b, c);
    return sum;
  };
  for (Index a = 0; a < positions; ++a)
    for (Index b = 0; b < positions; ++b)
      result(a, b) = static_cast<float>(product(a, b) / std::sqrt(product(a, a) * product(b, b)));
  return result;
}

void show_learned(const fs::path& out) {
  Random random(5);
  LearnedPositionModel model(random);
  const Tensor<float> before = cosine_similarities(model.encoding.weight.value());
  AdamW<float> optimizer(model, {.lr = 5e-3});
  Tape<float> tape({.training = true});
  std::cout << "\nLearned: an attention layer is trained to compute a moving average over 5 "
               "positions. Its\n"
               "position vectors are random at first. After training, vectors of close positions "
               "are similar.\n\n";
  constexpr int steps = 600;
  for (int step = 0; step <= steps; ++step) {
    const Tensor<float> x = random.normal_tensor<float>({16, positions, d});
    const Var<float> loss = mse_loss(model(tape.constant(x)), tape.constant(moving_average(x)));
    if (step % 200 == 0)
      std::cout << "  step " << std::setw(3) << step << "  loss " << loss.item() << '\n';
    tape.backward(loss);
    optimizer.step();
  }
  const PositionalEncoding sinusoidal({.num_hiddens = d, .max_len = positions});
  examples::HeatMaps maps;
  maps.title = "Cosine similarity of the vectors of each pair of positions";
  maps.x_label = "position";
  maps.y_label = "position";
  maps.columns = maps.rows = index_names(positions, 10);
  maps.maps = {{"learned, before training", before},
               {"learned, after training", cosine_similarities(model.encoding.weight.value())},
               {"sinusoidal", cosine_similarities(sinusoidal.table())}};
  maps.lowest = -1.0;
  maps.cell = 4.0;
  std::cout << '\n' << examples::draw(maps, out / "position_similarity.svg") << '\n';
}

void run(const fs::path& out) {
  show_sinusoidal(out);
  show_binary_numbers(out);
  show_rotary(out);
  show_learned(out);
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_tour_program(
      argc, argv, "positional_encoding",
      "Compares positional encodings: sinusoidal, rotary and learned.", run);
}
