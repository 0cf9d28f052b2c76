#!/usr/bin/env bash
# build_torch_cpp.sh PYTHON PROGRAM: builds the benchmark of PyTorch's C++ API with the libtorch of the
# Python package.
set -euo pipefail
python=$1 program=$2
here=$(dirname -- "${BASH_SOURCE[0]}")
torch=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))')
abi=$("$python" -c 'import torch; print(int(torch._C._GLIBCXX_USE_CXX11_ABI))')
[ "$program" -nt "$here/torch_step.cpp" ] || g++ -std=c++20 -O2 -D_GLIBCXX_USE_CXX11_ABI="$abi" \
  -isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include" \
  "$here/torch_step.cpp" -o "$program" \
  -L"$torch/lib" -Wl,-rpath,"$torch/lib" -Wl,--no-as-needed -ltorch -ltorch_cpu -lc10
