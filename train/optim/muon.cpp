#include "weft/train/optim/muon.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/layers/linear.hpp"
#include "autograd/internal/bf16_emulation.hpp"
#include "autograd/internal/checks.hpp"
#include "autograd/internal/pool.hpp"
#include "autograd/kernels/matrix_product.hpp"
#include "autograd/kernels/transposed_copy.hpp"
#include "layers/internal/full_names.hpp"

namespace weft {
namespace {

using Selects = std::function<bool(const std::string& name, const Shape& shape)>;

// Collects the names of the weights of Linear layers in lists, whose children have numbers as
// names.
template <class T>
class WeightsInLists final : public FullNames<T> {
 public:
  void child(const std::string& name, const Module<T>& child) override {
    const bool outer = in_list_;
    in_list_ = outer || name.find_first_not_of("0123456789") == std::string::npos;
    if (in_list_ && dynamic_cast<const Linear<T>*>(&child))
      names.insert(this->full_name(name) + ".weight");
    FullNames<T>::child(name, child);
    in_list_ = outer;
  }

  std::unordered_set<std::string> names;

 private:
  bool in_list_ = false;
};

// Returns the options with the filter `matrices` set, and with filters that select a parameter by
// any of its names.
template <class T>
MuonOptions options_for(const Module<T>& model, MuonOptions options) {
  if (!options.matrices) {
    WeightsInLists<T> weights;
    model.members(weights);
    if (weights.names.empty())
      fail<ValueError>("Muon", "a model with Linear layers in a list, or the option matrices",
                       "neither");
    options.matrices = [names = std::move(weights.names)](const std::string& name) {
      return names.contains(name);
    };
  }
  options.matrices = with_tied_names(model, std::move(options.matrices));
  return with_tied_groups(model, std::move(options));
}

template <class T>
const MuonOptions& checked(const MuonOptions& options) {
  if (!(options.momentum >= 0.0 && options.momentum < 1.0))
    fail<ValueError>("Muon: momentum", "0 ≤ momentum < 1", options.momentum);
  to_string(options.adjust_lr);  // throws for a value that is not an AdjustLr
  for (const double coefficient : options.ns_coefficients)
    if (!std::isfinite(coefficient))
      fail<ValueError>("Muon: ns_coefficients", "finite numbers", coefficient);
  if (options.ns_steps < 1 || options.ns_steps > 100)
    fail<ValueError>("Muon: ns_steps", "a number from 1 to 100", options.ns_steps);
  check_positive("Muon: ns_eps", options.ns_eps);
  check_finite_non_negative<T>("Muon: adamw_lr_factor", options.adamw_lr_factor);
  check_precision<T>("Muon", options.precision);
  return options;
}

Selects matrix_filter(const NameFilter& matrices) {
  return [matrices](const std::string& name, const Shape& shape) {
    if (!matrices) return shape.rank() == 2;
    if (!matrices(name)) return false;
    if (shape.rank() != 2) fail<ValueError>("Muon: matrix " + name, "two axes", shape);
    return true;
  };
}

std::string text_of(const MuonOptions& options) {
  return str_cat("momentum ", options.momentum, options.nesterov ? " (Nesterov)" : "",
                 ", adjust_lr ", to_string(options.adjust_lr), ", ", options.ns_steps,
                 " Newton-Schulz steps; AdamW with lr × ", options.adamw_lr_factor, ", ");
}

// A square matrix. The padding keeps the rows of a matrix whose size is a power of two from
// competing for the same lines of a cache.
template <class T>
struct Square {
  Square(Index size, Pool* pool)
      : n(size),
        stride(size + 16),
        buffer(static_cast<std::size_t>(n * stride) * sizeof(T), pool) {}
  T* row(Index i) const { return static_cast<T*>(buffer.data()) + i * stride; }
  MatrixView<T> view() const { return {row(0), stride}; }

