// Operations compared with PyTorch expressions: rows of rows.h5.
#include <weft/autograd.hpp>
#include "tests/catch.hpp"
#include "tests/golden/torch_row.hpp"

using namespace weft;
using golden::compare_with_torch;

TEMPLATE_TEST_CASE("torch's arithmetic with numbers", "[golden]", float, double) {
  compare_with_torch<TestType>(
      "Function(lambda a, b: (3 - a) * b / 7 + 2.5 / (b * b + 1) - 0.1 * a + (a - 4) * 2)",
      {{2, 3}, {2, 3}}, [](const auto& x) {
        return (3 - x[0]) * x[1] / 7 + 2.5 / (x[1] * x[1] + 1) - 0.1 * x[0] + (x[0] - 4) * 2;
      });
}

TEMPLATE_TEST_CASE("torch.where and comparisons", "[golden]", float, double) {
  compare_with_torch<TestType>("Function(lambda a, b: torch.where(a > b, a * b, b))",
                               {{4, 1, 3}, {2, 1}},
                               [](const auto& x) { return where(x[0] > x[1], x[0] * x[1], x[1]); });
  compare_with_torch<TestType>("Function(lambda a: torch.where(a <= 0.25, a, 3.0))", {{4, 5}},
                               [](const auto& x) { return where(x[0] <= 0.25, x[0], 3); });
  compare_with_torch<TestType>("Function(lambda a: torch.where(-0.25 < a, 0.5, a * a))", {{4, 5}},
                               [](const auto& x) { return where(-0.25 < x[0], 0.5, x[0] * x[0]); });
}

TEMPLATE_TEST_CASE("torch.gather, index_select and select", "[golden]", float, double) {
  compare_with_torch<TestType>(
      "Function(lambda x: torch.gather(x, 1, torch.tensor([[2, 0, 0, 1], [1, 1, 2, 1]])))",
      {{3, 3}}, [](const auto& x) {
        return gather(x[0], 1, Indices({2, 4}, {2, 0, 0, 1, 1, 1, 2, 1}));
      });
  compare_with_torch<TestType>(
      "Function(lambda x: torch.gather(x, 0, torch.tensor([[2, 0, 0], [1, 1, 2]])))", {{3, 3}},
      [](const auto& x) {
        return gather(x[0], 0, Indices({2, 3}, {2, 0, 0, 1, 1, 2}));
      });
  compare_with_torch<TestType>(
      "Function(lambda x: torch.index_select(x, 1, torch.tensor([3, 0, 3, 1])))", {{2, 4, 3}},
      [](const auto& x) {
        return index_select(x[0], 1, Indices({4}, {3, 0, 3, 1}));
      });
  compare_with_torch<TestType>("Function(lambda x: torch.select(x, 1, -2))", {{2, 4, 3}},
                               [](const auto& x) { return select(x[0], 1, -2); });
}

TEMPLATE_TEST_CASE("torch.topk, argmax and argmin", "[golden]", float, double) {
  compare_with_torch<TestType>("Function(lambda x: torch.topk(x, 3, dim=1).values)", {{2, 5, 3}},
                               [](const auto& x) { return topk(x[0], 3, {.axis = 1}).values; });
  compare_with_torch<TestType>(
      "Function(lambda x: torch.topk(x, 2, largest=False).values)", {{4, 6}},
      [](const auto& x) { return topk(x[0], 2, {.largest = false}).values; });
  compare_with_torch<TestType>(
      "Function(lambda x: x.gather(0, x.argmax(0, keepdim=True)) + x.gather(0, x.argmin(0, True)))",
      {{5, 4}}, [](const auto& x) {
        return gather(x[0], 0, argmax(x[0], 0, true)) + gather(x[0], 0, argmin(x[0], 0, true));
      });
}

TEMPLATE_TEST_CASE("torch.amin and cumsum", "[golden]", float, double) {
  compare_with_torch<TestType>("Function(lambda x: torch.amin(x, (0, 2)))", {{2, 4, 3}},
                               [](const auto& x) {
                                 return min(x[0], {0, 2});
                               });
  compare_with_torch<TestType>("Function(lambda x: x.min())", {{2, 4, 3}},
                               [](const auto& x) { return min(x[0]); });
  compare_with_torch<TestType>("Function(lambda x: torch.cumsum(x, 1))", {{2, 7, 3}},
                               [](const auto& x) { return cumsum(x[0], 1); });
}

TEMPLATE_TEST_CASE("torch.split, squeeze, unsqueeze and pad", "[golden]", float, double) {
  compare_with_torch<TestType>(
      "Function(lambda x: torch.split(x, 2, dim=1)[1] * torch.split(x, [2, 2, 1], 1)[0])", {{3, 5}},
      [](const auto& x) {
        return split(x[0], 1, 2)[1] * split(x[0], 1, {2, 2, 1})[0];
      });
  compare_with_torch<TestType>("Function(lambda x: x.squeeze(1).unsqueeze(-1))", {{3, 1, 2}},
                               [](const auto& x) { return unsqueeze(squeeze(x[0], 1), -1); });
  compare_with_torch<TestType>(
      "Function(lambda x: torch.nn.functional.pad(x, (1, 2, 3, 0), value=0.5))", {{2, 3}},
      [](const auto& x) { return pad(pad(x[0], 1, 1, 2, 0.5), 0, 3, 0, 0.5); });
}

