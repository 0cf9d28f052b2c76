// self_attention: computes single-head self-attention in three ways, which agree: step by step with
// vectors, with matrices, and with the layer.
#include <cmath>
#include <iomanip>
#include <iostream>

#include <weft/layers.hpp>
#include "examples/common/plot.hpp"
#include "examples/common/program.hpp"

namespace {

using namespace weft;

const std::vector<std::string> words = {"the", "weft", "crosses", "the", "warp"};
const auto num_words = static_cast<Index>(words.size());
constexpr Index d_model = 4;

// --- Vectors ---------------------------------------------------------------------------------

using Vector = std::vector<double>;

Vector row(const Tensor<float>& matrix, Index i) {
  Vector vector;
  for (Index j = 0; j < matrix.shape()[1]; ++j) vector.push_back(matrix(i, j));
  return vector;
}

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

// Returns W x. Each element is the dot product of x and a row of W.
Vector project(const Linear<float>& W, const Vector& x) {
  Vector y;
  for (Index i = 0; i < W.out_features(); ++i) y.push_back(dot(row(W.weight.value(), i), x));
  return y;
}

// Returns x [1, words, size] as a matrix [words, size].
Tensor<float> as_matrix(const Var<float>& x) { return x.value().reshaped({num_words, -1}); }

// --- Printing --------------------------------------------------------------------------------

std::ostream& operator<<(std::ostream& out, const Vector& vector) {
  for (const double element : vector) out << std::setw(7) << element;
  return out;
}

std::string padded(const std::string& text, std::size_t width = 9) {
  return text + std::string(width - text.size(), ' ');
}

// Prints a matrix with one row per word.
void print(const std::string& name, const Tensor<float>& rows) {
  std::cout << name << '\n';
  for (Index i = 0; i < num_words; ++i)
    std::cout << "  " << padded(words[static_cast<std::size_t>(i)]) << row(rows, i) << '\n';
  std::cout << '\n';
}

// --- The three computations ------------------------------------------------------------------

// Returns the output vector of each word for x [words, d].
std::vector<Vector> attend_with_vectors(const SelfAttention<float>& layer, const Tensor<float>& x) {
  std::vector<Vector> q, k, v;
  std::cout << "1. With vectors\n\n";
  print("The embedding x of each word", x);
  std::cout << padded("Projections", 13) << padded("query W_q x", 30) << padded("key W_k x", 30)
            << "value W_v x\n";
  for (Index i = 0; i < num_words; ++i) {
    q.push_back(project(layer.W_q, row(x, i)));
    k.push_back(project(layer.W_k, row(x, i)));
    v.push_back(project(layer.W_v, row(x, i)));
    std::cout << "  " << padded(words[static_cast<std::size_t>(i)]) << q.back() << "  " << k.back()
              << "  " << v.back() << '\n';
  }

  std::vector<Vector> outputs;
  for (std::size_t i = 0; i < words.size(); ++i) {
    Vector scores, weights;
    double sum_of_exponentials = 0;
    for (std::size_t j = 0; j < words.size(); ++j) {
      scores.push_back(dot(q[i], k[j]));
      weights.push_back(std::exp(scores[j] / std::sqrt(d_model)));
      sum_of_exponentials += weights[j];
    }
    std::cout << "\nAttention of word " << i + 1 << ", “" << words[i] << "”:\n\n"
              << "  word         q·k    /√d softmax   softmax · value\n";
    Vector sum(d_model, 0.0);
    for (std::size_t j = 0; j < words.size(); ++j) {
      weights[j] /= sum_of_exponentials;
      Vector weighted = v[j];
      for (std::size_t c = 0; c < weighted.size(); ++c) {
        weighted[c] *= weights[j];
        sum[c] += weighted[c];
      }
      std::cout << "  " << padded(words[j]) << std::setw(7) << scores[j] << std::setw(7)
                << scores[j] / std::sqrt(d_model) << std::setw(8) << weights[j] << "  " << weighted
                << '\n';
    }
    outputs.push_back(project(layer.W_o, sum));
    std::cout << padded("  sum", 35) << sum << '\n'
              << padded("  output: W_o · sum", 35) << outputs.back() << '\n';
  }
  return outputs;
}

// Returns the outputs for X [1, words, d], in the same shape.
Var<float> attend_with_matrices(const SelfAttention<float>& layer, const Var<float>& X) {
  const Var Q = layer.W_q(X), K = layer.W_k(X), V = layer.W_v(X);
  const Var S = matmul(Q, K, {.transpose_b = true});
  const Var P = softmax(scale(S, 1.0 / std::sqrt(d_model)));
  const Var O = matmul(P, V);
  const Var Y = layer.W_o(O);
  std::cout << "\n2. With matrices\n\n";
  print("Q = X W_qᵀ", as_matrix(Q));
  print("K = X W_kᵀ", as_matrix(K));
  print("V = X W_vᵀ", as_matrix(V));
  print("S = Q Kᵀ", as_matrix(S));
  print("P = softmax(S / √d); each row is a distribution over the words", as_matrix(P));
  print("O = P V", as_matrix(O));
  print("Y = O W_oᵀ", as_matrix(Y));
  return Y;
}

double largest_difference(const Tensor<float>& rows, const std::vector<Vector>& vectors) {
  double largest = 0;
  for (std::size_t i = 0; i < vectors.size(); ++i)
    for (std::size_t j = 0; j < vectors[i].size(); ++j)
      largest = std::max(largest, std::abs(rows(i, j) - vectors[i][j]));
  return largest;
}

void run(const std::filesystem::path& directory) {
  std::cout << std::fixed << std::setprecision(3);
  // Four of the five words are distinct: both occurrences of “the” have the same embedding.
  Random random(5);
  const Embedding embedding({.num_embeddings = 4, .embedding_dim = d_model}, random);
  const SelfAttention layer({.num_hiddens = d_model, .num_heads = 1}, random);
  Tape tape({.recording = false, .keep_attention_weights = true});
  const Var X = embedding(tape, Tokens({1, num_words}, {0, 1, 2, 0, 3}));

  const std::vector<Vector> outputs = attend_with_vectors(layer, as_matrix(X));
  const Var Y = attend_with_matrices(layer, X);
  const Var layer_output = layer(X);
  const Tensor<float> weights = tape.take_attention_weights().front();

  std::cout << "3. With the layer\n\n"
            << std::scientific << std::setprecision(1)
            << "Largest difference between vectors and layer:    "
            << largest_difference(as_matrix(layer_output), outputs)
            << "\nLargest difference between vectors and matrices: "
            << largest_difference(as_matrix(Y), outputs) << "\n\n";
  std::cout << "Both words “the” have the same output: attention without positions ignores word "
               "order.\n\n";
  examples::HeatMaps maps{"Self-attention weights",
                          "key",
                          "query",
                          words,
                          words,
                          {{"softmax(Q Kᵀ / √d)", weights.reshaped({num_words, num_words})}}};
  maps.cell = 60;
  maps.highest = 0.4;
  std::cout << examples::draw(maps, directory / "self_attention.svg") << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_tour_program(argc, argv, "self_attention",
                                    "Computes the self-attention of five words step by step.", run);
}