  Index n, stride;
  Buffer buffer;
};

// Computes c = a · b + gamma · I for a [n, k] and b [k, n] whose product is symmetric. Computes
// only the lower half, in strips of rows, and copies it to the upper half.
template <class T>
void symmetric_product(Precision precision, Index k, const MatrixView<T>& a, const MatrixView<T>& b,
                       T gamma, const Square<T>& c) {
  const Index strip_rows = precision == Precision::full ? 24 : 64;
  parallel_for((c.n + strip_rows - 1) / strip_rows, 1, [&](Index first, Index last) {
    for (Index strip = first; strip < last; ++strip) {
      const Index begin = strip * strip_rows, end = std::min(begin + strip_rows, c.n);
      matrix_product(precision, end - begin, end, k, T{1}, a.at(begin, 0), b, T{0}, c.row(begin),
                     c.stride);
      for (Index row = begin; row < end; ++row) {
        c.row(row)[row] += gamma;
        for (Index column = begin; column < row; ++column) c.row(column)[row] = c.row(row)[column];
      }
      copy_transposed(begin, end - begin, T{1}, c.row(begin), c.stride, c.row(0) + begin, c.stride);
    }
  });
}

// The Newton-Schulz steps of a matrix X [n, m], n ≤ m. A step multiplies X by the polynomial
// P = a I + b A + c A² of A = X Xᵀ.
template <class T>
struct NewtonSchulz {
  const MuonOptions& options;
  Pool* pool;

  // Sets P to the polynomial of A, A (b I + c A) + a I. Overwrites `factor`.
  void polynomial(const Square<T>& A, const Square<T>& factor, const Square<T>& P) const {
    const auto a = static_cast<T>(options.ns_coefficients[0]),
               b = static_cast<T>(options.ns_coefficients[1]),
               c = static_cast<T>(options.ns_coefficients[2]);
    for (Index i = 0; i < A.n; ++i) {
      std::transform(A.row(i), A.row(i) + A.n, factor.row(i), [c](T x) { return c * x; });
      factor.row(i)[i] += b;
    }
    symmetric_product(options.precision, A.n, A.view(), factor.view(), a, P);
  }

  // Sets A to X Xᵀ.
  void gram(const MatrixView<T>& x, Index m, const Square<T>& A) const {
    symmetric_product(options.precision, m, x, MatrixView<T>{x.data, x.stride, !x.transposed}, T{0},
                      A);
  }