TEMPLATE_TEST_CASE("torch.log1p, softplus, leaky_relu and a squared relu", "[golden]", float,
                   double) {
  compare_with_torch<TestType>("Function(lambda x: torch.log1p(x * x) + torch.log1p(x / 8))",
                               {{4, 5}},
                               [](const auto& x) { return log1p(x[0] * x[0]) + log1p(x[0] / 8); });
  compare_with_torch<TestType>("Function(torch.nn.functional.softplus)", {{4, 5}},
                               [](const auto& x) { return softplus(x[0]); });
  compare_with_torch<TestType>("Function(lambda x: torch.relu(x) ** 2)", {{4, 5}},
                               [](const auto& x) { return squared_relu(x[0]); });
  compare_with_torch<TestType>("torch.nn.LeakyReLU(0.2)", {{4, 5}},
                               [](const auto& x) { return leaky_relu(x[0], 0.2); });
}

TEMPLATE_TEST_CASE("torch's cross_entropy of linear, and gated functions", "[golden]", float,
                   double) {
  compare_with_torch<TestType>(
      "Function(lambda x, w: torch.nn.functional.cross_entropy((x @ w.T).flatten(0, 1), "
      "torch.tensor([3, 0, -100, 4, 4, 1])))",
      {{2, 3, 4}, {5, 4}}, [](const auto& x) {
        return linear_cross_entropy(x[0], x[1], Tokens({2, 3}, {3, 0, -100, 4, 4, 1}));
      });
  compare_with_torch<TestType>("Function(lambda g, x: torch.nn.functional.silu(g) * x)",
                               {{3, 5}, {3, 5}},
                               [](const auto& x) { return gated(x[0], x[1], Activation::silu); });
  compare_with_torch<TestType>("Function(lambda g, x: torch.nn.functional.gelu(g) * x)",
                               {{3, 5}, {3, 5}},
                               [](const auto& x) { return gated(x[0], x[1], Activation::gelu); });
}

TEMPLATE_TEST_CASE("torch's losses of errors", "[golden]", float, double) {
  compare_with_torch<TestType>("Function(torch.nn.functional.l1_loss)", {{3, 5}, {3, 5}},
                               [](const auto& x) { return l1_loss(x[0], x[1]); });
  compare_with_torch<TestType>(
      "Function(lambda x, t: torch.nn.functional.mse_loss(x, t, reduction='none'))",
      {{3, 5}, {3, 5}},
      [](const auto& x) { return mse_loss(x[0], x[1], {.reduction = Reduction::none}); });
  compare_with_torch<TestType>(
      "Function(lambda x, t: torch.nn.functional.huber_loss(x, t, reduction='sum', delta=0.7))",
      {{3, 5}, {3, 5}}, [](const auto& x) {
        return huber_loss(x[0], x[1], {.delta = 0.7, .reduction = Reduction::sum});
      });
  compare_with_torch<TestType>(
      "Function(lambda x, t: torch.nn.functional.smooth_l1_loss(x, t, beta=0.5))", {{3, 5}, {3, 5}},
      [](const auto& x) { return smooth_l1_loss(x[0], x[1], {.beta = 0.5}); });
  compare_with_torch<TestType>(
      "Function(lambda x, t: torch.nn.functional.kl_div(x.log_softmax(-1), t.softmax(-1), "
      "reduction='batchmean'))",
      {{3, 5}, {3, 5}}, [](const auto& x) {
        return kl_div(log_softmax(x[0]), softmax(x[1]), {.reduction = Reduction::sum}) / 3;
      });
}

TEMPLATE_TEST_CASE("torch's cross entropies with weights and reductions", "[golden]", float,
                   double) {
  const std::vector<double> weights{0.5, 2, 1, 0, 3};
  const Tokens targets({4}, {3, 0, -100, 4});
  compare_with_torch<TestType>(
      "Function(lambda x: torch.nn.functional.cross_entropy(x, torch.tensor([3, 0, -100, 4]), "
      "torch.tensor([0.5, 2.0, 1.0, 0.0, 3.0]), label_smoothing=0.1))",
      {{4, 5}}, [&](const auto& x) {
        return cross_entropy(x[0], targets, {.label_smoothing = 0.1, .class_weights = weights});
      });
  compare_with_torch<TestType>(
      "Function(lambda x: torch.nn.functional.cross_entropy(x, torch.tensor([3, 0, -100, 4]), "
      "torch.tensor([0.5, 2.0, 1.0, 0.0, 3.0]), reduction='none'))",
      {{4, 5}}, [&](const auto& x) {
        return cross_entropy(x[0], targets,
                             {.class_weights = weights, .reduction = Reduction::none});
      });
  compare_with_torch<TestType>(
      "Function(lambda x, w: torch.nn.functional.cross_entropy(x @ w.T, "
      "torch.tensor([3, 0, -100, 4]), torch.tensor([0.5, 2.0, 1.0, 0.0, 3.0]), reduction='sum'))",
      {{4, 3}, {5, 3}}, [&](const auto& x) {
        return linear_cross_entropy(x[0], x[1], targets,
                                    {.class_weights = weights, .reduction = Reduction::sum});
      });
  compare_with_torch<TestType>(
      "Function(lambda x: torch.nn.functional.binary_cross_entropy_with_logits(x, "
      "torch.tensor([[0.0, 1, 0.25], [1, 1, 0]]).to(x), "
      "pos_weight=torch.tensor([0.5, 2, 3]).to(x), reduction='sum'))",
      {{2, 3}}, [](const auto& x) {
        return binary_cross_entropy_with_logits(
            x[0], Tensor<TestType>({2, 3}, {0, 1, 0.25, 1, 1, 0}),
            {.pos_weight = {0.5, 2, 3}, .reduction = Reduction::sum});
      });
}

