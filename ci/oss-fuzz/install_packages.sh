#!/bin/bash -eu
# Packages that the build images of fuzzing services need in addition to the services' compilers:
# nvcc, which only compiles (no GPU is needed, neither here nor where the targets run), and the
# packages of ci/setup.
apt-get update
apt-get install -y --no-install-recommends wget
keyring=cuda-keyring_1.1-1_all.deb
wget -q "https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/x86_64/$keyring"
dpkg -i "$keyring"
rm "$keyring"
apt-get update
apt-get install -y --no-install-recommends \
  cuda-nvcc-13-0 cuda-cudart-dev-13-0 \
  ninja-build pkg-config zip python3 \
  libgtest-dev libbenchmark-dev librapidcheck-dev libfmt-dev libcli11-dev nlohmann-json3-dev \
  libxxhash-dev libzstd-dev liblz4-dev libmpfr-dev libasmjit-dev \
  libpugixml-dev libsqlite3-dev libarchive-dev libdw-dev libedit-dev libz3-dev