  // Returns the product Q of the polynomials of all steps, given A for the first of them, which
  // this function overwrites. As polynomials of A, all factors are symmetric and commute, and the
  // next step has A ← P A P. Multiplying these n × n matrices is cheaper than multiplying X in each
  // step.
  Square<T> all_steps(Square<T> A) const {
    Square<T> P(A.n, pool), Q(A.n, pool), product(A.n, pool);
    const auto multiply = [&](const Square<T>& left, const Square<T>& right, const Square<T>& to) {
      symmetric_product(options.precision, A.n, left.view(), right.view(), T{0}, to);
    };
    polynomial(A, product, Q);
    for (int step = 2; step <= options.ns_steps; ++step) {
      const Square<T>& last = step == 2 ? Q : P;
      multiply(last, A, product);
      multiply(product, last, A);
      polynomial(A, product, P);
      multiply(P, Q, product);
      std::swap(Q, product);
    }
    return Q;
  }
};

}  // namespace

template <class T>
Muon<T>::Muon(Module<T>& model, const MuonOptions& options)
    : Muon(named_parameters(model), options_for(model, options)) {}

template <class T>
Muon<T>::Muon(NamedParameters<T> parameters, const MuonOptions& options)
    : Adam<T>("Muon", std::move(parameters),
              {options.lr, options.beta1, options.beta2, options.eps, options.weight_decay,
               options.groups},
              Adam<T>::Decay::decoupled, options.decays, matrix_filter(options.matrices),
              text_of(options)),
      options_(checked<T>(options)),
      pool_(Pool::create()) {
  if (!is_supported(options_.precision)) options_.precision = Precision::full;
  bool has_matrix = false;
  for (std::size_t i = 0; i < this->parameters().size(); ++i) {
    if (this->elements().is_undivided(i))
      has_matrix = true;
    else
      this->scale_learning_rate(i, options.adamw_lr_factor);
  }
  if (!has_matrix) fail<ValueError>("Muon: matrices", "at least one selected parameter", "none");
}

template <class T>
void Muon<T>::Abandon::operator()(Pool* pool) const {
  pool->abandon();
}

// A matrix with more rows than columns is orthogonalized as its transpose X.
template <class T>
void Muon<T>::update_undivided(std::size_t index, T* values, const T* grad, T* const* state,
                               T scale) {
  const Shape& shape = this->elements().shape(index);
  const Index rows = shape[0], columns = shape[1], size = rows * columns;
  const Index n = std::min(rows, columns), m = std::max(rows, columns);
  if (size == 0) return;
  Tensor<T> direction = Tensor<T>::uninitialized(shape, pool_.get());
  const auto rest = static_cast<T>(1.0 - options_.momentum);
  const auto momentum = static_cast<T>(options_.nesterov ? options_.momentum : 1.0);
  T* const moment = state[Adam<T>::first_moment];
  parallel_for(size, grain_of(4), [&, to = direction.data()](Index first, Index last) {
#pragma omp simd
    for (Index i = first; i < last; ++i) {
      const T g = scale * grad[i];
      moment[i] += rest * (g - moment[i]);
      to[i] = g + momentum * (moment[i] - g);
    }
  });

  const NewtonSchulz<T> steps{options_, pool_.get()};
  const auto x = [&] { return MatrixView<T>{direction.data(), columns, rows > columns}; };
  // Computes to = alpha · by · X + beta · to, with X and `to` as they are stored, [rows, columns].
  const auto multiply = [&](T alpha, const Square<T>& by, T beta, T* to) {
    const MatrixView<T> stored{direction.data(), columns};
    const auto& [left, right] =
        rows > columns ? std::pair(stored, by.view()) : std::pair(by.view(), stored);
    parallel_matrix_product(options_.precision, rows, columns, n, alpha, left, right, beta, to,
                            columns);
  };
  Square<T> A(n, pool_.get());
  steps.gram(x(), m, A);
  T sum_of_squares = 0;
  for (Index i = 0; i < n; ++i) sum_of_squares += A.row(i)[i];
  T factor = T{1} / std::max(std::sqrt(sum_of_squares), static_cast<T>(options_.ns_eps));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) A.row(i)[j] *= factor * factor;

  const double adjusted =
      options_.adjust_lr == AdjustLr::original
          ? std::sqrt(std::max(1.0, static_cast<double>(rows) / static_cast<double>(columns)))
          : 0.2 * std::sqrt(static_cast<double>(m));
  const double lr = this->learning_rate(index);
  const auto decay = static_cast<T>(1.0 - lr * this->weight_decay(index));
  const auto step_size = static_cast<T>(lr * adjusted);
  if (options_.precision == Precision::full)
    return multiply(-step_size * factor, steps.all_steps(std::move(A)), decay, values);
  // In bf16, A loses the small singular values of X, so each step multiplies X itself.
  Square<T> P(n, pool_.get()), temporary(n, pool_.get());
  Tensor<T> next = Tensor<T>::uninitialized(shape, pool_.get());
  for (int step = 1; step < options_.ns_steps; ++step) {
    steps.polynomial(A, temporary, P);
    multiply(std::exchange(factor, T{1}), P, T{0}, next.data());
    std::swap(direction, next);
    steps.gram(x(), m, A);
  }
  steps.polynomial(A, temporary, P);
  multiply(-step_size * factor, P, decay, values);
}

template class Muon<float>;
template class Muon<double>;

}  // namespace weft