TEMPLATE_TEST_CASE("torch.nn.functional.ctc_loss", "[golden]", float, double) {
  const Tokens targets({4, 3}, {1, 1, 2, 4, 3, 0, 0, 0, 0, 2, 3, 2});
  compare_with_torch<TestType>(
      "Function(lambda x: torch.nn.functional.ctc_loss(x.log_softmax(-1).transpose(0, 1), "
      "torch.tensor([[1, 1, 2], [4, 3, 0], [0, 0, 0], [2, 3, 2]]), [7, 5, 6, 3], [3, 2, 0, 3]))",
      {{4, 7, 5}}, [&](const auto& x) {
        return ctc_loss(log_softmax(x[0]), targets, {7, 5, 6, 3}, {3, 2, 0, 3});
      });
  compare_with_torch<TestType>(
      "Function(lambda x: torch.nn.functional.ctc_loss(x.log_softmax(-1).transpose(0, 1), "
      "torch.tensor([[1, 1, 2], [4, 3, 0], [0, 0, 0], [2, 3, 2]]), [3, 5, 6, 2], [3, 2, 0, 3], "
      "reduction='none', zero_infinity=True))",
      {{4, 7, 5}}, [&](const auto& x) {
        return ctc_loss(log_softmax(x[0]), targets, {3, 5, 6, 2}, {3, 2, 0, 3},
                        {.zero_infinity = true, .reduction = Reduction::none});
      });
}

TEMPLATE_TEST_CASE("torch.nn.functional.max_pool1d and avg_pool1d", "[golden]", float, double) {
  compare_with_torch<TestType>(
      "Function(lambda x: torch.nn.functional.max_pool1d(x.transpose(1, 2), 3).transpose(1, 2))",
      {{2, 10, 4}}, [](const auto& x) { return max_pool(x[0], {.size = 3, .stride = 3}); });
  compare_with_torch<TestType>(
      "Function(lambda x: torch.nn.functional.max_pool1d(x.transpose(1, 2), 3, stride=2, "
      "padding=1, dilation=2).transpose(1, 2))",
      {{2, 10, 4}}, [](const auto& x) {
        return max_pool(x[0], {.size = 3, .dilation = 2, .stride = 2, .before = 1, .after = 1});
      });
  compare_with_torch<TestType>(
      "Function(lambda x: torch.nn.functional.avg_pool1d(x.transpose(1, 2), 4, stride=3, "
      "padding=2, count_include_pad=False).transpose(1, 2))",
      {{2, 10, 4}}, [](const auto& x) {
        return average_pool(x[0], {.size = 4, .stride = 3, .before = 2, .after = 2});
      });
}

TEMPLATE_TEST_CASE("torch.nn.functional.embedding with padding", "[golden]", float, double) {
  compare_with_torch<TestType>(
      "Function(lambda w: torch.nn.functional.embedding(torch.tensor([[3, 1], [0, 1]]), w, 1))",
      {{4, 3}}, [](const auto& x) {
        return embedding(Tokens({2, 2}, {3, 1, 0, 1}), x[0], 1);
      });
}

TEMPLATE_TEST_CASE("torch.Tensor.detach", "[golden]", float, double) {
  compare_with_torch<TestType>("Function(lambda x: x * (x * x).detach())", {{4, 5}},
                               [](const auto& x) { return x[0] * detach(x[0] * x[0]); });
}

TEMPLATE_TEST_CASE("torch.einsum", "[golden]", float, double) {
  compare_with_torch<TestType>("Function(lambda a, b: torch.einsum('bqd,bkd->bqk', a, b))",
                               {{2, 3, 4}, {2, 5, 4}},
                               [](const auto& x) { return einsum("bqd,bkd->bqk", x[0], x[1]); });
  compare_with_torch<TestType>("Function(lambda a, b: torch.einsum('ijm,jbk->kbi', a, b))",
                               {{2, 3, 4}, {3, 5, 2}},
                               [](const auto& x) { return einsum("ijm,jbk->kbi", x[0], x[1]); });
}
